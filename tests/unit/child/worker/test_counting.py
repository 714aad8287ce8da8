"""How operators outside the catalog are counted: by a call, and of long ones from some time on by shapes alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.backends.null.scripts import STEADY_NS
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.counting import MOST_MADE_NS
from opperf.child.worker.handler import Handler
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.message.requests import Prepare
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec

CASE = Case("null:any", {"x": TensorSpec((2,))})


class Counting(NullBackend):
    """Counts nothing, and remembers for which calls it should have made none."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self.long: list[bool] = []

    def counts(self, work: Any, *, long: bool = False) -> None:
        """Note a call."""
        self.long.append(long)


def prepare(handler: Handler, implementation: str | Code = "steady") -> None:
    trial = Trial(CASE, Side("null", implementation=implementation), "forward")
    handler.answer(Prepare(trial))


@each(("of_own", "without_elements"), [(True, False), (False, True)])
def test_own_code_never_gets_tensors_without_elements_however_long_it_takes(
    of_own: bool, without_elements: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.child.worker.counting.LONG_NS", 0)
    monkeypatch.setattr("opperf.child.worker.counting.MOST_MADE_NS", -1)
    (tmp_path / "own_long.py").write_text("def call(x): return x\n")
    backend = Counting(Side("null"))
    prepare(Handler(backend, NoCounters(), tmp_path), Code("own_long.py:call") if of_own else "steady")
    assert backend.long == [without_elements]


def test_long_calls_are_made_to_be_counted_for_as_long_as_it_takes_to_import_the_other_way() -> None:
    slowdown = MOST_MADE_NS // 2 // STEADY_NS
    backend = Counting(Side("null", settings={"slowdown": str(slowdown)}))
    handler = Handler(backend, NoCounters(), Path())
    for _ in range(4):
        prepare(handler)
    assert backend.long == [False, False, True, True]
