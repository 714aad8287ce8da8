"""A release: its version, its changelog, and what is looked at before anything is published."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import opperf

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"


def jobs(workflow: str) -> dict[str, Any]:
    result: dict[str, Any] = yaml.safe_load((WORKFLOWS / f"{workflow}.yml").read_text(encoding="utf-8"))["jobs"]
    return result


def scripts(workflow: str, job: str) -> list[str]:
    return [step["run"] for step in jobs(workflow)[job]["steps"] if "run" in step]


def test_the_changelog_has_what_is_not_released_and_then_this_version_with_its_date() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(opperf.__version__)} - \d{{4}}-\d\d-\d\d", headings[1])


@pytest.mark.parametrize(("tag", "published"), [(f"v{opperf.__version__}", True), ("v9.9.9", False)])
def test_a_tag_is_published_where_it_is_the_version(tag: str, published: bool) -> None:
    codes = [
        subprocess.run(["bash", "-c", script], cwd=ROOT, env={"GITHUB_REF_NAME": tag, "PATH": "/usr/bin:/bin"})
        for script in scripts("release", "version")
    ]
    assert [done.returncode == 0 for done in codes] == [published] * 2


def test_only_what_was_built_checked_and_installed_is_published() -> None:
    release = jobs("release")
    assert release["publish"]["needs"] == "wheels"
    assert release["wheels"] == {"needs": "version", "uses": "./.github/workflows/wheels.yml"}
    assert [script.split()[2] for script in scripts("wheels", "build")] == ["pip", "build", "twine"]
    assert jobs("wheels")["install"]["needs"] == "build"
    assert any("opperf run" in script for script in scripts("wheels", "install"))
