"""Ctrl-C, SIGINT and SIGTERM end a run of tests, whichever of its processes they reach, and whatever that is doing.

A command under test takes both for its own, and ends with exit code 130 or 143. So each signal is noted as well, and a
test that was running when one came has no result: it ends the run.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from types import FrameType

import psutil
import pytest

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """A plugin for the process that runs tests, and for the one that has others run them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._stopping = False
        self._reads, self._writes = os.pipe()
        for end in (self._reads, self._writes):
            os.set_blocking(end, False)
        # Python writes the number of each signal here, whoever has set its handler.
        self._wakeup = signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        # Where the run is in the background of a shell, SIGINT has been ignored, and would be in what tests start.
        self._handlers = {number: signal.signal(number, self._stop) for number in SIGNALS}

    def _stop(self, number: int, frame: FrameType | None) -> None:
        # The process that a worker belongs to sends it what came by the terminal before: its tests clean up meanwhile.
        if not (self._is_worker and self._stopping):
            self._stopping = True
            raise KeyboardInterrupt

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self) -> None:
        with suppress(BlockingIOError):
            if set(SIGNALS) & {*os.read(self._reads, 4096)}:
                raise KeyboardInterrupt

    def pytest_runtest_logreport(self) -> None:
        if not self._is_worker and was_interrupted(os.getppid()):
            raise KeyboardInterrupt

    def pytest_keyboard_interrupt(self) -> None:
        if self._config.pluginmanager.hasplugin("dsession"):
            for worker in psutil.Process().children():
                with suppress(psutil.NoSuchProcess):
                    worker.send_signal(signal.SIGINT)

    def pytest_unconfigure(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reads)
        os.close(self._writes)


def was_interrupted(parent: int) -> bool:
    """Whether a process is `make` that got SIGINT alone: it tells nobody, and waits until what it has started ends.

    It catches the signal until then, and leaves it blocked.
    """
    with suppress(OSError):
        status = Path(f"/proc/{parent}/status").read_text().splitlines()
        fields = dict(line.split(":\t", 1) for line in status)
        blocked = int(fields["SigBlk"], 16) >> (signal.SIGINT - 1) & 1
        return fields["Name"] == "make" and bool(blocked)
    return False
