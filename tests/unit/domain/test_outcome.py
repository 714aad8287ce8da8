"""Outcomes: read back from a journal."""

from __future__ import annotations

import json

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Measurement, Sample, Samples
from opperf.domain.outcome import Outcome
from opperf.domain.plan import Side, Trial
from opperf.domain.reason import Reason

TRIAL = Trial(Case("abs"), Side("null"), "forward")


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(TRIAL, 2, "ok", Measurement({"time": Samples((Sample(1, 2, 3),))}, warnings=()), version="2.1"),
        Outcome(TRIAL, 0, "failed", reason=Reason("crash", "it died", signal="SIGSEGV")),
    ],
)
def test_an_outcome_is_read_back(outcome: Outcome) -> None:
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_an_outcome_that_lacks_a_key_is_refused() -> None:
    written = Outcome(TRIAL, 0, "failed", reason=Reason("crash", "it died")).to_json()
    del written["process"]
    with pytest.raises(InputError, match="outcome: no `process`, expected a whole number >= 0"):
        Outcome.from_json(written)
