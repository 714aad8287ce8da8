"""When the children of a pair start: while the pair before them is measured, or after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from tests.each import check_each, each

from opperf.domain.case import Case
from opperf.domain.errors import WorkerFailure
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring import next_pair
from opperf.parent.measuring import pairs as pairing
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.next_pair import NextPair, cpus_beside, importing_cpus
from opperf.parent.workers.contention import CLASSES, Effect

NULL = Trial(Case("add", {"lhs": TensorSpec((8,))}), Side("null"), "forward")
TORCH = replace(NULL, side=Side("torch"))
CPUS = ((3,), (2,), (1,))


class Pairs:
    """Stands for what starts pairs; `events` has what happened to each, by its number."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.trouble: dict[int, str] = {}
        self._count = 0

    def start(self, *_: object, ahead: Sequence[tuple[int, ...]] = ()) -> Any:
        """Start one."""
        self._count += 1
        number, events, trouble = self._count, self.events, self.trouble.get(self._count)
        events.append(f"{number} starts{f' on {[*ahead]}' if ahead else ''}")
        if trouble == "start":
            raise WorkerFailure("no such Python", slug="spawn")

        class Pair:
            turn, alive = 1, True
            facts: tuple[dict[str, str], ...] = ({}, {})

            def gather(self) -> None:
                events.append(f"{number} is ready")
                if trouble == "gather":
                    raise WorkerFailure("it died", slug="exit")

            def check(self, *_: object) -> None:
                pass

            def compare(self, *_: object) -> PairValue:
                events.append(f"{number} is measured")
                return PairValue(0.0, {"turn": 1.0}, {"turn": 1.0})

            def memory(self, *_: object) -> list[Measurement]:
                return []

            def close(self) -> None:
                events.append(f"{number} ends")

        return Pair()


@pytest.fixture
def pairs() -> Pairs:
    return Pairs()


def compare(
    pairs: Pairs,
    count: int,
    cpus: Sequence[tuple[int, ...]],
    monkeypatch: pytest.MonkeyPatch,
    beside: tuple[int, ...] | None = None,
) -> Contest:
    """Compare by so many pairs, whose next ones import on these CPUs, or with the one before on those beside it."""
    monkeypatch.setattr(pairing, "importing_cpus", lambda *_: cpus)
    monkeypatch.setattr(pairing, "cpus_beside", lambda *_: beside)
    monkeypatch.setattr(pairing, "Duel", pairs.start)
    contest = Contest(NULL, NULL, NULL)
    Comparing(Settings(check="none"), Rule(), lambda _: None, duel=pairs.start).run([contest], count)
    return contest


def test_each_pair_but_the_last_starts_the_next_before_it_is_measured(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare(pairs, 3, CPUS[1:], monkeypatch).pairs == 3
    assert pairs.events == [
        "1 starts",
        "2 starts on [(2,), (1,)]",
        "1 is measured",
        "1 ends",
        "2 is ready",
        "3 starts on [(2,), (1,)]",
        "2 is measured",
        "2 ends",
        "3 is ready",
        "3 is measured",
        "3 ends",
    ]


def test_without_cpus_for_it_a_pair_starts_when_the_one_before_has_ended(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare(pairs, 2, (), monkeypatch)
    assert pairs.events == ["1 starts", "1 is measured", "1 ends", "2 starts", "2 is measured", "2 ends"]


def test_two_pairs_import_at_a_time_where_a_core_is_free_and_are_measured_one_after_the_other(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compare(pairs, 3, (), monkeypatch, beside=(2,)).pairs == 3
    assert pairs.events == [
        "1 starts on [(2,), (2,)]",
        "2 starts",
        "1 is ready",
        "2 is measured",
        "2 ends",
        "1 is ready",
        "1 is measured",
        "1 ends",
        "3 starts",
        "3 is measured",
        "3 ends",
    ]


def test_a_pair_that_does_not_import_beside_another_starts_in_its_turn(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(trouble: str) -> None:
        pairs.events.clear()
        pairs._count, pairs.trouble = 0, {1: trouble}
        assert compare(pairs, 2, (), monkeypatch, beside=(2,)).failure is None
        assert pairs.events[-5:] == ["2 is measured", "2 ends", "3 starts", "3 is measured", "3 ends"]

    check_each(["start", "gather"], check)


def test_a_pair_imports_beside_another_only_where_children_come_of_one_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_pair, "starting_cpus", lambda *_: (2,))

    def cpus(base: Trial, new: Trial, case: Case = NULL.case) -> tuple[int, ...] | None:
        trials = replace(base, case=case), replace(new, case=case)
        return cpus_beside([trials], Settings(), base.side, new.side)

    assert cpus(TORCH, TORCH) == (2,)
    assert cpus(NULL, NULL) is None
    assert cpus(TORCH, replace(TORCH, side=Side("torch", threads=2))) is None
    assert cpus(TORCH, TORCH, Case("add", {"lhs": TensorSpec((1 << 40,))})) is None


def test_of_pairs_that_import_at_a_time_each_is_said_to_have_taken_half_of_that(
    pairs: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", count().__next__)
    both = NextPair(pairs.start, beside=lambda *_: (2,))
    both.take(NULL.side, NULL.side, goes_on=True)
    assert both.starting == 0.5
    both.take(NULL.side, NULL.side, goes_on=True)
    assert both.starting == 0.5 + 1


def test_pairs_of_another_kind_start_in_their_turn(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "importing_cpus", lambda *_: CPUS[1:])
    contest = Contest(NULL, NULL, NULL)
    Comparing(Settings(check="none"), Rule(), lambda _: None, duel=lambda *sides: pairs.start(*sides)).run([contest], 2)
    assert pairs.events == ["1 starts", "1 is measured", "1 ends", "2 starts", "2 is measured", "2 ends"]


def test_a_pair_that_does_not_start_ahead_starts_in_its_turn(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs.trouble = {2: "start"}
    assert compare(pairs, 2, CPUS[1:], monkeypatch).failure is None
    assert pairs.events[1:] == [
        "2 starts on [(2,), (1,)]",
        "1 is measured",
        "1 ends",
        "3 starts",
        "3 is measured",
        "3 ends",
    ]


def test_children_that_die_while_they_import_ahead_are_a_failure(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs.trouble = {2: "gather"}
    assert compare(pairs, 2, CPUS[1:], monkeypatch).failure == "it died"


def test_what_other_sides_need_not_take_over_ends_first(pairs: Pairs) -> None:
    ahead = NextPair(pairs.start, CPUS[1:])
    ahead.begin(NULL.side, NULL.side)
    ahead.take(NULL.side, TORCH.side)
    assert pairs.events == ["1 starts on [(2,), (1,)]", "1 ends", "2 starts"]


def disturbing(subject: str) -> Callable[..., list[Effect]]:
    """Return canaries of which one is slowed down by streaming neighbours."""
    pairs = [(one, other) for one in CLASSES for other in CLASSES]
    slow = {(subject, "streaming"): 0.2}
    return lambda *_: [Effect(3, *pair, slow.get(pair, 0.0), "", 1e9) for pair in pairs]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of four idle cores, whose canaries are disturbed where they stream."""
    monkeypatch.setattr(next_pair, "cpus_ahead", lambda sides: CPUS)
    monkeypatch.setattr(next_pair, "loads", lambda: [0.0])
    monkeypatch.setattr(next_pair, "stored_effects", lambda jobs: [])
    monkeypatch.setattr(next_pair, "effects", disturbing("streaming"))


def cpus_of(base: Trial = TORCH, new: Trial = TORCH, **settings: Any) -> Sequence[tuple[int, ...]]:
    return importing_cpus([(base, new)], Settings(**settings), lambda _: None)


@pytest.mark.usefixtures("quiet")
def test_work_that_bears_every_neighbour_lets_the_next_pair_import_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cpus_of() == CPUS[1:]
    monkeypatch.setattr(next_pair, "effects", disturbing("compute"))
    assert cpus_of() == ()


@pytest.mark.usefixtures("quiet")
@each(
    ("why", "base", "settings"),
    [
        ("the null framework imports nothing", NULL, {}),
        ("the user chose CPUs", TORCH, {"cpus": (0, 1)}),
        ("jobs have the other cores", TORCH, {"jobs": 2}),
        ("a GPU serves one process", replace(TORCH, side=Side("torch", device="cuda:0")), {}),
        ("a case fills the memory", replace(TORCH, case=Case("add", {"lhs": TensorSpec((1 << 40,))})), {}),
    ],
)
def test_there_are_reasons_to_start_no_pair_ahead(why: str, base: Trial, settings: dict[str, Any]) -> None:
    assert cpus_of(base, base, **settings) == (), why


@pytest.mark.usefixtures("quiet")
def test_canaries_are_not_asked_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_pair, "loads", lambda: [2.0])
    assert cpus_of() == ()
    monkeypatch.setattr(next_pair, "stored_effects", disturbing("streaming"))
    assert cpus_of() == CPUS[1:]


@pytest.mark.usefixtures("quiet")
def test_sides_that_count_other_cpus_when_they_are_imported_start_in_their_turn() -> None:
    wide = replace(TORCH, side=Side("torch", threads=2))
    assert importing_cpus([(TORCH, TORCH), (wide, wide)], Settings(), lambda _: None) == ()
