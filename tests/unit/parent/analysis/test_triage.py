"""How changes stand by what was decided of them, and which findings of a gate are expected."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.domain.stats.significance import Estimate
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.gate import judgement_of
from opperf.parent.analysis.triage import Triage, step_of
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.documents.triage import Decision, Step

ORDERS = {"numpy": ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5")}
SAID = datetime(2026, 11, 10, tzinfo=timezone.utc)
BEFORE, LATER = SAID - timedelta(days=1), SAID + timedelta(days=1)


def compared(base: str, new: str, ratio: float) -> Comparison:
    """Return a comparison of two versions of NumPy, known within 1 %."""
    old, later = (Side("numpy", f"numpy=={version}") for version in (base, new))
    word = "slower" if ratio > 1.02 else "faster" if ratio < 0.98 else "same"
    verdict = Verdict(word, ratio, (ratio * 0.99, ratio * 1.01), "", 5)
    case = Case("sum", {"data": TensorSpec((32, 32))})
    return Comparison(case, "forward", old, later, verdict, base_version=base, new_version=new)


def step(base: str, new: str, ratio: float = 1.05) -> Step:
    """Return the step between two versions."""
    result = step_of(compared(base, new, ratio))
    assert result is not None
    return result


def decided(step: Step, state: str) -> Decision:
    """Return what was said of a step."""
    return Decision(step, state, "why", "", "", "ann", SAID, step.name)


def finding(triage: Triage, base: str, new: str, ratio: float) -> tuple[str, str, int]:
    """Return the kind and the sentence of a gate's one finding, and its exit code."""
    judgement = triage.judge(judgement_of([compared(base, new, ratio)], Tolerances(0.02)))
    return judgement.findings[0].kind, judgement.findings[0].message, judgement.exit_code


def test_a_name_tells_series_builds_and_directions_apart_and_nothing_else() -> None:
    name = step("1.0", "1.2").name
    assert step("1.1", "1.2", 1.5).name == name
    assert name not in (step("1.0", "1.3").name, step("1.0", "1.2", 0.9).name)


def test_a_change_is_new_until_somebody_decides_and_the_latest_word_holds() -> None:
    change = step("1.1", "1.2")
    assert Triage((), ORDERS).standings([change], LATER)[0].state == "new"
    decisions = [decided(change, "seen"), decided(change, "expected")]
    standing = Triage(decisions, ORDERS).standings([change], LATER)[0]
    assert (standing.name, standing.state, standing.decision) == (change.name, "expected", decisions[1])


def test_a_change_keeps_its_decision_where_builds_between_move_it() -> None:
    triage = Triage([decided(step("1.1", "1.4"), "expected")], ORDERS)
    (moved,) = triage.standings([step("1.2", "1.3")], LATER)
    assert (moved.name, moved.state) == (step("1.1", "1.4").name, "expected")
    assert triage.standings([step("1.4", "1.5")], LATER)[0].state == "new"
    assert triage.standings([step("1.2", "1.3", 0.9)], LATER)[0].state == "new"


def test_two_changes_never_share_a_decision() -> None:
    """The build between shows that there were two: the name belongs to the one at the same build."""
    triage = Triage([decided(step("1.1", "1.3"), "expected")], ORDERS)
    standings = triage.standings([step("1.1", "1.2"), step("1.2", "1.3")], LATER)
    assert [standing.state for standing in standings] == ["new", "expected"]


def test_what_was_fixed_and_comes_back_is_new() -> None:
    first, back, again = step("1.0", "1.1"), step("1.1", "1.2", 0.95), step("1.3", "1.4")
    triage = Triage([decided(first, "fixed")], ORDERS)
    standings = triage.standings([first, back, again], LATER)
    assert [standing.state for standing in standings] == ["fixed", "new", "new"]
    assert standings[2].remark == f"back: `{first.name}` was fixed"
    assert standings[1].remark == ""


def test_what_was_called_fixed_is_new_where_later_builds_show_it_still() -> None:
    change = step("1.0", "1.1")
    triage = Triage([decided(change, "fixed")], ORDERS)
    assert triage.standings([change], BEFORE)[0].state == "fixed"
    (standing,) = triage.standings([change], LATER)
    assert (standing.state, standing.remark) == ("new", "was called fixed, but later builds show it")


def test_what_is_expected_does_not_fail_again() -> None:
    assert finding(Triage((), ORDERS), "1.1", "1.2", 1.05)[::2] == ("slower", 1)
    for state in ("expected", "not a change"):
        triage = Triage([decided(step("1.1", "1.2"), state)], ORDERS)
        kind, message, code = finding(triage, "1.1", "1.2", 1.06)
        assert (kind, code) == ("expected", 0)
        assert f"{state}: why (ann, 2026-11-10)" in message
        assert finding(triage, "1.0", "1.5", 1.05)[::2] == ("expected", 0)
        assert finding(triage, "1.2", "1.3", 1.05)[::2] == ("slower", 1)
    for state in ("new", "seen", "fixed"):
        assert finding(Triage([decided(step("1.1", "1.2"), state)], ORDERS), "1.1", "1.2", 1.05)[::2] == ("slower", 1)


def test_what_is_certainly_more_than_expected_fails() -> None:
    triage = Triage([decided(step("1.1", "1.2"), "expected")], ORDERS)
    kind, message, code = finding(triage, "1.0", "1.5", 1.2)
    assert (kind, code) == ("slower", 1)
    assert "beyond the" in message


def test_several_changes_between_two_builds_explain_their_product_and_one_twice_only_itself() -> None:
    first, second = decided(step("1.1", "1.2"), "expected"), decided(step("1.3", "1.4"), "expected")
    assert finding(Triage([first, second], ORDERS), "1.0", "1.5", 1.1)[0] == "expected"
    moved = decided(step("1.0", "1.2"), "expected")
    twice = Triage([first, replace(moved, change="another")], ORDERS)
    assert finding(twice, "1.0", "1.5", 1.12)[0] == "slower"


def test_expected_time_excuses_no_memory() -> None:
    grown = replace(compared("1.1", "1.2", 1.05), memory={"peak": (2**20, 2**21), "same": False})
    triage = Triage([decided(step("1.1", "1.2"), "expected")], ORDERS)
    judgement = triage.judge(judgement_of([grown], Tolerances(0.02)))
    assert (judgement.findings[0].kind, judgement.exit_code) == ("memory", 1)


def test_a_finding_says_that_what_was_fixed_is_back() -> None:
    triage = Triage([decided(step("1.0", "1.1"), "fixed")], ORDERS)
    assert f"back: `{step('1.0', '1.1').name}` fixed: why" in finding(triage, "1.3", "1.4", 1.05)[1]


def test_builds_without_versions_or_with_one_have_no_name() -> None:
    one = compared("1.1", "1.1", 1.05)
    assert step_of(one) is None
    assert step_of(replace(one, base_version=None)) is None
    assert step_of(replace(compared("1.0", "1.1", 1.05), base=Side("torch", "torch"))) is None


def test_builds_that_the_database_does_not_order_match_by_their_names() -> None:
    odd = replace(step("8.0", "8.1"), size=Estimate(math.log(1.05), 0.01))
    triage = Triage([decided(odd, "expected")], ORDERS)
    assert finding(triage, "8.0", "8.1", 1.05)[0] == "expected"
    assert finding(triage, "8.0", "8.2", 1.05)[0] == "slower"
