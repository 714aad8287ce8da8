"""The project's own workflows, templates and hooks: valid YAML that calls what exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.test_commands import check, commands

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


def test_there_are_workflows_for_tests_wheels_and_a_release() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "wheels", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_exists(path: Path) -> None:
    for step in steps(read(path)):
        assert ("run" in step) != ("uses" in step), step
        script = step.get("run", "")
        for words in map(shlex.split, script.splitlines()):
            if words[0] == "make":
                assert set(words[1:]) <= TARGETS
            if words[0].startswith("."):
                assert (ROOT / words[0]).is_file()
        for words in commands(script):
            check(words)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_waits_for_jobs_that_exist_and_ends_in_time(path: Path) -> None:
    jobs = read(path)["jobs"]
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
        else:
            assert job["timeout-minutes"] <= 60


def test_only_publishing_may_ask_for_an_identity() -> None:
    asking = [
        (path.stem, name)
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
        if "id-token" in job.get("permissions", {})
    ]
    assert asking == [("release", "publish")]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_the_fields_of_an_issue_have_names_of_their_own(path: Path) -> None:
    form = read(path)
    assert form["name"]
    assert form["description"]
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    assert all(field["attributes"]["label"] for field in form["body"])


def test_hooks_run_what_lint_runs() -> None:
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    programs = {Path(hook["entry"].split()[0]).name for hook in local["hooks"]}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rule = re.search(r"^lint:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert rule
    assert programs == set(re.findall(r"\$\(BIN\)/([\w-]+)", rule[1]))
