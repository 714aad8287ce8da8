"""The call trees of two profiles, aligned by name and place: what called each operator, and what it took there.

A place is the way to an operator: lines of Python where both profiles have stacks, else modules where both have those,
in an execution trace labels; then the operators around it. Lines are the same by file and function, wherever in the
file they stand now. What has another name on either side is the same if it is a function of this name in another file,
or a module or function that runs the same operators, or is alone at its place and runs some of them.

A time is that of as many calls as there were, each the median of those alike, without waiting for a processor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Event, Profile, parents
from opperf.domain.profile.rows import typical_times
from opperf.parent.documents.trace import Spent, Way

#: A line of Python, as a profiler writes it: `torch/nn/modules/linear.py(130): forward`.
LINE = re.compile(r"(?P<file>.*)\((?P<line>\d+)\): (?P<function>.*)", re.DOTALL)
#: The deepest level of a tree; what lies below counts there.
DEEPEST = 300
#: What a way to an operator is of, the best first.
WAYS = ("stack", "module")
#: The root, which holds everything.
ROOT = "all operators"


@dataclass
class Call:
    """What was called at a place: its kind, the seconds and calls of its own, and what it called."""

    name: str
    kind: str = "operator"
    seconds: float = 0.0
    calls: int = 0
    below: dict[object, Call] = field(default_factory=dict)
    operators: set[str] = field(default_factory=set)

    @property
    def place(self) -> tuple[str, str, str]:
        """What it is found by beside its siblings: its kind, its name, and of a line the file."""
        line = LINE.fullmatch(self.name) if self.kind == "line" else None
        return (self.kind, self.name, "") if line is None else (self.kind, line["function"], line["file"])


@dataclass(frozen=True)
class Pair:
    """A place in both trees: its calls before and after, None where one lacks it; and the places within it."""

    before: Call | None
    after: Call | None
    below: tuple[Pair, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """How it is called now; before that how it was called, where it is another file or name."""
        calls = [call for call in (self.before, self.after) if call is not None]
        return tuple(call.name for call in (calls if len({call.place for call in calls}) > 1 else calls[-1:]))


def aligned_trees(before: Profile, after: Profile) -> Pair:
    """Return the roots of both trees, aligned, of ways that both profiles know."""
    ways = next((way for way in WAYS if all(_knows(profile, way) for profile in (before, after))), "")
    return align(call_tree(before, ways), call_tree(after, ways))


def _knows(profile: Profile, ways: str) -> bool:
    return any(getattr(event, ways) for event in profile.of_kind("operator"))


def call_tree(profile: Profile, ways: str = "module") -> Call:
    """Return the tree of a profile's operators, by the ways to them: their `stack` or their `module`."""
    events = profile.of_kind("operator")
    above = parents(events)
    root = Call(ROOT, "root")
    for place, seconds in enumerate(typical_times(profile)):
        _add(root, [*_way(events, above, place, ways)], events[place].name, Spent(1, seconds))
    return root


def tree_of_ways(ways: Mapping[Way, Spent]) -> Call:
    """Return the tree of the operators of an execution trace, by the ways to them."""
    root = Call(ROOT, "root")
    for way, spent in ways.items():
        _add(root, way, way[-1][0], spent)
    return root


def _add(root: Call, way: Sequence[tuple[str, str]], operator: str, spent: Spent) -> None:
    """Add calls of an operator at the end of a way, whose parts have names and kinds."""
    call = root
    call.operators.add(operator)
    for name, kind in way[:DEEPEST]:
        call = call.below.setdefault((name, kind), Call(name, kind))
        call.operators.add(operator)
    call.seconds += spent.seconds
    call.calls += spent.calls


def _way(events: Sequence[Event], above: Sequence[int | None], place: int, ways: str) -> Iterator[tuple[str, str]]:
    """Yield the names and kinds of what lies around an operator, from the outside, and of itself."""
    event = events[place]
    if ways == "stack":
        yield from ((line, "line") for line in event.stack[::-1] or ("(no stack)",))
    elif ways == "module" and event.module:
        yield from ((name, "module") for name in event.module.split("."))
    chain = [place]
    while (outer := above[chain[-1]]) is not None:
        chain.append(outer)
    yield from ((", ".join(filter(None, (events[i].name, events[i].phase))), "operator") for i in reversed(chain))


def align(before: Call, after: Call) -> Pair:
    """Return the pair of two places that are the same, with all that lies within them."""
    first, second = [*before.below.values()], [*after.below.values()]
    pairs: list[Pair] = []
    for key in (_by_place, _by_name, _by_content):
        matches = [*_match(first, second, key)]
        pairs += [align(*match) for match in matches]
        matched = {id(call) for match in matches for call in match}
        first, second = ([call for call in calls if id(call) not in matched] for calls in (first, second))
    if (renamed := _renamed(first, second)) is not None:
        pairs.append(align(*renamed))
        first.remove(renamed[0])
        second.remove(renamed[1])
    pairs += [_alone(call, is_after=False) for call in first]
    pairs += [_alone(call, is_after=True) for call in second]
    return Pair(before, after, tuple(pairs))


#: What calls are the same by; None is the same as nothing.
Key: TypeAlias = Callable[[Call], object]


def _by_place(call: Call) -> object:
    return call.place


def _by_name(call: Call) -> object:
    return call.place[:2] if call.kind == "line" else None


def _by_content(call: Call) -> object:
    return (call.kind, frozenset(call.operators)) if call.kind != "operator" else None


def _renamed(before: Sequence[Call], after: Sequence[Call]) -> tuple[Call, Call] | None:
    """Return the only modules or functions without a match, where both run some operator: one of two names."""
    rest = [[call for call in calls if call.kind != "operator"] for calls in (before, after)]
    if any(len(calls) != 1 for calls in rest) or rest[0][0].kind != rest[1][0].kind:
        return None
    return (rest[0][0], rest[1][0]) if rest[0][0].operators & rest[1][0].operators else None


def _match(first: Sequence[Call], second: Sequence[Call], key: Key) -> Iterator[tuple[Call, Call]]:
    """Yield the calls of both sides that are the same by a key, several of them in their order."""
    waiting: dict[object, list[Call]] = {}
    for call in reversed(second):
        waiting.setdefault(key(call), []).append(call)
    for call in first:
        value = key(call)
        if value is not None and waiting.get(value):
            yield call, waiting[value].pop()


def _alone(call: Call, *, is_after: bool) -> Pair:
    """Return the pair of a place that only one tree has."""
    below = tuple(_alone(child, is_after=is_after) for child in call.below.values())
    return Pair(None, call, below) if is_after else Pair(call, None, below)
