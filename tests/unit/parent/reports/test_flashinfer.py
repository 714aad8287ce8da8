"""A judgement on a workload becomes a trace of FlashInfer-Bench: its status, and only what the status has."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.each import each

from opperf.domain.case import Case
from opperf.domain.plan import Settings
from opperf.domain.record import Run
from opperf.parent.documents.candidates import Evidence, Judged, JudgedRun, Speed
from opperf.parent.reports.exports.flashinfer import lines

CASE = Case("flashinfer:d")
WORKLOAD = {"uuid": "u", "axes": {"n": 2}, "inputs": {"x": {"type": "random"}}}
SPEED = Speed(0.002, 0.003, 1.4, (1.3, 1.5))
RIGHT = Judged(
    "s.json:run",
    "flashinfer:d",
    CASE,
    "faster",
    "both stages agree",
    ring=SPEED,
    judged_by="ring",
    workload={"definition": "d", "workload": WORKLOAD},
)
ENVIRONMENT = {"machine": {"cpu": "AMD EPYC"}, "sides": {"reference": {"version": "2.13.0"}}}


def traces(*judgements: Judged) -> list[Any]:
    run = Run("r", "2026-11-26T12:00:00+00:00", (), Settings(), environment=ENVIRONMENT)
    return [json.loads(line) for line in lines([JudgedRun(run, judgements)])]


@each("verdict", ["faster", "same", "slower", "inconclusive"])
def test_a_right_candidate_has_passed_with_times_in_milliseconds(verdict: str) -> None:
    (own,) = traces(replace(RIGHT, verdict=verdict))
    assert (own["definition"], own["solution"], own["workload"]) == ("d", "s.json:run", WORKLOAD)
    evaluation = own["evaluation"]
    assert evaluation["status"] == "PASSED"
    assert evaluation["performance"] == {"latency_ms": 2.0, "reference_latency_ms": 3.0, "speedup_factor": 1.4}
    assert evaluation["environment"] == {"hardware": "AMD EPYC", "libs": {"torch": "2.13.0"}}


@each(
    "verdict,cause,word",
    [
        ("wrong", "other_shape", "INCORRECT_SHAPE"),
        ("wrong", "other_type", "INCORRECT_DTYPE"),
        ("wrong", "load", "COMPILE_ERROR"),
        ("wrong", "timeout", "TIMEOUT"),
        ("wrong", "fails", "RUNTIME_ERROR"),
        ("cheats", "exits", "REWARD_HACK"),
        ("impossible", "too_fast", "REWARD_HACK"),
        ("void", "void", "INVALID_REFERENCE"),
    ],
)
def test_another_candidate_has_a_status_and_no_figures(verdict: str, cause: str, word: str) -> None:
    (own,) = traces(replace(RIGHT, verdict=verdict, evidence=(Evidence(cause, "why", "size"),)))
    evaluation = own["evaluation"]
    assert (evaluation["status"], evaluation["correctness"], evaluation["performance"]) == (word, None, None)


def test_wrong_values_have_the_errors_of_an_element_and_no_times() -> None:
    evidence = Evidence("wrong_values", "why", "size", CASE, {"found": 3.0, "expected": 2.0})
    (own,) = traces(replace(RIGHT, verdict="wrong", evidence=(evidence,)))
    evaluation = own["evaluation"]
    assert (evaluation["status"], evaluation["performance"]) == ("INCORRECT_NUMERICAL", None)
    assert evaluation["correctness"] == {"max_relative_error": 0.5, "max_absolute_error": 1.0}


def test_what_was_judged_on_no_workload_has_no_trace() -> None:
    assert traces(replace(RIGHT, workload={})) == []
