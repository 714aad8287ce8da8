"""What a command line leaves of its own in a process that goes on."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from opperf.parent import cli
from opperf.parent.cli.exit import obey


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), ZeroDivisionError()])
def test_a_command_gives_back_sigterm_and_stderr(error: BaseException | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)  # as it is where no test has replaced it
    before = signal.getsignal(signal.SIGTERM), sys.stderr

    def command() -> None:
        assert signal.getsignal(signal.SIGTERM) is not before[0]
        assert sys.stderr is not before[1]
        if error is not None:
            raise error

    with pytest.raises(SystemExit) as left:
        obey(command)
    assert left.value.code == {type(None): 0, KeyboardInterrupt: 130, ZeroDivisionError: 3}[type(error)]
    assert (signal.getsignal(signal.SIGTERM), sys.stderr) == before


def test_a_command_that_chooses_its_exit_code_says_in_its_help_which_it_has() -> None:
    folder = Path(cli.__file__).parent
    chooses = re.compile(r"\b(?:Exit|SystemExit)\([^)]|\bleave\(|\bmeasure\(replaying")
    silent = [
        path.name
        for path in sorted(folder.glob("*.py"))
        if path.name not in ("exit.py", "main.py")
        and chooses.search(text := path.read_text())
        and "Exit codes:" not in text
    ]
    assert silent == []
