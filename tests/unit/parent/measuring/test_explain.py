"""Which comparisons are explained, by which children, and what is said when one cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.explanation import Event, Explanation
from opperf.domain.message.requests import Explain
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.explain import VARIABLES, explain


class Children:
    """A pool of children that say what a test wants; `asked` holds the sides and operators, in order."""

    def __init__(self, say: Callable[[Trial], Explanation]) -> None:
        self.asked: list[tuple[Side, str]] = []
        self._say = say
        self._side = Side("null")

    def __call__(self, *_: object) -> Children:
        return self

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def worker(self, side: Side) -> Children:
        self._side = side
        return self

    def ask(self, request: Explain, _: float) -> Explanation:
        self.asked.append((self._side, request.trial.case.operator))
        return self._say(request.trial)


def contest(operator: str, verdict: str, **settings: str) -> Contest:
    """Return a decided contest of two sides of the null framework, the new one with these settings."""
    base, new = Side("null"), Side("null", settings={"slowdown": "2", **settings})
    on_base, on_new = (Trial(Case(operator), side, "forward") for side in (base, new))
    return Contest(on_base, on_new, on_base, verdict=Verdict(verdict, 2.0, (1.9, 2.1), "", 5))


def event(trial: Trial) -> Explanation:
    """Say that a kernel ran that is named after the slowdown of the side."""
    return Explanation((Event("script", "kernel", 1, 1e-6, trial.side.settings.get("slowdown", "1")),))


def explained(contests: list[Contest], children: Children, **options: Any) -> None:
    """Explain with these children."""
    pool: Any = children
    explain(contests, Settings(), lambda _: None, pool=pool, **options)


def test_only_what_is_slower_or_faster_is_explained() -> None:
    contests = [contest(word, word) for word in ("slower", "faster", "same", "inconclusive")]
    children = Children(event)
    explained(contests, children)
    assert sorted({operator for _, operator in children.asked}) == ["faster", "slower"]
    assert [bool(one.explanation) for one in contests] == [True, True, False, False]


def test_an_explanation_holds_both_sides_and_their_difference() -> None:
    one = contest("steady", "slower")
    explained([one], Children(event))
    assert one.explanation == {
        "base": [{"name": "script", "kind": "kernel", "calls": 1, "seconds": 1e-6, "by": "1"}],
        "new": [{"name": "script", "kind": "kernel", "calls": 1, "seconds": 1e-6, "by": "2"}],
        "difference": ["script: base ran 1 (1.00 us), new ran 2 (1.00 us)"],
        "alike": 0,
        "notes": {"base": [], "new": []},
        "failures": {},
    }


def test_children_are_told_to_print_and_the_users_own_variables_stand() -> None:
    children = Children(event)
    explained([contest("steady", "slower", **{"env.DNNL_VERBOSE": "2"})], children)
    (base, _), (new, _) = sorted(children.asked, key=lambda asked: len(asked[0].settings))
    assert base.settings == VARIABLES
    assert new.settings == {**VARIABLES, "slowdown": "2", "env.DNNL_VERBOSE": "2"}


def test_a_base_of_several_comparisons_is_asked_once_and_its_child_is_shared() -> None:
    children = Children(event)
    explained([contest("steady", "slower"), contest("noisy", "faster"), contest("steady", "slower")], children)
    sides = [side.settings.get("slowdown") for side, _ in children.asked]
    assert sides in (["2", "2", None, None], [None, None, "2", "2"])


@pytest.mark.parametrize(
    "failure",
    [OperatorFailure(Reason("odd", "no profiler here")), WorkerFailure("no profiler here", slug="crash")],
)
def test_a_side_that_cannot_be_explained_is_named_and_the_others_are_explained(failure: Exception) -> None:
    def say(trial: Trial) -> Explanation:
        if trial.case.operator == "crash" and trial.side.settings:
            raise failure
        return event(trial)

    broken, sound = contest("crash", "slower"), contest("steady", "slower")
    explained([broken, sound], Children(say))
    assert broken.explanation["failures"] == {"new": "no profiler here"}
    assert (broken.explanation["difference"], len(broken.explanation["base"])) == ([], 1)
    assert sound.explanation["difference"]


def test_a_spent_budget_starts_no_child() -> None:
    one, children = contest("steady", "slower"), Children(event)
    explained([one], children, spent=lambda: True)
    assert children.asked == []
    assert set(one.explanation["failures"].values()) == {"the budget ran out"}


def test_a_stop_leaves_the_verdicts() -> None:
    def stop(_: Trial) -> Explanation:
        raise KeyboardInterrupt

    one = contest("steady", "slower")
    with pytest.raises(KeyboardInterrupt):
        explained([one], Children(stop))
    assert one.verdict is not None
    assert one.explanation == {}
