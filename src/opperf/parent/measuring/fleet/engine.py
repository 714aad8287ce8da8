"""What an engine is: it has nodes, takes pieces of work for them as text, and reports what became of each.

Requirements:

* `start` returns when the nodes that are there have answered; those that come later are told as `Joined`.
* A node is given one piece at a time.
* A piece ends with `Done` or `Broken`, or with its node's `Left`; whatever is told of it after that is passed over.
* `close` ends every process that the engine started, on every node, and may be called at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol, TypeAlias, Union

from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject, NotJSON, value_of
from opperf.domain.measurement import Outcome
from opperf.domain.node import Node, kind_of
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason
from opperf.domain.type_hint import Count
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.candidates import Judged as Verdict
from opperf.parent.documents.comparison import Comparison


@dataclass(frozen=True)
class Joined:
    """A node is ready for work; `machine` describes it, `noise` lists what makes it noisy."""

    node: Node
    machine: JsonObject = field(default_factory=dict)
    noise: Sequence[object] = ()


@dataclass(frozen=True)
class Introduction(Exact):
    """What a node says of itself before it gets work: its machine, and what makes it noisy; with Slurm its host too."""

    machine: JsonObject
    noise: tuple[JsonObject, ...] = ()
    host: str = ""

    def joined(self, name: str) -> Joined:
        """Return the node by its name in the fleet."""
        return Joined(Node(name, kind_of(self.machine)), self.machine, self.noise)


def introduced(text: str) -> Introduction:
    """Read how a node introduces itself; raises `InputError` for anything else."""
    try:
        return Introduction.from_json(value_of(text.encode(errors="replace")), "its introduction")
    except NotJSON as error:
        raise InputError(f"its introduction is not JSON: {error}") from error


@dataclass(frozen=True)
class Left:
    """A node is gone, with the piece that it had."""

    name: str
    reason: str


@dataclass(frozen=True)
class Done:
    """A piece was carried out; `text` is its outcome."""

    ticket: int
    text: str


@dataclass(frozen=True)
class Broken:
    """A piece failed, although its node is alive."""

    ticket: int
    reason: str


Event: TypeAlias = Union[Joined, Left, Done, Broken]


class Engine(Protocol):
    """Carries pieces of work to nodes."""

    def start(self) -> Sequence[Joined]:
        """Return the nodes; raises `HarnessError` if the engine cannot be reached."""

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Give a node a piece of work."""

    def events(self, seconds: float) -> Sequence[Event]:
        """Return the events since the last call, waiting for the first of them so long."""

    def close(self) -> None:
        """End all that was started."""


@dataclass(frozen=True)
class Bout(Exact):
    """What a contest is of: both sides' trials, and the one that both are made of."""

    base: Trial
    new: Trial
    key: Trial


@dataclass(frozen=True)
class JudgedSource(Exact):
    """The source of a candidate, or of the function that it is held against, on its way to a node.

    It is made of what a user names to be judged, and read of an order alone. Each character of `content` is a byte.
    """

    name: str
    function: str
    content: str


@dataclass(frozen=True)
class Judging(Exact):
    """Candidates to judge, each in a room; `reference` is what they are held against where that is code.

    `jobs` is how many a node checks at a time.
    """

    against: str
    trial: Trial
    candidates: tuple[JudgedSource, ...]
    reference: JudgedSource | None = None
    constant: tuple[str, ...] = ()
    jobs: Count = 1


@dataclass(frozen=True)
class SuiteFiles(Exact):
    """Benchmark files on their way to a node: how sides name them, and contents by path below the current folder.

    They are made of what a user names, and read of an order alone. Each character of a content is a byte.
    """

    names: tuple[str, ...]
    contents: Mapping[str, str]


@dataclass(frozen=True)
class Order(Exact):
    """A piece of work: trials to measure, contests to bring to a verdict, or candidates to judge, by the same rule.

    A node may also `explain` what ran. `suites` are the files of benchmarks that the trials are of.
    """

    settings: Settings
    trials: tuple[Trial, ...] = ()
    bouts: tuple[Bout, ...] = ()
    rule: Rule | None = None
    explain: bool = False
    judging: Judging | None = None
    suites: SuiteFiles | None = None

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Order:
        """Read an order. It comes from the user's own opperf, so its sides are ones that the user named."""
        order = super().from_json(data, where)
        bouts = (
            Bout(one.base.as_user_named(), one.new.as_user_named(), one.key.as_user_named()) for one in order.bouts
        )
        judging = order.judging and replace(order.judging, trial=order.judging.trial.as_user_named())
        trials = tuple(one.as_user_named() for one in order.trials)
        return replace(order, trials=trials, bouts=tuple(bouts), judging=judging)


@dataclass(frozen=True)
class Answer(Exact):
    """What became of a piece. `frameworks` are the facts of those that ran, `sides` those of a comparison's sides.

    `judgements` are in the order of the candidates; a `fault` says why there are none, on any node.
    """

    outcomes: tuple[Outcome, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    judgements: tuple[Verdict, ...] = ()
    fault: Reason | None = None
    frameworks: tuple[JsonObject, ...] = ()
    sides: JsonObject = field(default_factory=dict)
