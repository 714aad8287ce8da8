"""`opperf serve --workers 2` as a service runs it: both processes answer, and none outlives another or the service."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from tests.nights import archive

pytestmark = pytest.mark.slow
COMMAND = (sys.executable, "-m", "opperf", "serve", "--port", "0", "--workers", "2", "--database")


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, list[psutil.Process]]]:
    """Serve a night by two processes; yields the first process, where the pages are, and both processes."""
    archive(folder / "night.db", nights=1).engine.dispose()
    server = subprocess.Popen([*COMMAND, str(folder / "night.db")], stderr=subprocess.PIPE, text=True, cwd=folder)
    try:
        assert server.stderr is not None
        place = re.search(r"http://127\.0\.0\.1:\d+", server.stderr.readline())
        assert place is not None
        with urlopen(f"{place[0]}/runs", timeout=300) as answer:
            assert b"run-00" in answer.read()
        give_up = time.monotonic() + 300
        while len(children := psutil.Process(server.pid).children()) < 2:  # the other one may be on its way
            assert time.monotonic() < give_up
            time.sleep(0.01)
        assert len(children) == 2
        yield server, place[0], children
    finally:
        server.kill()
        server.communicate(timeout=300)


def test_both_processes_answer_and_end_when_the_service_is_stopped(tmp_path: Path) -> None:
    with served(tmp_path) as (server, place, children):
        for child in children:  # with the other one stopped, each answers
            (other,) = {*children} - {child}
            other.send_signal(signal.SIGSTOP)
            with urlopen(f"{place}/", timeout=300) as answer:
                assert answer.status == 200
            other.send_signal(signal.SIGCONT)
        server.terminate()
        assert server.wait(timeout=300) == 128 + signal.SIGTERM
        assert psutil.wait_procs(children, timeout=300)[1] == []


@pytest.mark.parametrize("victim", ["a process", "the service"])
def test_none_is_left_where_one_is_killed(victim: str, tmp_path: Path) -> None:
    with served(tmp_path) as (server, _, children):
        os.kill(children[0].pid if victim == "a process" else server.pid, signal.SIGKILL)
        error = server.communicate(timeout=300)[1]
        assert psutil.wait_procs(children, timeout=300)[1] == []
    if victim == "a process":
        assert (server.returncode, "a process of the server is gone: signal 9 ended it" in error) == (3, True)
