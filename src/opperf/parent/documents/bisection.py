"""What `opperf bisect` found: the builds between which an operator changed, and what was measured to find them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from opperf.domain.case import Case
from opperf.domain.codec import Fields, decode, encode_fields
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.domain.registry import Direction
from opperf.domain.type_hint import Amount, LogRatio, LogSpread, Natural, OneOf, Positive, Ratio
from opperf.parent.documents.comparison import Explanations

#: What became of one operator: it changed in steps, little by little, or not at all; or pairs did not tell.
KINDS = ("steps", "slope", "same", "inconclusive", "failed")


@dataclass(frozen=True)
class Probe(Fields):
    """A comparison of two builds: the log of new over base, its standard error, and the pairs of processes."""

    base: str
    new: str
    log_ratio: LogRatio
    error: LogSpread
    pairs: Natural


@dataclass(frozen=True)
class Step(Fields):
    """A change between two builds, as a comparison of the two has it.

    `between` are builds that lie between them and cannot be built, so that any of them may be the one.
    """

    before: str
    after: str
    ratio: Ratio
    interval: tuple[Positive, Positive] | None
    pairs: Natural
    between: tuple[str, ...] = ()
    explanation: Explanations = field(default_factory=Explanations)


@dataclass(frozen=True)
class Answer(Fields):
    """What is said of one case in a direction.

    `ratio` is bad over good, with its interval. `probability` is that of the steps that are named. Where nothing is
    named, `between` are the builds that the change lies between, and `reason` says why and what would decide it.
    """

    case: Case
    direction: Direction
    kind: Annotated[str, OneOf(KINDS)]
    reason: str
    ratio: Ratio | None
    interval: tuple[Positive, Positive] | None
    steps: tuple[Step, ...] = ()
    probability: Amount | None = None
    between: tuple[str, str] | None = None
    probes: tuple[Probe, ...] = ()


@dataclass(frozen=True)
class LeftOut(Fields):
    """A build that was not measured, and why."""

    build: str
    reason: str


@dataclass(frozen=True)
class Commit(Fields):
    """The commit that a build is of: its full hash, and what Git knows of it; the date is ISO 8601.

    `tag` is the first one that has the commit, empty where none does.
    """

    build: str
    hash: str
    subject: str
    author: str
    date: str
    tag: str = ""


@dataclass(frozen=True)
class Bisection:
    """The results of one `opperf bisect`: of all `builds` from good to bad, some were `built`.

    Of those that are commits, the `commits` say which. The two ends are called as the user named them.
    """

    run: Run
    side: Side
    builds: tuple[str, ...]
    built: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    answers: tuple[Answer, ...]
    commits: tuple[Commit, ...] = ()

    def commit(self, build: str) -> Commit | None:
        """Return the commit of a build; None for a build that is no commit, or was not made."""
        return next((commit for commit in self.commits if commit.build == build), None)

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> Bisection:
        """Read the document; raises `InputError` that names the place."""
        return decode(cls, data.get("bisection"), f"{where}: bisection", run=Run.above(data, where))

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        return self.run.document(bisection=encode_fields(self, "run"))
