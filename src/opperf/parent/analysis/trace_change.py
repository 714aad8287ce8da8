"""Two traces operator by operator: which calls are the same in both, which have other inputs, which only one has.

Calls are the same with equal operators, shapes, element types and attributes; which values tensors had does not count,
since random data differs each time. Of what is left, calls of one operator belong together, those with
the most inputs in common first: a model with another batch size calls the same operators with other shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from opperf.domain.case import Argument, ListOf
from opperf.domain.dataclass import dataclass
from opperf.domain.suite import LeftOut
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.call_trees import Pair, align, tree_of_ways
from opperf.parent.documents.trace import Trace, TracedCase

#: Up to so many calls of an operator on either side are held against each other; more are taken in their order.
MOST_ALIKE = 200
#: What a trace has calls of: what can be run again, and what cannot.
Entry: TypeAlias = TracedCase | LeftOut


@dataclass(frozen=True)
class CallChange:
    """Calls that belong together in both traces; None where one of them has none such."""

    before: Entry | None
    after: Entry | None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Those of both traces that are there."""
        return tuple(entry for entry in (self.before, self.after) if entry is not None)

    @property
    def name(self) -> str:
        """The operator."""
        return operator_name(self.entries[-1])

    @property
    def only(self) -> str:
        """The trace that alone has such calls, empty where both do."""
        return "after" if self.before is None else "before" if self.after is None else ""

    @property
    def has_other_inputs(self) -> bool:
        """Whether the inputs differ, or the reason why it is not run again."""
        return not self.only and len({_identity(entry) for entry in self.entries}) > 1

    @property
    def calls(self) -> int:
        """How many more calls there are after than before."""
        return (self.after.count if self.after else 0) - (self.before.count if self.before else 0)

    @property
    def seconds(self) -> float | None:
        """How much longer all calls took after than before; None where that was not recorded."""
        if any(entry.recorded is None for entry in self.entries):
            return None
        times = [0.0 if entry is None else entry.recorded or 0.0 for entry in (self.before, self.after)]
        return times[1] - times[0]

    @property
    def is_same(self) -> bool:
        """Whether both traces have as many such calls, of the same inputs."""
        return not (self.only or self.has_other_inputs or self.calls)


@dataclass(frozen=True)
class TraceChange:
    """Two traces, and the changes from one to the other, in the order in which calls first ran.

    `tree` has the places at which both ran operators, where both traces know the ways to them.
    """

    before: Trace
    after: Trace
    changes: tuple[CallChange, ...]
    tree: Pair | None = None

    @property
    def has_recorded(self) -> bool:
        """Whether both traces know how long calls took, by clocks of one kind."""
        traces = self.before, self.after
        return all(trace.has_recorded for trace in traces) and self.before.clock == self.after.clock


def compare_traces(before: Trace, after: Trace) -> TraceChange:
    """Return the changes from one trace to another."""
    pairs = [*_pairs(before.entries, after.entries)]
    places = {id(entry): place for place, entry in enumerate((*after.entries, *before.entries))}
    changes = sorted((CallChange(*pair) for pair in pairs), key=lambda change: places[id(change.entries[-1])])
    trees = [tree_of_ways(trace.ways) for trace in (before, after) if trace.ways]
    return TraceChange(before, after, tuple(changes), align(*trees) if len(trees) == 2 else None)


def operator_name(entry: Entry) -> str:
    """Return the operator of calls."""
    return entry.case.operator if isinstance(entry, TracedCase) else entry.name


def arguments(entry: Entry) -> Mapping[str, Argument]:
    """Return the inputs and attributes of calls, without the values of tensors; none of what cannot be run again."""
    if not isinstance(entry, TracedCase):
        return {}
    return {name: _without_values(value) for name, value in {**entry.case.inputs, **entry.case.attributes}.items()}


def _without_values(argument: Argument) -> Argument:
    if isinstance(argument, TensorSpec):
        return TensorSpec(argument.shape, argument.dtype, argument.strides)
    if isinstance(argument, ListOf):
        return ListOf(tuple(map(_without_values, argument.items)))
    return tuple(map(_without_values, argument)) if isinstance(argument, tuple) else argument


def _identity(entry: Entry) -> object:
    return tuple(arguments(entry).items()) if isinstance(entry, TracedCase) else entry.reason


def _pairs(before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Yield what belongs together, and what is alone."""
    same: dict[object, list[Entry]] = {}
    for entry in reversed(after):
        same.setdefault((operator_name(entry), _identity(entry)), []).append(entry)
    rest: dict[str, tuple[list[Entry], list[Entry]]] = {}
    for entry in before:
        if twins := same.get((operator_name(entry), _identity(entry))):
            yield entry, twins.pop()
        else:
            rest.setdefault(operator_name(entry), ([], []))[0].append(entry)
    for entry in (entry for twins in same.values() for entry in reversed(twins)):
        rest.setdefault(operator_name(entry), ([], []))[1].append(entry)
    for earlier, later in rest.values():
        yield from _most_alike(earlier, later)


def _most_alike(before: list[Entry], after: list[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Yield calls of one operator with those that have most in common with them, and the others alone."""
    if max(len(before), len(after)) <= MOST_ALIKE:
        scores = [
            (_likeness(earlier, later), -first, -second)
            for first, earlier in enumerate(before)
            for second, later in enumerate(after)
        ]
    else:
        scores = [(0.0, -place, -place) for place in range(min(len(before), len(after)))]
    firsts, seconds = dict(enumerate(before)), dict(enumerate(after))
    for _, first, second in sorted(scores, reverse=True):
        if -first in firsts and -second in seconds:
            yield firsts.pop(-first), seconds.pop(-second)
    yield from ((entry, None) for entry in firsts.values())
    yield from ((None, entry) for entry in seconds.values())


def _likeness(before: Entry, after: Entry) -> float:
    """Return how many arguments two calls have in common; sizes that are equal count in part."""
    first, second = arguments(before), arguments(after)
    common = [(first[name], second[name]) for name in first.keys() & second.keys()]
    return sum(1.0 if one == other else _share(one, other) for one, other in common)


def _share(first: Argument, second: Argument) -> float:
    """Return the share of sizes that two tensors have in common, below one; nothing of all else."""
    if not isinstance(first, TensorSpec) or not isinstance(second, TensorSpec) or len(first.shape) != len(second.shape):
        return 0.0
    equal = sum(size == other for size, other in zip(first.shape, second.shape))
    return (equal + (first.dtype == second.dtype)) / (len(first.shape) + 2)
