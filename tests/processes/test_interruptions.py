"""A run that is stopped keeps every finished record, and goes on where it was.

What is stopped is a process of its own; what goes on need not be, and has its children forked.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import opperf
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings
from opperf.parent.measuring.session import Options, Session
from opperf.parent.planning.selection import Selection
from opperf.parent.store.journal import JournalWriter, read_journal

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
Until: TypeAlias = Callable[[Callable[[], Any]], Any]
Records: TypeAlias = Callable[[Path], list[dict[str, Any]]]

pytestmark = pytest.mark.usefixtures("forked_children", "patient")
#: Two trials, one that never ends, and two that are not reached.
NAMES = ("add", "subtract", "null:hang", "multiply", "divide")
COMMAND = ("run", *NAMES, "--framework", "null", "--size", "small", "--direction", "forward")

#: For runs that end by themselves.
_FIXED = ("--framework", "null", "--size", "small", "--direction", "forward", "--runs", "3")


def _lines(journal: Path) -> list[str]:
    try:
        return journal.read_text().split("\n")[:-1]
    except FileNotFoundError:  # the run has not begun, or has ended
        return []


def _stop(start: Start, until: Until, number: int, output: Path, *words: str) -> tuple[int, str, str]:
    """Start the command, and stop it in the third trial; return its exit code and what it has said."""
    run = start("-m", "opperf", *COMMAND, "--output", output, *words)
    journal = output.with_name(output.name + ".journal")
    until(lambda: len(_lines(journal)) == 3)
    run.send_signal(number)
    out, err = run.communicate(timeout=300)
    return run.returncode, out, err


def _resume(command: Run, output: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command(*COMMAND, "--timeout", "1", "--output", output, "--resume", output, *words)


def _names(records: list[dict[str, Any]]) -> list[str]:
    return [record["case"]["operator"] for record in records]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_document_of_every_finished_record_and_the_run_goes_on(
    number: int, code: int, start: Start, until: Until, command: Run, document: Records, tmp_path: Path
) -> None:
    output = tmp_path / "k.json"
    left, table, said = _stop(start, until, number, output)
    assert left == code
    assert "Traceback" not in said
    assert said.splitlines()[-1] == f"stopped; continue with `--resume {output}`"
    assert "2 trials: 2 ok" in table
    stopped = document(output)
    assert [(record["case"]["operator"], record["status"]) for record in stopped] == [("add", "ok"), ("subtract", "ok")]
    first = json.loads(output.read_text())["run"]

    done = _resume(command, output)
    assert done.returncode == 0, done.stderr
    records = document(output)
    assert _names(records) == list(NAMES)
    assert [record["status"] for record in records] == ["ok", "ok", "failed", "ok", "ok"]
    assert records[:2] == stopped
    assert json.loads(output.read_text())["run"]["id"] == first["id"]
    assert [path.name for path in tmp_path.iterdir()] == ["k.json"]


def test_a_killed_run_goes_on_and_measures_nothing_twice(
    start: Start, until: Until, command: Run, document: Records, tmp_path: Path
) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    assert _stop(start, until, signal.SIGKILL, output)[0] == -signal.SIGKILL
    assert not output.exists()
    # A mark in what is finished: it is lost if that is measured again.
    journal.write_text(journal.read_text().replace('"version":"1"', '"version":"of the first run"'))

    done = _resume(command, output)
    assert done.returncode == 0, done.stderr
    records = document(output)
    assert _names(records) == list(NAMES)
    assert [record["facts"].get("version") for record in records] == [*["of the first run"] * 2, "1", "1", "1"]
    assert not journal.exists()


def test_a_run_killed_anywhere_ends_with_every_trial_once(
    start: Start, until: Until, command: Run, document: Records, tmp_path: Path
) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    words = ("run", "--category", "reduction", "--category", "elementwise_binary", "--framework", "null")
    fixed = ("--size", "small", "--processes", "2", "--runs", "3", "--output", output)
    planned = command(*words, *fixed, "--dry-run", COLUMNS="9999").stdout.splitlines()[2:]  # below the heading
    assert len(planned) > 40
    for share in (0.5, 1.5):  # in the first process; in the second, of the run that went on
        run = start("-m", "opperf", *words, *fixed, *(("--resume", output) if share > 1 else ()))
        until(lambda: len(_lines(journal)) > share * len(planned) or run.poll() is not None)  # noqa: B023
        run.kill()
        run.wait()
    done = command(*words, *fixed, "--resume", output)
    assert done.returncode == 0, done.stderr
    records = document(output)
    assert Counter((record["case"]["operator"], record["direction"]) for record in records) == Counter(
        tuple(line.split()[:2]) for line in planned
    )
    assert {record["metrics"]["time"]["processes"] for record in records} == {2}
    assert {record["metrics"]["time"]["samples"] for record in records} == {6}
    assert not journal.exists()


@pytest.mark.parametrize("torn", ['{"outcome":{"trial":{"ca', "{", '{"outcome":{"trial":"\xc3'])
def test_a_torn_last_line_is_passed_over(
    torn: str, start: Start, until: Until, command: Run, document: Records, tmp_path: Path
) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    _finished_journal(output)
    with journal.open("ab") as file:
        file.write(torn.encode("latin-1"))
    done = command("run", "add", "multiply", *_FIXED, "--output", output, "--resume", output)
    assert done.returncode == 0, done.stderr
    assert Counter(_names(document(output))) == {"add": 1, "subtract": 1, "multiply": 1}


def test_a_journal_that_is_broken_inside_is_refused_and_left_as_it_is(command: Run, tmp_path: Path) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    _finished_journal(output)
    lines = _lines(journal)
    journal.write_text("\n".join([lines[0], "{", *lines[1:]]) + "\n")
    before = journal.read_bytes()
    done = command("run", "add", *_FIXED, "--output", output, "--resume", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {journal}: line 2 is not JSON")
    assert journal.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--runs", "4"), "runs was 3 and is 4"),
        (("--warmup", "2"), "warmup was None and is 2"),
        (("--seed", "1"), "seed was 0 and is 1"),
        (("--cache", "cold"), "cache was hot and is cold"),
        (("--processes", "2"), "processes was 1 and is 2"),
        (("--precision", "5%"), "precision was 0.02 and is 0.05"),
    ],
)
def test_other_settings_than_the_journals_are_refused_and_nothing_is_changed(
    words: tuple[str, ...], told: str, command: Run, tmp_path: Path
) -> None:
    output = tmp_path / "k.json"
    _finished_journal(output)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = command("run", "add", *_FIXED, *words, "--output", output, "--resume", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "hint: resume with the same settings, or write to another file" in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_other_settings_than_the_documents_are_refused_and_nothing_is_changed(command: Run, tmp_path: Path) -> None:
    output = tmp_path / "k.json"
    _finished_document(output)
    before = output.read_bytes()
    done = command("run", "add", *_FIXED, "--seed", "1", "--output", output, "--resume", output)
    assert (done.returncode, done.stdout) == (2, "")
    assert "seed was 0 and is 1" in done.stderr
    assert output.read_bytes() == before
    assert list(tmp_path.iterdir()) == [output]


def test_a_journal_stands_until_the_one_that_replaces_it_is_whole(tmp_path: Path) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    _finished_journal(output)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = read_journal(journal)

    def outcomes() -> Iterator[Outcome]:
        yield result.outcomes[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        JournalWriter(journal, result.run, outcomes())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_earlier_journal_is_set_aside_by_a_run_that_does_not_resume(
    command: Run, document: Records, tmp_path: Path
) -> None:
    output, journal = tmp_path / "k.json", tmp_path / "k.json.journal"
    _finished_journal(output)
    kept = journal.read_bytes()
    done = command("run", "multiply", *_FIXED, "--output", output)
    assert done.returncode == 0
    assert "an earlier run did not finish; its journal is now k.json.journal." in done.stderr
    assert _names(document(output)) == ["multiply"]
    (aside,) = tmp_path.glob("k.json.journal.*")
    assert aside.read_bytes() == kept


def test_a_stopped_run_goes_on_whose_document_cannot_be_read_again(
    start: Start, until: Until, command: Run, tmp_path: Path
) -> None:
    output = tmp_path / "k.csv"
    assert _stop(start, until, signal.SIGINT, output)[0] == 130
    assert len(output.read_text().splitlines()) == 3
    done = _resume(command, output)
    assert done.returncode == 0, done.stderr
    rows = output.read_text().splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == list(NAMES)


def test_a_resumed_run_takes_nothing_from_an_older_document_of_that_name(
    start: Start, until: Until, command: Run, document: Records, tmp_path: Path
) -> None:
    output = tmp_path / "k.json"
    _finished_document(output)
    output.write_text(output.read_text().replace('"version": "1"', '"version": "old"'))
    _stop(start, until, signal.SIGKILL, output, "--force")
    assert _resume(command, output).returncode == 0
    assert {record["facts"].get("version") for record in document(output)} == {"1"}


def test_a_run_resumed_into_another_file_leaves_the_first_as_it_is(
    command: Run, document: Records, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    _finished_document(first)
    before = first.read_bytes()
    done = command("run", "add", "multiply", *_FIXED, "--resume", first, "--output", second)
    assert done.returncode == 0, done.stderr
    assert first.read_bytes() == before
    assert sorted(_names(document(second))) == ["add", "multiply", "subtract"]


def test_what_a_budget_left_out_is_measured_on_resume(command: Run, document: Records, tmp_path: Path) -> None:
    output = tmp_path / "k.json"
    words = ("run", "null:hang", "add", *_FIXED, "--output", output)
    done = command(*words, "--timeout", "0.5", "--budget", "0.2")
    assert done.returncode == 3  # one failed, and nothing was measured
    assert [(record["status"], record["reason"]["slug"]) for record in document(output)] == [
        ("failed", "timeout"),
        ("skipped", "budget"),
    ]
    done = command(*words, "--resume", output)
    assert done.returncode == 0, done.stderr
    assert [record["status"] for record in document(output)] == ["failed", "ok"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_samples_are_taken_ends_the_run(
    number: int, code: int, start: Start, until: Until, tmp_path: Path
) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import time\ncalls = []\ndef slow(x):\n    calls.append(time.sleep(0.1))\n"
        f"    if len(calls) == 5: open({str(tmp_path / 'sampling')!r}, 'w').close()\n    return x\n"
    )
    asked = ("--framework", "numpy", "--input", "x=4", "--direction", "forward", "--warmup", "1", "--runs", "900")
    run = start("-m", "opperf", "run", f"{own}:slow", *asked, "--output", tmp_path / "k.json")
    until((tmp_path / "sampling").exists)
    run.send_signal(number)
    out, err = run.communicate(timeout=300)
    assert run.returncode == code
    assert "failed" not in out + err


def test_ctrl_c_while_a_name_is_looked_up_leaves_no_file(start: Start, until: Until, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(
        f"import time\nopen({str(tmp_path / 'importing')!r}, 'w').close()\ntime.sleep(600)\n"
    )
    words = ("run", "numpy:add", "--input", "x1=2", "--output", tmp_path / "k.json")
    run = start("-m", "opperf", *words, PYTHONPATH=str(tmp_path))
    until((tmp_path / "importing").exists)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=300)
    assert (run.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert not list(tmp_path.glob("k.json*"))


def _finished_document(output: Path) -> None:
    """Leave what a run of two trials leaves that has ended."""
    opperf.run(["add", "subtract"], framework="null", size="small", direction="forward", runs=3).save(output)


def _finished_journal(output: Path) -> None:
    """Leave what a run of two trials leaves that was killed just before it wrote its document."""
    selection = Selection(
        operators=("add", "subtract"), frameworks=("null",), sizes=("small",), directions=("forward",)
    )
    with Session(selection, Settings(runs=3)) as session:
        session.run(session.plan(), Options(output=output))
