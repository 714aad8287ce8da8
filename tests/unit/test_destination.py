"""Where results are written: whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from opperf.destination import write_text
from opperf.errors import InputError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a file is to lie."""
    return tmp_path / "run.json"


def test_a_file_is_replaced(file: Path) -> None:
    write_text(file, "old and longer")
    write_text(file, "new")
    assert file.read_text() == "new"


def test_nothing_else_is_left_in_the_folder(file: Path) -> None:
    write_text(file, "text")
    assert os.listdir(file.parent) == ["run.json"]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    step: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write_text(file, "old")
    monkeypatch.setattr(*((os, "fsync", fail) if step == "fsync" else (Path, step, fail)))
    with pytest.raises(OSError, match="No space left"):
        write_text(file, "new")
    monkeypatch.undo()
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["run.json"]


def test_a_text_that_cannot_be_written_leaves_the_old_file(file: Path) -> None:
    write_text(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(file, "\udcff")
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["run.json"]


def test_an_interrupt_while_writing_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    write_text(file, "old")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(file, "new")
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["run.json"]


def test_the_text_is_on_the_disk_before_the_name_points_to_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    replace, fsync = Path.replace, os.fsync

    def replaced(source: Path, target: Path) -> Path:
        events.append("replace")
        return replace(source, target)

    def synced(descriptor: int) -> None:
        events.append(f"fsync with {os.fstat(descriptor).st_size} bytes")
        fsync(descriptor)

    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    write_text(file, "twelve bytes")
    assert events[:2] == ["fsync with 12 bytes", "replace"]


def test_a_file_has_the_mode_that_any_new_file_has(file: Path) -> None:
    plain = file.with_name("plain")
    plain.write_text("")
    write_text(file, "text")
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write") as caught:
        write_text(tmp_path / "missing" / "run.json", "text")
    assert caught.value.slug == "output"
