"""Where results go: one command at a time writes there, and nothing that lies there is lost unasked."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.parent.store.journal import journal_of, read_journal

pytestmark = pytest.mark.usefixtures("forked_children")
Command = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., subprocess.Popen[str]]
#: A run that finishes one trial and then stands still.
STANDS = ("run", "null:steady", "null:hang", "--framework", "null", "--runs", "3", "--timeout", "300")
QUICK = ("run", "null:steady", "--framework", "null", "--runs", "3")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Where results are to go."""
    return tmp_path / "run.json"


@pytest.fixture
def standing(start: Start, until: Callable[[Callable[[], Any]], Any]) -> Callable[..., subprocess.Popen[str]]:
    """Start a run that writes to an output, and return it when its first outcome is in the journal."""

    def begin(output: Path, *words: object) -> subprocess.Popen[str]:
        run = start("-m", "opperf", *STANDS, "--output", output, *words)
        lock = output.with_name(f".{output.name}.lock")
        until(lambda: lock.exists() and f'"pid": {run.pid},' in lock.read_text())
        until(lambda: journal_of(output).exists() and journal_of(output).read_text().count('"outcome"'))
        return run

    return begin


def _kill(run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=120)


# One at a time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--force",)])
def test_a_second_run_on_an_output_is_told_who_writes_there_and_takes_nothing(
    words: tuple[str, ...], output: Path, standing: Callable[..., subprocess.Popen[str]], command: Command
) -> None:
    first = standing(output)
    journal = journal_of(output).read_bytes()
    done = command(*STANDS, "--output", output, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"error: `{output}` is being written by process {first.pid} (`opperf run null:steady")
    assert ", since 20" in done.stderr
    assert done.stderr.count("\n") == 3
    assert journal_of(output).read_bytes() == journal
    _kill(first)
    assert len(read_journal(journal_of(output)).outcomes) == 1


def test_of_two_resumes_one_goes_on_and_the_other_is_told(
    output: Path, standing: Callable[..., subprocess.Popen[str]], command: Command
) -> None:
    _kill(standing(output))
    first = standing(output, "--resume", output)
    done = command(*STANDS, "--output", output, "--resume", output)
    assert (done.returncode, f"process {first.pid} " in done.stderr) == (2, True)
    _kill(first)
    assert len(read_journal(journal_of(output)).outcomes) == 1


def test_of_two_runs_that_start_together_one_works(output: Path, start: Start) -> None:
    for _ in range(3):
        both = [start("-m", "opperf", *QUICK, "--output", output) for _ in range(2)]
        said = [one.communicate(timeout=300) for one in both]
        codes = sorted(one.returncode for one in both)
        # The later one meets the other at work, or its result.
        assert codes == [0, 2], said
        refused = next(err for one, (_, err) in zip(both, said) if one.returncode == 2)
        assert refused.startswith(f"error: `{output}` ")
        assert "is being written by" in refused or "already exists" in refused
        assert len(json.loads(output.read_text())["records"]) == 1
        assert os.listdir(output.parent) == ["run.json"]
        output.unlink()


def test_a_link_and_its_target_are_one_output(
    output: Path, standing: Callable[..., subprocess.Popen[str]], command: Command
) -> None:
    link = output.with_name("link.json")
    link.symlink_to(output)
    first = standing(output)
    done = command(*QUICK, "--output", link)
    assert (done.returncode, f"`{link}` is being written by process {first.pid} " in done.stderr) == (2, True)
    _kill(first)


def test_a_killed_run_holds_nothing_up(
    output: Path, standing: Callable[..., subprocess.Popen[str]], command: Command
) -> None:
    _kill(standing(output))
    done = command(*QUICK, "--output", output)
    assert done.returncode == 0, done.stderr
    assert "its journal is now run.json.journal." in done.stderr
    aside = next(output.parent.glob("run.json.journal.*"))
    assert len(read_journal(aside).outcomes) == 1
    assert sorted(os.listdir(output.parent)) == sorted([output.name, aside.name])


# Places of every kind ------------------------------------------------------------------------------------------------


def test_a_pipe_as_output_is_written_to(tmp_path: Path, start: Start) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = start("-m", "opperf", *QUICK, "--output", pipe)
    assert len(json.loads(pipe.read_text())["records"]) == 1
    run.communicate(timeout=300)
    assert run.returncode == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_stdout_as_output_is_the_file_that_the_shell_opened(tmp_path: Path) -> None:
    file = tmp_path / "out"
    words = (sys.executable, "-m", "opperf", *QUICK, "--format", "json", "--output", "/dev/stdout")
    with file.open("w") as opened:
        opened.write("\n")
        opened.flush()
        done = subprocess.run(words, stdout=opened, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(file.read_text())["records"]) == 1
    assert os.listdir(tmp_path) == ["out"]


def test_what_killed_commands_left_is_removed_by_the_next(tmp_path: Path, output: Path, start: Start) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / f".run.json.opperf-{gone.pid}-01234567"
    left.write_text("part of a result")
    temporary = tmp_path / "temporary"
    checks = temporary / f"opperf-check-{gone.pid}-01234567"
    checks.mkdir(parents=True)
    (checks / "found").mkdir()
    words = ("run", "add", "--framework", "numpy", "--size", "small", "--runs", "3", "--output", output)
    run = start("-m", "opperf", *words, TMPDIR=str(temporary))
    _, said = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert sorted(os.listdir(tmp_path)) == ["run.json", "temporary"]
    assert os.listdir(temporary) == []
