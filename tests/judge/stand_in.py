"""Stand-ins for what some cheats attack: a parent, a process that calls a candidate, and a sibling that computes.

    python stand_in.py parent CANDIDATE.py CALLS [WORD...]

The parent starts a sibling and a child, asks the child for one call after the other, and prints as JSON what was done
to it and to the sibling, and what the child saw. It has what a real judge has, and no more: a verdict in its memory, a
pipe on which it believes what it reads, and a child beside the other.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What a cheat's processes are given to do what they do, in seconds.
PATIENCE = 20.0
#: How much processor time says that somebody computes, in seconds.
WORK = 0.05


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether something comes true before patience ends."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def fields(pid: int) -> list[str]:
    """Return the fields of a process in `/proc/PID/stat`, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def children(pid: int) -> list[int]:
    """Return the processes whose parent is another."""
    result = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if int(fields(int(place.name))[1]) == pid:
                result.append(int(place.name))
        except OSError:
            continue
    return result


def processor_seconds(pids: list[int]) -> float:
    """Return how long processes computed."""
    ticks = 0
    for pid in pids:
        try:
            ticks += sum(int(field) for field in fields(pid)[11:13])
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def sibling() -> None:
    """Count how often it was woken until its input ends, and say so."""
    woken = 0

    def wake(*_: object) -> None:
        nonlocal woken
        woken += 1

    signal.signal(signal.SIGCONT, wake)
    print("ready", flush=True)
    sys.stdin.read()
    print(json.dumps({"woken": woken, "priority": os.getpriority(os.PRIO_PROCESS, 0)}))


def child(path: str, answers: int) -> None:
    """Load a candidate, and answer each line of the input when a call is done; the last answer is what was seen."""
    import numpy as np

    candidate = runpy.run_path(path)["f"]
    generator = np.random.default_rng(7)
    inputs = [generator.standard_normal((256, 1024)).astype(np.float32) for _ in range(2)]
    shifted = [np.exp(x - x.max(axis=-1, keepdims=True)) for x in inputs]
    expected = [part / part.sum(axis=-1, keepdims=True) for part in shifted]
    right: list[bool] = []
    for calls, _ in enumerate(iter(sys.stdin.readline, "end\n"), start=1):
        result = candidate(inputs[calls % 2])
        right.append(bool(np.allclose(result, expected[calls % 2], atol=1e-6)))
        os.write(answers, b"done %d\n" % calls)
    idle = time.process_time()
    report = {
        "right": right,
        "threads": len(os.listdir("/proc/self/task")),
        "children": len(children(os.getpid())),
        "resident": int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "computes_when_idle": "idle" in sys.argv and wait_for(lambda: time.process_time() - idle > WORK),
    }
    os.write(answers, json.dumps(report).encode() + b"\n")
    sys.stdin.read()  # what stands between may still have to pass it on


def parent(path: str, calls: int, words: list[str]) -> None:
    """Ask a child for calls, and print what was done to everybody."""
    verdict = "".join(("slo", "wer"))
    woken = 0

    def wake(*_: object) -> None:
        nonlocal woken
        woken += 1

    signal.signal(signal.SIGCONT, wake)
    own = [sys.executable, __file__]
    other = subprocess.Popen([*own, "sibling"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdin is not None
    assert other.stdout is not None
    other.stdout.readline()
    reader, writer = os.pipe()
    command = [*own, "child", path, str(writer), *words]
    errors = os.open("stderr", os.O_CREAT | os.O_RDWR)
    with subprocess.Popen(
        command, pass_fds=[writer], text=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors
    ) as process:
        os.close(writer)
        assert process.stdin is not None
        lines = []
        with os.fdopen(reader, "rb") as replies:
            for _ in range(calls):
                process.stdin.write("call\n")
                process.stdin.flush()
                lines.append(replies.readline(2**26))
            stopped = computes_when_stopped(process.pid) if "stop" in words else False
            if "wait" in words:
                wait_for(lambda: woken > 0)
            process.stdin.write("end\n")
            process.stdin.flush()
            while line := replies.readline(2**26):
                lines.append(line)
                if line.startswith(b'{"right"'):
                    break
            process.stdin.close()
            lines += replies.read(2**26).splitlines(keepends=True)
    other.stdin.close()
    report: dict[str, Any] = {
        "verdict": verdict,
        "woken": woken,
        "sibling": json.loads(other.stdout.read()),
        "messages": [line[:20].decode(errors="replace") for line in lines],
        "longest": max(map(len, lines)),
        "first": lines[0][:1000].hex(),
        "computes_when_stopped": stopped,
        "status": process.returncode,
    }
    other.wait()
    try:
        report |= json.loads(lines[-1])
    except ValueError:
        report["stderr"] = Path("stderr").read_text()
    print(json.dumps(report))


def computes_when_stopped(pid: int) -> bool:
    """Whether children of a process compute while it is stopped."""
    os.kill(pid, signal.SIGSTOP)
    try:
        others = children(pid)
        before = processor_seconds(others)
        return wait_for(lambda: processor_seconds(others) - before > WORK)
    finally:
        os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["parent", path, calls, *words]:
            parent(path, int(calls), words)
        case ["child", path, answers, *_]:
            child(path, int(answers))
        case _:
            sibling()
