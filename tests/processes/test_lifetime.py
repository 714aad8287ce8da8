"""Children end with their parent, whatever ended it, and a child that stands still takes no CPU.

The children are counted: every process whose command says that it is a child of that parent.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest
from tests.processes.conftest import in_sleep

from opperf.domain.codec import read_as
from opperf.domain.errors import WorkerFailure
from opperf.domain.message.requests import Describe, Prepare
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.pair_cpus import shared_cpus
from opperf.parent.workers.process import Worker
from opperf.parent.workers.supervision import SUPERVISION

Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Find: TypeAlias = Callable[[int], list[psutil.Process]]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]

#: A supervisor ends a child as the parent ends, and then itself; this is what a busy machine gets to do it. Seconds.
AT_ONCE = 60.0

# Starts a child, says that it is there, and does nothing more.
_IDLE = """
import sys, time
from pathlib import Path
from opperf.domain.plan import Side
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Worker
from opperf.parent.workers.supervision import SUPERVISION
child = Worker(Path(sys.executable), package_folder(), Side("null"))
child.greet()
{then}
print("idle", flush=True)
time.sleep(600)
"""


def _is_there(process: psutil.Process) -> bool:
    """Whether a process lives; one that only waits to be collected does not."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _kill_and_count(parent: subprocess.Popen[str], children_of: Find) -> int:
    """Kill the parent as the kernel does that is short of memory; return how many children live on."""
    children = children_of(parent.pid)
    assert children
    parent.kill()
    parent.wait()
    give_up = time.monotonic() + AT_ONCE
    while (left := sum(map(_is_there, [*children, *children_of(parent.pid)]))) and time.monotonic() < give_up:
        time.sleep(0.01)
    return left


def test_a_child_in_a_native_call_that_never_returns_ends_with_its_killed_parent(
    start: Start, children_of: Find, until: Until, tmp_path: Path
) -> None:
    output = tmp_path / "k.json"
    words = ("add", "null:hang", "--framework", "null", "--size", "small", "--direction", "forward")
    parent = start("-m", "opperf", "run", *words, "--output", output)
    journal = tmp_path / "k.json.journal"
    until(lambda: journal.exists() and len(journal.read_text().splitlines()) == 2)
    (child,) = children_of(parent.pid)
    # In `sleep`, holding the interpreter's lock: nothing in the child itself could notice that its parent is gone.
    until(lambda: in_sleep(child.pid) is not False)
    assert _kill_and_count(parent, children_of) == 0


def test_a_child_in_the_middle_of_an_import_ends_with_its_killed_parent(
    start: Start, children_of: Find, until: Until, tmp_path: Path
) -> None:
    (tmp_path / "numpy.py").write_text(
        f"import ctypes\nopen({str(tmp_path / 'importing')!r}, 'w').close()\nctypes.PyDLL(None).sleep(600)\n"
    )
    parent = start("-m", "opperf", "run", "add", "--framework", "numpy", PYTHONPATH=str(tmp_path))
    until((tmp_path / "importing").exists)
    assert _kill_and_count(parent, children_of) == 0


@pytest.mark.parametrize("then", ["", "child.pause()"], ids=["idle", "stopped"])
def test_a_child_that_waits_ends_with_its_killed_parent(then: str, start: Start, children_of: Find) -> None:
    parent = start("-c", _IDLE.format(then=then))
    assert parent.stdout is not None
    assert parent.stdout.readline() == "idle\n"
    assert _kill_and_count(parent, children_of) == 0


def test_a_supervisor_whose_parent_is_gone_before_it_asks_the_kernel_starts_nothing() -> None:
    words = [sys.executable, "-I", "-S", str(SUPERVISION), "1", "echo", "started"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_no_child_is_left_after_a_run(start: Start, children_of: Find, until: Until, tmp_path: Path) -> None:
    scripts = ("null:crash", "null:hang", "null:exit", "null:raise", "null:steady")
    parent = start("-m", "opperf", "run", *scripts, "--processes", "2", "--timeout", "1")
    seen: set[int] = set()

    def over() -> bool:
        seen.update(child.pid for child in children_of(parent.pid))
        return parent.poll() is not None

    until(over)
    assert parent.returncode in (0, 3)  # on a machine that stands still for a second nothing is measured
    assert seen
    until(lambda: not children_of(parent.pid))
    until(lambda: not [pid for pid in seen if psutil.pid_exists(pid)])


@pytest.mark.parametrize("session", [False, True], ids=["its session", "a session of its own"])
@pytest.mark.parametrize("end", ["kill", "crash"])
def test_what_a_child_has_started_ends_with_it(
    end: str, session: bool, worker: Callable[..., Worker], fake_python: Callable[[str], Path]
) -> None:
    python = fake_python(
        f"""
        import subprocess
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        other = subprocess.Popen(command, start_new_session={session})
        hello = {{"pid": os.getpid(), "facts": {{"pid": other.pid}}, "devices": []}}
        say(json.dumps({{"id": 0, "protocol": PROTOCOL, "result": hello}}) + "\\n")
        sleep()
        """
    )
    child = worker(python)
    child.greet()
    grandchild = psutil.Process(read_as(int, child.facts["pid"], "pid"))
    assert _is_there(grandchild)
    if end == "kill":
        child.kill()
    else:
        os.kill(child.pid, signal.SIGSEGV)
    give_up = time.monotonic() + AT_ONCE
    while _is_there(grandchild) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert not _is_there(grandchild)


def test_a_child_lives_in_a_session_of_its_own(worker: Callable[..., Worker]) -> None:
    child = worker()
    child.greet()
    assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid != os.getsid(0)


@pytest.mark.usefixtures("graceful")
def test_a_child_that_is_asked_to_leave_leaves_by_itself(worker: Callable[..., Worker]) -> None:
    child = worker()
    child.greet()
    child.close()
    assert child._process.poll() == 0


def test_a_child_that_is_dismissed_ends_before_anybody_waits_for_it(
    worker: Callable[..., Worker], until: Until
) -> None:
    child = worker()
    process = psutil.Process(child.pid)
    child.dismiss()
    until(lambda: not _is_there(process))
    child.kill()
    assert not child.alive


def test_ending_a_child_gives_back_its_descriptors(worker: Callable[..., Worker]) -> None:
    before = set(os.listdir("/proc/self/fd"))
    child = worker()
    child.greet()
    child.kill()
    child._output.tail(10)
    assert set(os.listdir("/proc/self/fd")) <= before


def test_a_child_that_is_killed_from_outside_was_probably_short_of_memory(
    start: Start, children_of: Find, until: Until, tmp_path: Path, document: Callable[[Path], list[dict[str, Any]]]
) -> None:
    output = tmp_path / "k.json"
    words = ("add", "null:hang", "subtract", "--framework", "null", "--size", "small", "--direction", "forward")
    parent = start("-m", "opperf", "run", *words, "--output", output)
    journal = tmp_path / "k.json.journal"
    until(lambda: journal.exists() and len(journal.read_text().splitlines()) == 2)
    (child,) = children_of(parent.pid)
    child.kill()
    parent.communicate(timeout=300)
    before, killed, after = document(output)
    assert (before["status"], killed["status"], after["status"]) == ("ok", "failed", "ok")
    reason = killed["reason"]
    assert (reason["slug"], reason["signal"], reason["hint"]) == ("crash", "SIGKILL", "probably out of memory")


def test_a_stopped_child_takes_no_cpu_until_it_goes_on(
    worker: Callable[..., Worker], trial: Callable[..., Trial], until: Until
) -> None:
    child = worker()
    child.greet()
    seen = psutil.Process(child.pid)

    def busy() -> None:
        with suppress(WorkerFailure):
            child.ask(Prepare(trial("null:flood")), 60)

    def used() -> float:
        times = seen.cpu_times()
        return float(times.user + times.system)

    asking = threading.Thread(target=busy, daemon=True)
    asking.start()
    begun = used()
    until(lambda: used() > begun)
    child.pause()
    until(lambda: seen.status() == psutil.STATUS_STOPPED)
    stopped = used()
    time.sleep(0.3)
    assert used() == stopped
    child.resume()
    until(lambda: used() > stopped)
    os.killpg(child.pid, signal.SIGKILL)
    asking.join()


def test_a_child_answers_again_after_it_was_stopped(worker: Callable[..., Worker], until: Until) -> None:
    child = worker()
    child.greet()
    child.pause()
    until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
    child.resume()
    assert child.ask(Describe("add"), 60).operator == "add"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_both_children_of_a_pair_are_on_the_same_cpus_wherever_they_were_started() -> None:
    side = Side("null")
    pair = Duel(side, side, Settings(), lambda _: None, random.Random(0))
    try:
        wanted = set(shared_cpus(side, side) or ())
        for worker in pair._workers:
            threads = [int(path.name) for path in Path(f"/proc/{worker.pid}/task").iterdir()]
            assert [os.sched_getaffinity(thread) for thread in threads] == [wanted] * len(threads)
    finally:
        pair.close()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system does not list threads")
def test_children_that_import_ahead_of_their_turn_come_to_the_cpus_of_their_pair(until: Until) -> None:
    side, first = Side("null"), min(os.sched_getaffinity(0))
    pair = Duel(side, side, Settings(), lambda _: None, random.Random(0), ahead=[(first,), (first,)])
    try:
        assert not any(worker.facts for worker in pair._workers)
        pair.gather()
        wanted = set(shared_cpus(side, side) or ())
        assert [os.sched_getaffinity(worker.pid) for worker in pair._workers] == [wanted, wanted]
        processes = [psutil.Process(worker.pid) for worker in pair._workers]
        until(lambda: all(process.status() == psutil.STATUS_STOPPED for process in processes))
    finally:
        pair.close()


def test_children_that_nobody_waits_for_end_while_they_import(until: Until) -> None:
    side, first = Side("null"), min(os.sched_getaffinity(0))
    pair = Duel(side, side, Settings(), lambda _: None, random.Random(0), ahead=[(first,), (first,)])
    pids = [worker.pid for worker in pair._workers]
    pair.close()
    until(lambda: not any(psutil.pid_exists(pid) for pid in pids))


def test_a_child_that_leaves_does_what_was_registered_for_its_end() -> None:
    code = "import atexit; from opperf.child.__main__ import _leave; atexit.register(print, 'last'); _leave(3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (3, "last\n")
