"""What a judge says of candidates: what was seen of each, how fast it is, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from opperf.domain.case import Case
from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Explanation
from opperf.domain.files.json_text import JsonObject
from opperf.domain.judging import finite
from opperf.domain.node import Node
from opperf.domain.record import Run

#: The verdicts on a candidate, best first.
VERDICTS = ("faster", "same", "slower", "inconclusive", "wrong", "cheats", "impossible", "void")
#: Of these, those that say that what it computes was right.
RIGHT = ("faster", "same", "slower", "inconclusive")
#: The stages of judging a candidate, from small to large, as people read them.
STAGES = {
    "load": "when it was loaded",
    "tiny": "at a small size",
    "size": "at the size that is timed",
    "listed": "at another listed size",
    "other": "at a size beside it",
    "timed": "in a call that was timed",
}


@dataclass(frozen=True)
class Evidence(Fields):
    """Something that was seen of a candidate: a `slug` for programs, a sentence, and what it was seen in.

    `stage` is where the candidate was then, one of `STAGES`. `case` is the failing case.
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
            return STATUSES.get(self.cause or "", "INCORRECT_NUMERICAL")
        return {"void": "INVALID_REFERENCE", "cheats": "REWARD_HACK", "impossible": "REWARD_HACK"}.get(
            self.verdict, "PASSED"
        )

    @property
    def cause(self) -> str | None:
        """The slug of what the verdict rests on, None where that is the times."""
        return self.evidence[0].slug if self.evidence and self.verdict not in RIGHT else None

    @property
    def failing(self) -> Case | None:
        """The smallest case that shows it: stages go from small to large, and end with the first that fails.

        None for one that cannot be loaded, whatever the case.
        """
        refuses = self.evidence and self.verdict not in RIGHT and self.evidence[0].stage != "load"
        return self.evidence[0].case if refuses else None

    @property
    def remarks(self) -> tuple[Evidence, ...]:
        """What was seen beside what the verdict rests on."""
        return self.evidence[0 if self.verdict in RIGHT else 1 :]


#: The statuses of FlashInfer-Bench for causes of a wrong verdict; any other is a matter of numbers.
STATUSES = {
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

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> JudgedRun:
        """Read the document; raises `InputError` that names the place."""
        run = Run.above(data, where)
        return cls(run, read_as(tuple[Judged, ...], data.get("judgements"), f"{where}: judgements"))

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        return self.run.document(judgements=self.judgements)
