"""The places that a command writes to: nothing that lies there is lost unasked, whatever lies there."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opperf.parent.store.output_lock import OutputLock
from opperf.parent.workers.process import Worker

if TYPE_CHECKING:
    from tests.functional.conftest import Done

QUICK = ("run", "null:steady", "--framework", "null", "--runs", "3")
MEASURING = [
    QUICK,
    ("compare", "null:steady", "--base", "null", "--new", "null"),
    ("gate", "null:steady", "--base", "null", "--new", "null"),
    ("noise", "null:steady", "--framework", "null"),
    ("capture", "nothing:there"),
    ("replay", "trace.json"),
]


@pytest.fixture
def output(here: Path) -> Path:
    """Where results are to go."""
    return here / "run.json"


@pytest.fixture
def held(output: Path) -> Iterator[OutputLock]:
    """The output, held by another command."""
    lock = OutputLock(output, ("opperf", "run", "add\x1b[31m", "--all"))
    yield lock
    lock.close()


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("words", MEASURING)
def test_every_verb_that_measures_is_told_who_holds_its_output(
    words: tuple[str, ...], output: Path, opperf: Callable[..., Done]
) -> None:
    for more in ((), ("--force",)):
        done = opperf(*words, "--output", output, *more)
        assert done.code == 2
        assert done.err.startswith(
            f"error: `{output}` is being written by process {os.getpid()} (`opperf run 'add?[31m' --all`), since 20"
        )
    assert not output.exists()


def test_an_output_can_be_had_when_its_holder_has_ended(
    held: OutputLock, output: Path, opperf: Callable[..., Done]
) -> None:
    held.close()
    assert opperf(*QUICK, "--output", output).code == 0
    assert os.listdir(output.parent) == ["run.json"]


def test_what_a_lock_says_may_be_anything(held: OutputLock, output: Path, opperf: Callable[..., Done]) -> None:
    for said in ("", "{", "[]", '{"pid": [], "command": 1, "since": {}}', '{"pid": 1e999}'):
        held.path.write_text(said)
        done = opperf(*QUICK, "--output", output)
        assert (done.code, "is being written by another process" in done.err) == (2, True), done.err


# Nothing is overwritten unasked --------------------------------------------------------------------------------------


def test_the_result_of_another_run_is_overwritten_only_when_asked(output: Path, opperf: Callable[..., Done]) -> None:
    assert opperf(*QUICK, "--output", output).code == 0
    before = output.read_bytes()
    done = opperf(*QUICK, "--output", output)
    assert done.code == 2
    assert done.err == (
        f"error: `{output}` already exists\n\n"
        f"hint: `--force` overwrites it, `--resume {output}` continues it; or choose another path\n"
    )
    assert output.read_bytes() == before
    assert opperf(*QUICK, "--output", output, "--resume", output).code == 0
    assert json.loads(output.read_bytes())["run"]["id"] == json.loads(before)["run"]["id"]
    assert opperf(*QUICK, "--output", output, "--force").code == 0
    assert json.loads(output.read_bytes())["run"]["id"] != json.loads(before)["run"]["id"]


@pytest.mark.parametrize("words", MEASURING)
def test_every_verb_refuses_before_it_measures(
    words: tuple[str, ...], output: Path, opperf: Callable[..., Done]
) -> None:
    output.write_text("mine")
    done = opperf(*words, "--output", output)
    assert (done.code, "already exists" in done.err) == (2, True), done.err
    assert "`--force` overwrites it" in done.err
    assert output.read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--suite", "FILE", "--framework", "null", "--force"),
        ("run", "--config", "FILE", "--force"),
        ("run", "add", "--plugin", "FILE", "--force"),
        ("run", "FILE:function", "--force"),
        ("compare", "FILE", "FILE", "--force"),
        ("gate", "--config", "FILE", "--force"),
        ("replay", "FILE", "--force"),
        ("capture", "FILE:function", "--force"),
        ("show", "FILE"),
    ],
)
def test_a_file_that_a_command_reads_is_never_its_output(
    words: tuple[str, ...], here: Path, opperf: Callable[..., Done]
) -> None:
    file = here / "input.py"
    content = 'base = "null"\n'
    file.write_text(content)
    link = here / "link"
    link.symlink_to(file)
    for output in (file, link):
        done = opperf(*(word.replace("FILE", str(file)) for word in words), "--output", output)
        assert done.code == 2
        assert done.err.startswith(f"error: `{output}` is an input of this command, so it is not overwritten\n"), done
    assert file.read_text() == content


def test_a_gate_writes_no_two_reports_to_one_file(here: Path, opperf: Callable[..., Done]) -> None:
    file = here / "report"
    done = opperf("gate", "add", "--base", "null", "--new", "null", "--junit", file, "--markdown", file)
    assert (done.code, done.err.partition("\n")[0]) == (2, f"error: two reports go to `{file}`")


# Places of every kind ------------------------------------------------------------------------------------------------


def test_a_device_as_output_stays_a_device_and_gets_no_journal(here: Path, opperf: Callable[..., Done]) -> None:
    link = here / "nowhere"
    link.symlink_to("/dev/null")
    for output in ("/dev/null", link):
        done = opperf(*QUICK, "--output", output)
        assert done.code == 0, done.err
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.listdir(here) == ["nowhere"]
    assert not Path("/dev/null.journal").exists()


def test_links_that_lie_where_a_journal_comes_are_not_followed(
    here: Path, output: Path, opperf: Callable[..., Done]
) -> None:
    target = here / "target"
    target.write_text("mine")
    for name in ("run.json.journal.new", "run.json.journal"):
        output.with_name(name).symlink_to(target)
    done = opperf(*QUICK, "--output", output)
    assert done.code == 0, done.err
    assert target.read_text() == "mine"
    assert len(json.loads(output.read_text())["records"]) == 1


def test_a_link_where_the_lock_comes_is_not_followed(here: Path, output: Path, opperf: Callable[..., Done]) -> None:
    target = here / "target"
    target.write_text("mine")
    output.with_name(".run.json.lock").symlink_to(target)
    done = opperf(*QUICK, "--output", output)
    assert done.code == 2
    assert "cannot write" in done.err
    assert target.read_text() == "mine"


def test_floors_and_peaks_that_could_not_be_kept_are_refused_before_they_are_measured(
    here: Path, opperf: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", start)
    for name in ("noise", "peaks"):
        (here / name).write_text("no folder")
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(here))
    for words in (("noise", "null:steady", "--framework", "null"), ("doctor", "--peaks", "--framework", "null")):
        done = opperf(*words)
        assert done.code == 2
        assert "error: cannot write `" in done.err


def test_reports_of_a_gate_are_proved_writable_before_anything_is_measured(
    here: Path, opperf: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", start)
    (here / "plain").write_text("no folder")
    for option in ("--output", "--markdown", "--junit"):
        done = opperf(*MEASURING[2], option, "plain/report")
        assert (done.code, done.err.partition("\n")[0]) == (2, "error: cannot write `plain/report`: Not a directory")
