"""What MXNet's profiler writes, as spans with memory and modules."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.each import each

from opperf.child.backends.mxnet import allocations
from opperf.child.backends.mxnet.allocations import Change, changes
from opperf.child.backends.mxnet.spans import readings, spans, with_memory, with_modules, with_shapes
from opperf.child.backends.mxnet.thread_hash import of_bytes, of_thread
from opperf.domain.profile.event import Event, Reading

#: A thread as MXNet numbers it: beyond what a double holds exactly.
MAIN, OTHER = "7028637860257950075", "18387458008554290549"


@pytest.fixture(autouse=True)
def beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which the profiler's file was not yet read."""
    monkeypatch.setattr(allocations, "_last", {})


def written(*events: str) -> str:
    """Return a file as MXNet writes it from the second time on: with a comma ahead of the first event."""
    return '{\n    "traceEvents": [\n' + "".join(f",\n{event}" for event in events) + '\n\n    ],\n    "displayTime'


def event(name: str, category: str, phase: str, time: int, thread: str = MAIN, more: str = "") -> str:
    """Return one event as it is written."""
    return (
        f'    {{\n        "name": "{name}",\n        "cat": "{category}",\n        "ph": "{phase}",\n'
        f'        "ts": {time},\n{more}        "pid": 0,\n        "tid": {thread}\n    }}\n'
    )


def pair(name: str, begin: int, end: int, category: str = "operator", phases: str = "BE", thread: str = MAIN) -> str:
    """Return the two events of a span; those of a task have an identity as well."""
    more = f'        "id": {thread},\n' if phases == "be" else ""
    return ",\n".join(event(name, category, phase, time, thread, more) for phase, time in zip(phases, (begin, end)))


def counted(time: int, value: int, thread: str = MAIN, device: str = "cpu/0") -> str:
    """Return an event of the counter of memory."""
    name = f"Memory: {device}"
    return event(name, "Device Storage", "C", time, thread, f'        "args": {{ "{name}": {value} }},\n')


def operator(name: str, begin: int, end: int, thread: str = MAIN) -> Event:
    """Return an operator; times are in microseconds."""
    return Event(name, "operator", begin * 1000, (end - begin) * 1000, 1, thread)


def test_an_operator_that_is_written_twice_is_one_span() -> None:
    text = written(pair("dot", 1795269806013417, 1795269806013444), pair("dot", 17952698060, 17952698061, phases="be"))
    assert spans(text, 7) == [Event("dot", "operator", 1795269806013417000, 27000, 7, MAIN)]


def test_names_of_devices_are_no_spans() -> None:
    named = '{\n  "ph": "M",\n  "args": {\n    "name": "cpu/0"\n  },\n  "pid": 0,\n  "name": "process_name"\n}'
    assert [event.name for event in spans(written(named, pair("dot", 1, 2)), 1)] == ["dot"]


@each(
    ("name", "fused", "backward"),
    [
        ("dot", False, False),
        ("_backward_dot", False, True),
        ("ImperativeBulk", True, False),
        ("FullyConnected,Activation", True, False),
        ("[_identity_with_attr_like_rhs,_backward_dot,_backward_su", True, True),
        ("[dot]", False, False),
        ("_sg_mkldnn_conv", True, False),
    ],
)
def test_bulks_are_fused_and_operators_of_the_backward_pass_are_told(name: str, fused: bool, backward: bool) -> None:
    (result,) = spans(written(pair(name, 1, 2)), 1)
    assert (result.name, result.fused, result.backward) == (name, fused, backward)


def test_what_the_engine_and_the_program_do_beside_operators_are_tasks_and_calls() -> None:
    text = written(
        pair("DeleteVariable", 1, 2),
        pair("WaitForVar", 2, 3),
        pair("MXNDArrayFree", 3, 4, "MXNET_C_API", "be"),
        pair("epoch", 4, 5, "my domain", "be"),
        pair("mark", 5, 6, "event"),
        event("MXNet C API Calls", "MXNET_C_API", "C", 6, more='        "args": { "MXNet C API Calls": 1 },\n'),
    )
    assert [(event.name, event.kind) for event in spans(text, 1)] == [
        ("DeleteVariable", "task"),
        ("WaitForVar", "task"),
        ("MXNDArrayFree", "api"),
        ("epoch", "task"),
        ("mark", "task"),
    ]


def test_a_custom_operator_is_its_python_part_and_what_that_calls() -> None:
    text = written(
        pair("AddOne::_plus_scalar", 12, 14, "Custom Operator"),
        pair("AddOne::_plus_scalar", 12, 14, "Custom Operator", "be"),
        pair("AddOne::DeleteVariable", 15, 16, "Custom Operator"),
        pair("AddOne::pure_python", 10, 20, "Custom Operator", "be"),
    )
    assert [(event.name, event.kind, event.duration) for event in spans(text, 1)] == [
        ("AddOne::_plus_scalar", "operator", 2000),
        ("AddOne::DeleteVariable", "task", 1000),
        ("AddOne::pure_python", "operator", 10000),
    ]


def test_allocations_have_their_time_and_thread() -> None:
    text = written(counted(5, 1000), counted(7, 400, OTHER, "gpu/0"), counted(6, 300))
    assert changes(text) == [
        Change(5, "cpu/0", MAIN, 1000),
        Change(6, "cpu/0", MAIN, -700),
        Change(7, "gpu/0", OTHER, 400),
    ]
    assert changes(text) == []


def test_an_operator_has_what_its_thread_allocated_while_it_ran() -> None:
    events = [operator("dot", 10, 20), operator("relu", 12, 30, OTHER), replace(operator("free", 21, 22), kind="task")]
    changed = [
        Change(9, "cpu/0", MAIN, 1),
        Change(10, "cpu/0", MAIN, 100),
        Change(15, "cpu/0", MAIN, 40),
        Change(16, "cpu/0", MAIN, -40),
        Change(17, "cpu/0", OTHER, 7),
        Change(20, "cpu/0", MAIN, 20),
        Change(21, "cpu/0", MAIN, -100),
    ]
    dot, relu, free = with_memory(events, changed)
    assert (dot.allocated, dot.peak) == (160, 140)
    assert (relu.allocated, relu.peak) == (7, 7)
    assert (free.allocated, free.peak) == (None, None)


def test_an_operator_that_allocates_nothing_has_zero_bytes_not_unknown_ones() -> None:
    (dot,) = with_memory([operator("dot", 10, 20)], [])
    assert (dot.allocated, dot.peak) == (0, 0)


def test_what_is_allocated_where_two_operators_meet_is_the_second_ones() -> None:
    first, second = with_memory([operator("a", 10, 20), operator("b", 20, 30)], [Change(20, "cpu/0", MAIN, 8)])
    assert (first.allocated, second.allocated) == (0, 8)


def test_what_is_allocated_within_a_custom_operator_is_also_its_own() -> None:
    outer, inner = operator("A::pure_python", 10, 30), operator("A::dot", 12, 20)
    changed = [Change(14, "cpu/0", MAIN, 8), Change(25, "cpu/0", MAIN, 3)]
    assert [event.allocated for event in with_memory([inner, outer], changed)] == [8, 11]


def test_an_operator_belongs_to_the_innermost_block_of_its_thread() -> None:
    net = Event("Net", "module", 9_000, 40_000, 1, MAIN)
    dense = replace(net, name="Net.0", begin=10_500, duration=11_000)
    events = [operator("dot", 11, 20), replace(operator("free", 21, 22), kind="task"), operator("sum", 22, 24)]
    events += [operator("dot", 12, 19, OTHER), operator("_backward_sum", 60, 61)]
    result = with_modules(events, [net, dense])
    assert [event.module for event in result] == ["Net.0", "", "Net", "", ""]
    assert [event.name for event in result] == [event.name for event in events]


def test_an_operator_that_runs_alone_in_a_call_has_the_shapes_of_its_arrays() -> None:
    calls = [
        Event("", "api", 9_500, 11_000, 1, MAIN, shapes=((2, 3), (3, 4))),
        Event("", "api", 29_500, 11_000, 1, MAIN, shapes=((5,),)),
    ]
    events = [operator("dot", 10, 20), operator("cast", 30, 32), operator("sum", 33, 40), operator("later", 50, 60)]
    assert [event.shapes for event in with_shapes(events, calls)] == [((2, 3), (3, 4)), (), (), ()]


def test_an_operator_within_a_custom_one_has_shapes_of_its_own() -> None:
    calls = [
        Event("", "api", 9_500, 30_000, 1, MAIN, shapes=((8,),)),
        Event("", "api", 11_500, 9_000, 1, MAIN, shapes=((2,),)),
    ]
    events = [operator("A::sum", 12, 20), operator("A::pure_python", 10, 30)]
    assert [event.shapes for event in with_shapes(events, calls)] == [((2,),), ((8,),)]


def test_readings_count_from_the_start_and_what_was_there_before_makes_no_room() -> None:
    changed = [Change(time, "cpu/0", MAIN, size) for time, size in ((1, -100), (2, 40), (3, 60), (4, -40))]
    assert readings(changed, 500, 1) == [
        Reading(time, 1, "cpu/0", held) for time, held in ((500, 0), (1000, 0), (2000, 40), (3000, 100), (4000, 60))
    ]


@pytest.mark.parametrize(
    ("data", "number"), [(b"operator", 3060606181218273969), (b"Device Storage", 9785678402843609691)]
)
def test_threads_are_numbered_by_the_hash_that_numbers_categories(data: bytes, number: int) -> None:
    assert of_bytes(data) == number  # as they stand in MXNet's files
    assert of_thread(int.from_bytes(b"operator", "little")) == 3060606181218273969
