"""What JAX's profiler records, as spans."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from opperf.child.backends.common.threads import ThreadNames
from opperf.child.backends.jax.planes import Instruction, Reader
from opperf.domain.profile.event import Event

BEGINNING = 1_795_269_806_013_318_123


def event(name: str, start: float, duration: float, **stats: Any) -> SimpleNamespace:
    """Return an event as JAX gives it: times are nanoseconds from the beginning, as floats."""
    return SimpleNamespace(name=name, start_ns=start, duration_ns=duration, stats=[*stats.items(), (None, None)])


def instruction(name: str, start: float, duration: float, program: str = "jit_f", **stats: Any) -> SimpleNamespace:
    """Return an event that names an instruction of a program."""
    return event(name, start, duration, hlo_op=name, hlo_module=program, program_id=3, **stats)


def line(name: str, *events: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(name=name, events=events)


def recording(*lines: SimpleNamespace, plane: str = "/host:CPU") -> list[SimpleNamespace]:
    """Return the planes of a recording, those without events among them."""
    return [
        SimpleNamespace(name=plane, lines=lines, stats=[]),
        SimpleNamespace(name="/host:metadata", lines=[], stats=[]),
        SimpleNamespace(
            name="Task Environment",
            lines=[],
            stats=[("profile_start_time", BEGINNING), ("profile_stop_time", BEGINNING + 10**9)],
        ),
    ]


def read(planes: list[SimpleNamespace], **asked: Any) -> list[Event]:
    return Reader(7, ThreadNames(), **asked).spans(planes)


def test_an_operator_is_an_instruction_of_a_program_at_a_time_since_1970() -> None:
    planes = recording(line("python", instruction("dot.3", 1000.0, 250.0)))
    assert read(planes) == [Event("dot", "operator", BEGINNING + 1000, 250, 7, "python", module="f")]


def test_frames_of_python_and_marks_of_the_runtime_are_no_operators() -> None:
    planes = recording(
        line(
            "python",
            event("$script.py:3 main", 0.0, 900.0),
            event("PjitFunction(f)", 1.0, 90.0),
            event("ThunkExecutor::Execute", 2.0, 80.0, run_id=4),
            instruction("add_fusion.1", 3.0, 70.0, _pt=0, _p=12),
            event("end: add_fusion.1", 72.0, 0.0, _ct=0, _c=12),
        )
    )
    (result,) = read(planes)
    assert (result.name, result.fused, result.duration) == ("add_fusion", True, 70)


def test_an_operator_that_runs_on_elsewhere_ends_with_its_mark() -> None:
    planes = recording(
        line("python", instruction("dot.1", 10.0, 5.0, _p=12), instruction("dot.2", 20.0, 5.0, _p=13)),
        line("pool", event("end: dot.1", 100.0, 2.0, _c=12), event("other", 200.0, 2.0, _c=13)),
    )
    assert [event.duration for event in read(planes)] == [92, 5]


def test_threads_of_one_name_are_told_apart() -> None:
    names = ("pool/-18225021", "pool", "pool")
    planes = recording(*(line(name, instruction("a", 1.0, 1.0)) for name in names))
    assert [event.thread for event in read(planes)] == ["pool", "pool 2", "pool 3"]


def test_calls_of_jitted_functions_are_told_when_they_are_asked_for() -> None:
    twice = [event("PjitFunction(f)", 1.0, 90.0), event("PjitFunction(f)", 2.0, 88.0)]
    planes = recording(line("python", *twice, event("PjitFunction(g)", 9.0, 9.0), event("PjitFunction(f)", 91.0, 9.0)))
    assert [(event.name, event.kind, event.duration) for event in read(planes, api=True)] == [
        ("PjitFunction(f)", "api", 90),
        ("PjitFunction(g)", "api", 9),
        ("PjitFunction(f)", "api", 9),
    ]


def test_steps_that_the_program_marks_are_steps() -> None:
    planes = recording(line("python", event("train", 1.0, 9.0, _r=1, step_num=3), event("epoch", 1.0, 9.0, _r=1)))
    assert [(event.name, event.kind) for event in read(planes)] == [("train 3", "step"), ("epoch", "step")]


def test_shapes_are_those_of_the_instruction_in_its_program() -> None:
    planes = recording(line("python", instruction("dot.1", 1.0, 1.0), instruction("dot.1", 2.0, 1.0, "jit_g")))
    known = {("jit_f", "dot.1"): Instruction(((2, 3), (3, 4)), "MLP.Dense_0", backward=True)}
    operators = read(planes, instructions=known)
    assert [event.shapes for event in operators] == [((2, 3), (3, 4)), ()]
    assert [(event.module, event.backward) for event in operators] == [("MLP.Dense_0", True), ("g", False)]


def test_kernels_of_a_device_stand_for_the_instructions_that_they_carry_out() -> None:
    planes = recording(
        line("XLA Ops", instruction("fusion.1", 5.0, 20.0)),
        line("Stream #13(Compute)", instruction("fusion.1", 5.0, 20.0), event("MemcpyD2H", 30.0, 4.0)),
        plane="/device:GPU:0",
    )
    planes[0].lines[1].events[0].name = "loop_add_kernel"
    result = read(planes)
    assert [(event.name, event.kind, event.device, event.thread) for event in result] == [
        ("loop_add_kernel", "kernel", 20, "GPU:0 Stream #13(Compute)"),
        ("fusion", "operator", 20, "GPU:0 Stream #13(Compute)"),
        ("MemcpyD2H", "kernel", 4, "GPU:0 Stream #13(Compute)"),
    ]


def test_a_device_without_streams_has_its_instructions_as_kernels() -> None:
    planes = recording(
        line("Steps", event("1", 0.0, 99.0)), line("XLA Ops", instruction("copy.2", 5.0, 20.0)), plane="/device:TPU:0"
    )
    assert [(event.name, event.kind) for event in read(planes)] == [("copy.2", "kernel"), ("copy", "operator")]
