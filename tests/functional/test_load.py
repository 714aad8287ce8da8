"""A machine that others have much of: every report says so in a line, and the document and the table have the load."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each

from opperf.domain.record import Run
from opperf.parent.commands.load import read_value
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.reports import render
from opperf.parent.workers import machine

Opperf = Callable[..., Any]
LINE = "the load average was 25.3 on 2 CPUs: other programs ran meanwhile, so times are longer and less certain"
QUICK = ("--pairs", "3", "--direction", "forward")
COMMANDS: dict[str, Sequence[str]] = {
    "run": ("run", "null:steady", "--runs", "5"),
    "compare": ("compare", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", *QUICK),
    "gate": ("gate", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", *QUICK),
    "noise": ("noise", "null:steady", "--framework", "null"),
    "nightly": ("nightly", "--again"),
}


@pytest.fixture(autouse=True)
def configured(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds for nights, two CPUs, and nobody who has a database or is a CI system."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "OPPERF_DATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    nights = '[nightly]\noperators = "null:steady"\nanchor = "null;version=1"\npairs = 3\nbuilds = ["null;version=2"]\n'
    (here / "opperf.toml").write_text(f'[database]\nurl = "nights.db"\n\n{nights}')


def test_every_report_of_a_crowded_machine_says_so(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "loads", lambda: [25.3, 9.0, 3.0])

    def check(name: str) -> None:
        done = opperf(*COMMANDS[name], "--format", "md" if name == "gate" else "console")
        assert done.out.count(LINE) == 1, (done.out, done.err)

    check_each(COMMANDS, check)


def test_every_format_has_the_load(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "loads", lambda: [25.3, 9.0, 3.0])

    def check(name: str) -> None:
        document = json.loads(opperf(*COMMANDS[name], "--format", "json").out)
        facts = document["run"]["environment"]["machine"]
        assert (facts["load"], facts["load_after"]) == ([25.3, 9.0, 3.0], [25.3, 9.0, 3.0])
        result = read_value(document, "file")
        assert isinstance(result, (Run, ComparisonRun))
        for style in ("console", "md", "html"):
            assert render(result, style).count(LINE) == 1, style
        assert {row["load"] for row in csv.DictReader(io.StringIO(render(result, "csv")))} == {"25.3"}

    check_each(["run", "compare"], check)


def test_a_change_of_code_that_moves_bytes_is_told_to_be_too_large_on_a_crowded_machine(
    opperf: Opperf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "loads", lambda: [25.3, 9.0, 3.0])
    large = ("--input", "data=2048x2048")
    for command in (COMMANDS["compare"], COMMANDS["gate"]):
        document = json.loads(opperf(*command, *large, "--format", "json").out)
        assert [one["slug"] for one in document["comparisons"][0]["warnings"]] == ["beside_streams"]
    assert "the code seems bound by memory" in opperf(*COMMANDS["compare"], *large).out
    assert "the code seems bound by memory" not in opperf(*COMMANDS["compare"], "--input", "data=8x8").out


def test_a_load_that_is_not_known_is_not_told(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "loads", lambda: None)
    done = opperf(*COMMANDS["run"])
    assert (done.code, "load average" in done.out) == (0, False)
