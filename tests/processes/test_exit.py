"""How commands end: one message, the right code, and nothing that was measured lost, whatever is closed or full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.processes.conftest import command_here

from opperf.parent.store.journal import journal_of, read_journal

QUICK = ("run", "null:steady", "--framework", "null", "--runs", "3")
SLOWER = ("gate", "null:steady", "--base", "null", "--new", "null;slowdown=1.5", "--pairs", "3")


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command with redirections: `shell("run add", "2>&-")`."""

    def run(words: tuple[object, ...], redirected: str, module: str = "opperf") -> subprocess.CompletedProcess[str]:
        command = " ".join(map(str, (sys.executable, "-m", module, *words)))
        return subprocess.run(
            ["bash", "-c", f"{command.replace(';', chr(92) + ';')} {redirected}"],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
        )

    return run


Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_closed_stdin_or_stderr_fails_no_trial(closed: str, shell: Shell) -> None:
    done = shell((*QUICK, "--format", "json"), closed)
    assert done.returncode == 0, done.stderr
    assert [record["status"] for record in json.loads(done.stdout)["records"]] == ["ok"]


def test_a_closed_stdin_fails_no_trial_of_a_program_that_uses_the_library(tmp_path: Path) -> None:
    program = "import os, opperf; [os.close(fd) for fd in (0, 2)]; print(opperf.run('null:steady', runs=3)[0].status)"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=300, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ok\n")


@pytest.mark.parametrize("module", ["opperf", "opperf.compat.mxnet_opperf", "opperf.compat.param"])
def test_a_closed_stdout_is_one_message_before_anything_is_measured(module: str, shell: Shell, tmp_path: Path) -> None:
    words = (*QUICK, "--output", "k.json") if module == "opperf" else ("--help",)
    done = shell(words, ">&-", module)
    assert done.returncode == 3
    assert done.stderr == "error: stdout is closed\n\nhint: redirect it, as with `> /dev/null`\n"
    assert os.listdir(tmp_path) == []


def test_a_full_stdout_is_a_failure_and_what_was_measured_is_on_stderr(shell: Shell) -> None:
    done = shell(QUICK, "> /dev/full")
    assert done.returncode == 3
    assert "null:steady" in done.stderr
    assert done.stderr.endswith("error: cannot write to stdout: No space left on device\n")


def test_a_full_stderr_fails_nothing(shell: Shell) -> None:
    done = shell((*QUICK, "--output", "k.json"), "2> /dev/full")
    assert (done.returncode, "null:steady" in done.stdout) == (0, True)


def test_a_gate_that_nobody_reads_keeps_its_code_and_its_reports(shell: Shell, tmp_path: Path) -> None:
    reports = ("--output", "g.json", "--markdown", "g.md", "--junit", "g.xml")
    done = shell((*SLOWER, *reports), "| true; exit ${PIPESTATUS[0]}")
    assert done.returncode == 1, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["g.json", "g.md", "g.xml"]
    assert "Traceback" not in done.stderr


def test_a_run_that_nobody_reads_keeps_its_code_and_leaves_no_journal(shell: Shell, tmp_path: Path) -> None:
    done = shell(("run", "null:raise", "--framework", "null", "--output", "k.json"), "| true; exit ${PIPESTATUS[0]}")
    assert (done.returncode, os.listdir(tmp_path)) == (3, ["k.json"])


def test_a_list_whose_reader_goes_away_is_no_failure(shell: Shell) -> None:
    done = shell(("operators",), "| head -1; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (0, "")


# A disk that fills up ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("forked_children", "few_rounds")
@pytest.mark.parametrize("option", ["--output", "--markdown", "--junit"])
def test_a_gate_whose_report_cannot_be_written_says_so_and_prints_it(option: str) -> None:
    done = command_here(*SLOWER, option, "/dev/full")
    assert done.returncode == 3
    assert done.stderr.endswith(
        "error: cannot write `/dev/full`: No space left on device\n\n"
        "hint: free some space there, or write to another path\n"
    )
    assert "slower" in done.stdout


def test_a_disk_that_fills_up_while_a_run_goes_on_keeps_what_was_measured(shell: Shell, tmp_path: Path) -> None:
    # Files may grow to 8 KiB: the journal of some trials.
    many = ("run", "--all", "--framework", "null", "--size", "small", "--runs", "3", "--output", "k.json")
    command = f"ulimit -f 8; exec {' '.join((sys.executable, '-B', '-m', 'opperf', *many))}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 3
    assert "error: cannot write `k.json" in done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert journal_of(tmp_path / "k.json").exists()
    kept = read_journal(journal_of(tmp_path / "k.json")).outcomes
    assert kept
    assert kept[0].trial.case.operator in done.stdout


# What nobody foresaw -------------------------------------------------------------------------------------------------

#: A program that breaks something inside opperf, then runs its command line.
_BROKEN = """
import sys
from opperf.{module} import {target}
def broken(*_, **__): raise ZeroDivisionError("nobody foresaw it")
{target}.{name} = broken
sys.argv = ["opperf", *sys.argv[1:]]
from opperf.{main} import main
main()
"""


def _broken(words: tuple[str, ...], cwd: Path, main: str = "__main__", **variables: str) -> Any:
    program = _BROKEN.format(module="parent.measuring.session", target="Session", name="plan", main=main)
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=cwd, env={**os.environ, **variables}
    )


def test_what_nobody_foresaw_is_one_message_and_exit_code_3(tmp_path: Path) -> None:
    done = _broken(QUICK, tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "error: unexpected ZeroDivisionError: nobody foresaw it\n\n"
        "hint: `--debug` or `OPPERF_DEBUG=1` shows where it failed; please report it if opperf is at fault\n"
    )


@pytest.mark.parametrize("words", [(*QUICK, "--debug"), ("--debug", *QUICK), ("OPPERF_DEBUG", *QUICK)])
def test_a_traceback_is_shown_when_it_is_asked_for(words: tuple[str, ...], tmp_path: Path) -> None:
    asked = words[0] == "OPPERF_DEBUG"
    done = _broken(words[asked:], tmp_path, **({"OPPERF_DEBUG": "1"} if asked else {}))
    assert done.returncode == 3
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert done.stderr.endswith("error: unexpected ZeroDivisionError: nobody foresaw it\n")


def test_what_was_measured_before_something_broke_is_reported(tmp_path: Path) -> None:
    program = _BROKEN.format(module="parent.workers.pool", target="Pool", name="unused", main="__main__").replace(
        "Pool.unused = broken",
        "measure = Pool.measure\n"
        "Pool.measure = lambda self, trial, process, **more:"
        " broken() if 'normal' in str(trial.side.implementation) else measure(self, trial, process)",
    )
    words = ("run", "null:steady", "null:noisy", "--framework", "null", "--runs", "3", "--output", "k.json")
    program = program.replace("'normal'", "'noisy'")
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 3
    assert "unexpected ZeroDivisionError" in done.stderr
    assert len(json.loads((tmp_path / "k.json").read_text())["records"]) == 1
    assert len(read_journal(journal_of(tmp_path / "k.json")).outcomes) == 1


@pytest.mark.parametrize(
    ("module", "place"),
    [
        ("opperf", "opperf.parent.cli.run"),
        ("opperf.compat.mxnet_opperf", "opperf.parent.cli.options"),
        ("opperf.compat.param", "opperf.parent.cli.exit"),
    ],
)
def test_an_interrupt_while_modules_are_imported_is_quiet(module: str, place: str, tmp_path: Path) -> None:
    # A module of the standard library stands in for the moment at which Ctrl-C comes.
    program = (
        "import sys, runpy\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {place!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        f"sys.argv = [{module!r}, '--help']\n"
        f"runpy.run_module({module!r}, run_name='__main__', alter_sys=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_while_a_comparison_is_planned_says_nothing_and_leaves_with_130(tmp_path: Path) -> None:
    foreseen = _BROKEN.format(module="parent.measuring.session", target="Session", name="sides", main="__main__")
    program = foreseen.replace('ZeroDivisionError("nobody foresaw it")', "KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-c", program, *QUICK], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert (done.returncode, "Traceback" in done.stderr) == (130, False)
