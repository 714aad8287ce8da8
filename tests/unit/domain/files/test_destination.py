"""Where results are written: regular files whole or not at all, anything else as it is."""

from __future__ import annotations

import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.destination import prove, write_text


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


@pytest.mark.parametrize("step", ["fsync", "fchmod", "replace"])
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    step: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    write_text(file, "old")
    monkeypatch.setattr(*((Path, step, fail) if step == "replace" else (os, step, fail)))
    with pytest.raises(HarnessError, match=r"cannot write `.*run\.json`: No space left on device") as caught:
        write_text(file, "new")
    assert caught.value.slug == "output"
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


def test_a_file_that_was_there_keeps_its_permissions(file: Path) -> None:
    file.write_text("old")
    file.chmod(0o640)
    write_text(file, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o640)


def test_a_link_stays_and_its_target_is_written_with_its_own_permissions(file: Path, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target.json"
    target.write_text("old")
    target.chmod(0o604)
    file.symlink_to(Path("far") / "target.json")
    write_text(file, "new")
    assert file.is_symlink()
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o604)
    assert os.listdir(target.parent) == ["target.json"]


def test_a_link_that_points_nowhere_gets_its_target(file: Path, tmp_path: Path) -> None:
    file.symlink_to("later.json")
    write_text(file, "new")
    assert file.is_symlink()
    assert (tmp_path / "later.json").read_text() == "new"


def test_links_in_a_ring_are_bad_input(file: Path, tmp_path: Path) -> None:
    file.symlink_to("other")
    (tmp_path / "other").symlink_to("run.json")
    for act in (prove, lambda path: write_text(path, "new")):
        with pytest.raises(InputError, match="cannot write"):
            act(file)


def test_a_device_is_written_to_and_stays_a_device(file: Path) -> None:
    file.symlink_to("/dev/null")
    for path in (file, Path("/dev/null")):
        prove(path)
        write_text(path, "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert file.is_symlink()


def test_a_full_device_is_a_failure_of_the_harness() -> None:
    with pytest.raises(HarnessError, match="cannot write `/dev/full`: No space left on device"):
        write_text(Path("/dev/full"), "text")


def test_a_pipe_is_written_to_and_stays_a_pipe(file: Path) -> None:
    os.mkfifo(file)
    prove(file)  # neither waits for a reader nor ends one that waits
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(file.read_text()))
    reader.start()
    write_text(file, "through")
    reader.join(180)
    assert read == ["through"]
    assert stat.S_ISFIFO(file.stat().st_mode)


def test_a_descriptor_of_this_process_is_written_to_where_it_stands(file: Path) -> None:
    # As `opperf ... --output /dev/stdout > run.json` has it: the shell's file must not be replaced.
    with file.open("w") as opened:
        opened.write("before ")
        opened.flush()
        inode = file.stat().st_ino
        for path in (f"/dev/fd/{opened.fileno()}", f"/proc/self/fd/{opened.fileno()}"):
            prove(Path(path))
            write_text(Path(path), "text ")
    assert (file.read_text(), file.stat().st_ino) == ("before text text ", inode)


def test_a_descriptor_that_is_only_read_is_refused(file: Path) -> None:
    file.write_text("old")
    with file.open() as opened, pytest.raises(InputError, match="Bad file descriptor"):
        prove(Path(f"/dev/fd/{opened.fileno()}"))


def test_a_disk_that_fills_up_leaves_the_old_file_and_nothing_else(file: Path) -> None:
    write_text(file, "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(HarnessError, match=r"cannot write `.*`: File too large"):
            write_text(file, "x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["run.json"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("missing/run.json", "No such file or directory"),
        (".", "Is a directory"),
        ("plain/run.json", "Not a directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_place_of_no_use_is_told_before_anything_is_written(place: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    for act in (prove, lambda path: write_text(path, "new")):
        with pytest.raises(InputError, match=f"cannot write `.*`: {said}"):
            act(tmp_path / place)
    assert os.listdir(tmp_path) == ["plain"]


def test_a_proof_leaves_nothing_and_changes_nothing(file: Path) -> None:
    prove(file)
    assert os.listdir(file.parent) == []
    file.write_text("old")
    prove(file)
    assert file.read_text() == "old"
    assert os.listdir(file.parent) == ["run.json"]


def test_a_name_as_long_as_names_can_be_is_written(file: Path) -> None:
    for name in ("n" * 255, "ü" * 127):
        write_text(file.with_name(name), "text")
        assert file.with_name(name).read_text() == "text"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_may_not_be_written_is_not_replaced(file: Path) -> None:
    file.write_text("old")
    file.chmod(0o444)
    for act in (prove, lambda path: write_text(path, "new")):
        with pytest.raises(InputError, match="Permission denied"):
            act(file)
    assert file.read_text() == "old"
