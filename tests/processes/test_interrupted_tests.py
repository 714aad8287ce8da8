"""A run of tests that gets a signal ends, whichever of its processes got it, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.forked_children import FORKED_CHILD

ROOT = Path(__file__).parents[2]
#: How long a run may take to end. Seconds.
DEADLINE = 300.0
#: A variable by which every process of a run is known.
MARK = "OPPERF_INTERRUPTED"
#: Tests that would go on for some time.
LONG = "tests/functional/test_jobs.py"
BIN = Path(sys.executable).parent
MAKE = ("make", "-o", f"{BIN}/.ready", "test", f"BIN={BIN}", f"QUICK={LONG}")
PYTEST = (sys.executable, "-m", "pytest", LONG)


def commands(mark: str) -> dict[int, list[str]]:
    """Return the commands of the processes of a run."""
    result = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # another user's, or one that has ended
            if process.environ().get(MARK) == mark:
                result[process.pid] = process.cmdline()
    return result


def is_testing(mark: str) -> bool:
    """Whether a command under test has a child: there is one beside the process that forks them.

    To look at all processes takes about as long as it waits first.
    """
    time.sleep(0.1)
    return sum(str(FORKED_CHILD) in words for words in commands(mark).values()) > 1


@pytest.mark.parametrize(
    ("words", "target", "number"),
    [
        (MAKE, "it", signal.SIGINT),
        (MAKE, "it", signal.SIGTERM),
        (MAKE, "its group", signal.SIGINT),
        (MAKE, "its child", signal.SIGINT),
        (PYTEST, "it", signal.SIGINT),
        (PYTEST, "it", signal.SIGTERM),
    ],
)
def test_a_signal_ends_a_run_of_tests(
    words: tuple[str, ...],
    target: str,
    number: signal.Signals,
    tmp_path: Path,
    until: Callable[[Callable[[], Any]], Any],
) -> None:
    mark = str(tmp_path)
    options = f"-p no:cacheprovider --basetemp {tmp_path / 'run'}"
    with subprocess.Popen(
        words,
        cwd=ROOT,
        env=os.environ | {MARK: mark, "PYTEST_ADDOPTS": options, "PYTEST_XDIST_AUTO_NUM_WORKERS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            until(lambda: is_testing(mark))
            if target == "its group":
                os.killpg(run.pid, number)
            else:
                os.kill(run.pid if target == "it" else psutil.Process(run.pid).children()[0].pid, number)
            printed, _ = run.communicate(timeout=DEADLINE)
            until(lambda: not commands(mark))
        finally:
            for pid in commands(mark):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    assert "KeyboardInterrupt" in printed
    assert " failed" not in printed
