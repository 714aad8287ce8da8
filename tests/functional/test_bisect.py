"""`opperf bisect` on the null framework, whose builds are as slow as a test says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.functional.conftest import invoke

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.plan import Settings, Side
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.bisect import releases
from opperf.parent.commands.bisect.bisect import Order, Search
from opperf.parent.commands.load import read_value
from opperf.parent.documents.bisection import Answer, Bisection
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.progress import Progress, Silent
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import plain_side
from opperf.parent.reports import render
from opperf.parent.sources.options import Bisecting, Where


@dataclass
class Slowdowns:
    """Builds of the null framework, each so many times as slow; a negative one cannot be built."""

    factors: Sequence[float]
    same: Mapping[str, str] = field(default_factory=dict)
    setting: str = "slowdown"
    asked: list[str] = field(default_factory=list)
    failing: Collection[str] = ()
    failing_with: Mapping[str, str] = field(default_factory=dict)
    parts: int = 8

    @property
    def names(self) -> Sequence[str]:
        return [f"v{i}" for i in range(len(self.factors))]

    def side(self, name: str, plain: Side) -> Side:
        factor = self.factors[int(name[1:])]
        if factor < 0:
            raise EnvironmentFailure(f"{name} has no wheel", slug="environment_build")
        self.asked.append(name)
        word = "every" if name in self.failing else self.failing_with.get(name)
        fails = {} if word is None else {"fails": word}
        return replace(plain, settings={self.setting: str(factor), "version": name, **fails})

    def digest(self, name: str) -> str | None:
        return self.same.get(name)


def search(
    builds: Slowdowns,
    *operators: str,
    order: Order | None = None,
    budget: float | None = None,
    clock: str = "wall",
    progress: Progress | None = None,
) -> Bisection:
    """Search some builds."""
    order = order or Order(Bisecting("v0", builds.names[-1]))
    selection = Selection(operators=operators or ("null:steady",), directions=("forward",))
    settings = Settings(budget=budget, clock=clock)
    searching = Search(selection, builds, Side("null"), order, Rule(pairs=3), settings, progress or Silent())
    searching.plan()
    searching.run()
    return searching.document()


class Exact(Comparing):
    """A comparison whose pairs say what the sides' settings say, times to a ten-thousandth, without a process."""

    def _pair(
        self,
        contests: list[Contest],
        stage: Callable[[Contest], list[PairValue]],
        *,
        counted: bool = False,
        goes_on: bool = False,
    ) -> None:
        if counted:
            self._tell(contests, stage, "work", ("instructions",), 0.0)
        else:
            self._tell(contests, stage, "slowdown", ("turn", "min", "median", "p90"), 1e-4)

    def _tell(
        self,
        contests: list[Contest],
        stage: Callable[[Contest], list[PairValue]],
        setting: str,
        names: Sequence[str],
        noise: float,
    ) -> None:
        self.facts = {"base": {}, "new": {}}
        for contest in contests:
            if contest.new.side.settings.get("fails") in ("every", contest.key.case.operator.partition(":")[2]):
                contest.failure = "raises each time"
                continue
            base, new = (float(side.settings.get(setting, 1.0)) for side in (contest.base.side, contest.new.side))
            ratio = math.log(new / base) + self._random.gauss(0.0, noise)
            first, second = (dict.fromkeys(names, math.exp(at)) for at in (0.0, ratio))
            stage(contest).append(PairValue(ratio, first, second, rounds=24))


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: what is tested is the search."""
    monkeypatch.setattr("opperf.parent.commands.bisect.bisect.Comparing", Exact)


def steps(*changes: tuple[int, float], count: int = 16) -> list[float]:
    """Factors that change at some builds."""
    factors = [1.0] * count
    for place, factor in changes:
        factors[place:] = [one * factor for one in factors[place:]]
    return factors


def only(bisection: Bisection) -> Answer:
    """The one answer."""
    (answer,) = bisection.answers
    return answer


@pytest.mark.slow
def test_the_build_that_is_slower_is_named_with_its_ratio_and_few_builds_are_made() -> None:
    builds = Slowdowns(steps((11, 1.1)))
    answer = only(search(builds))
    (step,) = answer.steps
    assert (answer.kind, step.before, step.after) == ("steps", "v10", "v11")
    assert step.ratio == pytest.approx(1.1, rel=1e-3)
    assert answer.reason == "v11 is 10.0% slower than v10"
    assert len(builds.asked) <= 8


@pytest.mark.usefixtures("exact")
def test_a_speedup_is_named_as_one() -> None:
    answer = only(search(Slowdowns(steps((3, 0.8)))))
    assert answer.reason == "v3 is 20.0% faster than v2"


@pytest.mark.usefixtures("exact")
def test_of_two_neighbours_the_second_is_named() -> None:
    builds = Slowdowns([1.0, 0.947])
    answer = only(search(builds))
    assert (answer.kind, answer.reason) == ("steps", "v1 is 5.3% faster than v0")
    assert builds.asked == ["v0", "v1"]


@pytest.mark.usefixtures("exact")
def test_the_columns_of_an_answer_are_explained_below_them() -> None:
    report = " ".join(render(search(Slowdowns([1.0, 1.05])), width=200).split())
    assert "step: time with the build after the step over that with the build before it" in report
    assert "probability: of the steps that are named" in report


def test_below_a_step_stands_what_ran_before_and_after_it() -> None:
    report = render(search(Slowdowns([1.0, 1.05]), order=Order(Bisecting("v0", "v1"), explain=True)))
    assert "v0 to v1: script: base ran scripted:1.0 (100 us), new ran scripted:1.05 (105 us)" in report
    assert "v0 to v1: 1 more ran the same on both sides" in report


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(
    ("parts", "between"), [(8, ["v7", "v11", "v3", "v5", "v9", "v13", "v1"]), (4, ["v7", "v11", "v3"])]
)
def test_without_a_change_nobody_is_named_and_a_few_builds_between_are_looked_at(
    parts: int, between: list[str]
) -> None:
    builds = Slowdowns(steps(), parts=parts)
    answer = only(search(builds))
    assert (answer.kind, answer.steps) == ("same", ())
    assert sorted(builds.asked) == sorted(["v0", "v15", *between])
    assert f"of {len(between)} builds between good and bad none stands out" in answer.reason


@pytest.mark.usefixtures("exact")
def test_two_changes_are_both_named() -> None:
    answer = only(search(Slowdowns(steps((4, 1.1), (12, 1.1)))))
    assert [(step.before, step.after) for step in answer.steps] == [("v3", "v4"), ("v11", "v12")]


@pytest.mark.usefixtures("exact")
def test_a_change_within_the_tolerance_is_not_named_beside_larger_ones() -> None:
    answer = only(search(Slowdowns(steps((3, 0.95), (6, 0.8), (12, 0.994)))))
    assert [step.after for step in answer.steps] == ["v3", "v6"]


@pytest.mark.usefixtures("exact")
def test_a_slope_is_told_as_one() -> None:
    answer = only(search(Slowdowns([1.02**i for i in range(16)])))
    assert answer.kind == "slope"
    assert answer.between == ("v0", "v15")


@pytest.mark.usefixtures("exact")
def test_builds_that_cannot_be_made_are_left_out_and_told_where_they_hide_the_change() -> None:
    factors = steps((8, 1.1))
    factors[7] = factors[8] = -1.0
    bisection = search(Slowdowns(factors))
    (step,) = only(bisection).steps
    assert (step.before, step.after, step.between) == ("v6", "v9", ("v7", "v8"))
    assert {one.build for one in bisection.left_out} == {"v7", "v8"}
    assert "v7, v8, which cannot be built" in only(bisection).reason


@pytest.mark.usefixtures("exact")
def test_a_build_that_fails_beside_the_good_one_is_left_out_and_not_compared_with_the_bad_one() -> None:
    failing = [f"v{i}" for i in range(1, 15) if i not in (7, 8)]
    bisection = search(Slowdowns(steps((8, 1.1)), failing=failing))
    (step,) = only(bisection).steps
    assert (step.before, step.after) == ("v7", "v8")
    assert {one.reason for one in bisection.left_out} == {"null:steady forward: raises each time"}


@pytest.mark.usefixtures("exact")
def test_builds_whose_processes_do_not_start_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Exact, contests: list[Contest], *_words: object) -> None:
        for contest in contests:
            contest.failure = "this version is not compatible"

    monkeypatch.setattr(Exact, "_tell", fail)
    bisection = search(Slowdowns(steps((5, 1.2))))
    assert (only(bisection).kind, only(bisection).reason) == (
        "failed",
        "this version is not compatible",
    )
    assert bisection.run.machine  # it can be read although no process said anything of itself


@pytest.mark.usefixtures("exact")
def test_builds_that_are_the_same_to_the_byte_are_not_measured() -> None:
    same = {f"v{i}": "before" if i < 11 else "after" for i in range(16)}
    answer = only(search(Slowdowns(steps((11, 1.05)), same)))
    assert answer.steps[0].after == "v11"
    measured = [(probe.base, probe.new) for probe in answer.probes if probe.error > 1e-4]
    assert all(same[base] != same[new] for base, new in measured)


@pytest.mark.usefixtures("exact")
def test_operators_share_builds_and_each_has_its_own_answer() -> None:
    builds = Slowdowns(steps((5, 1.2)))
    bisection = search(builds, "null:steady", "null:warming")
    assert [answer.steps[0].after for answer in bisection.answers] == ["v5", "v5"]
    assert len(builds.asked) == len(set(builds.asked)) <= 8


def test_a_bad_build_that_cannot_be_had_is_an_error() -> None:
    factors = steps((8, 1.1))
    factors[-1] = -1.0
    with pytest.raises(Exception, match="v15 has no wheel"):
        search(Slowdowns(factors))


def test_an_operator_that_fails_says_why() -> None:
    answer = only(search(Slowdowns(steps((5, 1.2))), "null:raise"))
    assert answer.kind == "failed"
    assert "always raises" in answer.reason


@pytest.mark.usefixtures("exact")
def test_when_the_budget_is_spent_what_was_measured_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False] * 4)
    monkeypatch.setattr(Search, "_spent", lambda self: next(answers, True))
    answer = only(search(Slowdowns(steps((5, 1.2), count=64))))
    assert answer.kind == "inconclusive"
    assert answer.probes
    assert answer.between is not None
    assert answer.reason.startswith("inconclusive between v")


@pytest.mark.usefixtures("exact")
def test_three_changes_are_all_named() -> None:
    answer = only(search(Slowdowns(steps((3, 1.3), (8, 1.4), (13, 0.8)))))
    assert [step.after for step in answer.steps] == ["v3", "v8", "v13"]


@pytest.mark.usefixtures("exact")
def test_four_changes_are_all_named() -> None:
    answer = only(search(Slowdowns(steps((3, 1.3), (6, 1.4), (9, 0.8), (13, 1.5)))))
    assert [step.after for step in answer.steps] == ["v3", "v6", "v9", "v13"]


@pytest.mark.usefixtures("exact")
def test_a_journal_saves_measuring_again(tmp_path: Path) -> None:
    journal = tmp_path / "b.json.journal"
    builds = Slowdowns(steps((11, 1.05)))
    first = only(search(builds, order=Order(Bisecting("v0", "v15"), journal=journal)))
    with journal.open("a") as torn:
        torn.write('["c1-')
    # Builds of another speed: were they measured, the answer would be another.
    again = Slowdowns(steps((2, 1.5)))
    second = only(search(again, order=Order(Bisecting("v0", "v15"), resume=journal)))
    assert second.steps == first.steps


@pytest.mark.usefixtures("exact")
def test_a_journal_that_is_read_and_written_again_stays_as_it_is(tmp_path: Path) -> None:
    journal = tmp_path / "b.json.journal"
    search(Slowdowns(steps()), order=Order(Bisecting("v0", "v15"), journal=journal))
    lines = journal.read_text()
    search(Slowdowns(steps()), order=Order(Bisecting("v0", "v15"), journal=journal, resume=journal))
    assert sorted(journal.read_text().splitlines()) == sorted(lines.splitlines())


@pytest.mark.parametrize(
    "line",
    [
        *("null", "5", "{}", "[]", '["c1-x forward v0 v1", 0.1, 0.1]', '[["a"], 0.1, 0.1, 2]', "[" * 5000),
        *(f'["c1-x forward v0 v1", {numbers}]' for numbers in ("1e300, 0.1, 2", "0.1, 1e300, 2", "0.1, 0.1, 1e300")),
        *(f'["c1-x forward v0 v1", {numbers}]' for numbers in ("NaN, 0.1, 2", "0.1, -1, 2", "0.1, 0.1, 0")),
        *(f'["c1-x forward v0 v1", {numbers}]' for numbers in ('"1", 0.1, 2', "9" * 5000 + ", 0.1, 2", "true, 0, 2")),
    ],
)
def test_a_journal_of_any_other_content_is_one_message(line: str, tmp_path: Path) -> None:
    journal = tmp_path / "b.json.journal"
    journal.write_text(f"{line}\n\n")
    with pytest.raises(InputError, match="line 1") as refusal:
        search(Slowdowns(steps()), order=Order(Bisecting("v0", "v15"), resume=journal))
    assert refusal.value.slug == "bad_journal"


@pytest.mark.usefixtures("exact")
def test_the_journal_of_another_search_is_one_message(tmp_path: Path) -> None:
    journal = tmp_path / "b.json.journal"
    search(Slowdowns(steps()), order=Order(Bisecting("v0", "v15"), journal=journal))
    with pytest.raises(InputError, match="the journal of another search"):
        search(Slowdowns(steps()), "null:warming", order=Order(Bisecting("v0", "v15"), resume=journal))


def test_builds_are_measured_where_the_user_says() -> None:
    where = Where(device=("gpu(1)",), threads=2)
    assert plain_side(where, "null") == Side("null", device="cuda:1", threads=2)


@pytest.mark.usefixtures("exact")
def test_the_document_is_read_again_and_reported_as_it_was() -> None:
    bisection = search(Slowdowns(steps((11, 1.05))))
    again = read_value(json.loads(json.dumps(bisection.to_json())), "file")
    assert isinstance(again, Bisection)
    assert render(again) == render(bisection)
    report = render(bisection)
    assert "v11 is 5.0% slower than v10" in report
    assert "of 16 builds were needed" in report


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--metric", "beauty"), "`--metric` is `beauty`"),
        (("--repo", ".", "--framework", "numpy"), "`--repo` needs `--build COMMAND`"),
        (("--framework", "numpy", "--framework", "torch"), "name one framework"),
        (("--framework", "numpy", "--resume", "none.journal"), "none.journal"),
        (("--framework", "numpy", "--device", "cpu", "--device", "gpu"), "measured on one device"),
        (("--framework", "numpy", "--device", "auto"), "no device `auto`"),
        (("--framework", "null", "--repo", "nowhere", "--build", "true"), "`--repo nowhere`: there is no such folder"),
        (("--framework", "null", "--repo", ".", "--build", " "), "`--repo` needs `--build COMMAND`"),
        (("--framework", "null", "--build", "true"), "`--build` needs `--repo DIR`"),
        (("--framework", "null"), "null has no releases"),
        (("--framework", "numpy", "--bad", "python=/usr/bin/python3"), "an interpreter and a release"),
    ],
)
def test_what_cannot_be_searched_is_one_message(
    words: tuple[str, ...], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "index_versions", lambda package, *, pre: ["2.2.5", "2.2.6"])
    done = invoke("bisect", "sum", "--good", "2.2.5", "--bad", "2.2.6", *words)
    assert done.code == 2
    assert part in done.err


@pytest.mark.usefixtures("exact")
def test_the_build_that_executes_more_is_named_by_counts_alone() -> None:
    builds = Slowdowns(steps((5, 1.01)), setting="work")
    (answer,) = search(builds, clock="instructions").answers
    assert [(step.before, step.after) for step in answer.steps] == [("v4", "v5")]
    assert "v5 executes 1.0% more instructions than v4" in answer.reason
    assert [one.kind for one in search(builds).answers] == ["same"]


def test_what_builds_execute_is_counted_in_their_processes() -> None:
    answer = only(search(Slowdowns([1.0, 1.01], setting="work"), clock="instructions"))
    assert (answer.kind, answer.reason) == ("steps", "v1 executes 1.0% more instructions than v0")


@pytest.mark.parametrize(
    ("module", "frameworks", "message"),
    [
        ("ext", ("numpy",), "`--repo` needs `--build COMMAND`"),
        ("torch", ("numpy", "mxnet"), "`--repo` needs `--build COMMAND`"),
        ("ext", ("numpy", "mxnet"), "name one framework"),
    ],
)
def test_code_is_of_the_framework_that_it_imports_or_of_the_only_one_here(
    module: str, frameworks: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.py").write_text(f"import {module}\n\ndef f(x):\n    return x\n")
    monkeypatch.setattr("opperf.parent.commands.bisect.bisect.importable", lambda: frameworks)
    done = invoke("bisect", "mine.py:f", "--repo", ".", "--good", "a", "--bad", "b")
    assert (done.code, done.err.partition(": ")[2].startswith(message)) == (2, True), done.err
