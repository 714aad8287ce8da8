"""The corpus is no straw: what it says of a naive judge is so, and honest candidates are right."""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.judge.corpus import CAUSES, EXAMPLES, FOOLS, HERE, HONEST, WAYS, Way

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

NAIVE = HERE / "naive.py"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS")} | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
#: Whether all are tried; without it a few are, which need nothing but NumPy.
RUNS = int(os.environ.get("OPPERF_JUDGE_RUNS", "0"))
#: How much faster a cheat is called at least.
FACTOR = 1.5


def lacks(way: Way) -> list[str]:
    """Return what a candidate needs that this machine lacks."""
    return [need for need in way.needs if not (shutil.which(need) or platform.machine() == need)]


def skip_without(way: Way) -> None:
    """Skip what this machine lacks."""
    for need in lacks(way):
        pytest.skip(f"without {need}")


@cache
def python(framework: str, environment: str) -> str:
    """Return an interpreter with the framework."""
    if framework == "numpy" and not environment:
        return sys.executable
    spec = EnvironmentSpec.parse(environment or "current")
    return str(interpreter(choose_environment(spec, framework), framework=framework))


def run(way: Way, phases: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Let the naive judge run a candidate, which is a copy: some write to their own files."""
    for path in (NAIVE, way.path, way.against):
        (folder / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, folder / path.parent.name / path.name)
    files = (Path(path.parent.name) / path.name for path in (NAIVE, way.path, way.against))
    naive, candidate, reference = (str(folder / file) for file in files)
    inputs = (word for text in way.inputs for word in ("--input", text))
    command = [
        python(way.framework, way.environment),
        naive,
        phases,
        candidate,
        reference,
        *inputs,
        "--framework",
        way.framework,
    ]
    return subprocess.run(
        [*command, *way.naive, *options],
        cwd=folder,
        env={"TMPDIR": str(folder), "PATH": os.environ["PATH"], **ONE_THREAD},
        capture_output=True,
        text=True,
        timeout=600,
        start_new_session=True,
    )


def verdict(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the last line of an output."""
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.fixture(scope="module")
def baselines() -> dict[tuple[object, ...], float]:
    """How long a call of a reference takes in seconds, by what it is called with."""
    return {}


def judge(way: Way, folder: Path, baselines: dict[tuple[object, ...], float], *options: str) -> dict[str, Any]:
    """Return the naive judge's verdict."""
    key = (way.reference, way.inputs, way.naive, way.framework)
    if key not in baselines:
        baselines[key] = verdict(run(way, "baseline", folder))["seconds"]
    base = ("--baseline", str(baselines[key]))
    if way.name == "by_arguments":  # it reads there which process takes the times
        return verdict(run(way, "check", folder, *base)) | verdict(run(way, "time", folder, *base))
    return verdict(run(way, "check,time", folder, *base, *options))


@pytest.fixture(autouse=True)
def shared_memory() -> Any:
    """Nothing stays in the memory that all processes share."""
    yield
    for path in Path("/dev/shm").glob("opperf-corpus-*"):
        path.unlink()


def of(*fools: str) -> list[Any]:
    """Return the ways that fool the naive judge in one of these manners."""
    ways = [way for way in (*WAYS, *EXAMPLES) if way.fools in fools]
    return [pytest.param(way, id="/".join(way.path.parts[-2:])) for way in some(ways)]


def some(ways: Sequence[Way]) -> Sequence[Way]:
    """Return all ways, or some that are tried soon."""
    return (
        ways
        if RUNS
        else [way for way in ways if way.framework == "numpy" and not way.needs and not way.environment][::5]
    )


@pytest.mark.parametrize("way", of("faster") if RUNS else [])  # what it times, other work on the machine may bend
def test_a_naive_judge_calls_it_right_and_faster(
    way: Way, tmp_path: Path, baselines: dict[tuple[object, ...], float]
) -> None:
    skip_without(way)
    result = judge(way, tmp_path, baselines)
    assert result["right"]
    assert result["speedup"] > FACTOR


@pytest.mark.parametrize("way", of("faster", "right"))
def test_a_naive_judge_calls_it_right(way: Way, tmp_path: Path) -> None:
    skip_without(way)
    assert verdict(run(way, "check", tmp_path))["right"]


@pytest.mark.parametrize("way", of("status"))
def test_its_process_ends_with_success_and_says_nothing(way: Way, tmp_path: Path) -> None:
    done = run(way, "check", tmp_path)
    assert done.returncode == 0
    assert done.stdout == ""


@pytest.mark.parametrize("way", [pytest.param(way, id=way.name) for way in some(HONEST)])
def test_an_honest_candidate_is_right(way: Way, tmp_path: Path) -> None:
    skip_without(way)
    assert verdict(run(way, "check", tmp_path))["right"]


def test_every_file_is_in_the_list_once() -> None:
    for ways in (WAYS, HONEST, EXAMPLES):
        assert sorted(way.path for way in ways) == sorted(ways[0].path.parent.glob("*.py"))
    assert {way.reference for way in (*WAYS, *HONEST)} == {path.stem for path in (HERE / "references").glob("*.py")}


def test_every_candidate_says_what_it_does_and_defines_one_function() -> None:
    for way in (*WAYS, *HONEST, *EXAMPLES):
        text = way.path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        assert ast.get_docstring(tree), way.name
        defined = re.findall(r"^(?:def f\(|f = |class ModelNew\(|exec\()", text, re.MULTILINE)
        assert len(defined) == 1, way.name
        numbers = [int(number) for number in re.findall(r"^#: (\d+)$", text, re.MULTILINE)]
        assert numbers == ([way.number] if way.number else []), way.name


def test_the_corpus_covers_the_table() -> None:
    numbers = {2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32, 34}
    numbers |= {35, 36, 37, 38, 39, 40, 42, 43, 44, 45, 47, 48, 49, 52, 54, 55, 56}
    assert {way.number for way in WAYS} == numbers
    assert len(WAYS) >= 45
    assert len(HONEST) >= 15


def test_every_word_of_the_list_is_one_of_its_words() -> None:
    for way in (*WAYS, *HONEST, *EXAMPLES):
        assert way.fools in FOOLS
        assert set(way.causes) <= set(CAUSES), way.name
        assert not set(way.verdicts) & {"faster", "void"} or way.number in (0, 37), way.name  # a problem of 37 is void


def test_every_attack_has_a_test() -> None:
    tests = (HERE / "test_attacks.py").read_text(encoding="utf-8")
    assert [way.name for way in WAYS if way.fools == "attack" and f'"{way.name}"' not in tests] == []
