"""A device that a plugin pretends to have: one command measures on it, and no process is timed that was watched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.functional.conftest import current, invoke

import opperf as library
from opperf.domain import registry
from opperf.parent.workers import claims

#: The null framework by another name, on a device. It notes which process is timed, and which is watched.
FRAMEWORK = """
import os
from opperf.child.backends.null.runtime import NullBackend
from opperf.domain.registry import Framework

FRAMEWORK = Framework("pretend", "json", ("pretend",), ())


def start(side):
    return PretendBackend(side)


def note(word):
    with open(os.path.join(os.path.dirname(__file__), "log"), "a") as log:
        log.write(f"{word} {os.getpid()}\\n")


class PretendBackend(NullBackend):
    name = "pretend"

    def kernel_watch(self):
        return None if self.side.device == "cpu" else self._noted

    def _noted(self, work, calls, sweep=None):
        note("watched")
        return self._watch(work, calls, 0.6)

    def memory(self, work):
        note("timed")
        return super().memory(work)
"""
#: Takes the lock of a file as a command does, says so, and keeps it until it is ended.
HOLDER = """
import sys
from pathlib import Path
from opperf.parent.workers.claims import LOCKS

LOCKS.take(Path(sys.argv[1]))
print("taken", flush=True)
sys.stdin.read()
"""
TAKING = (sys.executable, "-c", HOLDER, "opperf-late-0.lock")
WHERE = ("--plugin", "pretend.py", "--framework", "pretend", "--device", "late", "--no-check")
FORWARD = ("--size", "small", "--direction", "forward")
RUN = ("run", "add", *WHERE, *FORWARD)


@pytest.fixture(scope="module")
def folder(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the plugin, where locks lie too."""
    with current(tmp_path_factory.mktemp("device"), one_cache) as here, pytest.MonkeyPatch.context() as patch:
        (here / "pretend.py").write_text(FRAMEWORK)
        patch.setattr(claims, "FOLDER", here)
        yield here
        for table in (registry.FRAMEWORKS, registry.PRESETS):  # where commands of this process have loaded the plugin
            table.pop("pretend", None)


@pytest.fixture(autouse=True)
def here(folder: Path) -> Iterator[Path]:
    """The same folder for all tests; a command of this process gives its device back when the test ends."""
    yield folder
    with claims.LOCKS.until_end():
        pass


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another command that measures on the device."""
    with subprocess.Popen(TAKING, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        yield process
        process.kill()


def noted(folder: Path) -> list[tuple[str, str]]:
    """Return what children noted, and forget it."""
    log = folder / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [(word, pid) for word, pid in map(str.split, lines)]


def test_no_process_is_timed_that_was_watched(folder: Path) -> None:
    done = invoke("run", "add", "exp", "tanh", *WHERE, *FORWARD, "--format", "json")
    assert [one["metrics"]["device"]["samples"] for one in done.records] == [20] * 3, done.err
    words = noted(folder)
    assert len({pid for _, pid in words}) == 2
    watched: set[str] = set()
    for word, pid in words:
        assert word == "watched" or pid not in watched
        watched |= {pid} if word == "watched" else set()


def test_a_single_trial_is_watched_at_the_end_of_its_own_child(folder: Path) -> None:
    assert invoke(*RUN).code == 0
    assert len({pid for _, pid in noted(folder)}) == 1


def test_a_side_is_not_watched_beside_one_whose_kernels_nobody_shows(folder: Path) -> None:
    sides = (
        "--plugin",
        "pretend.py",
        "--base",
        "pretend;device=late",
        "--new",
        "pretend",
        "--pairs",
        "3",
        "--no-check",
    )
    done = invoke("compare", "add", *sides, *FORWARD)
    assert done.code == 0, done.err
    assert "watched" not in {word for word, _ in noted(folder)}


def test_a_device_on_which_another_command_measures_is_refused(holder: subprocess.Popen[str]) -> None:
    sides = ("--plugin", "pretend.py", "--base", "pretend;device=late", "--new", "pretend")
    for done in (invoke(*RUN), invoke("compare", "add", *sides)):
        assert (done.code, done.out) == (2, "")
        assert f"process {holder.pid} of " in done.err
        assert "measures on `late:0`, which serves both in turn" in done.err
        assert "`--share-device`" in done.err


def test_the_user_may_measure_beside_another_command(holder: subprocess.Popen[str]) -> None:
    done = invoke(*RUN, "--share-device")
    assert done.code == 0
    assert f"warning: process {holder.pid} of " in done.err


def test_where_no_lock_can_be_the_command_says_so_and_measures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "FOLDER", folder / "absent")
    done = invoke(*RUN)
    assert done.code == 0
    assert "warning: nobody is kept from measuring on `late:0` at the same time: " in done.err


def test_the_library_gives_a_device_back_when_a_call_ends(folder: Path) -> None:
    with claims.LOCKS.until_end():
        library.run("add", plugin="pretend.py", framework="pretend", device="late", size="small", check=False)
        held = subprocess.run(TAKING, check=False, capture_output=True, text=True)
    freed = subprocess.run(TAKING, check=False, capture_output=True, text=True, input="")
    assert ("InUse" in held.stderr, freed.stdout) == (True, "taken\n")


def test_a_command_that_was_killed_has_no_device(holder: subprocess.Popen[str], folder: Path) -> None:
    holder.kill()
    holder.wait()
    assert invoke(*RUN).code == 0
    assert (folder / "opperf-late-0.lock").stat().st_mode & 0o666 == 0o666
