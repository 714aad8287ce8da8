"""A script of the user's as a process: the terminal is its own, and signals to opperf are passed on to it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType

from opperf.domain.errors import HarnessError

#: What would end the script if opperf were not between.
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STDERR = 2


def run(command: Sequence[str], variables: Mapping[str, str], *, aside: bool = False) -> int:
    """Run a command to its end, and return its exit code: 128 and the signal's number where one ended it.

    With `aside`, what it prints on stdout goes to stderr. Raises `HarnessError` when it does not start.
    """
    processes: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        if not processes:
            early.append(number)
        elif number != signal.SIGINT or not _in_front():
            processes[0].send_signal(number)

    # What is ignored here is ignored by the script as well, and stays so.
    handlers = {
        number: handler
        for number in PASSED_ON
        if (handler := signal.getsignal(number)) is not None and handler is not signal.SIG_IGN
    }
    for number in handlers:
        signal.signal(number, pass_on)
    try:
        processes.append(subprocess.Popen(command, env=dict(variables), stdout=_STDERR if aside else None))
        for signal_number in early:
            pass_on(signal_number, None)
        code = processes[0].wait()
    except OSError as error:
        raise HarnessError(f"cannot start `{command[0]}`: {error.strerror}", slug="spawn") from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _in_front() -> bool:
    """Whether Ctrl-C reaches the script by itself: a terminal sends it to every process in front."""
    with suppress(OSError):
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
