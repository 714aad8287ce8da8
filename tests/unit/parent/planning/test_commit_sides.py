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
from opperf.parent.planning.commit_sides import check_building, with_commits, with_frameworks
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import parse_side, read_side
from opperf.parent.sources.asv_folder import AsvFolder
from opperf.parent.sources.options import Building
from opperf.parent.workers.interpreters import interpreter, settled_side, suite_environment


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


NO_BUILDING = Building()


def _commit(text: str, operators: list[str], building: Building = NO_BUILDING) -> Side:
    """Return a side as a comparison of these files reads it; a gate file's is spelled like code: `git:main`."""
    (named,) = with_frameworks([text], operators)
    assert read_side(named).side == parse_side(named).side
    (side,) = with_commits([parse_side(named)], operators, building)
    return side.side


def test_a_commit_is_called_by_what_the_user_wrote_and_what_that_is(repository: Path) -> None:
    side = _commit("git:v1;threads=2", ["asv:suite"])
    source = EnvironmentSpec.parse(side.environment).source
    assert source is not None
    assert source.packages == ("numpy==2.2.6", "six")
    assert (side.environment, side.threads, side.framework) == (f"git:v1 ({source.commit[:10]})", 2, "numpy")
    same = _commit(f"git:{source.commit[:10]}", ["pytest:x"], Building(repository))
    assert same.environment == f"git:{source.commit[:10]}"


@pytest.mark.usefixtures("repository")
def test_two_comparisons_in_a_process_may_build_a_commit_of_one_name_otherwise() -> None:
    sides = [_commit("git:v1", ["asv:suite"], Building(build=command)) for command in ("make one", "make other")]
    sources = [EnvironmentSpec.parse(settled_side(side).environment).source for side in sides]
    assert sides[0] == sides[1]
    assert [source and source.command for source in sources] == ["make one", "make other"]
    of_file = Side.from_json(json.loads(json.dumps(sides[0].to_json())))
    assert of_file == sides[0]
    assert EnvironmentSpec.parse(of_file.environment).source is None


@pytest.mark.usefixtures("repository")
def test_the_framework_is_that_of_the_benchmark_files() -> None:
    sides = ["python=/a/python", "current", "numpy==2.2.6", "git:v1;framework=jax"]
    torch = with_frameworks(sides, ["op_bench:pt/"])
    assert [side.partition(";framework=")[2] for side in torch] == ["torch", "torch", "", "jax"]
    assert with_frameworks(sides[:1], ["add"]) == sides[:1]


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
        _commit(side, ["asv:suite"], building)

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


def test_a_framework_that_is_named_alone_has_what_the_settings_list_beside_it() -> None:
    def environment(text: str, framework: str = "numpy") -> str:
        return settled_side(Side(framework, text), packages=["numpy==2.2.6", "Cython", "six==1.17.0"]).environment

    assert environment("numpy==1.26.4") == "numpy==1.26.4 + cython + six==1.17.0"
    assert environment("torch==2.13.0", "torch") == "torch==2.13.0 + numpy==2.2.6 + cython + six==1.17.0"
    for text in ("numpy==1.26.4 + six", "python=/a"):  # that is what the user wants there
        assert environment(text) == text


def test_a_note_says_which_of_them_an_environment_lacks() -> None:
    folder = AsvFolder("b", Path("asv.conf.json"), "calc", ("numpy", "six", "wheel"), unread=("its x is not read",))
    texts = ("numpy + six + calc==1 + wheel", "numpy + wheel", "python=/a", "current")
    assert [*settings_notes(Selection(suite_folders=[folder]), [Side("numpy", text) for text in texts])] == [
        "asv.conf.json: its x is not read",
        "asv.conf.json lists six, calc, which `numpy + wheel` does not name: name them, as in `numpy + wheel + six`",
    ]


def test_what_would_build_a_commit_is_told_where_a_side_is_one() -> None:
    selection = Selection(suite_folders=[AsvFolder("b", Path("asv.conf.json"), commands=("build_command",))])
    told = "asv.conf.json: its `build_command` is not run: name a command yourself, by `--build`"
    assert [*settings_notes(selection, [Side("numpy", "numpy==2.2.6")])] == []
    assert told in [*settings_notes(selection, [Side("numpy", "numpy==2.2.6"), Side("numpy", "git:main")])]
