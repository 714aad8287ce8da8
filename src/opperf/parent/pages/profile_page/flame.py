"""The lines of Python that called operators, as a flame graph: each as wide as the time of the operators below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opperf.domain.profile.event import Profile, own_times
from opperf.domain.units import plural
from opperf.parent.analysis.call_trees import LINE
from opperf.parent.reports.text import one_line

#: Maximum frames to draw, the longest ones; the others are merged into one frame at their place.
MOST_FRAMES = 2_000
#: Characters of a frame's text.
LONGEST = 200


def frames(profile: Profile) -> dict[str, list[object]]:
    """Return the frames, outer ones first: the place of the one around each, and its nanoseconds; none without stacks.

    The first encloses all others. Innermost are the operators, with their self time.
    """
    operators = profile.of_kind("operator")
    if not any(event.stack for event in operators):
        return {}
    times: Counter[tuple[str, ...]] = Counter()
    for event, self_time in zip(operators, own_times(operators, profile.recomputations())):
        lines = event.stack[::-1] or ("(no stack)",)
        path = (*lines, ", ".join(filter(None, (event.name, event.phase))))
        times[path] += self_time
    names, outer, took = ["all operators"], [-1], [0]
    leaves: set[int] = set()
    places: dict[tuple[int, str], int] = {}
    for path, self_time in times.items():
        frame = 0
        took[frame] += self_time
        for name in path:
            key = frame, name
            if key not in places:
                places[key] = len(names)
                names.append(name)
                outer.append(frame)
                took.append(0)
            frame = places[key]
            took[frame] += self_time
        leaves.add(frame)
    return _bound(names, outer, took, leaves)


def _bound(names: list[str], outer: list[int], took: list[int], leaves: set[int]) -> dict[str, list[object]]:
    """Return the frames that took most."""
    numbers, others = bound(outer, took)
    figure: dict[str, list[object]] = {
        "names": [frame_text(names[place]) for place in numbers],
        "full": [full_text(names[place]) for place in numbers],
        "outer": [numbers.get(outer[place], -1) for place in numbers],
        "took": [took[place] for place in numbers],
        "operator": [int(place in leaves) for place in numbers],
    }
    for number, places in others.items():
        sums = (plural(len(places), "other"), "", number, sum(took[place] for place in places), 0)
        for column, value in zip(figure.values(), sums):
            column.append(value)
    return figure


def bound(outer: Sequence[int], took: Sequence[int]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return the numbers of the frames that took most, by their places, and the places of others right within each.

    No frame takes more than the one around it, which comes before it.
    """
    order = [place for place in sorted(range(len(took)), key=lambda place: -took[place]) if took[place]]
    numbers = {place: number for number, place in enumerate(order[:MOST_FRAMES])}
    others: dict[int, list[int]] = {}
    for place in order[MOST_FRAMES:]:
        if outer[place] in numbers:
            others.setdefault(numbers[outer[place]], []).append(place)
    return numbers, others


def frame_text(name: str) -> str:
    """Return the text of a frame: the function first, since few have room for everything.

    >>> frame_text("torch/nn/modules/linear.py(130): forward"), frame_text("aten::mm")
    ('forward linear.py:130', 'aten::mm')
    """
    line = LINE.fullmatch(name)
    text = f"{line['function']} {line['file'].rpartition('/')[2]}:{line['line']}" if line else name
    return one_line(text)[:LONGEST]


def full_text(name: str) -> str:
    """Return the text of a line of Python as it was recorded, empty for what is none."""
    return one_line(name)[:LONGEST] if LINE.fullmatch(name) else ""
