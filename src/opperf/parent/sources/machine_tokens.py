"""The machines that may add runs to a server, each with a token of its own, which stands in the environment alone.

`OPPERF_MACHINES` has them as words, `ci=TOKEN lab=TOKEN`. A file, which others may read, names variables instead: the
table `[serve.machines]` says `ci = "$CI_TOKEN"`. No message has a token in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.parent.sources.gate_keys import string

#: The environment variable that has machines with their tokens.
VARIABLE = "OPPERF_MACHINES"
#: The fewest characters of a token: no one guesses it.
LEAST = 16
#: What a machine may be called: it stands in the log.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


def machine_tokens(
    references: Mapping[str, str], variables: Mapping[str, str] = os.environ, readers: str | None = None
) -> dict[str, str]:
    """Return the token of each machine, by its name: those of the environment, and those that a file refers to.

    `readers` is the token of visitors, which no machine may have. Raises `InputError`.

    >>> machine_tokens({"lab": "$LAB"}, {"OPPERF_MACHINES": "ci=0123456789abcdef", "LAB": "fedcba9876543210"})
    {'ci': '0123456789abcdef', 'lab': 'fedcba9876543210'}
    """
    tokens: dict[str, str] = {}
    for number, word in enumerate(variables.get(VARIABLE, "").split(), 1):
        name, equals, token = word.partition("=")
        if not equals or not NAME.fullmatch(name):  # the word may be a token, so it is not shown
            message = f"`{VARIABLE}`: word {number} is not `NAME=TOKEN`, with a name of letters, digits and `_.-`"
            raise InputError(message, hint=f"write, for example, `{VARIABLE}=ci=TOKEN`", slug="token")
        _add(tokens, name, token, f"`{VARIABLE}`")
    for name, reference in references.items():
        variable = reference.removeprefix("$")
        if not variables.get(variable):
            message = f"the variable `{variable}` is not set, which has the token of machine `{name}`"
            raise InputError(message, slug="token")
        _add(tokens, name, variables[variable], f"`{variable}`")
    _check_distinct([*tokens.values(), *([readers] if readers else [])])
    return tokens


def _add(tokens: dict[str, str], name: str, token: str, where: str) -> None:
    if name in tokens:
        raise InputError(f"{where}: the machine `{name}` occurs twice", slug="token")
    if len(token) < LEAST:
        message = f"{where}: the token of `{name}` has {len(token)} characters, expected {LEAST} or more"
        raise InputError(message, slug="token")
    tokens[name] = token


def _check_distinct(tokens: Iterable[str]) -> None:
    every = [*tokens]
    if len(set(every)) < len(every):
        hint = "give each machine, and visitors, a token of their own"
        raise InputError("two tokens are the same", hint=hint, slug="token")


def reference(value: object, folder: Path) -> str:
    """Read `$NAME`, the variable that has a token; raises `InputError` for a token itself, and does not show it."""
    if not REFERENCE.fullmatch(string(value, folder)):
        hint = "put the token into a variable, and write `$NAME`"
        raise InputError("expected the name of a variable, such as `$CI_TOKEN`", hint=hint, slug="gate_file")
    return str(value)
