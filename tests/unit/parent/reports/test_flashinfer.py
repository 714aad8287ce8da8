"""A verdict becomes a trace of FlashInfer-Bench: its status, and only those parts that the status has."""

from __future__ import annotations

from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.reports.exports.flashinfer import Judged, status, trace

WORKLOAD = {"uuid": "u", "axes": {"n": 2}, "inputs": {"x": {"type": "random"}}}


def evaluation(judged: Judged) -> Any:
    own = trace("d", "s", WORKLOAD, judged)
    assert (own["definition"], own["solution"], own["workload"]) == ("d", "s", WORKLOAD)
    return own["evaluation"]


@each("verdict", ["faster", "same", "slower", "inconclusive"])
def test_a_right_candidate_has_passed_with_times_in_milliseconds(verdict: str) -> None:
    own = evaluation(Judged(verdict, time=0.002, reference_time=0.003, absolute_error=1e-6))
    assert own["status"] == "PASSED"
    assert own["performance"] == {"latency_ms": 2.0, "reference_latency_ms": 3.0, "speedup_factor": 1.5}
    assert own["correctness"] == {"max_relative_error": 0.0, "max_absolute_error": 1e-6}


def test_a_measured_speedup_stands_for_the_quotient_of_the_times() -> None:
    own = evaluation(Judged("faster", time=0.002, reference_time=0.003, speedup=1.4))
    assert own["performance"]["speedup_factor"] == 1.4


@each(
    "verdict,cause,word",
    [
        ("wrong", "shape", "INCORRECT_SHAPE"),
        ("wrong", "dtype", "INCORRECT_DTYPE"),
        ("wrong", "load", "COMPILE_ERROR"),
        ("wrong", "timeout", "TIMEOUT"),
        ("wrong", "crash", "RUNTIME_ERROR"),
        ("wrong", "raised", "RUNTIME_ERROR"),
        ("cheats", None, "REWARD_HACK"),
        ("impossible", None, "REWARD_HACK"),
        ("void", None, "INVALID_REFERENCE"),
    ],
)
def test_another_candidate_has_a_status_and_no_figures(verdict: str, cause: str | None, word: str) -> None:
    own = evaluation(Judged(verdict, cause, time=0.002, reference_time=0.003))
    assert (own["status"], own["correctness"], own["performance"]) == (word, None, None)


def test_wrong_values_have_errors_and_no_times() -> None:
    own = evaluation(Judged("wrong", "values", time=0.002, absolute_error=3.0, relative_error=0.5))
    assert own["status"] == "INCORRECT_NUMERICAL"
    assert own["correctness"] == {"max_relative_error": 0.5, "max_absolute_error": 3.0}
    assert own["performance"] is None


def test_words_that_the_judge_does_not_say_are_refused() -> None:
    for judged in (Judged("good"), Judged("wrong"), Judged("wrong", "luck")):
        with pytest.raises(InputError):
            status(judged)
