"""When a recording is on, and that it is one: exact, on the null framework's virtual clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from opperf.child.backends.null import watcher as null
from opperf.child.backends.null.watcher import hold, later, span, spend
from opperf.child.profiling.recording import GAVE_WAY, Recording, of_active
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event, Profile, merge
from opperf.domain.profile.watching import Watcher, Watching


@pytest.fixture
def recording() -> Iterator[Recording]:
    """A recording of the null framework; it is stopped with the test."""
    made = Recording(Watching(memory=True, shapes=True, modules=True))
    made.include("null")
    yield made
    if made.state != "stopped":
        made.stop()


def call(name: str, nanoseconds: int = 1000) -> None:
    """Run one operator."""
    with span(name):
        spend(nanoseconds)


def names(recording: Recording) -> list[str]:
    """Return what was seen, in order."""
    return [event.name for event in recording.profile().events]


def test_what_runs_from_start_to_stop_is_seen_and_nothing_else(recording: Recording) -> None:
    call("before")
    recording.start()
    call("within")
    recording.stop()
    call("after")
    assert names(recording) == ["within"]


def test_what_runs_while_it_is_paused_is_not_seen(recording: Recording) -> None:
    recording.start()
    call("first")
    recording.pause()
    call("paused")
    recording.resume()
    call("second")
    recording.stop()
    assert names(recording) == ["first", "second"]


def test_what_was_asked_for_before_is_not_seen_and_what_was_asked_for_within_is_waited_for(
    recording: Recording,
) -> None:
    later("before", 5000)
    recording.start()
    later("within", 3000)
    recording.stop()
    (event,) = recording.profile().events
    assert (event.name, event.duration) == ("within", 3000)


def test_a_second_start_adds_to_what_was_seen_until_it_is_reset(recording: Recording) -> None:
    for name in ("first", "second"):
        recording.start()
        call(name)
        recording.stop()
    assert names(recording) == names(recording) == ["first", "second"]
    recording.reset()
    assert names(recording) == []


def test_details_are_those_that_were_asked_for() -> None:
    plain, full = Recording(Watching()), Recording(Watching(memory=True, shapes=True, modules=True, stacks=True))
    details: dict[str, Any] = {
        "shapes": ((2, 3),),
        "allocated": 24,
        "peak": 24,
        "module": "Net",
        "stack": ("a.py(1)",),
        "flops": 6,
    }
    told = []
    for one in (plain, full):
        one.include("null")
        one.start()
        with span("relu", **details):
            spend(10)
        one.stop()
        told.append({name: getattr(one.profile().events[0], name) for name in details})
    assert told == [
        {"shapes": (), "allocated": None, "peak": None, "module": "", "stack": (), "flops": None},
        details,
    ]


def test_memory_is_read_from_the_start_on(recording: Recording) -> None:
    recording.start()
    hold(64)
    hold(-64)
    recording.stop()
    assert [reading.size for reading in recording.profile().readings] == [0, 64, 0]


def test_steps_reach_from_one_mark_to_the_next_and_are_not_seen_while_paused(recording: Recording) -> None:
    recording.start()
    spend(100)
    recording.step("one")
    spend(50)
    recording.step("two")
    recording.pause()
    recording.step("none")
    recording.stop()
    assert [(event.name, event.kind, event.duration) for event in recording.profile().events] == [
        ("one", "step", 100),
        ("two", "step", 50),
    ]


def test_a_profile_knows_when_it_was_watched_and_gaps_are_no_part_of_it(recording: Recording) -> None:
    recording.start()
    call("first")
    recording.pause()
    spend(50_000)
    recording.resume()
    call("second")
    recording.stop()
    profile = recording.profile()
    assert [one.end - one.begin for one in profile.stretches] == [1000, 1000]
    first, second = profile.events
    assert (second.end - first.begin, profile.watched(first.begin, second.end)) == (52_000, 2000)


class Restful(null.Watcher):
    """A watcher that takes long to stop, and says what it is told."""

    def __init__(self, watching: Watching) -> None:
        super().__init__(watching)
        self.said: list[str] = []

    def rest(self) -> None:
        """Stay ready."""
        self.said.append("rest")
        super().stop()

    def start(self) -> None:
        """Go on."""
        self.said.append("start")
        super().start()

    def stop(self) -> None:
        """Stop for good; a watcher that rests has stopped to see."""
        self.said.append("stop")
        if self in null._on:
            super().stop()


@pytest.mark.parametrize("end", [Recording.stop, Recording.settle, Recording.collect])
def test_a_watcher_that_rests_is_ready_to_go_on_and_stops_when_others_need_what_it_uses(
    end: Callable[[Recording], object],
) -> None:
    watcher = Restful(Watching())
    recording = Recording(Watching(), lambda name, watching: watcher)
    recording.include("null")
    recording.start()
    recording.rest()
    call("in the gap")
    recording.resume()
    call("within")
    recording.rest()
    end(recording)
    assert watcher.said == ["start", "rest", "start", "rest", "stop"]
    if recording.state != "stopped":
        recording.stop()
    assert names(recording) == ["within"]
    assert watcher.said.count("stop") == 1


def test_a_watcher_that_cannot_rest_stops(recording: Recording) -> None:
    recording.start()
    recording.rest()
    call("in the gap")
    recording.resume()
    call("within")
    recording.stop()
    assert names(recording) == ["within"]


def of_framework(name: str, *kinds: str, note: str = "") -> Profile:
    """Return what a watcher saw: a step, and spans of some kinds."""
    spans = [Event(f"{kind} of {name}", kind, 10 * i, 5, 1, "main") for i, kind in enumerate(("step", *kinds))]
    return Profile(tuple(spans), (), {1: {"framework": name}}, (note,) if note else ())


def test_a_framework_that_ran_nothing_does_not_appear_and_steps_count_once() -> None:
    idle = of_framework("jax", "task", note="the program stopped the profiler")
    merged = merge(of_active([idle, of_framework("torch", "operator"), of_framework("tensorflow", "operator")]))
    names = ["step of torch", "operator of torch", "operator of tensorflow"]
    assert [event.name for event in merged.events] == names
    assert merged.processes[1]["framework"] == "torch, tensorflow"
    assert merged.notes == ("the program stopped the profiler",)


def test_where_no_framework_ran_an_operator_what_was_seen_and_else_the_first_is_told() -> None:
    idle, busy = of_framework("jax"), of_framework("torch", "task")
    assert merge(of_active([idle, busy])) == busy
    assert merge(of_active([Profile(), idle, of_framework("mxnet")])) == idle
    assert of_active([]) == []


def test_each_thread_has_its_own_spans(recording: Recording) -> None:
    recording.start()
    other = threading.Thread(target=call, args=("other",), name="worker")
    with span("main"):
        other.start()
        other.join()
    recording.stop()
    assert {event.name: event.thread for event in recording.profile().events} == {
        "main": threading.current_thread().name,
        "other": "worker",
    }


@pytest.mark.parametrize(
    ("program", "name"),
    [("bin/train.py", "train.py"), ("pack/__main__.py", "pack"), ("-c", "-c"), ("", "")],
)
def test_a_profile_says_of_which_framework_program_and_command_it_is(
    program: str, name: str, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [program, "--lr", "0.1"])
    (facts,) = recording.profile().processes.values()
    assert (facts["framework"], facts["version"], facts["name"]) == ("null", "1", name)
    assert str(facts["command"]).endswith(" --lr 0.1")


@pytest.mark.parametrize(
    ("words", "slug", "message"),
    [
        ("stop", "profiler_stopped", "the profiler was not started, so it cannot be stopped"),
        ("pause", "profiler_stopped", "the profiler was not started, so it cannot be paused"),
        ("resume", "profiler_stopped", "the profiler was not started, so it cannot be resumed"),
        ("start stop stop", "profiler_stopped", "the profiler was not started, so it cannot be stopped"),
        ("start start", "profiler_running", "the profiler is already running"),
        ("start pause start", "profiler_running", "the profiler is already paused"),
        ("start resume", "profiler_running", "the profiler is not paused"),
        ("start pause pause", "profiler_paused", "the profiler is already paused"),
        ("start profile", "profiler_running", "the profiler is still running"),
        ("start reset", "profiler_running", "the profiler is still running"),
    ],
)
def test_what_comes_at_the_wrong_time_is_refused_with_what_to_do(
    words: str, slug: str, message: str, recording: Recording
) -> None:
    *before, last = words.split()
    for word in before:
        getattr(recording, word)()
    with pytest.raises(ProfilerError) as refused:
        getattr(recording, last)()
    assert (refused.value.slug, refused.value.message) == (slug, message)
    assert refused.value.hint


def test_two_recordings_are_not_on_at_a_time(recording: Recording) -> None:
    other = Recording(Watching())
    other.include("null")
    recording.start()
    recording.pause()
    with pytest.raises(ProfilerError, match="another profile is active in this process"):
        other.start()
    recording.stop()
    other.start()
    other.stop()


@pytest.mark.parametrize("paused", [False, True])
def test_the_recording_of_a_whole_script_waits_while_the_script_profiles_by_itself(
    paused: bool, recording: Recording
) -> None:
    whole = Recording(Watching(), gives_way=True)
    whole.include("null")
    whole.start(paused=paused)
    call("before")
    recording.start()
    call("within")
    with pytest.raises(ProfilerError, match="the profiler is not paused"):
        whole.resume()
    recording.stop()
    call("after")
    whole.stop()
    assert names(recording) == ["within"]
    assert names(whole) == ([] if paused else ["before", "after"])
    assert whole.profile().notes == (GAVE_WAY,)


def test_a_recording_that_is_stopped_while_it_waits_stays_so(recording: Recording) -> None:
    whole = Recording(Watching(), gives_way=True)
    whole.include("null")
    whole.start()
    recording.start()
    whole.stop()
    call("within")
    recording.stop()
    assert (whole.state, names(whole), names(recording)) == ("stopped", [], ["within"])


class Faulty(null.Watcher):
    """Raises where it is told to."""

    where = ""

    def start(self) -> None:
        if self.where == "start":
            raise RuntimeError("cannot start")
        super().start()

    def stop(self) -> None:
        super().stop()
        if self.where == "stop":
            raise RuntimeError("cannot stop")


def faulty(*where: str) -> tuple[Recording, list[Faulty]]:
    """Return a recording of several watchers, of which each fails at a place."""
    watchers: list[Faulty] = []

    def made(framework: str, watching: Watching) -> Watcher:
        watchers.append(Faulty(watching))
        watchers[-1].where = framework.partition(" ")[0]
        return watchers[-1]

    recording = Recording(Watching(), made)
    recording.include(*where)
    return recording, watchers


def start_and_resume(recording: Recording) -> None:
    """Begin to watch later than to hold the profiler."""
    recording.start(paused=True)
    recording.resume()


@pytest.mark.parametrize("begin", [Recording.start, start_and_resume])
def test_where_one_watcher_cannot_start_none_is_on(begin: Callable[[Recording], object]) -> None:
    recording, _ = faulty("well", "start")
    with pytest.raises(RuntimeError, match="cannot start"):
        begin(recording)
    assert null._on == []
    if recording.state != "stopped":
        recording.stop()
    later_one, _ = faulty("well")
    later_one.start()
    later_one.stop()


def test_where_one_watcher_cannot_stop_the_others_do_and_what_was_seen_is_kept() -> None:
    recording, _ = faulty("stop", "well")
    recording.start()
    call("seen")
    with pytest.raises(RuntimeError, match="cannot stop"):
        recording.stop()
    assert (null._on, recording.state) == ([], "stopped")
    assert names(recording) == ["seen", "seen"]


def test_a_framework_that_comes_later_is_watched_from_then_on() -> None:
    recording, watchers = faulty("well")
    recording.start()
    call("first")
    recording.include("well too", "well")
    call("second")
    recording.stop()
    seen = [[event.name for event in one.take().events] for one in watchers]
    assert seen == [["first", "second"], ["second"]]


def test_what_is_discarded_is_gone_and_what_was_collected_stays(recording: Recording) -> None:
    recording.start()
    call("kept")
    recording.pause()
    recording.collect()
    recording.resume()
    call("thrown away")
    recording.stop()
    recording.discard()
    assert names(recording) == ["kept"]


def test_a_recording_of_nothing_is_an_empty_profile() -> None:
    assert Recording(Watching()).profile() == Profile()
