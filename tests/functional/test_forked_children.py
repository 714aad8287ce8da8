"""A child that is forked for a test is what a fresh process is: in what it has, and in how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each
from tests.forked_children import FORKED_CHILD, ForkedChildren

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.message.requests import Capture, Evaluate, Prepare
from opperf.domain.plan import PLACING, PROGRAM, REFERENCE, Side, Trial
from opperf.parent.workers import process, supervision
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Launch, Worker

#: How long a child may take here before it is called hung; one that hangs on purpose is waited for much shorter.
DEADLINE, SHORT = 60.0, 0.5
SIDE = Side("null", settings={"env.OWN": "here"})
FRESH = supervision.launch

#: A function of the user's that writes down what its process has.
LOOK = """
import gc, json, os, resource, signal, sys, threading
from pathlib import Path

def look():
    streams = (sys.stdin, sys.stdout, sys.stderr)
    kinds = sorted(os.readlink(f"/proc/self/fd/{one}").split(":")[0] for one in os.listdir("/proc/self/fd") if
                   os.path.exists(f"/proc/self/fd/{one}"))
    facts = {
        "variables": {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE")},
        "folder": os.getcwd(),
        "path": sys.path,
        "words": [sys.argv[0], *sys.argv[3:]],
        "leads": os.getpid() == os.getpgrp() == os.getsid(0),
        "descriptors": kinds,
        "streams": [(one.encoding, one.errors, one.line_buffering, one.isatty()) for one in streams],
        "handlers": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "threads": threading.active_count(),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "flags": str(sys.flags),
        "limits": [resource.getrlimit(one) for one in range(16) if one != resource.RLIMIT_DATA],
        "limited": resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY,
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "cpus": sorted(os.sched_getaffinity(0)),
    }
    Path(__file__).with_name("facts.json").write_text(json.dumps(facts))
    return []
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """How a child ends by itself is waited for, however busy the machine is."""
    monkeypatch.setattr(process, "GRACE", DEADLINE)


def child(**options: Any) -> Worker:
    """Start a child of the null framework that has said hello."""
    worker = Worker(Path(sys.executable), package_folder(), SIDE, Launch(memory=1 << 30, **options))
    worker.greet(DEADLINE)
    return worker


def facts(here: Path, **options: Any) -> dict[str, Any]:
    """Return what a child has."""
    (here / "look.py").write_text(LOOK)
    worker = child(**options)
    worker.ask(Capture(Code("look.py:look")), DEADLINE)
    worker.close()
    result: dict[str, Any] = json.loads((here / "facts.json").read_text())
    return result


def command(worker: Worker) -> bytes:
    return Path(f"/proc/{worker.pid}/cmdline").read_bytes()


def forks(side: Side, **options: Any) -> bool:
    """Whether a child of a side is forked."""
    worker = Worker(Path(sys.executable), package_folder(), side, Launch(**options))
    worker.greet(DEADLINE)
    try:
        return os.fsencode(FORKED_CHILD) in command(worker)
    finally:
        worker.close()


def test_children_are_forked_that_import_their_framework_as_others_do() -> None:
    assert forks(Side("null"))
    assert forks(Side("numpy"))
    assert forks(Side("numpy", settings=REFERENCE))
    assert forks(Side("numpy", settings=PROGRAM))


def test_a_child_is_a_fresh_process_whose_memory_or_room_is_laid_out_before_the_import() -> None:
    assert not forks(Side("numpy", settings={"layout": "1"}))
    assert not forks(Side("numpy"), variables={PLACING: "1"})
    assert not forks(Side("numpy"), under=["env"])


def test_children_whose_framework_was_told_something_else_come_of_another_process(launcher: ForkedChildren) -> None:
    before = {*launcher.sources}
    sides = [Side("numpy"), Side("numpy", threads=2), Side("numpy", settings={"env.NPY_OWN": "here"})]
    assert all(forks(side) for side in (*sides, *sides))
    assert len({*launcher.sources} - before) in (len(sides), len(sides) - 1)  # the first may be there


def test_children_that_are_told_what_no_import_reads_come_of_the_process_of_all(launcher: ForkedChildren) -> None:
    assert forks(Side("numpy"))
    before = {*launcher.sources}
    assert forks(Side("numpy", settings={"env.XLA_FLAGS": "--own", "env.OWN": "here"}))
    assert {*launcher.sources} == before


def test_children_of_the_null_framework_come_of_one_process_whatever_their_settings(launcher: ForkedChildren) -> None:
    assert forks(SIDE)
    before = {*launcher.sources}
    assert forks(Side("null", settings={"version": "1.2", "env.OWN": "there"}, threads=2, allocator="default"))
    assert forks(Side("null"), variables={"UV_INDEX": "https://wheels.example"})
    assert {*launcher.sources} == before


def test_where_compilers_keep_code_takes_no_process_of_its_own(launcher: ForkedChildren) -> None:
    assert forks(Side("numpy"))
    before = {*launcher.sources}
    assert forks(Side("numpy"), variables={"NUMBA_CACHE_DIR": "elsewhere"})
    assert {*launcher.sources} == before


def test_a_forked_child_computes_what_a_fresh_one_does(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    def computed() -> bytes:
        worker = Worker(Path(sys.executable), package_folder(), Side("numpy"))
        worker.greet(DEADLINE)
        trial = Trial(operator("softmax").case("small"), worker.side, "forward")
        (output,) = worker.ask(Evaluate(trial, 0, str(here)), DEADLINE).outputs
        worker.close()
        return Path(output.file).read_bytes()

    forked = computed()
    monkeypatch.setattr(process, "launch", FRESH)
    assert forked == computed()


@pytest.mark.parametrize("options", [{}, {"own_path": True}, {"cpus": (min(os.sched_getaffinity(0)),)}])
def test_a_forked_child_has_what_a_fresh_one_has(
    options: dict[str, Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(here))
    monkeypatch.setenv("LATER", "set since the first child")
    forked = facts(here, **options)
    monkeypatch.setattr(process, "launch", FRESH)
    assert forked == facts(here, **options)
    assert (forked["variables"]["OWN"], forked["leads"]) == ("here", True)


def ending(script: str) -> tuple[object, ...]:
    """Say what becomes of a child that runs a script."""
    worker = child()
    trial = Trial(Case(f"null:{script}"), replace(SIDE, implementation=script), "forward")
    try:
        worker.ask(Prepare(trial), SHORT if script == "hang" else DEADLINE)
    except OperatorFailure as failed:
        worker.close()
        return failed.reason.slug, failed.reason.message, worker._process.poll()
    except WorkerFailure as lost:
        return lost.slug, lost.message, lost.signal, lost.stderr, worker._process.poll()
    raise AssertionError(f"`{script}` went well")


def test_a_forked_child_ends_as_a_fresh_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(script: str) -> None:
        with monkeypatch.context() as patch:
            forked = ending(script)
            patch.setattr(process, "launch", FRESH)
            assert forked == ending(script)

    check_each(["raise", "leak", "crash", "abort", "exit", "hang", "garbage"], check)


def test_a_forked_child_is_stopped_and_goes_on() -> None:
    worker = child()
    worker.pause()
    stopped = os.waitid(os.P_PID, worker.pid, os.WSTOPPED)
    assert stopped is not None
    assert stopped.si_status == signal.SIGSTOP
    worker.resume()
    worker.close()
    assert worker._process.poll() == 0


def test_children_are_forked_for_many_threads_at_once() -> None:
    def run(number: int) -> int:
        worker = child()
        worker.close()
        assert worker._process.poll() == 0
        return worker.pid

    with ThreadPoolExecutor(8) as threads:
        pids = list(threads.map(run, range(24)))
    assert len(set(pids)) == len(pids)


def test_ctrl_c_in_the_middle_of_a_fork_costs_the_next_nothing(
    launcher: ForkedChildren, monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Callable[..., int] = socket.send_fds

    def stop(*words: Any) -> None:
        send(*words)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(socket, "send_fds", stop)
        with pytest.raises(KeyboardInterrupt):
            child()
    worker = child()
    worker.close()
    assert worker._process.poll() == 0
