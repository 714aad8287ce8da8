"""`opperf nightly` on the null framework: builds judged by the one before, kept with their ratios, and gone on with."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests import nights as made_up_nights

from opperf.domain.plan import Side
from opperf.parent.commands.compare import live
from opperf.parent.commands.history import archive
from opperf.parent.commands.nightly import nightly
from opperf.parent.commands.nightly.nightly import pin
from opperf.parent.documents.floor import series_key, series_side
from opperf.parent.store.database.builds import build_orders
from opperf.parent.workers import machine

Opperf: TypeAlias = Callable[..., Any]

ANCHOR = "null;version=1.0"
FIRST, SECOND, SLOW = "null;version=1.1", "null;version=1.2", "null;version=1.3;slowdown=1.1"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run in GitHub Actions themselves, and somebody may have a database."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "OPPERF_DATABASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def configure(here: Path) -> Callable[..., None]:
    """Writes an opperf.toml with these builds."""

    def write(*builds: str, anchor: str = ANCHOR, **more: object) -> None:
        keys = {"operators": "null:steady", "anchor": anchor, "pairs": 3, **more}
        lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
        text = "\n".join(['[database]\nurl = "nights.db"\n\n[nightly]', *lines, f"builds = {json.dumps(builds)}", ""])
        (here / "opperf.toml").write_text(text)

    return write


def nights(opperf: Opperf) -> list[dict[str, Any]]:
    """Return the runs that the database lists, oldest first."""
    done = opperf("history", "list", "--format", "json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return rows[::-1]


def sides(done: Any) -> list[tuple[str, str]]:
    """Return base and new of each comparison of a JSON document."""
    return [
        (one["base"]["settings"]["version"], one["new"]["settings"]["version"])
        for one in json.loads(done.out)["comparisons"]
    ]


@pytest.mark.slow
def test_a_build_is_judged_by_the_one_before_and_compared_with_the_anchor(
    opperf: Opperf, configure: Callable[..., None], here: Path
) -> None:
    configure(FIRST, SECOND, SLOW)
    done = opperf("nightly", "--format", "json", "--html", "nights.html")
    assert done.code == 1
    page = (here / "nights.html").read_text()
    assert [
        text for text in ("<h1>opperf nightly</h1>", "<summary>2 against the anchor</summary>") if text not in page
    ] == []
    assert re.findall(r"<h2>(Builds .*?)</h2>", page)[0].startswith("Builds against the one before")
    assert [text for text in ("build 1 of 3\n", "build 2 of 3, about ") if text not in done.err] == []
    assert sides(done) == [("1.0", "1.1"), ("1.1", "1.2"), ("1.2", "1.3"), ("1.0", "1.2"), ("1.0", "1.3")]
    assert [finding["kind"] for finding in json.loads(done.out)["gate"]["findings"]] == ["same", "same", "slower"]
    assert [row["rows"] for row in nights(opperf)] == [1, 2, 2]
    assert f"build={SECOND}" in nights(opperf)[1]["labels"]


@pytest.mark.slow
def test_a_build_that_is_in_the_database_is_not_measured_again(opperf: Opperf, configure: Callable[..., None]) -> None:
    configure(FIRST)
    assert opperf("nightly").code == 0
    again = opperf("nightly")
    assert (again.code, again.out) == (0, "")
    assert "is in the database, so it is not measured again" in again.err
    assert opperf("nightly", "--again").code == 0
    assert len(nights(opperf)) == 2


@pytest.mark.slow
def test_a_new_anchor_needs_an_overlap_with_the_former_one(opperf: Opperf, configure: Callable[..., None]) -> None:
    configure(FIRST)
    opperf("nightly")
    configure(ANCHOR, FIRST, SECOND, anchor="null;version=2.0")
    refused = opperf("nightly")
    assert refused.code == 2
    assert "no night of `null` was compared with the anchor `null;version=2.0`" in refused.err
    assert "--overlap" in refused.err
    done = opperf("nightly", "--overlap", "--format", "json")
    assert done.code == 0
    assert ("1.0", "2.0") in sides(done)
    assert {base for base, new in sides(done) if new == "1.1"} == {"1.0", "2.0"}
    assert sides(done)[2] == ("1.1", "1.2")
    assert opperf("nightly").code == 0


def test_the_anchor_may_be_named_on_the_command_line(opperf: Opperf, configure: Callable[..., None]) -> None:
    configure(FIRST)
    done = opperf("nightly", "--anchor", SECOND, "--format", "json")
    assert sides(done) == [("1.2", "1.1")]


def test_what_a_night_checks_is_told_on_the_command_line(opperf: Opperf, configure: Callable[..., None]) -> None:
    configure(FIRST)
    done = opperf("nightly", "--check", "timed", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["run"]["settings"]["check"] == "timed"
    refused = opperf("nightly", "--check", "small", "--no-check")
    assert refused.code == 2
    assert "`--no-check` and `--check small` contradict each other" in refused.err


THIRD = "null;version=1.3;slowdown=1.1"


def test_a_later_build_whose_options_are_no_longer_the_users_is_not_judged_again(
    opperf: Opperf, configure: Callable[..., None]
) -> None:
    configure(FIRST, THIRD)
    assert opperf("nightly", "--format", "json").code == 1
    configure(SECOND)
    done = opperf("nightly", "--format", "json")
    assert (done.code, done.out) == (2, "")
    assert f"the label `build` is `{THIRD}`" in done.err


def test_a_build_that_fills_a_gap_is_judged_by_the_one_before_it_and_the_one_behind_again(
    opperf: Opperf, configure: Callable[..., None]
) -> None:
    """The later build is slower than all before: a regression of its own, not of the one that is added."""
    configure(FIRST, THIRD)
    assert opperf("nightly", "--format", "json").code == 1
    configure(FIRST, SECOND, THIRD)
    done = opperf("nightly", "--format", "json")
    assert done.code == 1
    assert sides(done) == [("1.1", "1.2"), ("1.2", "1.3"), ("1.0", "1.2")]
    assert [finding["kind"] for finding in json.loads(done.out)["gate"]["findings"]][:2] == ["same", "slower"]
    assert f"{THIRD} is judged again, by {SECOND} before it" in done.err
    assert [row["rows"] for row in nights(opperf)] == [1, 2, 2, 1]
    assert (opperf("nightly").code, len(nights(opperf))) == (0, 4)


def test_the_order_of_the_list_is_that_of_the_pages_too(opperf: Opperf, configure: Callable[..., None]) -> None:
    """A release of an older series, out after the first of a newer one."""
    configure("null;version=2.1.4", "null;version=2.2.0", "null;version=2.1.5")
    done = opperf("nightly", "--format", "json")
    assert sides(done)[:3] == [("1.0", "2.1.4"), ("2.1.4", "2.2.0"), ("2.2.0", "2.1.5")]
    assert "order=null 2.2.0 < 2.1.5" in nights(opperf)[2]["labels"]
    with archive("nights.db") as store:
        assert build_orders(store) == {"null": ["1.0", "2.1.4", "2.2.0", "2.1.5"]}


def test_a_gap_that_is_filled_by_several_builds_has_the_one_behind_judged_once(
    opperf: Opperf, configure: Callable[..., None]
) -> None:
    configure("null;version=1.4")
    opperf("nightly")
    configure(FIRST, SECOND, "null;version=1.4")
    done = opperf("nightly", "--format", "json")
    assert done.code == 0
    assert sides(done) == [("1.0", "1.1"), ("1.1", "1.2"), ("1.2", "1.4"), ("1.0", "1.2")]


def test_a_series_has_a_past_on_the_machine_that_measured_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = made_up_nights.archive(tmp_path / "nights.db", operators=("add",), runs=False)
    monkeypatch.setattr(machine, "facts", lambda: {**made_up_nights.MACHINE, "cpu": "another"})
    assert nightly._pasts(store) == {}
    monkeypatch.setattr(machine, "facts", lambda: made_up_nights.MACHINE)
    pasts = nightly._pasts(store)
    key = series_key(made_up_nights.case("add").id, "forward", series_side(Side("torch", "torch==9")), "time")
    assert len(pasts) == 2
    # Levels of neighbouring builds lie apart by a normal variable of 0.4 % times the root of two.
    assert 0.007 < pasts[key] < 0.03


@pytest.mark.slow
def test_a_night_that_is_stopped_leaves_nothing_half(
    opperf: Opperf, configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(FIRST, SECOND)
    calls: list[object] = []

    def stop(*given: Any, **options: Any) -> Any:
        calls.append(given)
        run, cause = live(*given, **options)
        return run, KeyboardInterrupt() if len(calls) == 3 else cause

    monkeypatch.setattr(nightly, "live", stop)
    assert opperf("nightly").code == 130
    assert [row["rows"] for row in nights(opperf)] == [1]
    monkeypatch.setattr(nightly, "live", live)
    assert opperf("nightly").code == 0
    assert [row["rows"] for row in nights(opperf)] == [1, 2]


def test_every_report_of_a_gate_is_written(opperf: Opperf, configure: Callable[..., None], here: Path) -> None:
    configure(SLOW)
    done = opperf("nightly", "--markdown", "n.md", "--junit", "n.xml", "--html", "n.html", "--github")
    assert done.code == 1
    assert "1 regression" in (here / "n.md").read_text()
    assert "<failure" in (here / "n.xml").read_text()
    assert "::error" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no table `[nightly]`"),
        ("nightly = 3", "`nightly` is `3`, expected a table"),
        ('[nightly]\nbuild = "null"', "no `anchor` in the table `[nightly]`"),
        ('[nightly]\nbuild = "null"\nanchor = "null"', "`[nightly]` selects no operators"),
        ('[nightly]\nbuild = "null"\nanchr = "null"', "no key `anchr`"),
        ('[nightly]\nbase = "null"', "no key `base`"),
        ('[nightly]\noperators = "ad"\nbuild = "null"\nanchor = "null"', "`nightly.operators`: no operator `ad`"),
        (
            '[database]\nurl = 3\n[nightly]\noperators = "add"\nbuild = "null"\nanchor = "null"',
            "`database.url`: found 3, expected a string",
        ),
    ],
)
def test_what_the_file_says_wrongly_is_told_with_its_place(opperf: Opperf, here: Path, text: str, message: str) -> None:
    (here / "opperf.toml").write_text(text)
    done = opperf("nightly")
    assert done.code == 2
    assert message in done.err


def test_a_gate_leaves_the_tables_of_nights_and_databases_alone(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = "null:steady"\nbase = "null"\nnew = "null"\n[nightly]\n[database]\n')
    assert opperf("gate").code == 0


def test_a_side_of_one_version_is_pinned_already() -> None:
    assert pin("python=/usr/bin/python3;framework=numpy") == "python=/usr/bin/python3;framework=numpy"
    assert pin("null;version=2") == "null;version=2"


def test_an_index_of_nightly_wheels_is_asked_only_while_nights_are_measured(
    opperf: Opperf, configure: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def look(*given: Any) -> Any:
        seen.append(os.environ.get("UV_INDEX"))
        return live(*given)

    monkeypatch.setattr(nightly, "live", look)
    monkeypatch.delenv("UV_INDEX", raising=False)
    configure(FIRST, index="https://wheels.example/nightly")
    assert opperf("nightly").code == 0
    assert seen == ["https://wheels.example/nightly"]
    assert "UV_INDEX" not in os.environ


def test_nights_are_judged_by_counts(opperf: Opperf, configure: Callable[..., None]) -> None:
    configure("null;version=1.1;slowdown=1.1", "null;version=1.2;slowdown=1.1;work=1.01", pairs=3)
    done = opperf("nightly", "--clock", "instructions", "--format", "json")
    assert done.code == 1, done.err
    assert [one["verdict"] for one in json.loads(done.out)["comparisons"]][:2] == ["same", "slower"]


def test_a_suite_is_named_beside_the_file_and_has_nights(opperf: Opperf, here: Path, forked_children: None) -> None:
    (here / "suite").mkdir()
    lines = ["import os", "def track_it(): return int(os.environ['TIMES'])", "def track_other(): return 1"]
    (here / "suite" / "bench.py").write_text("\n".join(lines))
    base, *builds = (f"python={sys.executable};framework=numpy;env.TIMES={times}" for times in (1, 1, 2))
    text = f"[nightly]\nanchor = {json.dumps(base)}\nbuilds = {json.dumps(builds)}\npairs = 3\nname = 'suite'\n"
    (here / "opperf.toml").write_text('[database]\nurl = "nights.db"\n' + text)
    assert "`[nightly]` selects no operators" in opperf("nightly").err
    done = opperf("nightly", "asv:suite", "--select", "track_it", "--format", "json")
    assert done.code == 1, done.err
    findings = json.loads(done.out)["gate"]["findings"]
    assert [finding["kind"] for finding in findings] == ["slower"]  # the first build is the anchor itself
    (here / "opperf.toml").write_text("[nightly]\noperators = 'asv:suite'\n" + text.partition("\n")[2])
    assert "is code, and a file does not say which code is run" in opperf("nightly").err
