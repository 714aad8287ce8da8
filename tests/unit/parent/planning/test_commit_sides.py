"""Sides beside benchmark files: commits have names, and a framework need not be said."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.planning.benchmarks import settings_notes
from opperf.parent.planning.commit_sides import check_building, suite_sides
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import parse_side, read_side
from opperf.parent.sources.asv_folder import AsvFolder
from opperf.parent.sources.options import Building
from opperf.parent.workers.commits import named_commit
from opperf.parent.workers.interpreters import interpreter, suite_environment


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with a tag, and a suite whose settings name the folder above."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for words in (["init", "-q"], [*author, "commit", "-q", "--allow-empty", "-m", "first"], ["tag", "v1"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    (tmp_path / "suite" / "benchmarks").mkdir(parents=True)
    (tmp_path / "suite" / "benchmarks" / "bench.py").touch()
    settings = {"repo": "..", "matrix": {"numpy": ["2.2.6"], "six": []}}
    (tmp_path / "suite" / "asv.conf.json").write_text(json.dumps(settings))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_commit_is_called_by_what_the_user_wrote_and_what_that_is(repository: Path) -> None:
    (side,) = suite_sides(["git:v1;threads=2"], ["asv:suite"], Building())
    read = parse_side(side).side
    commit = str(named_commit(read.environment))
    assert (read.environment, read.threads, read.framework) == (f"git:v1 ({commit[:10]})", 2, "numpy")
    assert read_side(side).side == read  # a gate file's, which may be spelled like code: `git:main`
    (same,) = suite_sides([f"git:{commit[:10]}"], ["pytest:x"], Building(repository))
    assert parse_side(same).side.environment == f"git:{commit[:10]}"


@pytest.mark.usefixtures("repository")
def test_the_framework_is_that_of_the_benchmark_files() -> None:
    sides = ["python=/a/python", "current", "numpy==2.2.6", "git:v1;framework=jax"]
    torch = suite_sides(sides, ["op_bench:pt/"], Building())
    assert [side.partition(";framework=")[2] for side in torch] == ["torch", "torch", "", "jax"]
    assert suite_sides(sides[:1], ["add"], Building()) == sides[:1]


@each(
    ("side", "building", "message"),
    [
        ("git:v2", Building(), "has no commit `v2`"),
        ("git:--all", Building(), "has no commit `--all`"),
        ("git:", Building(), "`git:` names no commit"),
        ("git:v1", Building(Path("nowhere")), "`--repo nowhere`: there is no such folder"),
        ("git:v1", Building(build=" "), "`--build` is empty, expected a command"),
        ("numpy", Building(build="make"), "`--build` builds commits, and no side is one"),
    ],
)
def test_what_cannot_be_built_is_one_message(side: str, building: Building, message: str, repository: Path) -> None:
    def read() -> None:
        check_building([side], building)
        suite_sides([side], ["asv:suite"], building)

    with pytest.raises(InputError) as error:
        read()
    assert message in error.value.message


def test_a_mere_name_of_a_commit_starts_nothing() -> None:
    spec = EnvironmentSpec.parse("git:v0 (0123456789)")
    assert not spec.is_public
    with pytest.raises(InputError, match="is a commit, which nothing here builds"):
        interpreter(spec, framework="numpy")


def test_an_environment_that_nobody_names_has_what_the_settings_list() -> None:
    assert suite_environment("numpy", ["numpy==2.2.6", "six"]) == "numpy==2.2.6 + six"
    assert suite_environment("torch", ["numpy==2.2.6"]) == "torch + numpy==2.2.6"
    assert suite_environment("numpy", []) == "current"


def test_a_note_says_which_of_them_an_environment_lacks() -> None:
    folder = AsvFolder("b", Path("asv.conf.json"), "calc", ("numpy", "six"), unread=("its x is not read",))
    sides = [Side("numpy", text) for text in ("numpy + six + calc==1", "numpy==2.2.6", "python=/a", "current")]
    assert [*settings_notes(Selection(suite_folders=[folder]), sides)] == [
        "asv.conf.json: its x is not read",
        "asv.conf.json lists six, calc, which `numpy==2.2.6` does not name: name them, as in `numpy==2.2.6 + six`",
    ]
