"""`opperf judge`: what it prints, writes and keeps. What it sees is in `tests/judge`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.functional.conftest import Done

import opperf as opperf_library
from opperf.domain.case import Case
from opperf.domain.plan import Settings
from opperf.domain.record import Run
from opperf.parent.commands import judge as session
from opperf.parent.documents.candidates import Evidence, Judged, JudgedRun, Speed
from opperf.parent.pages.server.app import application
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

Opperf = Callable[..., Done]
#: A candidate that the first calls refuse, which takes a second or two.
ZEROS = "import numpy\n\ndef f(lhs, rhs):\n    return numpy.zeros_like(lhs)\n"
WORDS = ("--against", "add", "--framework", "numpy", "--input", "8x8")


@pytest.fixture(autouse=True)
def candidate(here: Path) -> Path:
    """Write a candidate that is wrong."""
    place = here / "zeros.py"
    place.write_text(ZEROS)
    return place


@pytest.fixture
def judged_run() -> JudgedRun:
    """A candidate that is wrong, and one that is twice as fast as its reference."""
    case = Case("add")
    speed = Speed(1e-3, 2e-3, 2.0, (1.9, 2.1))
    header = Run("j1", "2026-11-26T08:00:00+00:00", ("opperf", "judge"), Settings())
    wrong = Judged("a.py:f", "add", case, "wrong", "no", (Evidence("replays", "no", "tiny", case),))
    return JudgedRun(header, (wrong, Judged("b.py:f", "add", case, "faster", "yes", ring=speed, judged_by="ring")))


def test_a_wrong_candidate_is_told_and_stands_in_every_place_that_was_named(opperf: Opperf, here: Path) -> None:
    places = ("--output", "j.json", "--html", "j.html", "--database", "team.db")
    done = opperf("judge", "zeros.py:f", *WORDS, *places, "--label", "team=a")
    assert done.code == 3, done.err
    assert "zeros.py:f: wrong\n  wrong_values: " in done.out
    assert opperf("show", "j.json").out == done.out
    assert "smallest failing case" in (here / "j.html").read_text()
    (row,) = json.loads(opperf("history", "list", "--database", "team.db", "--format", "json").out)["rows"]
    assert (row["kind"], row["rows"], row["labels"]) == ("judge", 1, "team=a")
    again = opperf("history", "add", "j.json", "--database", "team.db")
    assert "was there already" in again.err


def test_lines_of_json_hold_each_judgement_with_its_status(opperf: Opperf, here: Path) -> None:
    done = opperf("judge", "zeros.py:f", "zeros.py:f", *WORDS, "--output", "j.jsonl")
    assert done.code == 3, done.err
    lines = [json.loads(line) for line in (here / "j.jsonl").read_text().splitlines()]
    assert [(one["verdict"], one["status"], one["score"]) for one in lines] == [("wrong", "INCORRECT_NUMERICAL", 0)] * 2
    assert done.out.count("zeros.py:f: wrong\n") == 2


def test_the_database_keeps_judgements_as_they_were(opperf: Opperf, here: Path, judged_run: JudgedRun) -> None:
    (here / "j.json").write_text(json.dumps(judged_run.to_json()))
    assert opperf("history", "add", "j.json", "--database", "team.db").code == 0
    assert opperf("history", "export", "--output", "out.jsonl", "--database", "team.db").code == 0
    (line,) = (here / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["judgements"] == judged_run.to_json()["judgements"]
    assert opperf("history", "import", "out.jsonl", "--database", "other.db").code == 0
    done = opperf("history", "export", "--output", "out.csv", "--format", "csv", "--database", "other.db")
    assert "left out 2 judgements" in done.err


def test_a_library_loads_judgements(here: Path, judged_run: JudgedRun) -> None:
    (here / "j.json").write_text(json.dumps(judged_run.to_json()))
    loaded = opperf_library.load("j.json")
    assert isinstance(loaded, opperf_library.Judgements)
    assert [one.score for one in loaded] == [0, 1.9]
    assert "smallest failing case" in loaded.to_html()


def test_the_page_of_a_run_of_judgements_has_its_chart_and_its_evidence(here: Path, judged_run: JudgedRun) -> None:
    with Archive(Address.of(str(here / "own.db"))) as store:
        store.add(judged_run)
        client = TestClient(application(store, hosts=["testserver"]))
        page, data = client.get("/runs/j1"), client.get("/runs/j1?format=json")
    assert ("Speedups" in page.text, "smallest failing case" in page.text) == (True, True)
    assert [one["verdict"] for one in data.json()["judgements"]] == ["wrong", "faster"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--room", "igloo"), "`--room` is `igloo`, expected auto or none"),
        (("--format", "xlsx"), "no format `xlsx`"),
        (("--output", "zeros.py"), "`zeros.py` is an input of this command"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(
    words: tuple[str, ...], message: str, opperf: Opperf
) -> None:
    done = opperf("judge", "zeros.py:f", *WORDS, *words)
    assert (done.code, message in done.err, done.out) == (2, True, ""), done.err


def test_without_a_candidate_there_is_nothing_to_judge(opperf: Opperf) -> None:
    done = opperf("judge", *WORDS)
    assert (done.code, "nothing to judge" in done.err) == (2, True)


def test_a_judge_that_is_stopped_reports_what_it_has(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = session.judge_all

    def stopped(*arguments: Any) -> Any:
        yield from whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "judge_all", stopped)
    done = opperf("judge", "zeros.py:f", *WORDS, "--output", "j.json")
    assert done.code == 130
    assert "1 candidate: 1 wrong" in done.out
    assert opperf("show", "j.json").out == done.out
