"""Real children that explain: one that crashes is replaced, and the next trial is explained."""

from __future__ import annotations

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.explain import explain


def contest(script: str) -> Contest:
    """Return a contest of two sides that was called slower."""
    sides = [Side("null", implementation=script, settings={"slowdown": slowdown}) for slowdown in ("1", "2")]
    base, new = (Trial(Case(f"null:{script}"), side, "forward") for side in sides)
    return Contest(base, new, base, verdict=Verdict("slower", 2.0, (1.9, 2.1), "", 5))


@pytest.mark.usefixtures("patient")
def test_a_child_that_crashes_leaves_the_next_trial_of_its_side_a_fresh_one() -> None:
    crashing, steady, hanging = contest("crash"), contest("steady"), contest("hang")
    explain([crashing, hanging, steady], Settings(timeout=1), lambda _: None)
    assert set(crashing.explanation["failures"]) == {"base", "new"}
    assert "SIGSEGV" in crashing.explanation["failures"]["base"]
    assert "within" in hanging.explanation["failures"]["new"]
    assert steady.explanation["failures"] == {}
    assert steady.explanation["difference"] == ["script: base ran scripted (100 us), new ran scripted:2 (200 us)"]
