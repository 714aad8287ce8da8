"""The journal: every finished outcome survives, wherever the run was cut off."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.parent.store.journal import JournalWriter, journal_of, read_journal

RUN = Run("r1", "2026-11-21", ("opperf", "run"), Settings(runs=3), {"branch": "ü"}, {"machine": {"cores": 2}})
TRIALS = [Trial(Case(f"op{i}"), Side("null"), "forward") for i in range(3)]
OUTCOMES = [
    Outcome(TRIALS[0], 0, "ok", Measurement({"time": Samples((Sample(1, 2, 3),))}, warnings=()), version="1"),
    Outcome(TRIALS[1], 0, "failed", reason=Reason("crash", "line\nbreak ü", signal="SIGSEGV")),
    Outcome(TRIALS[2], 1, "skipped", reason=Reason("odd", "{}")),
]
RECORD = Record(TRIALS[0], "failed", Reason("crash", "earlier"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a journal is to lie."""
    return tmp_path / "run.json.journal"


@pytest.fixture
def written(file: Path) -> bytes:
    """The bytes of a journal with three outcomes."""
    writer = JournalWriter(file, RUN)
    for outcome in OUTCOMES:
        writer.add(outcome)
    writer.close()
    return file.read_bytes()


def test_a_journal_lies_beside_its_file() -> None:
    assert journal_of(Path("folder") / "run.json") == Path("folder") / "run.json.journal"


@pytest.mark.usefixtures("written")
def test_a_journal_is_read_as_it_was_written(file: Path) -> None:
    result = read_journal(file)
    assert (result.run, result.outcomes, result.records) == (RUN, tuple(OUTCOMES), ())


def test_an_outcome_is_one_line(written: bytes) -> None:
    assert written.count(b"\n") == 1 + len(OUTCOMES)


def test_every_outcome_is_on_the_disk_when_it_is_added(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    writer = JournalWriter(file, RUN)
    monkeypatch.setattr(os, "fsync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    for count, outcome in enumerate(OUTCOMES, 1):
        writer.add(outcome)
        assert len(sizes) == count
        assert sizes[-1] == file.stat().st_size
        assert read_journal(file).outcomes == tuple(OUTCOMES[:count])
    writer.close()


def test_a_last_line_torn_at_any_byte_costs_that_line_alone(file: Path, written: bytes) -> None:
    last = written.rstrip(b"\n").rindex(b"\n") + 1
    for length in range(last, len(written) - 1):
        file.write_bytes(written[:length])
        assert read_journal(file).outcomes == tuple(OUTCOMES[:2])


def test_a_last_line_that_lacks_its_newline_alone_counts(file: Path, written: bytes) -> None:
    file.write_bytes(written[:-1])
    assert read_journal(file).outcomes == tuple(OUTCOMES)


@pytest.mark.parametrize("tail", [b"\x00" * 100, b'{"outcome": "\xc3', b"\xff\xfe"])
def test_a_torn_line_of_any_bytes_is_passed_over(tail: bytes, file: Path, written: bytes) -> None:
    # A loss of power may leave a block of zeros, and a tear may split a character.
    file.write_bytes(written + tail)
    assert read_journal(file).outcomes == tuple(OUTCOMES)


@pytest.mark.parametrize("line", [b"nonsense", b'{"outcome": {', b"[" * 100_000])
def test_a_bad_line_in_the_middle_is_refused_with_its_number(line: bytes, file: Path, written: bytes) -> None:
    lines = written.split(b"\n")
    file.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    with pytest.raises(InputError, match="line 3 is not JSON") as caught:
        read_journal(file)
    assert caught.value.slug == "bad_journal"


def test_a_bad_last_line_that_is_whole_was_not_torn_and_is_refused(file: Path, written: bytes) -> None:
    file.write_bytes(written + b"nonsense\n")
    with pytest.raises(InputError, match="line 5 is not JSON"):
        read_journal(file)


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b'"text"', b'{"outcome": 5}', b'{"outcome": {}}', b'{"outcome": []}', b'{"record": {}}']
)
def test_a_line_that_is_no_outcome_is_refused(line: bytes, file: Path, written: bytes) -> None:
    file.write_bytes(written + line + b"\n")
    with pytest.raises(InputError, match=r"run\.json\.journal"):
        read_journal(file)


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"5\n", b"[]\n", b"{}\n", b'{"schema_version": 99, "run": {}}\n', b'{"schema_version": 1}\n'],
)
def test_what_is_no_journal_is_refused(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json\.journal"):
        read_journal(file)


def test_a_journal_begins_with_what_an_earlier_one_held(file: Path) -> None:
    writer = JournalWriter(file, RUN, OUTCOMES[:2], [RECORD])
    writer.add(OUTCOMES[2])
    writer.close()
    result = read_journal(file)
    assert (result.outcomes, result.records) == (tuple(OUTCOMES), (RECORD,))


@pytest.mark.parametrize("failing", ["write", "fsync", "replace"])
def test_what_an_earlier_journal_held_is_never_lost(
    failing: str, file: Path, written: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    target = {"write": (json, "dumps", fail), "fsync": (os, "fsync", fail), "replace": (Path, "replace", fail)}
    monkeypatch.setattr(*target[failing])
    with pytest.raises(KeyboardInterrupt):
        JournalWriter(file, RUN, OUTCOMES[:1])
    monkeypatch.undo()
    assert file.read_bytes() == written
    assert os.listdir(file.parent) == [file.name]


def test_a_place_that_cannot_be_written_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write") as caught:
        JournalWriter(tmp_path / "missing" / "run.json.journal", RUN)
    assert caught.value.slug == "output"


def test_a_missing_journal_is_bad_input(file: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_journal(file)
