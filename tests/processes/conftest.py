"""Real children: where they are started, where they are counted, and how none is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.functional.conftest import invoke

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.message.requests import Request
from opperf.domain.plan import Side, Trial
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.supervision import SUPERVISION

#: How long anything here may take before it is called hung. Seconds.
DEADLINE = 180.0
#: How long what is ended, or ends by itself, may take to be gone on a busy machine. Seconds.
GRACE = 30.0
#: The operators of the null framework that never end.
ENDLESS = ("null:hang", "null:flood")


@pytest.fixture(autouse=True)
def cache(one_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder, in this process and in those that it starts."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(one_cache))
    return one_cache


@pytest.fixture(autouse=True)
def grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is ended has time for it: this process waits as long as a busy machine takes."""
    monkeypatch.setattr("opperf.parent.workers.supervision.GRACE", GRACE)


@pytest.fixture
def graceful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends by itself has time for it, too.

    Not for children of one import: what one of them printed is waited for while another holds that pipe open.
    """
    monkeypatch.setattr("opperf.parent.workers.process.GRACE", GRACE)


def command_here(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, as if it were one of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name, text in variables.items():
            patch.setenv(name, text)
        done = invoke(*words)
    return subprocess.CompletedProcess([*map(str, words)], done.code, done.out, done.err)


@pytest.fixture
def command(request: pytest.FixtureRequest) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command to its end: a process of its own, unless a file has its children forked from that of its tests."""
    if "forked_children" in request.fixturenames:
        return command_here

    def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "opperf", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            env=os.environ | variables,
        )

    return run


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command and go on; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: object, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, *map(str, words)]
        started.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | variables
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def until() -> Callable[[Callable[[], Any]], Any]:
    """Wait until a question has an answer that is true, and return it."""

    def wait(question: Callable[[], Any]) -> Any:
        give_up = time.monotonic() + DEADLINE
        while not (answer := question()):
            assert time.monotonic() < give_up, "it has not come"
            time.sleep(0.01)
        return answer

    return wait


#: What /proc/PID/syscall says of a process in `sleep`, by machine.
_SLEEP = {"x86_64": ("35", "230"), "aarch64": ("101", "115")}.get(os.uname().machine, ())


def in_sleep(pid: int) -> bool | None:
    """Whether a process is in `sleep`; None where that cannot be seen, as in some containers."""
    try:
        return Path(f"/proc/{pid}/syscall").read_text().split()[0] in _SLEEP if _SLEEP else None
    except FileNotFoundError:  # it has ended
        return False
    except OSError:
        return None


@contextmanager
def patience() -> Iterator[None]:
    """Have trials that never end meet the limit of `--timeout`, and no other, however long a busy machine takes."""
    ask = Worker.ask

    def asked(worker: Worker, request: Request[Any], timeout: float, *more: Any, **named: Any) -> Any:
        trial = getattr(request, "trial", None)
        if trial is not None:
            vars(worker)["is_endless"] = trial.case.operator in ENDLESS
        limit = timeout if vars(worker).get("is_endless") else max(timeout, DEADLINE)
        return ask(worker, request, limit, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Worker, "ask", asked)
        patch.setattr("opperf.parent.workers.process.GRACE", GRACE)
        yield


@pytest.fixture
def patient() -> Iterator[None]:
    """Only what never ends meets the limit of `--timeout`, in commands of this process."""
    with patience():
        yield


@pytest.fixture
def children_of() -> Callable[[int], list[psutil.Process]]:
    """Find the children that a process started for its trials, also when it is no longer there itself.

    Each has a supervisor that names that process, and is found as its child; a supervisor without one counts too.
    """

    def find(parent: int) -> list[psutil.Process]:
        result = []
        for process in psutil.process_iter(["cmdline"]):
            words = process.info["cmdline"] or []
            if words[3:5] == [str(SUPERVISION), str(parent)] and "opperf.child" in words:
                with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                    result += process.children() or [process]
        return result

    return find


@pytest.fixture
def worker() -> Iterator[Callable[..., Worker]]:
    """Start one child of the null framework, or of a Python that is given; it is ended with the test."""
    started: list[Worker] = []

    def begin(python: Path | str = sys.executable, side: Side | None = None, **options: Any) -> Worker:
        started.append(Worker(Path(python), package_folder(), side or Side("null"), Launch(own_path=True, **options)))
        return started[-1]

    yield begin
    for one in started:
        one.kill()


@pytest.fixture
def fake_python(tmp_path: Path) -> Callable[[str], Path]:
    """Make an interpreter that is real until it is asked to be a child; then it runs the given lines.

    They have `say(text)`, which writes into the pipe of answers, `hear()`, which reads a request, and HELLO.
    """

    def make(lines: str) -> Path:
        body = tmp_path / "body.py"
        body.write_text(_BODY + textwrap.dedent(lines))
        program = tmp_path / "python"
        program.write_text(
            f'#!/bin/sh\nif [ "$1" = "-m" ]; then exec "{sys.executable}" "{body}" "$@"; fi\n'
            f'exec "{sys.executable}" "$@"\n'
        )
        program.chmod(0o755)
        return program

    return make


_BODY = f"""
import json, os, sys, time
from opperf.domain.message.wire import PROTOCOL
requests, answers = (int(word) for word in sys.argv[3:5])
HELLO = json.dumps({{"id": 0, "protocol": PROTOCOL, "result": {{"pid": 1, "facts": {{}}, "devices": ["cpu"]}}}}) + "\\n"

def say(text):
    os.write(answers, text.encode())

def hear():
    line = b""
    while not line.endswith(b"\\n"):
        line += os.read(requests, 65536)
    return json.loads(line)

def sleep():
    time.sleep({DEADLINE})
"""


@pytest.fixture
def trial() -> Callable[..., Trial]:
    """Make a forward trial of a neutral operator in its smallest size (`add`), or of a script (`null:hang`)."""

    def make(name: str, side: Side | None = None) -> Trial:
        side = side or Side("null")
        prefix, _, script = name.rpartition(":")
        if prefix:
            return Trial(Case(name, {}, {}), replace(side, implementation=script), "forward")
        return Trial(operator(name).case("small"), side, "forward")

    return make


@pytest.fixture
def document() -> Callable[[str | Path], list[dict[str, Any]]]:
    """Read the records of a result, given as its text or its file."""

    def read(source: str | Path) -> list[dict[str, Any]]:
        text = source.read_text() if isinstance(source, Path) else source
        records: list[dict[str, Any]] = json.loads(text)["records"]
        return records

    return read
