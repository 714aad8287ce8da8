"""Scratch: removed by whoever made it, or, where that was killed, by who comes next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from opperf.domain.files.destination import ScratchFolder, scratch_file, sweep, write_text

#: A process that makes scratch in a folder, says so and waits.
_MAKER = """
import sys, time
from pathlib import Path
from opperf.domain.files.destination import ScratchFolder, scratch_file
folder = Path(sys.argv[1])
with scratch_file(folder / "out.json"):
    made = ScratchFolder("check", folder)
    (made.path / "inner").write_text("x")
    print("made", flush=True)
    time.sleep(600)
"""


def _made_elsewhere(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", _MAKER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    return process


def test_scratch_is_gone_when_its_maker_is_done(tmp_path: Path) -> None:
    made = ScratchFolder("check", tmp_path)
    with scratch_file(tmp_path / "out.json") as (_, path):
        assert {entry.name for entry in tmp_path.iterdir()} == {path.name, made.path.name}
    made.close()
    made.close()
    assert os.listdir(tmp_path) == []


def test_scratch_of_a_killed_process_is_removed_by_whoever_writes_there_next(tmp_path: Path) -> None:
    process = _made_elsewhere(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert len(os.listdir(tmp_path)) == 2
    write_text(tmp_path / "other.json", "text")
    assert os.listdir(tmp_path) == ["other.json"]


def test_scratch_of_a_process_that_lives_stays(tmp_path: Path) -> None:
    process = _made_elsewhere(tmp_path)
    try:
        sweep(tmp_path)
        assert len(os.listdir(tmp_path)) == 2
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_scratch_that_is_held_stays_although_its_process_is_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As in a folder that several containers share: each has process ids of its own.
    with scratch_file(tmp_path / "out.json") as (_, path):
        monkeypatch.setattr(os, "kill", _gone)
        sweep(tmp_path)
        assert path.exists()


def test_what_only_resembles_scratch_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", _gone)
    names = ("opperf-check-1", ".out.json.opperf-x-01234567", "opperf-1-0123456", "notes.opperf-1-01234567")
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / "target").mkdir()
    (tmp_path / "opperf-check-1-01234567").symlink_to("target")
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "target", "opperf-check-1-01234567"])


def test_a_link_that_lies_where_scratch_would_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda _: bytes.fromhex("01234567"))
    (tmp_path / "target").write_text("mine")
    (tmp_path / f".out.json.opperf-{os.getpid()}-01234567").symlink_to("target")
    with pytest.raises(FileExistsError), scratch_file(tmp_path / "out.json"):
        pass
    assert (tmp_path / "target").read_text() == "mine"


def _gone(process: int, number: int) -> None:
    raise ProcessLookupError
