"""The call trees of two profiles, aligned by name and place."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.rows import rows
from opperf.parent.analysis.call_trees import Pair, aligned_trees, call_tree


def profile(*calls: tuple[str, str, int]) -> Profile:
    """Return a profile of operators one after another: each with its place, from the outside, and its nanoseconds."""
    events, time = [], 0
    for way, name, length in calls:
        where: dict[str, Any] = {"stack": tuple(way.split(" > ")[::-1])} if "(" in way else {"module": way}
        events.append(Event(name, "operator", time, length, 1, "main", **where))
        time += length
    return Profile(tuple(events))


def places(pair: Pair, way: str = "") -> dict[str, tuple[int | None, int | None]]:
    """Return the nanoseconds of all pairs below one, before and after, by the way to each; None where a side is not."""
    result = {}
    for below in pair.below:
        sides = (None if call is None else round(call.seconds * 1e9) for call in (below.before, below.after))
        place = f"{way} / {' -> '.join(below.names)}".lstrip(" /")
        result[place] = tuple(sides)
        result |= places(below, place)
    return result  # type: ignore[return-value]


def aligned(before: Profile, after: Profile) -> dict[str, tuple[int | None, int | None]]:
    """Return the places of both profiles in which something ran itself, or that one lacks."""
    every = places(aligned_trees(before, after))
    return {place: times for place, times in every.items() if times != (0, 0)}


def test_operators_of_one_name_are_told_apart_by_the_module_that_called_them() -> None:
    before = profile(("Net.a", "mm", 40), ("Net.b", "mm", 10), ("Net.b", "relu", 5))
    after = profile(("Net.a", "mm", 40), ("Net.b", "mm", 30), ("Net.c", "add", 7))
    assert aligned(before, after) == {
        "Net / a / mm": (40, 40),
        "Net / b / mm": (10, 30),
        "Net / b / relu": (5, None),
        "Net / c": (None, 0),
        "Net / c / add": (None, 7),
    }


def test_a_function_is_the_same_wherever_it_stands_now() -> None:
    before = profile(("train.py(1): <module> > train.py(9): step", "mm", 10), ("train.py(1): <module>", "add", 1))
    after = profile(("new.py(1): <module> > lib/steps.py(70): step", "mm", 20), ("new.py(1): <module>", "add", 1))
    assert aligned(before, after) == {
        "train.py(1): <module> -> new.py(1): <module> / add": (1, 1),
        "train.py(1): <module> -> new.py(1): <module> / train.py(9): step -> lib/steps.py(70): step / mm": (10, 20),
    }
    moved = profile(("train.py(1): <module> > train.py(90): step", "mm", 10), ("train.py(1): <module>", "add", 1))
    assert "train.py(1): <module> / train.py(90): step / mm" in aligned(before, moved)


def test_a_module_of_another_name_is_the_same_if_it_runs_the_same_or_is_alone_at_its_place() -> None:
    before = profile(("LeNet.fc1", "mm", 10), ("LeNet.fc2", "add", 1))
    after = profile(
        ("LeNetV2.dense1", "mm", 30), ("LeNetV2.dense2", "add", 1), ("LeNetV2.dense3", "tanh", 2), ("", "exp", 3)
    )
    assert aligned(before, after) == {
        "LeNet -> LeNetV2 / fc1 -> dense1 / mm": (10, 30),
        "LeNet -> LeNetV2 / fc2 -> dense2 / add": (1, 1),
        "LeNet -> LeNetV2 / dense3": (None, 0),
        "LeNet -> LeNetV2 / dense3 / tanh": (None, 2),
        "exp": (None, 3),
    }


def test_an_operator_within_another_one_stands_below_it_and_backward_apart() -> None:
    calls = (
        Event("linear", "operator", 0, 10, 1, "main"),
        Event("addmm", "operator", 2, 6, 1, "main"),
        Event("addmm", "operator", 20, 9, 1, "main", backward=True),
    )
    assert aligned(Profile(calls), Profile()) == {
        "linear": (4, None),
        "linear / addmm": (6, None),
        "addmm, backward": (9, None),
    }


def test_times_are_those_of_as_many_median_calls_as_in_the_table() -> None:
    calls = profile(*(("Net", "mm", length) for length in (10, 10, 10, 500)), ("Net.a", "mm", 70))
    tree = call_tree(calls)
    (net,) = tree.below.values()
    sums = {call.name: round(call.seconds * 1e9) for call in net.below.values()}
    assert sums == {"mm": 40, "a": 0}
    assert rows(calls)[0].typical == pytest.approx(110e-9)


def test_a_tree_is_bounded_in_depth() -> None:
    deep = profile((" > ".join(f"a.py({line}): f{line}" for line in range(2000)), "mm", 10))
    assert len(aligned(deep, deep)) == 1
    assert len(places(aligned_trees(deep, deep))) == 300
