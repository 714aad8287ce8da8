"""A pair of children that count: its ratio, and its end. The counters here start no child."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.catalog import operator
from opperf.domain.errors import InputError, WorkerFailure
from opperf.domain.message.replies import Instructions, Preparation
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.workers import instructions
from opperf.parent.workers.instructions import CountingDuel

BASE, NEW = Side("null"), Side("null", environment="python=new")


def test_extra_calls_are_not_counted_and_so_refused() -> None:
    with pytest.raises(InputError, match="extra_calls"):
        instructions.check(iter([Side("null"), Side("null", settings={"extra_calls": "5%"})]))


class Counter:
    """Counts what its side says; the new side starts only with `starts`."""

    closed: list[Side]
    starts = True
    preparation: Preparation | None = None

    def __init__(self, side: Side, *_: object, **__: object) -> None:
        self.side = side

    def greet(self) -> None:
        if self.side == NEW and not self.starts:
            raise WorkerFailure("it ended", slug="crash")

    def count(self, trial: Trial) -> Instructions:
        self.preparation = Preparation(1, {}, {}, results=("float32 4" if trial.side == BASE else "float64 4",))
        return Instructions(100.0 if trial.side == BASE else 110.0, 0.0, 1, 3, "avx2")

    def close(self) -> None:
        self.closed.append(self.side)


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of the counters."""
    own = type("Own", (Counter,), {"closed": []})
    monkeypatch.setattr(instructions, "Counter", own)
    return own


def duel() -> CountingDuel:
    return CountingDuel(BASE, NEW, Settings(), print, layout=0)


def test_a_pair_of_counts_is_one_round_of_its_clock(counter: Any) -> None:
    case = operator("add").case("small")
    value = duel().compare(Trial(case, BASE, "forward"), Trial(case, NEW, "forward"))
    assert value.log_ratio == pytest.approx(0.0953, abs=1e-4)
    assert (value.base, value.new) == ({"instructions": 100.0}, {"instructions": 110.0})
    assert (value.rounds, value.clock) == (1, "instructions")
    assert [warning.slug for warning in value.warnings] == ["different_results"]


def test_where_one_side_does_not_start_both_are_ended(counter: Any) -> None:
    counter.starts = False
    with pytest.raises(WorkerFailure):
        duel()
    assert counter.closed == [BASE, NEW]
