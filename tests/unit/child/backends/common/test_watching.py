"""The skeleton of the watchers, on events that a test writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opperf.child.backends.common.watching import Folder, FolderWatcher, WindowWatcher
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.watching import Watching

OPERATOR = Event("add", "operator", 10, 5, 1, "main")
CALL = Event("MXAdd", "api", 10, 5, 1, "main")
GAP = "the lines of operators are not reported"


class Windows(WindowWatcher[list[Event]]):
    framework = "null"

    def __init__(self, *windows: list[Event]) -> None:
        super().__init__(Watching(), "3.1", {GAP: True, "not wanted": False}, lambda: 20)
        self._windows.extend(windows)

    def _read(self, window: list[Event]) -> Profile:
        self._notes["read"] = None
        return Profile(tuple(window))


class Folders(FolderWatcher[Folder]):
    framework = "null"
    ender, errors = "null.stop", ValueError

    def __init__(self) -> None:
        super().__init__(Watching(), "1", {}, "the null profiler")

    def start(self, *, taken: bool = False) -> None:
        self._record(lambda folder: _refuse("in use") if taken else Path(folder, "trace").write_text("add"))

    def stop(self, *, ended: bool = False) -> None:
        self._finish(lambda: _refuse("not running") if ended else None, lambda folder: folder)

    def _read(self, window: Folder) -> Profile:
        with window as folder:
            name = Path(folder, "trace").read_text()
        return Profile((Event(name, "operator", 10, 5, 1, "main"),))

    def close(self) -> None:
        self._folder.cleanup()


def _refuse(reason: str) -> None:
    raise ValueError(reason)


@pytest.fixture
def watcher() -> Iterator[Folders]:
    with closing(Folders()) as folders:
        yield folders


def test_windows_are_read_when_the_profile_is_taken_and_only_once() -> None:
    watcher = Windows([OPERATOR], [CALL])
    assert watcher.take().events == (OPERATOR, CALL)
    assert watcher.take().events == ()


def test_what_a_profiler_does_not_report_is_noted_where_operators_ran() -> None:
    assert Windows([OPERATOR]).take().notes == (GAP, "read")
    assert Windows([CALL]).take().notes == ("read",)
    assert Windows().take().notes == ()


def test_a_profile_names_its_framework_and_has_the_steps() -> None:
    watcher = Windows([OPERATOR])
    watcher.step("epoch")
    profile = watcher.take()
    (facts,) = profile.processes.values()
    assert facts == {"framework": "null", "version": "3.1"}
    assert [event.name for event in profile.of_kind("step")] == ["epoch"]


def test_a_folder_is_read_after_its_recording_has_ended(watcher: Folders) -> None:
    watcher.start()
    watcher.stop()
    watcher.stop()
    assert [event.name for event in watcher.take().events] == ["add"]


def test_a_profiler_in_use_is_refused_with_the_way_to_stop_it(watcher: Folders) -> None:
    with pytest.raises(ProfilerError, match="the null profiler cannot be started: in use") as refusal:
        watcher.start(taken=True)
    assert "`null.stop`" in str(refusal.value.hint)


def test_a_program_that_stopped_the_profiler_itself_keeps_what_was_recorded_with_a_note(watcher: Folders) -> None:
    watcher.start()
    watcher.stop(ended=True)
    profile = watcher.take()
    assert [event.name for event in profile.events] == ["add"]
    assert profile.notes == ("the program stopped the null profiler itself, so the rest was not recorded",)
