"""What `opperf bisect` tells of histories that are no staircases, and how little it measures for that.

Pairs scatter as on a quiet machine: by 2 %, and one process in eight is in a mode 3 % slower.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from tests.functional.test_bisect import Exact, Slowdowns, only, search, steps

from opperf.parent.commands.bisect.bisect import Search
from opperf.parent.documents.bisection import Answer
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.progress import Silent

SEEDS = range(6)
NOISE, MODE, SLOW = 0.02, 1 / 8, 0.03


class Scattered(Exact):
    """A comparison whose pairs scatter as those of real processes do."""

    draw = random.Random()

    def _pair(
        self,
        contests: list[Contest],
        stage: Callable[[Contest], list[PairValue]],
        *,
        counted: bool = False,
        goes_on: bool = False,
    ) -> None:
        modes = [SLOW * (self.draw.random() < MODE) for _ in range(2)]
        self._random = random.Random(self.draw.random())
        self._tell(contests, stage, "slowdown", ("turn", "min", "median", "p90"), NOISE)
        for contest in contests:
            pair = stage(contest).pop()
            assert pair.log_ratio is not None
            ratio = pair.log_ratio + modes[1] - modes[0]
            times = [dict.fromkeys(("turn", "min", "median", "p90"), math.exp(at)) for at in (0.0, ratio)]
            stage(contest).append(PairValue(ratio, times[0], times[1], rounds=24))


@pytest.fixture(name="exact")
def measure_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing, and without noise."""
    monkeypatch.setattr("opperf.parent.commands.bisect.bisect.Comparing", Exact)


@pytest.fixture
def scattered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: what is tested is the search."""
    monkeypatch.setattr("opperf.parent.commands.bisect.bisect.Comparing", Scattered)


def answers(factors: Sequence[float], parts: int = 8) -> list[Answer]:
    """Search the same builds a few times, each with other noise."""
    told = []
    for seed in SEEDS:
        Scattered.draw = random.Random(seed)
        told.append(only(search(Slowdowns(factors, parts=parts))))
    return told


def pairs(answer: Answer) -> int:
    """How many pairs of processes a search took."""
    return sum(probe.pairs for probe in answer.probes)


@pytest.mark.usefixtures("scattered")
def test_a_threefold_step_in_twelve_commits_takes_a_dozen_pairs() -> None:
    for answer in answers(steps((8, 3.1), count=12)):
        assert [step.after for step in answer.steps] == ["v8"]
        assert pairs(answer) <= 14


@pytest.mark.usefixtures("scattered")
def test_a_dip_at_one_release_is_told_with_both_edges_though_the_ends_are_close() -> None:
    factors = [1.0, 1.0, 1.0, 1.0, 1.01, 1.01, 0.73, 1.01, 1.03, 1.04, 1.04]
    for answer in answers(factors):
        down, up = (step for step in answer.steps if abs(math.log(step.ratio)) > 0.2)
        assert (down.before, down.after, up.before, up.after) == ("v5", "v6", "v6", "v7")
        assert "a dip at v6: v6 is" in answer.reason
        assert pairs(answer) <= 40


@pytest.mark.usefixtures("scattered")
def test_a_regression_that_was_half_repaired_is_told_with_both_steps() -> None:
    for answer in answers([1.0] * 3 + [1.5] * 4 + [1.08] * 3, parts=4):
        first, second = answer.steps
        assert (first.after, second.after) == ("v3", "v7")
        assert first.ratio == pytest.approx(1.5, rel=0.1)
        assert second.ratio == pytest.approx(0.72, rel=0.1)
        assert pairs(answer) <= 40


@pytest.mark.usefixtures("scattered")
def test_noise_alone_makes_no_story() -> None:
    assert {answer.kind for answer in answers(steps())} == {"same"}


@pytest.mark.usefixtures("exact")
def test_a_bump_of_several_builds_is_told_as_one() -> None:
    factors = [1.0] * 4 + [1.4] * 5 + [1.0] * 7
    answer = only(search(Slowdowns(factors)))
    assert answer.reason.startswith("a bump from v4 to v8 (5 builds): v4 is 40.0% slower than v3, and v9 is 28.")


@pytest.mark.usefixtures("exact")
def test_no_two_builds_are_compared_a_third_time_where_two_say_all() -> None:
    for factors in (steps((11, 1.05)), steps((3, 1.3), (8, 0.7)), [1.02**i for i in range(16)]):
        probes = only(search(Slowdowns(factors))).probes
        counts = Counter((probe.base, probe.new) for probe in probes)
        assert max(count for pair, count in counts.items() if pair != ("v0", "v15")) <= 2


class Notes(Silent):
    """Keeps the news."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        """Keep it."""
        self.texts.append(text)


@pytest.mark.usefixtures("exact")
def test_after_each_comparison_the_most_likely_story_is_told_with_its_probability() -> None:
    notes = Notes()
    search(Slowdowns(steps((11, 1.5))), progress=notes)
    texts = [text.partition(": ")[2] for text in notes.texts if text.startswith("null:steady forward")]
    assert texts[-1] == "v11 is 50.0% slower than v10"
    assert texts[0].startswith("most likely so far: a build after v0, v15 at the latest, is 49.")
    assert all(text.endswith(" %)") for text in texts[:-1])
    compared = [text for text in notes.texts if text.startswith("comparing ")]
    assert len(texts) == len(compared)
    assert ": comparison 2; those before took " in compared[1]


@pytest.mark.usefixtures("exact")
def test_a_search_that_is_stopped_leaves_the_most_likely_story(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([False] * 4)
    monkeypatch.setattr(Search, "_spent", lambda self: next(spent, True))
    answer = only(search(Slowdowns(steps((11, 1.5)))))
    assert answer.kind == "inconclusive"
    assert answer.probability is not None
    assert answer.between is not None
    assert "most likely so far: a build after v" in answer.reason
    assert "% slower (9" in answer.reason


@pytest.mark.usefixtures("exact")
def test_a_build_that_fails_with_one_operator_is_left_out_for_that_one_alone() -> None:
    builds = Slowdowns(steps((7, 1.3)), failing_with={"v7": "warming"})
    bisection = search(builds, "null:steady", "null:warming")
    first, second = (answer.steps[0] for answer in bisection.answers)
    assert (first.before, first.after, first.between) == ("v6", "v7", ())
    assert (second.before, second.after, second.between) == ("v6", "v8", ("v7",))
    assert [one.reason for one in bisection.left_out] == ["null:warming forward: raises each time"]
