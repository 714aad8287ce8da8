"""`--plugin FILE`: operators of your own, and a framework that opperf does not know, wherever they are asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import opperf as library
from opperf.domain import registry
from opperf.parent.commands import peaks

Opperf: TypeAlias = Callable[..., Any]
OPERATORS = '''
import opperf


@opperf.operator(framework="numpy")
def twice(x, times=2):
    """Multiply by two."""
    return x * times


@opperf.operator(implements="softmax")
def add(x):
    return x
'''
#: NumPy by another name, with the operators of a program that says itself which they are.
FRAMEWORK = """
from opperf.catalog import catalog
from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.domain.call import CapturedCall
from opperf.domain.registry import Framework

FRAMEWORK = Framework("tiny", "numpy", ("tiny",), (), modes=("eager",), gradients=False)


def start(side):
    return TinyBackend(side)


class TinyBackend(NumpyBackend):
    name = "tiny"

    def facts(self):
        return {**super().facts(), "version": "7"}

    def bindings(self):
        return {name: call for name, call in super().bindings().items() if name in ("add", "copy", "matmul")}

    def capture(self, function):
        return [CapturedCall(name, catalog()[name].case("small")) for name in function()]
"""
#: The null framework by another name, which explains itself.
SLOWED = """
import os
from opperf.child.backends.null.runtime import NullBackend
from opperf.child.backends.null.scripts import Scripts
from opperf.domain.explanation import Event, Explanation
from opperf.domain.registry import Framework

FRAMEWORK = Framework("tiny", "json", ("tiny",), ())


def start(side):
    return SlowedBackend(side)


class SlowedBackend(NullBackend):
    name = "tiny"

    def __init__(self, side):
        super().__init__(side)
        self.slowdown = os.environ.get("SLOWDOWN", "1")
        self.scripts = Scripts(self.clock, {"slowdown": self.slowdown})

    def explain(self, work, calls):
        return [Explanation((Event(f"tiny_add at {self.slowdown}", "kernel", 1, 1e-6),))]
"""
#: A framework that is a module of the current folder, with the profiler of the null framework.
WATCHED = """
from opperf.child.backends.null.watcher import Watcher as NullWatcher
from opperf.domain.registry import Framework

FRAMEWORK = Framework("tiny", "tinylib.core", ("tiny",), ())


class Watcher(NullWatcher):
    framework = "tiny"
"""
LIBRARY = """
from opperf.child.backends.null.watcher import span, spend


def dense():
    with span("dense"):
        spend(1000)
"""
TRAINING = "import sys\nfrom tinylib.core import dense\nfor _ in range(3):\n    dense()\nsys.exit(len(sys.argv))\n"


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test makes known is forgotten after it."""
    for table in (registry.FRAMEWORKS, registry.PRESETS):
        monkeypatch.setitem(table, "tiny", None)  # put back as it was: not there
        del table["tiny"]


@pytest.fixture
def operators(here: Path) -> Path:
    """A file of operators."""
    (here / "my_ops.py").write_text(OPERATORS)
    return here / "my_ops.py"


@pytest.fixture
def tiny(here: Path) -> Path:
    """A file that brings a framework."""
    (here / "tiny_backend.py").write_text(FRAMEWORK)
    return here / "tiny_backend.py"


def test_operators_of_a_plugin_are_listed_behind_the_catalogs(opperf: Opperf, operators: Path) -> None:
    done = opperf("operators", "--plugin", operators, "--format", "csv")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[-2:] == ['twice,plugin,,"x, times",Multiply by two.', "add,plugin,,x,"]
    assert sum(line.startswith("add,") for line in lines) == 2


def test_a_pattern_also_matches_the_operators_of_a_plugin(opperf: Opperf, operators: Path) -> None:
    assert opperf("operators", "twi*", "--plugin", "my_ops").out.splitlines()[2].split()[:2] == ["twice", "plugin"]
    assert opperf("operators", "twi*").code == 2
    assert list(library.operators("twi*", plugin=operators)) == ["twice"]


def test_a_plugin_that_declares_nothing_is_refused(opperf: Opperf, here: Path) -> None:
    (here / "empty.py").write_text("import numpy\n")
    done = opperf("operators", "--plugin", "empty.py")
    assert done.code == 2
    assert done.err == "error: empty.py declares no operator\n\nhint: put `@opperf.operator(...)` above a function\n"


def test_what_a_plugins_framework_has_is_asked_of_it(opperf: Opperf, tiny: Path) -> None:
    done = opperf("operators", "[ae]*d*", "--category", "elementwise_binary", "--framework", "tiny", "--plugin", tiny)
    rows = {line.split()[0]: line.split("  ")[-1].strip() for line in done.out.splitlines()[2:]}
    assert (done.code, rows["add"]) == (0, "forward")
    assert {word for name, word in rows.items() if name != "add"} <= {"missing: not bound yet"}
    assert "tiny" in str(library.operators("add", framework="tiny", plugin=str(tiny)))


def test_a_framework_that_no_plugin_brings_is_unknown_with_a_way_out(opperf: Opperf, operators: Path) -> None:
    for words in (("operators", "add"), ("doctor",), ("capture", "mine.py:step")):
        done = opperf(*words, "--framework", "tiny", "--plugin", operators)
        assert done.code == 2, words
        assert "no framework `tiny`" in done.err
        assert "`--plugin FILE` adds others" in done.err


def test_doctor_visits_a_plugins_framework(opperf: Opperf, tiny: Path) -> None:
    done = opperf("doctor", "--framework", "tiny", "--plugin", "tiny_backend")
    assert (done.code, done.err) == (0, "")
    assert "tiny 7 in `current`\n" in done.out


def test_peaks_are_measured_on_a_plugins_framework(
    opperf: Opperf, tiny: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "environments").symlink_to(Path(os.environ["OPPERF_CACHE_DIR"]) / "environments")
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(cache))
    monkeypatch.setattr(peaks, "ROWS", (4,))
    monkeypatch.setattr(peaks, "PRODUCTS", {"float32": (8,)})
    done = opperf("doctor", "--peaks", "--framework", "tiny", "--plugin", tiny, "--format", "json")
    assert done.code == 0, done.err
    assert {rate["framework"] for rate in json.loads(done.out)["peaks"]} == {"tiny"}


def test_a_program_of_a_plugins_framework_is_captured(opperf: Opperf, tiny: Path, here: Path) -> None:
    (here / "mine.py").write_text("def step():\n    return ['add', 'softmax', 'add']\n")
    done = opperf("capture", "mine.py:step", "--framework", "tiny", "--plugin", tiny)
    assert done.code == 0, done.err
    assert [(one["case"]["operator"], one["count"]) for one in json.loads(done.out)["cases"]] == [
        ("add", 2),
        ("softmax", 1),
    ]
    suite = library.capture("mine.py:step", framework="tiny", plugin=tiny)
    assert [case.count for case in suite] == [2, 1]


def test_capture_does_not_write_over_its_plugin(opperf: Opperf, tiny: Path) -> None:
    text = tiny.read_text()
    words = ("capture", "mine.py:step", "--framework", "tiny", "--plugin", tiny, "--output", tiny, "--force")
    assert opperf(*words).code == 2
    assert tiny.read_text() == text


def test_a_model_file_of_a_plugins_framework_is_refused_with_a_reason(opperf: Opperf, tiny: Path, here: Path) -> None:
    (here / "net.onnx").write_bytes(b"")
    done = opperf("capture", "net.onnx", "--framework", "tiny", "--plugin", tiny)
    assert done.code == 2
    assert "opperf cannot read models of tiny" in done.err


def test_the_profiler_of_a_plugins_framework_is_no_clock_and_says_so(opperf: Opperf, tiny: Path) -> None:
    words = ("--framework", "tiny", "--plugin", tiny, "--clock", "profiler", "--direction", "forward")
    (record,) = opperf("run", "add", *words, "--format", "json").records
    assert record["reason"]["message"] == "opperf cannot read operator times from the profiler of tiny"


def test_a_difference_between_sides_of_a_plugins_framework_is_explained(opperf: Opperf, here: Path) -> None:
    (here / "slow_backend.py").write_text(SLOWED)
    sides = ("--base", "tiny", "--new", "tiny;env.SLOWDOWN=1.5", "--plugin", "slow_backend.py")
    done = opperf("compare", "add", *sides, "--explain", "--direction", "forward", "--no-check", "--format", "json")
    (comparison,) = json.loads(done.out)["comparisons"]
    assert comparison["verdict"] == "slower"
    assert [event["name"] for event in comparison["explanation"]["new"]] == ["tiny_add at 1.5"]


@pytest.fixture
def watched(here: Path) -> Path:
    """A script in the current folder, its framework, and a file that brings the framework's profiler."""
    (here / "tinylib").mkdir()
    (here / "tinylib" / "__init__.py").touch()
    (here / "tinylib" / "core.py").write_text(LIBRARY)
    (here / "train.py").write_text(TRAINING)
    (here / "tiny_profiler.py").write_text(WATCHED)
    return here / "tiny_profiler.py"


@pytest.mark.parametrize("words", [(), ("--framework", "tiny")])
def test_a_script_of_a_plugins_framework_is_profiled(
    opperf: Opperf, watched: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.workers.interpreters.imports_here", lambda framework: True)
    done = opperf("profile", "--plugin", "tiny_profiler", *words, "--format", "json", "train.py", "x")
    document = json.loads(done.out)
    assert done.code == 2  # the script's own
    assert [(row["name"], row["calls"], row["self"]) for row in document["rows"]] == [("dense", 3, 3e-6)]
    assert [facts["framework"] for facts in document["processes"].values()] == ["tiny"]
    profile = library.profile("train.py", plugin=watched, output="again")
    assert [(row.name, row.calls) for row in profile] == [("dense", 3)]


def test_without_its_plugin_a_script_leaves_no_profile_and_runs(opperf: Opperf, watched: Path) -> None:
    done = opperf("profile", "train.py")
    assert done.code == 1  # the script's own
    assert "the script imported none of torch, mxnet, jax" in done.err
    assert opperf("profile", "--framework", "tiny", "train.py").code == 2


def test_a_plugin_without_a_profiler_is_refused_before_the_script_runs(opperf: Opperf, tiny: Path, here: Path) -> None:
    (here / "train.py").write_text("open('ran', 'w')\n")
    done = opperf("profile", "--plugin", tiny, "train.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {tiny} defines no framework whose operators can be profiled\n\nhint: write")
    assert not (here / "ran").exists()


def test_a_profiler_that_cannot_be_loaded_costs_the_profile_and_never_the_script(
    opperf: Opperf, watched: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opperf.parent.workers.interpreters.imports_here", lambda framework: True)
    watched.write_text(f"{WATCHED}\nraise ValueError('torn')\n")
    done = opperf("profile", "--plugin", watched, "train.py")
    assert done.code == 1  # the script's own
    assert "opperf: not profiled: ValueError: torn" in capfd.readouterr().err
    assert "no profile: the script imported none of tiny, torch, mxnet, jax" in done.err
