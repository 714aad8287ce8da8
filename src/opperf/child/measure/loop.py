"""Loops that call one function with arguments bound beforehand, with as little around each call as Python allows.

A loop is written for each call shape (how many positional arguments, which keywords), because the alternatives cost
more than a short operator: `function(*arguments)` takes a slower way of calling, `functools.partial` a second call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from itertools import repeat
from keyword import iskeyword
from typing import Any

from opperf.domain.backend import Clock

#: Turns of an empty loop that are timed together, and how often; the minimum counts. About 0.2 ms in all.
EMPTY_CALLS = 500
EMPTY_ROUNDS = 10
#: Loops of a single turn are short, so more of them are timed.
SINGLE_ROUNDS = 100


@cache
def loop(positional: int, keywords: tuple[str, ...], collect: bool) -> Callable[..., object]:
    """Return `block(calls, function, *arguments)`, which calls `function` that often.

    `arguments` are the positional ones, then the values of the keywords in order. With `collect` the block returns what
    the calls returned; without, each result is dropped at once, as in a program that overwrites its variable.

    >>> loop(2, (), True)(3, max, 1, 2)
    [2, 2, 2]
    >>> loop(1, ("from",), True)(1, dict, (), 7)
    [{'from': 7}]
    """
    if not all(name.isidentifier() for name in keywords):
        raise ValueError(f"keywords {keywords} must be identifiers")
    names = [f"a{i}" for i in range(positional)]
    values = [f"k{i}" for i in range(len(keywords))]
    # A word of Python's own, as `from`, names an argument in a dictionary only.
    reserved = {name: value for name, value in zip(keywords, values) if iskeyword(name)}
    named = [f"{name}={value}" for name, value in zip(keywords, values) if name not in reserved]
    given = ", ".join([*names, *named, *["**reserved"] * bool(reserved)])
    call = f"keep(function({given}))" if collect else f"function({given})"
    source = (
        f"def block({', '.join(['calls', 'function', *names, *values])}):\n"
        f"    outputs = []\n"
        f"    keep = outputs.append\n"
        f"    reserved = {{{', '.join(f'{name!r}: {value}' for name, value in reserved.items())}}}\n"
        f"    for _ in repeat(None, calls):\n"
        f"        {call}\n"
        f"    return outputs\n"
    )
    space: dict[str, Any] = {"repeat": repeat}
    exec(source, space)  # the template above holds identifiers and counted names only
    block: Callable[..., object] = space["block"]
    return block


def empty_call_ns(clock: Clock, arguments: int, collect: bool, *, single: bool = False) -> float:
    """Return what the harness adds to one call, in nanoseconds: a loop over a C function that does nothing.

    `sys.audit` returns at once when nobody listens and takes any number of arguments by the fast calling convention.
    Keywords count as further arguments: passing their names costs one more load. With `single`, a loop of one turn is
    timed, with all that stands between two readings of the clock.
    """
    shape = max(1, arguments)
    block = loop(shape, (), collect)
    given = ("opperf.empty", *range(shape - 1))
    calls, rounds = (1, SINGLE_ROUNDS) if single else (EMPTY_CALLS, EMPTY_ROUNDS)
    least = float("inf")
    for _ in range(rounds):
        start = clock.wall()
        block(calls, sys.audit, *given)
        least = min(least, (clock.wall() - start) / calls)
    return least
