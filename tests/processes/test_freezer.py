"""A frozen tree stands still, whatever it has started and however; its memory can be read meanwhile.

The trees count in memory that the whole tree shares. Each is frozen by both means where this machine has both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from opperf.domain.errors import InputError, WorkerFailure
from opperf.parent.workers.freezer import Freezer, _is_still, of_start, read_memory
from opperf.parent.workers.room import room_of, under
from opperf.parent.workers.supervision import end, launch, own_ids

Until: TypeAlias = Callable[[Callable[[], Any]], Any]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it freezes by what Linux offers")

#: Each tree says first where its counter is, after whatever counts was started.
_COUNTER = """
import ctypes, mmap, os, sys, threading, time
shared = mmap.mmap(-1, 4096)
counter = ctypes.c_uint64.from_buffer(shared)
def count():
    while True:
        counter.value += 1
def ready():
    sys.stdout.write(f"{os.getpid()} {ctypes.addressof(counter)}\\n")
    sys.stdout.flush()
"""
TREES = {
    "a late thread": """
        ready()
        threading.Thread(target=count).start()
    """,
    "a grandchild in a session of its own": """
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                count()
            os._exit(0)
        ready()
        time.sleep(600)
    """,
    "one that forks all the time": """
        ready()
        os.set_inheritable(1, False)
        while True:
            counter.value += 1
            if os.fork() > 0:
                break
        while True:
            os.wait()
            if os.fork() == 0:
                counter.value += 1
                os._exit(0)
    """,
    "ten that wake each other": """
        import signal
        signal.signal(signal.SIGCONT, lambda *_: None)
        own = os.getpgid(0)
        for _ in range(10):
            if os.fork() == 0:
                while True:
                    counter.value += 1
                    os.killpg(own, signal.SIGCONT)
        ready()
        time.sleep(600)
    """,
}


@dataclass
class Tree:
    freezer: Freezer
    address: int

    def count(self) -> int:
        return int.from_bytes(read_memory(self.freezer.pid, self.address, 8), "little")


@pytest.fixture(params=["group", "signals"])
def tree(request: pytest.FixtureRequest, cache: Path) -> Iterator[Callable[[str], Tree]]:
    """Start a program in a room, or with nothing but its supervisor."""
    started: list[subprocess.Popen[bytes]] = []
    freezers: list[Freezer] = []

    def begin(program: str) -> Tree:
        try:
            room = under(replace(room_of(Path(sys.executable), []), processes=256))
        except InputError as problem:
            pytest.skip(problem.message)
        command = [*room, sys.executable, "-I", "-c", _COUNTER + textwrap.dedent(program)]
        process = launch(command, None, os.environ)
        started.append(process)
        assert process.stdout is not None
        words = process.stdout.readline().split()
        assert len(words) == 2, words
        freezer = Freezer(_inside(process.pid, int(words[0])))
        freezers.append(freezer)
        if request.param == "group" and freezer.mechanism != "group":
            pytest.skip("this user may make no control group")
        freezer.mechanism = request.param
        return Tree(freezer, int(words[1]))

    yield begin
    for freezer in freezers:
        freezer.close()
    for process in started:
        end(process)
        if process.stdout is not None:
            process.stdout.close()


def _inside(supervisor: int, pid: int) -> int:
    """Return the process that has an id in its own namespace."""
    below = psutil.Process(supervisor).children(recursive=True)
    return max((one.pid for one in below if own_ids(one.pid)[-1:] == [pid]), key=lambda one: len(own_ids(one)))


def _wait_for_more(tree: Tree, before: int, until: Until) -> None:
    until(lambda: tree.count() > before)


@pytest.mark.parametrize("name", TREES)
def test_a_frozen_tree_does_nothing(name: str, tree: Callable[[str], Tree], until: Until) -> None:
    counting = tree(TREES[name])
    until(counting.count)
    for _ in range(5):
        counting.freezer.freeze()
        before = counting.count()
        subprocess.run(["true"], check=True)  # whoever could run would have counted meanwhile
        assert counting.count() == before
        assert not counting.freezer.has_run()
        counting.freezer.thaw()
        _wait_for_more(counting, before, until)


def test_a_tree_that_the_kernel_lets_go_on_has_run(tree: Callable[[str], Tree], until: Until) -> None:
    counting = tree(
        """
        import signal, struct
        signal.signal(signal.SIGCONT, lambda *_: None)
        libc = ctypes.CDLL(None)
        event = ctypes.create_string_buffer(struct.pack("qii", 0, signal.SIGCONT, 0), 64)
        for number in range(1, 500):  # for two minutes; SIGSTOP takes those away that have not arrived
            timer = ctypes.c_void_p()
            assert libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0
            libc.timer_settime(timer, 0, struct.pack("qqqq", 0, 0, *divmod(number * number * 500_000, 10**9)), None)
        ready()
        count()
        """
    )
    until(counting.count)
    counting.freezer.freeze()
    if counting.freezer.mechanism == "signals":
        until(counting.freezer.has_run)
    else:
        before = counting.count()
        subprocess.run(["true"], check=True)
        assert (counting.count(), counting.freezer.has_run()) == (before, False)


def test_what_imports_for_others_stops_and_who_was_forked_from_it_goes_on(until: Until) -> None:
    program = "import os, time\nchild = os.fork()\nprint(child, flush=True)\nwhile not child: pass\ntime.sleep(600)"
    process = launch([sys.executable, "-I", "-c", program], None, os.environ)
    assert process.stdout is not None
    try:
        child = max(int(process.stdout.readline()), int(process.stdout.readline()))
        with of_start(process.pid, alone=True) as source:
            source.freeze()
            assert (_is_still(source.pid), _is_still(process.pid), _is_still(child)) == (True, False, False)
            assert source.pid != process.pid
        until(lambda: not _is_still(source.pid))
    finally:
        end(process)
        process.stdout.close()


def test_cpu_time_is_that_of_the_whole_tree_and_of_the_dead_in_it(tree: Callable[[str], Tree], until: Until) -> None:
    counting = tree(
        """
        if os.fork() == 0:
            start = time.process_time()
            while time.process_time() < start + 0.2:
                pass
            os._exit(0)
        os.wait()
        counter.value = 1
        ready()
        time.sleep(600)
        """
    )
    assert counting.count() == 1
    assert counting.freezer.cpu_ns() >= 150_000_000
    counting.freezer.freeze()
    assert counting.freezer.cpu_ns() == counting.freezer.cpu_ns()


def test_processes_and_threads_are_those_of_the_command(tree: Callable[[str], Tree]) -> None:
    counting = tree(
        """
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        threading.Thread(target=time.sleep, args=(600,)).start()
        ready()
        """
    )
    processes, threads = counting.freezer.processes(), counting.freezer.threads()
    assert counting.freezer.pid in processes
    assert (len(processes), len(threads)) == (2, 3)
    assert set(processes) < set(threads)


def test_memory_that_a_process_protects_from_itself_is_read(tree: Callable[[str], Tree]) -> None:
    counting = tree(
        """
        counter.value = 77
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
        ready()
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(ctypes.addressof(counter)), 4096, 0)
        time.sleep(600)
        """
    )
    counting.freezer.freeze()
    assert counting.count() == 77


@pytest.mark.parametrize("address", [0, 1 << 46, (1 << 64) - 4096, 1 << 70, -1])
def test_memory_that_is_not_there_is_an_error_with_the_place(address: int) -> None:
    with pytest.raises(WorkerFailure, match=f"cannot read 16 bytes at {address:#x} in the memory of process"):
        read_memory(os.getpid(), address, 16)


def test_a_process_that_has_ended_is_an_error() -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    with pytest.raises(WorkerFailure, match="there is no process"):
        Freezer(gone.pid)
    assert not _is_still(gone.pid)  # it may have started another one since it was listed
    with pytest.raises(WorkerFailure, match="cannot read"):
        read_memory(gone.pid, 4096, 1)


def test_closing_lets_the_tree_go_on(tree: Callable[[str], Tree], until: Until) -> None:
    counting = tree(TREES["a late thread"])
    counting.freezer.freeze()
    before = counting.count()
    counting.freezer.close()
    counting.freezer.close()
    _wait_for_more(counting, before, until)


def test_a_child_that_has_not_said_who_it_is_stops_all_the_same(tree: Callable[[str], Tree], until: Until) -> None:
    counting = tree(TREES["a late thread"])
    until(counting.count)
    with of_start(counting.freezer._line[-1]) as freezer:
        assert freezer.mechanism == "group" or counting.freezer.mechanism == "signals"
        freezer.mechanism = counting.freezer.mechanism
        freezer.freeze()
        before = counting.count()
        subprocess.run(["true"], check=True)
        assert counting.count() == before
        freezer.thaw()
        _wait_for_more(counting, before, until)
