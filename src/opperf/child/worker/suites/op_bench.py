"""Benchmark files of PyTorch's `operator_benchmark`, which import a stand-in of it: a test in them is a case.

A case has the test's name and tag. Where a file has two tests of the same name and tag, as of a forward and of its
gradient, the second has a `number` too. A test is what its class does: `init` makes its inputs anew, the same ones each
time, and `forward` is called with them. When that is, and how often, is opperf's.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from opperf.child import backends
from opperf.child.backends.binding import Call
from opperf.child.worker.code import CodeError
from opperf.child.worker.suites.blame import blaming, extensible, whereabouts
from opperf.child.worker.suites.imports import Imports
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode
from opperf.domain.message.replies import Example
from opperf.domain.plan import Side

#: Why a test is not measured in other directions than its own.
ONE_DIRECTION = {
    False: dict.fromkeys(("backward", "forward_backward"), "a test of a forward has no gradient"),
    True: dict.fromkeys(("forward", "forward_backward"), "a gradient test is measured backward alone"),
}


class OperatorBenchmarks:
    """A benchmark file, imported when it is first asked for."""

    def __init__(self, code: SuiteCode, folder: Path, side: Side) -> None:
        """Find the stand-in; raises `CodeError` on a side of another framework."""
        if side.framework != "torch":
            message = f"these are benchmarks of PyTorch, which are not measured in {side.framework}"
            raise CodeError(message, hint="`--framework torch`, or a side such as `torch==2.13.0`")
        self._code = code
        self._home = folder
        self._path = (folder / code.path).resolve()
        self._imports = Imports(code, side)
        self._device, self._is_eager = side.device.partition(":")[0], side.mode == "eager"
        self._place, self._environment = whereabouts(side.environment), extensible(side.environment, "torch")
        self._registrations: list[Any] | None = None
        self._stand_in = import_module("opperf.child.backends.torch.operator_benchmark")

    def cases(self, limit: float | None = None) -> list[Example]:
        """Return the tests that the file registers, in PyTorch's order; raises `CodeError` for one that fails."""
        with self._imports.noted(limit):
            self._imports.begin(self._path.name)
            return self._examples()

    def _examples(self) -> list[Example]:
        with blaming(self._path.parent, self._environment):
            return [
                Example(
                    case,
                    direction="backward" if test.registration.backward else "forward",
                    labels={"tag": test.tag, "operator": test.operator, "inputs": test.inputs},
                )
                for case, test in self._tests()
            ]

    def call(self, case: Case) -> Call:
        """Return how a test is called; raises `Unsupported` for one that is not here."""
        name = case.operator
        self._imports.check(self._path.name)
        with blaming(self._path.parent, self._environment):
            tests = self._tests(name, str(case.attributes.get("tag")))
            test = next((test for own, test in tests if own == case), None)
        if test is None:
            raise Unsupported(f"`{self._code}` has no `{name}` {self._place}", slug="no_such_operator")
        directions = ONE_DIRECTION[test.registration.backward]
        bind = partial(self._bind, test)
        return Call(f"{self._code}:{name}", (), function=test.build, unsupported=directions, bind=bind)

    def _tests(self, name: str | None = None, tag: str | None = None) -> Iterator[tuple[Case, Any]]:
        """Yield the tests of this side's device with their cases, all or those that may have a name."""
        if self._registrations is None:
            self._registrations = self._load()
        numbers: Counter[tuple[str, str]] = Counter()
        for test in self._stand_in.registered(self._registrations, name, tag):
            if test.attributes.get("device", self._device) != self._device:
                continue
            numbers[test.name, test.tag] += 1
            number = numbers[test.name, test.tag]
            yield Case(test.name, attributes={"tag": test.tag, **({"number": number} if number > 1 else {})}), test

    def _load(self) -> list[Any]:
        """Import the file as its own runner does, from the folder above: files share configs by `from pt import`."""
        random.seed(0)  # configs may be drawn, and are the same in each process
        places = [str(self._path.parent.parent), str(self._path.parent)]
        sys.path.extend(place for place in places if place not in sys.path)
        with self._stand_in.collected() as registrations:
            backends.load_plugin(self._path)
        return list(registrations)

    def _bind(self, test: Any) -> Bound:
        """Return a test that is set up, an object of its own each time."""
        os.chdir(self._home)  # wherever the last one went
        benchmark = test.build()
        function, arguments = self._stand_in.timed_call(benchmark)
        attributes = {
            f"self.{name}": value for name, value in vars(benchmark).items() if self._stand_in.is_tensor(value)
        }
        return Bound(
            function,
            arguments,
            differentiable=self._stand_in.differentiable(benchmark),
            values={**attributes, **benchmark.inputs},
            as_is=self._is_eager,  # weights have gradients, and a forward records what these take
        )
