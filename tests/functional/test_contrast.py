"""`opperf contrast` on the null framework: exact gaps, in their order, and what is known after a stop."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import FEW, Done, current, invoke

from opperf.parent.commands import contrast as contrasts

SIDES = ("--base", "null", "--new", "null;slowdown=3")
#: One category of which each operator's time is exactly three times as long, with the fewest pairs.
OPERATORS = ("exp", "add")
CONTRAST = ("contrast", *OPERATORS, *SIDES, *FEW)


def comparisons(file: Path) -> dict[str, dict[str, Any]]:
    """Return the comparisons of a document by their operators."""
    return {one["case"]["operator"]: one for one in json.loads(file.read_text())["comparisons"]}


@pytest.fixture(scope="module")
def whole(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """What a contrast printed, and the folder with what it wrote."""
    with current(tmp_path_factory.mktemp("contrast"), one_cache) as folder:
        words = ("--new", "null;slowdown=1.2", "--markdown", "gaps.md", "--output", "gaps.json", "--confirm", "1")
        done = invoke(*CONTRAST, *words)
    assert done.code == 0, done.err
    return done, folder


def test_the_largest_gaps_are_confirmed_by_pairs_and_the_others_counted(whole: tuple[Done, Path]) -> None:
    document = json.loads((whole[1] / "gaps.json").read_text())
    verdicts = sorted((one["verdict"], one["pairs"], one["ratio"]) for one in document["comparisons"])
    open_looks, confirmed = verdicts[:3], verdicts[3]
    assert open_looks == [("inconclusive", 1, None)] * 3
    assert confirmed == ("slower", 3, pytest.approx(3.0))
    assert "2 beyond a factor of 1.5, 1 confirmed as slower, 1 open: raise `--confirm` or `--budget`" in whole[0].out
    assert "2 cases compared, 0 beyond a factor of 1.5, 0 confirmed as slower" in whole[0].out


def test_a_finished_contrast_leaves_no_journal(whole: tuple[Done, Path]) -> None:
    assert not (whole[1] / "gaps.json.journal").exists()


def test_each_gap_has_the_command_that_measures_it_alone(whole: tuple[Done, Path], here: Path) -> None:
    (line,) = (line for line in whole[0].out.splitlines() if line.strip().startswith("opperf compare"))
    words = shlex.split(line)
    done = invoke(*words[1:], *FEW, "--format", "json")
    (again,) = json.loads(done.out)["comparisons"]
    assert (again["verdict"], again["case"]["operator"]) == ("slower", words[2])


def test_the_page_says_what_made_it(whole: tuple[Done, Path]) -> None:
    page = (whole[1] / "gaps.md").read_text()
    assert page.startswith("### opperf contrast: null;slowdown=3, null;slowdown=1.2 against null\n")
    assert "opperf contrast exp add --base null --new 'null;slowdown=3'" in page
    assert "null 1" in page
    assert "| # | operator | category |" in page
    assert "**by category**" in page


def test_a_page_with_marks_keeps_what_stands_around_them(whole: tuple[Done, Path], here: Path) -> None:
    (here / "seen.md").write_text(
        "# What opperf saw\n\n<!-- opperf contrast -->\nold\n<!-- end of opperf contrast -->\n\nBelow.\n"
    )
    resume = ("--resume", whole[1] / "gaps.json", "--new", "null;slowdown=1.2", "--confirm", "1")
    for _ in range(2):
        done = invoke(*CONTRAST, *resume, "--markdown", "seen.md", "--output", "again.json", "--force")
        assert done.code == 0, done.err
    page = (here / "seen.md").read_text()
    assert page.startswith("# What opperf saw\n\n<!-- opperf contrast -->\n### opperf contrast: null;slowdown=3")
    assert page.endswith("\n<!-- end of opperf contrast -->\n\nBelow.\n")
    assert page.count("### opperf contrast") == 1
    assert "old" not in page


def test_groups_sum_up_looks_and_confirmed_gaps(whole: tuple[Done, Path], here: Path) -> None:
    resume = ("--resume", whole[1] / "gaps.json", "--new", "null;slowdown=1.2", "--confirm", "1", "--by", "group")
    done = invoke(*CONTRAST, *resume, "--output", "groups.json")
    assert done.code == 0, done.err
    assert "by category" not in done.out
    rows = {row["new"]: row for row in json.loads((here / "groups.json").read_text())["groups"]}
    assert {new: (row["group"], row["cases"], row["slower"]) for new, row in rows.items()} == {
        "null;slowdown=3": ("elementwise", 2, 1),
        "null;slowdown=1.2": ("elementwise", 2, 0),
    }
    assert [rows[f"null;slowdown={factor}"]["ratio"] for factor in ("3", "1.2")] == pytest.approx([3, 1.2])


def test_saved_gaps_are_results_of_a_comparison(whole: tuple[Done, Path]) -> None:
    done = invoke("show", whole[1] / "gaps.json", "--format", "csv")
    assert [row["verdict"] for row in csv.DictReader(io.StringIO(done.out))].count("slower") == 1


def test_gaps_are_ranked_by_their_ratio_and_categories_by_their_median() -> None:
    sides = ("--base", "null", "--new", "null;slowdown=2", "--new", "null;slowdown=4")
    done = invoke("contrast", "exp", *sides, *FEW, "--format", "csv")
    gaps, shares = done.out.split("\n\n") if "\n\n" in done.out else (done.out, "")
    rows = [*csv.DictReader(io.StringIO(gaps))]
    assert [(row["new"], round(float(row["ratio"]), 3)) for row in rows] == [
        ("null;slowdown=4", 4.0),
        ("null;slowdown=2", 2.0),
    ]
    assert "category" in (shares or gaps)


def test_without_operators_all_of_a_category_are_looked_at() -> None:
    done = invoke("contrast", "--category", "softmax", *SIDES, "--confirm", "0", "--size", "small")
    assert done.code == 0, done.err
    assert "looking briefly at 3 cases" in done.err
    assert "3 cases compared, 3 beyond a factor of 1.5, 0 confirmed as slower, 3 open" in done.out


def test_an_operator_that_crashes_is_counted_and_the_others_are_compared() -> None:
    done = invoke("contrast", "null:crash", "exp", *SIDES, *FEW)
    assert done.code == 0
    assert "1 failed" in done.out
    assert "null:crash on null;slowdown=3: not measured: " in done.out
    assert "1 confirmed as slower" in done.out


def test_what_only_one_side_has_is_skipped_on_whichever_side_it_lacks() -> None:
    for sides in (("--base", "numpy", "--new", "null"), ("--base", "null", "--new", "numpy")):
        done = invoke("contrast", "conv2d", *sides, "--size", "small", "--confirm", "0", "--format", "json")
        assert done.code == 0, done.err
        (lacking,) = json.loads(done.out)["comparisons"]
        assert (lacking["status"], lacking["verdict"]) == ("skipped", "skipped")
        assert "numpy has no `conv2d`" in lacking["reason"]


def test_a_contrast_that_was_stopped_goes_on_from_its_results(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = contrasts.Search._measure

    def stop_before_pairs(self: Any, contests: Any, rule: Any, pairs: int | None = None) -> None:
        if pairs is None:
            raise KeyboardInterrupt
        measure(self, contests, rule, pairs)

    with monkeypatch.context() as patch:
        patch.setattr(contrasts.Search, "_measure", stop_before_pairs)
        done = invoke(*CONTRAST, "--output", "gaps.json")
    assert done.code == 130
    assert "continue with `--resume gaps.json`" in done.err
    assert [one["verdict"] for one in comparisons(here / "gaps.json").values()] == ["inconclusive"] * 2
    done = invoke(*CONTRAST, "--output", "gaps.json", "--resume", "gaps.json")
    assert done.code == 0, done.err
    assert "looking briefly at 0 cases" in done.err
    assert [one["verdict"] for one in comparisons(here / "gaps.json").values()] == ["slower"] * 2


def test_a_contrast_that_was_killed_goes_on_from_its_journal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "LOOKED_AT", 1)
    keep = contrasts.Search._keep
    kept: list[object] = []

    def die_after_one(self: Any, several: Any) -> None:
        if kept:
            raise SystemExit(9)
        keep(self, several)
        kept.append(several)

    with monkeypatch.context() as patch:
        patch.setattr(contrasts.Search, "_keep", die_after_one)
        patch.setattr(contrasts.Search, "document", _die)
        invoke(*CONTRAST, "--output", "gaps.json")
    assert not Path("gaps.json").exists()
    with Path("gaps.json.journal").open("a") as torn:
        torn.write('{"case": {"oper')
    done = invoke(*CONTRAST, "--output", "gaps.json", "--resume", "gaps.json")
    assert done.code == 0, done.err
    assert "looking briefly at 1 case" in done.err


def test_a_case_that_the_machine_disturbed_is_looked_at_again_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    measure, seconds = contrasts.Search._measure, []

    def disturb_the_first(self: Any, contests: Any, rule: Any, pairs: int | None = None) -> None:
        seconds.append(rule.sampling)
        measure(self, contests, rule, pairs)
        if len(seconds) == 1:
            known = self._comparisons.items()
            self._comparisons = {key: replace(one, log_ratios=((), ())) for key, one in known}

    monkeypatch.setattr(contrasts.Search, "_measure", disturb_the_first)
    done = invoke("contrast", "exp", *SIDES, "--confirm", "0")
    assert seconds == [0.1, 0.6]
    assert "looking again, for 0.6 s, at 1 case" in done.err
    assert "1 case compared" in done.out


def _die(*_: object) -> None:
    raise SystemExit(9)


def test_the_results_of_another_contrast_are_an_error(whole: tuple[Done, Path]) -> None:
    done = invoke("contrast", "log", *SIDES, "--resume", whole[1] / "gaps.json", "--output", "new.json")
    assert (done.code, done.out) == (2, "")
    assert "the journal of another search" in done.err
    assert not Path("new.json.journal").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--base", "null"), "a contrast needs both `--base SIDE` and `--new SIDE`"),
        ((*SIDES, "--factor", "1"), "`--factor` is 1, expected a number above 1, such as 1.5"),
        ((*SIDES, "--confirm", "-1"), "`--confirm` is -1, expected a whole number >= 0"),
        ((*SIDES, "--pairs", "2"), "`--pairs` is 2, expected a whole number >= 3"),
        ((*SIDES, "--resume", "none.json"), "none.json"),
    ],
)
def test_options_that_mean_nothing_are_refused(words: tuple[str, ...], message: str) -> None:
    done = invoke("contrast", "exp", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
