"""`opperf.judge`: a judgement on each candidate, and the score that programs are trained by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.functional.test_judge_many import EXIT, ZEROS

import opperf
from opperf.domain.case import Case
from opperf.parent.documents.candidates import Judged, Speed


def test_the_library_returns_a_judgement_on_each_candidate_in_order(here: Path) -> None:
    (here / "mine.py").write_text(EXIT)
    inputs = {"data": (4, 8)}
    judged = opperf.judge([ZEROS, "mine.py", "x = 1\n"], against="softmax", framework="numpy", inputs=inputs, jobs=1)
    assert [(one.candidate, one.verdict, one.score) for one in judged] == [
        ("candidate 1", "wrong", 0.0),
        ("mine.py:f", "cheats", 0.0),
        ("candidate 3", "wrong", 0.0),
    ]


def test_the_library_refuses_what_is_no_candidate() -> None:
    with pytest.raises(opperf.InputError, match="nothing to judge"):
        opperf.judge([], against="softmax", framework="numpy")
    with pytest.raises(opperf.InputError, match="is no candidate"):
        opperf.judge("softmax", against="softmax", framework="numpy")
    with pytest.raises(opperf.InputError, match=r"no file `nowhere\.py`"):
        opperf.judge("nowhere.py:f", against="softmax", framework="numpy")


def test_the_score_is_the_lower_end_of_the_interval_of_one_that_is_right() -> None:
    speed = Speed(1.0, 1.5, 1.5, (1.4, 1.6))
    right = Judged("a", "softmax", Case("softmax"), "faster", "", ring=speed, judged_by="ring")
    assert right.score == 1.4
    assert replace(right, verdict="cheats").score == 0.0
    assert replace(right, ring=None).score == 0.0
