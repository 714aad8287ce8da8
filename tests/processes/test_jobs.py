"""Several jobs that are stopped: every child ends, every finished outcome stays, and the run goes on where it was."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest
from tests.processes.conftest import in_sleep

from opperf.parent.store.machine_file import EFFECTS
from opperf.parent.workers import canaries, machine
from opperf.parent.workers.topology import leases, usable_cores

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]

NAMES = ("null:hang", "add", "exp", "log", "sqrt")
COMMAND = ("run", *NAMES, "--framework", "null", "--size", "small", "--direction", "forward", "--jobs", "2")

pytestmark = pytest.mark.skipif(len(leases(usable_cores(), 1)) < 2, reason="two physical cores are needed")


@pytest.fixture(scope="module", autouse=True)
def effects(one_cache: Path) -> None:
    """Canaries have run for a few turns, and found that jobs do not disturb each other.

    On a busy machine each command would measure it anew, and might let nothing run beside a trial that hangs.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canaries, "TURNS", 3)
        measured, _ = canaries.measure(leases(usable_cores(), 1)[:2])
    EFFECTS.add(EFFECTS.path(one_cache, machine.facts()), [replace(effect, slowdown=0.0) for effect in measured])


def lives(child: psutil.Process) -> bool:
    """Whether a process has not ended; one that waits to be collected has."""
    with suppress(psutil.NoSuchProcess):
        return child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    return False


def test_a_signal_ends_the_children_of_all_jobs_and_each_trial_is_recorded_once(
    start: Start, until: Until, command: Run, tmp_path: Path
) -> None:
    output = tmp_path / "k.json"
    journal = output.with_name("k.json.journal")
    run = start("-m", "opperf", *COMMAND, "--output", output)
    # One job hangs; the other measures all the rest.
    until(lambda: journal.exists() and len(journal.read_text().splitlines()) == 5)
    children = psutil.Process(run.pid).children(recursive=True)
    assert children
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=300)
    assert run.returncode == 130
    assert "Traceback" not in said
    until(lambda: not any(map(lives, children)))
    assert [one["case"]["operator"] for one in json.loads(output.read_text())["records"]] == list(NAMES[1:])

    done = command(*COMMAND, "--timeout", "2", "--output", output, "--resume", output)
    assert done.returncode == 0, done.stderr
    records = json.loads(output.read_text())["records"]
    assert [one["case"]["operator"] for one in records] == list(NAMES)
    assert [one["status"] for one in records] == ["failed", "ok", "ok", "ok", "ok"]
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]


def test_a_signal_ends_both_children_of_every_comparison_and_keeps_what_is_decided(
    start: Start, until: Until, tmp_path: Path
) -> None:
    output = tmp_path / "c.json"
    names = ("null:hang", "add", "exp", "--size", "small")
    run = start("-m", "opperf", "compare", *names, "--base", "null", "--new", "null", "--jobs", "2", "--output", output)
    process = psutil.Process(run.pid)
    # One job hangs with its pair, which comes of one process; the other has measured its share and ended its own,
    # which may be so before this looks.
    until(lambda: len(process.children()) == 2 or any(in_sleep(one.pid) for one in process.children(recursive=True)))
    until(lambda: len(process.children()) == 1)
    children = process.children(recursive=True)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=300)
    assert run.returncode == 130
    assert "Traceback" not in said
    until(lambda: not any(map(lives, children)))
    compared = {one["case"]["operator"]: one for one in json.loads(output.read_text())["comparisons"]}
    assert [compared[name]["pairs"] for name in names[:3]] == [0, 1, 1]
    assert {one["verdict"] for one in compared.values()} == {"inconclusive"}
    assert {one["reason"] for name, one in compared.items() if name != "null:hang"} == {
        "Ctrl-C ended the comparison after 1 pair; there is no ratio below 3 usable pairs"
    }
