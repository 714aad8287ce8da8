"""`--format` on every command that prints a report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.functional.conftest import Done

from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile

Opperf = Callable[..., Done]
COMMANDS = {
    "plan": ("run", "add", "--framework", "null", "--dry-run"),
    "operators": ("operators", "add*"),
    "support": ("operators", "add*", "--framework", "null"),
    "environments": ("env", "list"),
    "machine": ("doctor", "--framework", "null"),
    "profile": ("profile", "--read", "profile.json"),
    "profile change": ("profile", "profile.json", "profile.json", "--diff"),
}


@pytest.fixture(autouse=True)
def profile(here: Path) -> None:
    """Write a profile."""
    event = Event("aten::add", "operator", 0, 9000, 7, "main")
    Path("profile.json").write_text(json.dumps(to_trace(Profile((event,), (), {7: {}}))))


@pytest.mark.parametrize("report", COMMANDS)
def test_a_report_is_data_and_a_page(opperf: Opperf, report: str) -> None:
    done = {name: opperf(*COMMANDS[report], "--format", name) for name in ("json", "csv", "md", "html")}
    assert {one.code for one in done.values()} == {0}
    assert json.loads(done["json"].out)
    assert len(list(csv.DictReader(io.StringIO(done["csv"].out)))) >= 1
    assert done["md"].out.startswith(("| ", "**"))
    assert done["html"].out.startswith('<div class="opperf">')


@pytest.mark.parametrize("report", COMMANDS)
def test_a_report_that_checks_nothing_is_no_test_suite(opperf: Opperf, report: str) -> None:
    done = opperf(*COMMANDS[report], "--format", "junit")
    assert done.code == 2
    assert "no format `junit`" in done.err


def test_a_run_is_a_test_suite_and_annotations(opperf: Opperf) -> None:
    words = ("run", "null:steady", "null:raise", "--framework", "null", "--runs", "3", "--direction", "forward")
    suite = ElementTree.fromstring(opperf(*words, "--format", "junit").out)[0]
    assert [(suite.get(name)) for name in ("tests", "failures", "errors")] == ["2", "0", "1"]
    took = [float(case.get("time") or 0) for case in suite.iter("testcase")]
    (call,) = (float(one.get("value") or 0) for one in suite.iter("property") if one.get("name") == "time")
    assert sorted(took)[0] == 0.0  # it raised
    assert sum(took) == pytest.approx(float(suite.get("time") or 0))
    assert sum(took) > 3 * call
    lines = opperf(*words, "--format", "github").out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::warning", "::notice"]


@pytest.mark.slow
def test_a_comparison_and_noise_are_test_suites_that_fail_nothing(opperf: Opperf) -> None:
    sides = ("--base", "null", "--new", "null;slowdown=1.5", "--pairs", "3", "--direction", "forward")
    for words in (
        ("compare", "null:steady", *sides),
        ("noise", "null:steady", "--framework", "null", "--repeats", "1"),
    ):
        done = opperf(*words, "--format", "junit")
        suite = ElementTree.fromstring(done.out)[0]
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "0")


def test_a_file_gets_the_format_of_its_suffix(opperf: Opperf) -> None:
    words = ("run", "null:steady", "--framework", "null", "--runs", "3", "--direction", "forward")
    for name, start in (("a.html", "<div"), ("a.md", "framework null"), ("a.csv", "case_id,"), ("a.txt", "{")):
        assert opperf(*words, "--output", name).code == 0
        assert Path(name).read_text().startswith(start)
