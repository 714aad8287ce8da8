"""What is shown of a judge: the pairs of one candidate, and of several how many have their verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.watched import Watched

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands import judge as session
from opperf.parent.commands.judge import Order, judge_all
from opperf.parent.documents.candidates import Judged
from opperf.parent.measuring.judge.judge import Terms
from opperf.parent.measuring.judge.submissions import Submission
from opperf.parent.measuring.progress import Progress
from opperf.parent.planning.request import Request

TRIAL = Trial(Case("softmax"), Side("null"), "forward")
SOURCE = "def f(data):\n    return data\n"


@pytest.fixture
def terms(monkeypatch: pytest.MonkeyPatch) -> list[Terms]:
    """The terms of each batch, whose candidates are all found wrong, as nothing is started."""
    result: list[Terms] = []

    def judge_batch(
        against: str, trial: Trial, submissions: Sequence[Submission], terms: Terms, *_: object, **__: Any
    ) -> Iterator[tuple[Submission, Judged]]:
        result.append(terms)
        for one in submissions:
            yield one, Judged(one.name, against, trial.case, "wrong", "")

    monkeypatch.setattr(session, "reference_trials", lambda *_: ([TRIAL], None))
    monkeypatch.setattr(session, "judge_batch", judge_batch)
    return result


def verdicts(candidates: int, progress: Progress) -> list[str]:
    """Return the verdicts on so many candidates."""
    order = Order([SOURCE] * candidates, "softmax")
    return [judged.verdict for _, judged in judge_all(order, Request(), Rule(), progress)]


def test_the_pairs_of_one_candidate_are_shown(terms: list[Terms]) -> None:
    progress = Watched()
    assert verdicts(1, progress) == ["wrong"]
    assert terms[0].progress is progress
    assert progress.lines == ["close"]


def test_of_several_candidates_the_number_of_verdicts_is_shown_and_no_pairs(terms: list[Terms]) -> None:
    progress = Watched()
    assert verdicts(3, progress) == ["wrong"] * 3
    assert not terms[0].progress.compare("pair 1 of 3", 0, 3, "")
    assert progress.lines == [*(f"judging candidates: {count} of 3" for count in range(4)), "close"]
