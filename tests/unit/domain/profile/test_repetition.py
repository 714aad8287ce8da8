"""Steps that a program does not mark, told by what repeats in it."""

from __future__ import annotations

from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.repetition import steps


def span(name: str, begin: int, length: int, kind: str = "operator", process: int = 7) -> Event:
    """Return a span of the main thread."""
    return Event(name, kind, begin, length, process, "main")


def told(*events: Event) -> list[tuple[str, int, int]]:
    """Return the name, the beginning and the end of each step."""
    return [(step.name, step.begin, step.end) for step in steps(Profile(events))]


def training(begin: int) -> tuple[Event, ...]:
    """Return a step of training, 50 long."""
    return (
        span("Optimizer.zero_grad#SGD.zero_grad", begin, 2, "task"),
        span("Net", begin + 5, 20, "module"),
        span("aten::conv2d", begin + 6, 10),
        span("autograd::engine::evaluate_function: ConvolutionBackward0", begin + 30, 10, "task"),
        span("Optimizer.step#SGD.step", begin + 44, 6, "task"),
    )


def test_marked_steps_stay_as_they_are() -> None:
    marked = (span("train", 10, 5, "step"), span("train", 20, 5, "step"))
    assert steps(Profile((*marked, *training(30), *training(90)))) == marked


def test_pytorchs_own_steps_are_steps() -> None:
    own = (span("ProfilerStep#2", 10, 5, "task"), span("ProfilerStep#3", 15, 9, "task"))
    assert told(span("aten::rand", 0, 5), *own) == [("step 0", 10, 15), ("step 1", 15, 24)]


def test_a_step_ends_with_the_optimizers_and_what_came_before_the_first_is_no_step() -> None:
    begins = (span("aten::uniform_", 0, 50), span("aten::rand", 60, 5), span("Net", 70, 9, "module"))
    events = (*begins, *training(100), *training(150), *training(210), span("aten::sum", 300, 5))
    assert told(*events) == [("step 0", 100, 150), ("step 1", 150, 200), ("step 2", 200, 260)]


def test_a_first_step_begins_as_often_before_its_end_as_the_second_does() -> None:
    def step(begin: int) -> tuple[Event, ...]:
        return (
            span("aten::rand", begin, 2),
            span("aten::rand", begin + 3, 2),
            span("Optimizer.step#Adam.step", begin + 8, 2, "task"),
        )

    assert told(span("aten::rand", 0, 2), *step(50), *step(60))[0] == ("step 0", 50, 60)


def test_without_an_optimizer_the_outermost_module_that_repeats_makes_the_steps() -> None:
    calls = [span("Net", begin, 20, "module") for begin in (100, 130, 160)]
    inner = [span("Net.conv", begin + 1, 15, "module") for begin in (100, 130, 160)]
    often = [span("preprocess", begin, 2, "task") for begin in (95, 125, 155)]
    once = span("download", 0, 90, "task")
    assert told(once, *often, *calls, *inner, span("aten::argmax", 181, 3)) == [
        ("step 0", 100, 130),
        ("step 1", 130, 160),
        ("step 2", 160, 184),
    ]


def test_steps_within_a_span_around_all_of_them_are_steps_as_well() -> None:
    calls = [span("Net", begin, 20, "module") for begin in (100, 130, 160)]
    whole = span("main", 0, 400, "task")
    assert told(whole, *calls) == [("step 0", 100, 130), ("step 1", 130, 160), ("step 2", 160, 190)]
    assert told(whole, span("load", 10, 5), *training(100), *training(200))[0] == ("step 0", 100, 150)


def test_each_process_has_steps_of_its_own() -> None:
    calls = [span("Net", begin, 20, "module", process) for begin in (0, 30, 60) for process in (7, 8)]
    assert [(step.process, step.begin) for step in steps(Profile(tuple(calls)))] == [
        *((7, 0), (7, 30), (7, 60)),
        *((8, 0), (8, 30), (8, 60)),
    ]


def test_operators_alone_or_twice_are_no_loop() -> None:
    operators = [span("aten::softmax", 10 * place, 5) for place in range(9)]
    assert told(*operators, span("Net", 100, 9, "module"), span("Net", 120, 9, "module")) == []
