"""The trace events of a profile: valid by the published format, and a profile again when they are read."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.profile.chrome import from_trace, to_trace
from opperf.domain.profile.event import KINDS, Event, Profile, Reading, in_time

#: Nanoseconds since 1970 when the profiles of these tests begin.
EPOCH = 1_795_000_000_000_000_000
#: Numbers of processes and threads are doubles to whoever reads JSON.
LARGEST = 2**53

NAMES = st.text(min_size=1, max_size=8)
COUNTS = st.none() | st.integers(0, 10**12)
#: Times are close together, so that spans nest, touch and overlap, or are days apart.
TIMES = st.integers(0, 30) | st.integers(0, 10**15)
EVENTS = st.builds(
    Event,
    name=NAMES,
    kind=st.sampled_from(KINDS),
    begin=TIMES.map(lambda time: EPOCH + time),
    duration=st.integers(0, 15) | st.integers(0, 10**12),
    process=st.integers(1, 3),
    thread=st.sampled_from(["main", "main (2)", "139872351684352001"]),
    shapes=st.lists(st.lists(st.integers(0, 9), max_size=3).map(tuple), max_size=2).map(tuple),
    module=st.sampled_from(["", "LeNet.conv1"]),
    stack=st.lists(NAMES, max_size=2).map(tuple),
    backward=st.booleans(),
    fused=st.booleans(),
    allocated=COUNTS,
    peak=COUNTS,
    flops=COUNTS,
    device=COUNTS,
    forward=st.none() | TIMES.map(lambda time: EPOCH + time),
)
READINGS = st.builds(
    Reading,
    time=TIMES.map(lambda time: EPOCH + time),
    process=st.integers(1, 4),
    device=st.sampled_from(["cpu/0", "gpu/0"]),
    size=st.integers(0, 10**12),
)
PROFILES = st.builds(
    Profile,
    events=st.lists(EVENTS, max_size=12).map(tuple),
    readings=st.lists(READINGS, max_size=3).map(tuple),
    processes=st.dictionaries(st.integers(1, 3), st.fixed_dictionaries({"framework": st.just("torch")})),
    notes=st.lists(NAMES, max_size=2).map(tuple),
)


def written(profile: Profile) -> dict[str, Any]:
    """Return the document as a file of it is read."""
    result: dict[str, Any] = json.loads(json.dumps(to_trace(profile), allow_nan=False))
    return result


def check(document: dict[str, Any]) -> None:
    """Fail where the format, or what Perfetto makes of it, does not allow the document."""
    entries = document["traceEvents"]
    assert {entry["ph"] for entry in entries} <= {"X", "C", "M", "s", "f"}
    for entry in entries:
        assert isinstance(entry["name"], str)
        assert all(type(entry[name]) is int and 0 <= entry[name] < LARGEST for name in ("pid", "tid") if name in entry)
        assert all(entry[name] >= 0 for name in ("ts", "dur") if name in entry)
    for entry in (entry for entry in entries if entry["ph"] == "C"):
        assert entry["args"]
        assert all(type(value) is int for value in entry["args"].values())
    named = [entry["pid"] for entry in entries if entry["name"] == "process_name" and entry["ph"] == "M"]
    assert sorted(named) == sorted({entry["pid"] for entry in entries})
    spans = [entry for entry in entries if entry["ph"] == "X"]
    threads = [
        (entry["pid"], entry["tid"]) for entry in entries if entry["name"] == "thread_name" and entry["ph"] == "M"
    ]
    assert sorted(threads) == sorted({(entry["pid"], entry["tid"]) for entry in spans})
    check_nesting(spans)


def check_nesting(spans: list[dict[str, Any]]) -> None:
    """Fail where spans of one thread partly overlap, in the whole nanoseconds that a viewer keeps."""
    open_spans: dict[tuple[int, int], list[int]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: float(span["ts"])):  # a stable sort: of equals, the first is outside
        begin, duration = int(span["ts"] * 1000), int(span["dur"] * 1000)
        ends = open_spans[span["pid"], span["tid"]]
        while ends and ends[-1] <= begin:
            ends.pop()
        assert not ends or begin + duration <= ends[-1]
        ends.append(begin + duration)


@given(PROFILES)
def test_every_profile_is_a_valid_trace(profile: Profile) -> None:
    check(written(profile))


@given(PROFILES)
def test_a_trace_is_the_profile_that_it_was_made_of_in_the_order_of_time(profile: Profile) -> None:
    read = from_trace(written(profile), "profile.json")
    assert read.events == tuple(sorted(profile.events, key=in_time))
    assert (read.readings, read.processes, read.notes) == (profile.readings, profile.processes, profile.notes)


@given(st.integers(0, 10**15), st.integers(0, 10**12))
def test_no_nanosecond_is_lost_to_a_viewer_that_cuts_off_fractions(begin: int, duration: int) -> None:
    first = Event("first", "operator", EPOCH, 0, 1, "main")
    spans = written(Profile((first, Event("second", "operator", EPOCH + begin, duration, 1, "other"))))["traceEvents"]
    (second,) = (span for span in spans if span["name"] == "second")
    assert (int(second["ts"] * 1000), int(second["dur"] * 1000)) == (begin, duration)


def test_an_arrow_goes_from_an_operator_to_each_backward_of_it() -> None:
    forward = Event("mul", "operator", EPOCH, 4, 7, "main")
    other = Event("add", "operator", EPOCH + 5, 4, 7, "main")
    backward = [
        Event("MulBackward0", "operator", EPOCH + begin, 4, 7, "engine", backward=True, forward=EPOCH)
        for begin in (10, 20)
    ]
    elsewhere = Event("MulBackward0", "operator", EPOCH + 30, 4, 8, "engine", backward=True, forward=EPOCH)
    entries = written(Profile((forward, other, *backward, elsewhere)))["traceEvents"]
    threads = {entry["args"]["name"]: entry["tid"] for entry in entries if entry["name"] == "thread_name"}
    arrows = [[entry[key] for key in ("ph", "id", "ts", "pid", "tid")] for entry in entries if entry["ph"] in "sf"]
    assert arrows == [
        ["s", 1, 0, 7, threads["main"]],
        ["f", 1, 0.01, 7, 2],
        ["s", 2, 0, 7, threads["main"]],
        ["f", 2, 0.02, 7, 2],
    ]
    assert all(entry["bp"] == "e" for entry in entries if entry["ph"] == "f")


def test_a_process_goes_by_its_framework_its_name_and_its_number() -> None:
    facts = {7: {"framework": "torch", "name": "worker 1"}, 8: {"framework": "jax"}, 9: {}}
    entries: Any = to_trace(Profile(processes=facts))["traceEvents"]
    assert [entry["args"]["name"] for entry in entries] == ["torch worker 1 7", "jax 8", "9"]


def test_spans_of_a_thread_that_partly_overlap_stand_on_threads_of_their_own() -> None:
    spans = [Event(name, "operator", EPOCH + begin, 10, 7, "main") for name, begin in (("a", 0), ("b", 5), ("c", 10))]
    entries: Any = to_trace(Profile(tuple(spans)))["traceEvents"]
    names = {entry["tid"]: entry["args"]["name"] for entry in entries if entry["name"] == "thread_name"}
    assert {span["name"]: names[span["tid"]] for span in entries if span["ph"] == "X"} == {
        "a": "main",
        "b": "main (2)",
        "c": "main",
    }


def called(*stacks: tuple[str, ...]) -> dict[str, Any]:
    """Return the document of an operator for each stack."""
    return written(
        Profile(tuple(Event("add", "operator", EPOCH + 9 * i, 5, 7, "main", stack=one) for i, one in enumerate(stacks)))
    )


def test_a_stack_stands_once_however_often_it_called() -> None:
    outer = ("b.py(2): step", "c.py(1): <module>")
    document = called(*[("a.py(3): call", *outer)] * 50, outer, ())
    assert sorted(one["name"] for one in document["stackFrames"].values()) == ["a.py(3): call", *outer]
    spans = [entry for entry in document["traceEvents"] if entry["ph"] == "X"]
    assert [len({span.get("sf") for span in spans}), "sf" in spans[-1]] == [3, False]
    assert spans[0]["args"] == {"line": "a.py(3): call"}


def test_an_older_file_that_has_stacks_in_the_arguments_is_read() -> None:
    document = called(())
    document["traceEvents"][-1]["args"]["stack"] = ["a.py(3): call", "c.py(1): <module>"]
    assert from_trace(document, "profile.json").events[0].stack == ("a.py(3): call", "c.py(1): <module>")


@each(
    "damage",
    [
        lambda document: document.update(stackFrames=[]),
        lambda document: document.update(stackFrames={"1": {}}),
        lambda document: document.update(stackFrames={"1": {"name": 5}}),
        lambda document: document.update(stackFrames={"1": {"name": "a", "parent": "3"}}),
        lambda document: document["traceEvents"][-1].update(sf=2),
        lambda document: document["traceEvents"][-1].update(sf="1"),
    ],
)
def test_a_damaged_stack_is_named_and_not_read(damage: Any) -> None:
    document = called(("a.py(3): call",))
    damage(document)
    with pytest.raises(InputError, match=r"^profile\.json: (traceEvents|stackFrames)"):
        from_trace(document, "profile.json")


def test_a_stack_that_leads_to_itself_has_an_end() -> None:
    document = called(("a.py(3): call",))
    document["stackFrames"]["1"]["parent"] = "1"
    assert len(from_trace(document, "profile.json").events[0].stack) == 1000


@each(
    "damage",
    [
        lambda document: document.pop("traceEvents"),
        lambda document: document["traceEvents"].append({"ph": "X", "name": "a"}),
        lambda document: document["traceEvents"][-1].update(cat="surprise"),
        lambda document: document["traceEvents"][-1]["args"].update(flops="many"),
        lambda document: document["opperf"].update(processes={"first": {}}),
        lambda document: document.update(traceEvents=[None]),
    ],
)
def test_a_damaged_profile_is_named_and_not_read(damage: Any) -> None:
    document = written(Profile((Event("add", "operator", EPOCH, 5, 7, "main"),), processes={7: {}}))
    damage(document)
    with pytest.raises(InputError, match=r"^profile\.json: (traceEvents|opperf)"):
        from_trace(document, "profile.json")


@pytest.mark.parametrize("document", [[], {}, {"traceEvents": []}, {"opperf": {"schema_version": 99}}])
def test_what_opperf_did_not_write_is_no_profile(document: Any) -> None:
    with pytest.raises(InputError, match=r"^profile\.json: not a profile of opperf"):
        from_trace(document, "profile.json")
