"""What it means to judge: where inputs lie that a candidate reads, what was seen of it, and the words of a verdict."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.codec import Exact, Fields, encode
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Explanation
from opperf.domain.node import Node
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

if TYPE_CHECKING:
    from opperf.domain.record import Run

#: The verdicts on a candidate, best first.
VERDICTS = ("faster", "same", "slower", "inconclusive", "wrong", "cheats", "impossible", "void")
#: Of these, those that say that what it computes was right.
RIGHT = ("faster", "same", "slower", "inconclusive")
#: Where a tensor may begin in an area, in bytes; frameworks align theirs so.
ALIGNMENT = 64
#: Between the tensors of a slot, so that what lies behind one is not the next.
PAGE = 4096
#: By how many places of a page slots are shifted, and from slot to slot.
SHIFTS, STEP = 16, 5


@dataclass(frozen=True)
class Geometry(Exact):
    """Where the tensors of a case lie in an area: in each of `slots`, `stride` bytes apart, at these `places`.

    Those whose numbers are `constant` lie once, behind all slots, and their places are those in the area.
    """

    slots: int
    stride: int
    places: tuple[int, ...]
    constant: tuple[int, ...] = ()

    def place(self, slot: int, tensor: int) -> int:
        """Return where a tensor of a slot begins.

        Slots do not begin at the same place of a page, or they would all want the same lines of the first cache.

        >>> Geometry(2, 8192, (0, 4160)).place(1, 1)
        12672
        """
        if not 0 <= slot < self.slots:
            raise IndexError(slot)
        if tensor in self.constant:
            return self.places[tensor]
        return slot * self.stride + ALIGNMENT * (slot * STEP % SHIFTS) + self.places[tensor]


def geometry(case: Case, most: int, slots: int, constant: Collection[str] = ()) -> Geometry:
    """Return where the tensors of a case lie: up to so many slots, as few as two, in an area of `most` bytes.

    Each tensor begins another few cache lines into a page, as blocks of an allocator do. Those of the `constant` inputs
    are the same in all slots.

    >>> geometry(Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))}), 1 << 20, 16).places
    (64, 4224)
    """
    every = list(tensors(case))
    same = tuple(i for i, (place, _) in enumerate(every) if place.partition("[")[0] in constant)
    places = [0] * len(every)

    def lay(numbers: Iterable[int], end: int) -> int:
        for i in numbers:
            places[i] = -(-end // PAGE) * PAGE + ALIGNMENT * (1 + i)
            end = places[i] + every[i][1].nbytes
        return end

    end = lay((i for i in range(len(every)) if i not in same), 0) + ALIGNMENT * SHIFTS
    stride = max(PAGE, -(-end // PAGE) * PAGE)
    left = most - lay(same, 0)
    slots = max(2, min(slots, left // stride))
    lay(same, slots * stride)
    return Geometry(slots, stride, tuple(places), same)


def area_size(case: Case, most: int, constant: Collection[str]) -> int:
    """Return the bytes of an area in which a case finds room, and cases a little larger."""
    two = geometry(case, 0, 2, constant)
    once = sum(spec.nbytes + 2 * PAGE for i, (_, spec) in enumerate(tensors(case)) if i in two.constant)
    return max(most, 4 * two.stride + 2 * once)


class Laid(Protocol):
    """How a tensor lies: its shape, element type, and the bytes from one element to the next along each axis."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def dtype(self) -> str:
        """The element type."""


def bytes_of(one: Laid) -> int:
    """Return the bytes that the elements of a tensor take."""
    return math.prod(one.shape) * ITEM_SIZES[one.dtype]


def extent(shape: Sequence[int], strides: Sequence[int], item: int) -> tuple[int, int]:
    """Return where the lowest byte of a tensor lies, from its first element, and how many lie up to the highest.

    >>> extent((2, 3), (12, 4), 4), extent((3,), (-4,), 4)
    ((0, 24), (-8, 12))
    """
    if 0 in shape:
        return 0, 0
    steps = [(size - 1) * step for size, step in zip(shape, strides)]
    low = sum(step for step in steps if step < 0)
    return low, sum(step for step in steps if step > 0) - low + item


def tensors(case: Case) -> Iterator[tuple[str, TensorSpec]]:
    """Yield every tensor of a case with its place among the arguments, in order."""
    for name, argument in (*case.inputs.items(), *case.attributes.items()):
        yield from _tensors(argument, name)


def _tensors(argument: Argument, place: str) -> Iterator[tuple[str, TensorSpec]]:
    if isinstance(argument, TensorSpec):
        yield place, argument
    elif isinstance(argument, (ListOf, tuple)):
        for i, item in enumerate(argument.items if isinstance(argument, ListOf) else argument):
            yield from _tensors(item, f"{place}[{i}]")


def finite(value: object) -> object:
    """Return a value of JSON in which the numbers that it has no form for, of a wrong result, are texts.

    >>> finite({"found": float("nan"), "expected": [1.5]})
    {'found': 'nan', 'expected': [1.5]}
    """
    if isinstance(value, Mapping):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Evidence(Fields):
    """Something that was seen of a candidate: a `slug` for programs, a sentence, and what it was seen in.

    `stage` is where the candidate was then: `load`, `tiny`, `size`, `timed`. `case` is the failing case.
    """

    slug: str
    message: str
    stage: str
    case: Case | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    sparse = ("case", "details")

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", finite(self.details))


@dataclass(frozen=True)
class Speed(Fields):
    """How fast a candidate is beside its reference: seconds of either, the speedup and its interval.

    `ring`: each call on values of its own. `hot`: again and again on the same.
    """

    candidate: float
    reference: float
    speedup: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Judged(Fields):
    """The verdict on one candidate, and what it rests on.

    `judged_by` names the times that decided, `ring` or `hot`. `constant` are the inputs that were the same in all calls
    of a process. `room` is what confined the candidate. `seconds` is what judging took, and `stages` what it had taken
    when a stage was over: `load`, `tiny`, `size`, `right`, `look`. `ran` is what one call runs, by its own process's
    word, and `reference_ran` the same of the reference, where that was asked for. `problem` says in words what is other
    than the files of a problem have it. `workload` is what a problem of FlashInfer-Bench calls the case: the
    `definition` and its `workload`. `node` is the machine of a fleet that judged it.
    """

    candidate: str
    against: str
    case: Case
    verdict: str
    reason: str
    evidence: tuple[Evidence, ...] = ()
    ring: Speed | None = None
    hot: Speed | None = None
    judged_by: str | None = None
    pairs: int = 0
    room: tuple[str, ...] = ()
    seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    ran: Explanation | None = None
    reference_ran: Explanation | None = None
    problem: tuple[str, ...] = ()
    workload: Mapping[str, object] = field(default_factory=dict)
    node: Node | None = None

    sparse = ("stages", "constant", "ran", "reference_ran", "problem", "workload", "node")
    beside = ("score", "status")

    @property
    def speed(self) -> Speed | None:
        """The times that decided."""
        return self.hot if self.judged_by == "hot" else self.ring

    @property
    def score(self) -> float:
        """What a program is trained by: 0 unless it is right, then the lower end of the interval of the speedup."""
        if self.verdict not in RIGHT or self.speed is None:
            return 0.0
        return self.speed.interval[0]

    @property
    def status(self) -> str:
        """The word of FlashInfer-Bench's traces for this verdict.

        A cheat that only shows in wrong numbers is `INCORRECT_NUMERICAL` there: it was refused for its numbers.
        """
        if self.verdict == "wrong":
            return _STATUSES.get(self.cause or "", "INCORRECT_NUMERICAL")
        return {"void": "INVALID_REFERENCE", "cheats": "REWARD_HACK", "impossible": "REWARD_HACK"}.get(
            self.verdict, "PASSED"
        )

    @property
    def cause(self) -> str | None:
        """The slug of what the verdict rests on, None where that is the times."""
        return self.evidence[0].slug if self.evidence and self.verdict not in RIGHT else None

    @property
    def failing(self) -> Case | None:
        """The smallest case that shows it: stages go from small to large, and end with the first that fails."""
        return self.evidence[0].case if self.evidence and self.verdict not in RIGHT else None

    @property
    def remarks(self) -> tuple[Evidence, ...]:
        """What was seen beside what the verdict rests on."""
        return self.evidence[0 if self.verdict in RIGHT else 1 :]


#: The statuses of FlashInfer-Bench for causes of a wrong verdict; any other is a matter of numbers.
_STATUSES = {
    "other_shape": "INCORRECT_SHAPE",
    "other_type": "INCORRECT_DTYPE",
    "load": "COMPILE_ERROR",
    "fails": "RUNTIME_ERROR",
    "changes_inputs": "RUNTIME_ERROR",
    "timeout": "TIMEOUT",
}


def in_order(judgements: Iterable[Judged]) -> list[Judged]:
    """Return judgements as reports have them: by verdict, best first, and the fastest of each first.

    >>> def judged(name, verdict, speedup=None):
    ...     speed = speedup and Speed(1.0, speedup, speedup, (speedup, speedup))
    ...     return Judged(name, "add", Case("add"), verdict, "", ring=speed)
    >>> every = [judged("a", "wrong"), judged("b", "faster", 1.5), judged("c", "faster", 2.0)]
    >>> [one.candidate for one in in_order(every)]
    ['c', 'b', 'a']
    """
    return sorted(judgements, key=_place)


def _place(judged: Judged) -> tuple[int, float]:
    order = VERDICTS.index(judged.verdict) if judged.verdict in VERDICTS else len(VERDICTS)
    return order, -judged.speed.speedup if judged.speed is not None else 0.0


@dataclass(frozen=True)
class JudgedRun:
    """The judgements of one `opperf judge`, under the header of a run."""

    run: Run
    judgements: tuple[Judged, ...]

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        from opperf.domain.record import SCHEMA_VERSION  # children judge without records

        return {"schema_version": SCHEMA_VERSION, "run": self.run.header(), "judgements": encode(self.judgements)}
