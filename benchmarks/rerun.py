"""Captured calls, run again from their cases; imported where their framework is (`rerun_torch.py` and the like).

Each case goes through the JSON of a suite, and is called as a child calls it: with inputs of its own, whose results
must have the shapes, strides and element types of the captured call's, and a number wherever that had one; and with the
numbers that the program gave, whose results must be the program's, within what `correctness` allows their element type,
and so must be what is left in tensors that it changes.
"""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

from opperf.catalog.valid_values import restrict
from opperf.child.worker import arguments, code, inputs
from opperf.child.worker.correctness import check
from opperf.child.worker.directions import call_once, ready
from opperf.child.worker.failures import failure
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend, HostValue
from opperf.domain.call import Bound, CapturedCall
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.plan import Trial
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec

#: How a tensor looks: its shape, its element type, and its strides where a framework has them.
Look: TypeAlias = tuple[tuple[int, ...], str, tuple[int, ...] | None]
#: How the numbers of a case are that are compared.
BITS, NUMBERS = "the same bits", "the same numbers"
#: The bits of an infinite number of a type that Python does not read; those above are no numbers.
INFINITE = {"float16": 0x7C00, "bfloat16": 0x7F80}
#: Why the numbers of what only takes memory are not looked at.
MEMORY = "memory as it is"


@dataclass(frozen=True)
class RecordedCall:
    """A captured call, with the numbers that its tensors had before it, and those that it returned.

    `left` are those that its tensors had afterwards, where it may have changed them. A backward is given `cotangents`,
    and returns gradients. `looks` is None where nobody saw what was returned. `undecided` says why its inputs do not
    decide its numbers, so that they are not compared; `unlike` what of the call its case does not hold.
    """

    call: CapturedCall
    given: Sequence[HostValue] = ()
    looks: Sequence[Look] | None = None
    returned: Sequence[HostValue] = ()
    left: Sequence[HostValue] = ()
    cotangents: Sequence[HostValue] = ()
    undecided: str = ""
    unlike: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a case did by itself: how its results looked, how their numbers were, or what went wrong."""

    looks: Sequence[Look] = ()
    numbers: str = ""
    wrong: str = ""

    def unlike(self, kept: RecordedCall) -> str:
        """Return how a call of the case differs from it; empty where it does not."""
        if self.wrong or kept.looks is None or list(self.looks) == list(kept.looks):
            return self.wrong
        return f"looks like {list(self.looks)}, not like {list(kept.looks)}"


@dataclass(frozen=True)
class Again:
    """Runs cases again; `scope` is open around each, as around those of a child."""

    backend: Backend
    names: Names
    scope: Callable[[], AbstractContextManager[Any]]
    outcomes: dict[tuple[Case, str], Outcome] = field(default_factory=dict)

    def outcome(self, kept: RecordedCall, case: Case) -> Outcome:
        """Return what a case does, which is found once: with the numbers of its first call."""
        key = case, kept.call.direction
        if key not in self.outcomes:
            try:
                with self.scope():
                    self.outcomes[key] = self._outcome(kept, through_a_file(case))
            except Exception as error:  # the other cases run all the same
                self.outcomes[key] = Outcome(wrong=failure(error).reason.message)
        return self.outcomes[key]

    def _outcome(self, kept: RecordedCall, case: Case) -> Outcome:
        drawn = self._results(case, kept.call.direction)
        looks = [look(self.backend, tensor) for tensor in drawn]
        numbered = kept.undecided != MEMORY and not any(map(has_nan, kept.returned))
        if numbered and any(has_nan(self.backend.to_host(tensor)) for tensor in drawn):
            return Outcome(wrong="NaN where the program had none")
        if kept.undecided:
            return Outcome(looks, kept.undecided)
        with in_place(self.backend, kept) as given:
            results = self._results(case, kept.call.direction)
        result = [self.backend.to_host(tensor) for tensor in (*results, *(given if kept.left else ()))]
        expected = [*kept.returned, *kept.left]
        if result == expected:
            return Outcome(looks, BITS)
        check(result, expected, "the captured call")
        return Outcome(looks, NUMBERS)

    def _results(self, case: Case, direction: str) -> list[Any]:
        """Return what the first call returns: it may change its inputs, so that the next one returns something else."""
        side = replace(self.backend.side, implementation=case.operator.partition(":")[2])
        call = self.names.call(Trial(case, side, direction))

        def bind() -> Bound:
            return arguments.bind(case, call, None, self.backend, 0)

        if direction == "forward":
            work = self.backend.forward(bind())
        else:
            work = ready(self.backend, bind, direction, None, "0", random=self.names.draws(call.path)).work
        return self.backend.leaves(call_once(self.backend, work))


def through_a_file(case: Case) -> Case:
    """Return what is read of a case that is written to a suite."""
    written = json.dumps(Suite("again", "rerun", (SuiteCase(case),)).to_json())
    return Suite.from_json(json.loads(written), "suite").cases[0].case


@contextmanager
def in_place(backend: Backend, kept: RecordedCall) -> Iterator[list[Any]]:
    """Have a child make its tensors of kept numbers, in the order in which it asks for them, for a while.

    Yields the tensors that it is given in this way, cotangents left out.
    """
    given, cotangents = iter(kept.given), iter(kept.cotangents)
    tensors: list[Any] = []
    bind = arguments.bind

    def bound(*words: Any) -> Bound:
        """Begin anew: inputs that a call changes are made again."""
        nonlocal given, cotangents
        given, cotangents = iter(kept.given), iter(kept.cotangents)
        tensors.clear()
        return bind(*words)

    def made(_: Backend, spec: TensorSpec, seed: str) -> Any:
        back = seed.endswith("/cotangent")
        raw, shape, dtype = next(cotangents if back else given, (b"", (), "nothing"))
        if (shape, dtype) != (spec.shape, spec.dtype):
            raise ValueError(f"{dtype} {list(shape)} was kept where {spec.dtype} {list(spec.shape)} is asked for")
        tensor = inputs.of_elements(backend, spec, bytearray(raw))
        if not back:
            tensors.append(tensor)
        return tensor

    with patch.object(inputs, "tensor", made), patch.object(arguments, "bind", bound):
        yield tensors
    if next(given, None) is not None or next(cotangents, None) is not None:
        raise ValueError("more tensors were kept than are asked for")


def has_nan(value: HostValue) -> bool:
    """Whether a tensor of one of the usual types has an element that is no number."""
    raw, _, dtype = value
    if dtype in INFINITE:
        return any(bits & 0x7FFF > INFINITE[dtype] for bits in array("H", bytes(raw)))
    letter = {"float32": "f", "float64": "d", "complex64": "f", "complex128": "d"}.get(dtype)
    return letter is not None and any(map(math.isnan, array(letter, bytes(raw))))


def look(backend: Backend, tensor: Any) -> Look:
    """Return how a tensor looks; PyTorch's alone have strides."""
    described = backend.spec(tensor)
    return described.shape, described.dtype, tuple(tensor.stride()) if hasattr(tensor, "stride") else None


def report(again: Again, program: Iterable[RecordedCall]) -> dict[str, Any]:
    """Return how many calls and cases a program has, how they do, and each call that does not run as it did."""
    names: Counter[str] = Counter()
    modules: set[str] = set()
    unlike: list[list[str]] = []
    calls = missed = left_out = 0
    for kept in program:
        call = kept.call
        names[f"{call.name} backward" if call.direction == "backward" else call.name] += 1
        modules.add(call.module)
        # As a capture writes it: with values that the operator is defined for.
        case = None if call.case is None else restrict(call.case)
        wrong = kept.unlike or (call.why if case is None else again.outcome(kept, case).unlike(kept))
        calls += call.count
        left_out += 0 if call.case is not None else call.count
        if wrong:
            missed += call.count
            unlike.append([call.name, wrong])
    outcomes = again.outcomes.values()
    return {
        "calls": calls,
        "missed": missed,
        "cases": len(outcomes),
        "numbers": Counter(outcome.numbers for outcome in outcomes if not outcome.wrong),
        "names": names,
        "modules": sorted(modules),
        "unlike": unlike,
        "left_out": left_out,
    }


def main(
    backend: Backend,
    kept: Callable[[Callable[[], Any]], Iterable[RecordedCall]],
    scope: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> None:
    """Print what is found of functions; the command line has a folder, and FILE:FUNCTION of each.

    `kept` calls one and returns what it calls, with its numbers.
    """
    folder = Path(sys.argv[1])
    names = Names(backend, folder, code.Plugins(folder, ()))
    functions = [code.load(Code(path), folder) for path in sys.argv[2:]]
    print(json.dumps([report(Again(backend, names, scope), kept(function)) for function in functions]))
