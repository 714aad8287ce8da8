"""What the head tells a node to do, and what the node answers: text, by the codec that files are written with."""

from __future__ import annotations

from dataclasses import dataclass, field

from opperf.domain.codec import Exact
from opperf.domain.comparison import Comparison
from opperf.domain.files.json_text import JsonObject
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Trial


@dataclass(frozen=True)
class Bout(Exact):
    """What a contest is of: both sides' trials, and the one that both are made of."""

    base: Trial
    new: Trial
    key: Trial


@dataclass(frozen=True)
class Judged(Exact):
    """By which rule a node compares, and whether it explains."""

    tolerance: float
    pairs: int
    most: int | None
    explain: bool


@dataclass(frozen=True)
class Order(Exact):
    """A piece of work: trials to measure, or contests to bring to a verdict."""

    settings: Settings
    trials: tuple[Trial, ...] = ()
    bouts: tuple[Bout, ...] = ()
    judged: Judged | None = None


@dataclass(frozen=True)
class Answer(Exact):
    """What became of a piece. `frameworks` are the facts of those that ran, `sides` those of a comparison's sides."""

    outcomes: tuple[Outcome, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    frameworks: tuple[JsonObject, ...] = ()
    sides: JsonObject = field(default_factory=dict)
