"""`opperf explore` on the null framework, whose cliffs are where its settings say."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import Done, current, invoke
from tests.watched import Watched

import opperf
from opperf.domain.plan import Settings, Side
from opperf.domain.record import Run
from opperf.parent.commands.explore.explore import Order, explore
from opperf.parent.documents.exploration import Exploration, Territory
from opperf.parent.planning.request import Request
from opperf.parent.reports import render
from opperf.parent.sources.options import Exploring, What, Where

EXPLORE = ("explore", "null:cliff", "--framework", "null")
#: What of it is around the cliff: at 1032, 1048 and so on.
NARROW = ("--dims", "data.0=16,data.1=1024..1064")


def document(done: Done) -> dict[str, Any]:
    """Return the document that a command printed as JSON."""
    assert done.code == 0, done.err
    value: dict[str, Any] = json.loads(done.out)
    return value


def test_a_cliff_is_found_confirmed_and_shown_again_by_its_command() -> None:
    done = document(invoke(*EXPLORE, "--format", "json"))
    (territory,) = done["exploration"]["territories"]
    (anomaly,) = territory["anomalies"]
    assert anomaly["region"] == "data.1 % 16 == 8, data.1 from 1,032 on"
    assert anomaly["remedy"] == "pad data.1 to 1,033"
    assert anomaly["case"]["inputs"]["data"]["shape"] == [16, 1032]
    assert anomaly["pairs"] == 5
    low, high = anomaly["interval"]
    assert low <= anomaly["ratio"] <= high
    assert anomaly["ratio"] == pytest.approx(1.3, rel=0.01)
    again = document(invoke(*anomaly["command"].split()[1:], "--format", "json"))
    assert again["exploration"]["territories"][0]["anomalies"][0]["case"] == anomaly["case"]


@pytest.fixture(scope="module")
def found(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """What a search of the narrow part printed, and the folder with its document and its suite."""
    with current(tmp_path_factory.mktemp("found"), one_cache) as folder:
        done = invoke(*EXPLORE, *NARROW, "--output", "found.json", "--save-suite", "cliffs.json")
    assert done.code == 0, done.err
    return done, folder


def test_the_report_says_where_what_instead_and_how_to_see_it_again(found: tuple[Done, Path]) -> None:
    done = found[0]
    assert "pad data.1 to 1,033" in done.out
    assert (
        "again: opperf explore null:cliff --framework null --factor 1.15 --dims data.0=16,data.1=1032..1033" in done.out
    )
    assert "1 cliff beyond a factor of 1.2" in done.out


def test_a_factor_above_the_cliff_finds_none() -> None:
    done = invoke(*EXPLORE, *NARROW, "--factor", "1.5")
    assert done.code == 0
    assert "no cliffs beyond a factor of 1.5" in done.out


def test_a_side_that_is_slower_by_the_same_everywhere_is_no_finding() -> None:
    done = invoke(*EXPLORE, *NARROW, "--against", "null;slowdown=0.5")
    assert done.code == 0
    assert "no regions beyond a factor of 1.2" in done.out


@pytest.mark.slow
def test_where_another_side_is_faster_than_elsewhere_is_a_finding() -> None:
    words = ("--against", "null;cliff=none", "--dims", "data.0=16,data.1=900..1100")
    done = document(invoke(*EXPLORE, *words, "--format", "json"))
    assert done["exploration"]["objective"] == "slower-than"
    (anomaly,) = done["exploration"]["territories"][0]["anomalies"]
    assert anomaly["region"] == "data.1 % 16 == 8, data.1 from 1,032 on"
    assert anomaly["other"] is None
    again = invoke(*shlex.split(anomaly["command"])[1:])
    assert "1.30" in again.out
    assert "slower" in again.out


def test_cases_are_saved_as_a_suite_that_other_commands_read(found: tuple[Done, Path]) -> None:
    suite = found[1] / "cliffs.json"
    done = invoke("run", "--suite", suite, "--framework", "null", "--format", "json", "--trial-budget", "0.01")
    shapes = [record["case"]["inputs"]["data"]["shape"] for record in json.loads(done.out)["records"]]
    assert shapes == [[16, 1032], [16, 1033]]


def test_a_saved_exploration_is_shown_as_it_was(found: tuple[Done, Path]) -> None:
    printed, folder = found
    assert invoke("show", folder / "found.json").out == printed.out
    assert not (folder / "found.json.journal").exists()


def test_a_stopped_search_goes_on_from_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "found.json"
    with monkeypatch.context() as patch:
        patch.setattr("opperf.parent.commands.explore.search.Search._smallest", _stop)
        assert invoke(*EXPLORE, *NARROW, "--output", file).code == 130
    journal = file.with_name("found.json.journal")
    looks = len(journal.read_text().splitlines())
    assert looks > 40
    with journal.open("a") as torn:
        torn.write('["cost cliff')
    asked: list[object] = []
    monkeypatch.setattr("opperf.parent.commands.explore.meter.Bench._look", lambda *words, **more: asked.append(words))
    done = invoke(*EXPLORE, *NARROW, "--resume", journal, "--output", file, "--force")
    assert done.code == 0, done.err
    assert asked == []  # every look is known


def test_the_journal_of_another_search_is_an_error_and_overwrites_nothing(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    other, own = tmp_path / "other.journal", file.with_name("found.json.journal")
    own.write_text("[]\n")
    sides = json.dumps([Side("null").key])
    other.write_text(json.dumps([f"cost c1-0123456789abcdef cliff null:steady forward {sides}", [1.0]]) + "\n")
    done = invoke(*EXPLORE, *NARROW, "--resume", other, "--output", file)
    assert (done.code, done.out) == (2, "")
    assert f"`--resume {other}`: the journal of another search" in done.err
    assert "hint: name the same operators, inputs and sides, or leave it out" in done.err
    assert own.read_text() == "[]\n"


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def test_memory_is_counted_so_a_jump_needs_no_pairs() -> None:
    done = invoke(*EXPLORE, *NARROW, "--objective", "memory")
    assert done.code == 0
    assert "no cliffs" in done.out


def test_the_library_returns_findings_and_their_suite() -> None:
    findings = opperf.explore("null:cliff", framework="null", dims="data.0=16,data.1=1024..1064")
    assert [finding.region for finding in findings] == ["data.1 % 16 == 8"]
    assert len(findings.suite()) == 2
    assert "1 finding" in repr(findings)
    assert list(findings.to_pandas()["remedy"]) == ["pad data.1 to 1,033"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--dims", "q=1..4"), "`null:cliff` has no dimension `q`"),
        (("--dims", "data.0"), "expected NAME=LOW..HIGH"),
        (("--dims", "data.0=1..4,data.0=8"), "`data.0` is there twice"),
        (("--objective", "beauty"), "`--objective` is `beauty`"),
        (("--objective", "slower-than"), "need each other"),
        (("--factor", "1"), "`--factor` is 1"),
        (("--looks", "0"), "`--looks` is 0"),
        (("--objective", "peak-share"), "its amount of work is unknown"),
        (("--resume", "none.journal"), "none.journal"),
    ],
)
def test_what_cannot_be_explored_is_one_message(words: tuple[str, ...], part: str) -> None:
    done = invoke(*EXPLORE, *words)
    assert (done.code, done.out) == (2, "")
    assert part in done.err


def test_without_operators_there_is_nothing_to_explore() -> None:
    done = invoke("explore", "--framework", "null")
    assert done.code == 2
    assert "nothing to explore" in done.err


def test_an_operator_that_cannot_be_measured_is_no_operator_without_cliffs() -> None:
    done = invoke("explore", "null:raise", "--framework", "null")
    assert done.code == 3
    assert "`null:raise` cannot be explored: " in done.err
    assert "no cliffs" not in done.out


@pytest.mark.slow
def test_an_operator_that_cannot_be_measured_leaves_the_others_explored() -> None:
    done = invoke("explore", "null:raise", "null:cliff", "--framework", "null", *NARROW)
    assert done.code == 3
    assert "pad data.1 to 1,033" in done.out
    assert "`null:raise` cannot be explored: " in done.err


def test_what_was_not_looked_at_for_want_of_time_is_told() -> None:
    territory = Territory("sum", Side("null"), "forward", ("n=1..4",), 4, 0, (), unexamined=3, unmeasured=2)
    run = Run("r1", "2026-11-21T08:00:00+00:00", ("opperf",), Settings())
    exploration = Exploration(run, "cliff", 1.2, None, (territory,))
    assert "in 4 looks (brief timings of a case), 2 looks failed; 3 more suspicious cases were not examined" in render(
        exploration
    )
    late = replace(exploration, territories=(replace(territory, unexamined=0, out_of_time=True),))
    assert "failed; the time was over before all looks were made: use a longer `--budget`." in render(late)
    assert "the time was over" not in render(exploration)


def test_looks_and_then_pairs_are_shown_with_how_many_are_left() -> None:
    progress = Watched()
    where, what = Where(framework=("null",)), What(direction=("forward",))
    search = Exploring(dims="data.0=16,data.1=1024..1064", looks=100)
    result, cause = explore(["null:cliff"], Request(what, where), Order(search), progress)
    assert cause is None
    assert len(result.anomalies) == 1
    looks = result.territories[0].looks
    shown = [line for line in progress.lines if line.startswith("looking")]
    assert shown == [f"looking at null:cliff: {count} of 100" for count in range(1, looks + 1)]
    rest = progress.lines[progress.lines.index(shown[-1]) + 1 :]
    assert rest[0] == "close"
    assert rest[1].startswith("pair 1 of 3: 1 comparison: 0 of ")
