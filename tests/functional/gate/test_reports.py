"""What `opperf gate` writes beside its verdict: each report is made anew, of a comparison that is measured once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.functional.gate.conftest import SAME, SLOWER, Opperf

from opperf.parent.commands import gate
from opperf.parent.commands.compare import live
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.measuring.contest import header, start

COMPARED: dict[str, tuple[ComparisonRun, BaseException | None]] = {}


@pytest.fixture(autouse=True)
def _once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the same sides in the same way once; each gate has a run of its own all the same."""

    def compared(selection: Any, base: Any, new: Any, settings: Any, judging: Any, *others: Any) -> Any:
        same = repr((selection, base, new, settings, judging.rule(), judging.explain))
        if same not in COMPARED:
            COMPARED[same] = live(selection, base, new, settings, judging, *others)
        document, cause = COMPARED[same]
        own = header(settings, start(), {}, labels=judging.labels, command=judging.command)
        return replace(document, run=replace(own, environment=document.run.environment)), cause

    monkeypatch.setattr(gate, "live", compared)


def test_markdown_and_junit_are_written_beside_the_report(opperf: Opperf, here: Path) -> None:
    done = opperf(*SLOWER, "--output", "gate.json", "--markdown", "pr.md", "--junit", "junit.xml")
    assert done.code == 1
    assert json.loads((here / "gate.json").read_text())["gate"]["exit_code"] == 1
    markdown = (here / "pr.md").read_text()
    assert markdown.startswith("### opperf gate: 1 regression in 1 comparison: 1 slower\n")
    assert "opperf compare null:steady --base null:steady --new 'null:steady;slowdown=1.10'" in markdown
    suite = ElementTree.parse(here / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--markdown", "--junit"])
def test_a_gate_that_runs_again_writes_over_its_own_reports_and_nothing_else(
    opperf: Opperf, here: Path, option: str
) -> None:
    report = here / "report"
    report.touch()
    assert opperf(*SAME, option, "report").code == 0
    first = report.read_text()
    assert opperf(*SLOWER, option, "report").code == 1
    assert report.read_text() not in ("", first)
    report.write_text("notes of mine\n")
    refused = opperf(*SAME, option, "report")
    assert refused.code == 2
    assert "`report` exists, and is not a report of opperf" in refused.err
    assert "`--force`" in refused.err
    assert report.read_text() == "notes of mine\n"
    assert opperf(*SAME, option, "report", "--force").code == 0


@pytest.mark.slow
def test_a_gate_shows_what_ran_where_it_is_asked(opperf: Opperf, here: Path) -> None:
    done = opperf(*SLOWER, "--explain", "--markdown", "pr.md", "--format", "json")
    assert json.loads(done.out)["comparisons"][0]["explanation"]
    assert "<summary>What ran</summary>" in (here / "pr.md").read_text()
    assert "What ran" not in pull_request_without_explanation(opperf, here)


def pull_request_without_explanation(opperf: Opperf, here: Path) -> str:
    """Return the Markdown of the same gate where nobody asks what ran."""
    opperf(*SLOWER, "--markdown", "plain.md")
    return (here / "plain.md").read_text()


@pytest.mark.slow
def test_the_command_that_markdown_gives_finds_the_regression_again(opperf: Opperf, here: Path) -> None:
    opperf(*SLOWER, "--markdown", "pr.md")
    (line,) = [line for line in (here / "pr.md").read_text().splitlines() if line.startswith("opperf compare ")]
    words = line.replace("'", "").split()
    assert "slower" in opperf(*words[1:]).out


def test_in_github_actions_there_are_annotations_and_a_step_summary(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    (here / "summary.md").write_text("before\n")
    done = opperf(*SLOWER, "--format", "csv")
    assert done.code == 1
    assert done.out.startswith("case_id,")
    assert "::" not in done.out.partition("\n")[0]
    error = "::error title=opperf%3A null%3Asteady forward::null:steady forward ("
    assert [line for line in done.err.splitlines() if line.startswith(error)]
    assert (here / "summary.md").read_text().startswith("before\n### opperf gate: 1 regression")


def test_annotations_can_be_asked_for_and_declined(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "::notice title=opperf gate::no regression" in opperf(*SAME, "--github").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::notice" not in opperf(*SAME, "--no-github").err


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here))
    done = opperf(*SLOWER, "--github")
    assert done.code == 1
    assert "cannot write the step summary" in done.err
