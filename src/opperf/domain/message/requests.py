"""What a parent asks: a class for each verb, which names the type of its reply.

The user's own code travels here alone (`own_code.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Optional, Protocol, TypeVar, get_args

from opperf.domain.case import Case
from opperf.domain.codec import Exact, Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Explanation
from opperf.domain.judging import Geometry
from opperf.domain.kernels import KernelTimes
from opperf.domain.measurement import Measurement
from opperf.domain.message import replies
from opperf.domain.message.own_code import Named, OwnCode, TrialWithCode
from opperf.domain.message.replies import Output
from opperf.domain.plan import SMALL, Part, Settings
from opperf.domain.problem import OpenedProblem, OwnProblem, Standing

R = TypeVar("R", bound=Fields, covariant=True)


@dataclass(frozen=True)
class Limits(Exact):
    """What a child is held to from its start, and the `folder` in which the user's own code is looked for."""

    cpus: Optional[tuple[int, ...]]
    memory: Optional[int]
    folder: str
    plugins: tuple[str, ...]


class Request(Exact, Generic[R]):
    """What the parent asks; the type of the reply is its parameter."""


class Ask(Protocol):
    """Asks a child."""

    def __call__(self, request: Request[R], /) -> R:
        """Return the reply."""


@dataclass(frozen=True)
class Prepare(Request[replies.Preparation]):
    """Make the inputs of a trial, bind, call once, check; answer with a handle.

    `check` is which results are compared. `offset` is how many bytes its tensors lie further in memory, or the seed of
    their places in a child that can plan those. `results` asks what the call returns that an offset moves.
    """

    trial: TrialWithCode
    seed: int = 0
    check: str = SMALL
    offset: int = 0
    memory_limit: Optional[int] = None
    results: bool = False


@dataclass(frozen=True)
class Measure(Request[Measurement]):
    """Run the whole sampling loop on a prepared trial; `part` is its part of a whole program."""

    handle: int
    settings: Settings
    part: Optional[Part] = None


@dataclass(frozen=True)
class WatchKernels(Request[KernelTimes]):
    """Watch what the device does for `calls` of a prepared trial, `cold` ones too: the last that a child is asked for.

    Nothing is timed in a process that a profiler has watched.
    """

    handle: int
    calls: Optional[int] = None
    cold: bool = True


@dataclass(frozen=True)
class BuildLoops(Request[replies.Agreement]):
    """Compile what calls the framework without Python, unless it is in the `folder` of the cache."""

    folder: str


@dataclass(frozen=True)
class CountInstructions(Request[replies.Instructions]):
    """Count what one call of a prepared trial executes. Callgrind writes `files`; `folder` is that of the cache."""

    handle: int
    folder: str
    files: str


@dataclass(frozen=True)
class Turn(Request[replies.Sampling]):
    """Settle after a switch of sides, then take samples; without `calls` the first turn finds its block length.

    With `kernels` the samples are how long the device was busy.
    """

    handle: int
    samples: int
    calls: Optional[int] = None
    kernels: bool = False


@dataclass(frozen=True)
class Release(Request[replies.Remainder]):
    """Forget a prepared trial."""

    handle: int


@dataclass(frozen=True)
class Describe(Request[replies.Meaning]):
    """Say what a name means, or the user's own code."""

    name: Named


@dataclass(frozen=True)
class Discover(Request[replies.Discovery]):
    """List the framework's own operators, or make example cases of the one at `path`; with its tool's own `listing`.

    A file of benchmarks may be imported for `limit` seconds.
    """

    path: Named = None
    size: str = "common"
    listing: bool = False
    limit: Optional[float] = None


@dataclass(frozen=True)
class Explain(Request[Explanation]):
    """Say what one call of a trial runs."""

    trial: TrialWithCode
    seed: int


@dataclass(frozen=True)
class Evaluate(Request[replies.Evaluation]):
    """Run a trial once, and write its results into files of a folder."""

    trial: TrialWithCode
    seed: int
    folder: str


@dataclass(frozen=True)
class Compare(Request[replies.Agreement]):
    """Compare results in files with those that are expected; `against` says whose those are.

    The inputs were made with `seed`.
    """

    trial: TrialWithCode
    seed: int
    results: tuple[Output, ...]
    expected: tuple[Output, ...]
    against: str


@dataclass(frozen=True)
class Capture(Request[replies.Recording]):
    """Call the user's function, and say which operators it runs; `abstract` is by shapes alone."""

    code: OwnCode
    abstract: bool = False


@dataclass(frozen=True)
class CaptureModel(Request[replies.Recording]):
    """Run the model in a file, and say which operators that are; `inputs` are those not as the file has them."""

    model: str
    inputs: Mapping[str, object]


#: What a model by its configuration does: reads all words, writes one behind them, or learns from them.
PHASES = ("prefill", "decode", "train")


@dataclass(frozen=True)
class Usage(Fields):
    """How a model by its configuration is called: the phase, sequences and words of each, and what one device has."""

    phase: str = "prefill"
    batch: int = 1
    context: int = 2048
    dtype: Optional[str] = None
    split: int = 1
    layers: str = "all"


@dataclass(frozen=True)
class CaptureConfiguration(Request[replies.Recording]):
    """Build the model of a configuration by shapes alone, and say which operators its phase runs."""

    name: str
    configuration: Mapping[str, object]
    usage: Usage


@dataclass(frozen=True)
class Iterate(Request[replies.Entries]):
    """Expand a part of a config with the user's own iterator."""

    iterator: str
    config: Mapping[str, object]
    part: str


@dataclass(frozen=True)
class Generate(Request[replies.Descriptions]):
    """Describe what the user's own generator makes of entries."""

    generator: str
    entries: tuple[Mapping[str, object], ...]


class JudgingRequest(Request[R]):
    """What is asked when a candidate is judged: of the child that examines, or of one that stands before it."""


@dataclass(frozen=True)
class Stand(JudgingRequest[replies.Agreement]):
    """Load what a trial calls, and place its arguments on the slots of a shared area.

    `inputs` and `answers` are descriptors: the area, which is read, and where the addresses of results are written.
    Where it is `writable`, what is written into the area stays in the process. A `standing` says how what a problem
    asks for is built and called, and `weights` is the descriptor of its weights.
    """

    trial: TrialWithCode
    geometry: Geometry
    inputs: int
    answers: int
    writable: bool = False
    standing: Optional[Standing] = None
    weights: Optional[int] = None


@dataclass(frozen=True)
class LineUp(JudgingRequest[replies.Agreement]):
    """Get ready to call once on each of these slots, or `repeat` times on each; results of earlier calls are dropped.

    The one that is to be kept, by its number in the last turn, stays as long as the function. Where `empty`, what is
    called returns a result that is there already: what remains is the cost of calling.
    """

    slots: tuple[int, ...]
    repeat: int = 1
    empty: bool = False
    keep: Optional[int] = None


@dataclass(frozen=True)
class Go(JudgingRequest[replies.Agreement]):
    """Make the calls that were lined up, and write down where their results lie."""


@dataclass(frozen=True)
class Outline(JudgingRequest[replies.Outlines]):
    """Say of the last result of what shape, type and strides its tensors are."""


@dataclass(frozen=True)
class Examine(JudgingRequest[replies.Outlines]):
    """Draw inputs for a trial into an area, and say what its reference returns.

    `inputs` and `results` are descriptors of the area that a candidate reads, and of one for copies of its results.
    What is constant is drawn now, in the way of `kind`.
    """

    trial: TrialWithCode
    geometry: Geometry
    inputs: int
    results: int
    kind: str = "plain"


@dataclass(frozen=True)
class OpenProblem(JudgingRequest[OpenedProblem]):
    """Look into a problem that the user named: its inputs are to fit a `budget` of bytes."""

    problem: OwnProblem
    budget: int


@dataclass(frozen=True)
class Pose(JudgingRequest[Standing]):
    """Say what a candidate for a case of a problem is told, and write its weights where `weights` is a descriptor.

    What is examined from here on is this problem.
    """

    opened: OpenedProblem
    case: Case
    weights: int


@dataclass(frozen=True)
class Draw(JudgingRequest[replies.Agreement]):
    """Write values that nobody has seen into these slots, of one kind each."""

    slots: tuple[int, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class TryDummies(JudgingRequest[replies.Passing]):
    """Say which results that nobody has computed would be taken for right."""


@dataclass(frozen=True)
class Inspect(JudgingRequest[replies.Inspection]):
    """Compare a result with that of the reference on what a slot holds; `outlines` say how it lies in the copies."""

    slot: int
    outlines: tuple[replies.Outlined, ...]


@dataclass(frozen=True)
class Quit(Request[replies.Agreement]):
    """Leave, without an answer."""


#: Each request by its word on the wire.
VERBS: Mapping[str, type[Request[Fields]]] = {
    "prepare": Prepare,
    "measure": Measure,
    "watch_kernels": WatchKernels,
    "build_loops": BuildLoops,
    "count_instructions": CountInstructions,
    "turn": Turn,
    "release": Release,
    "describe": Describe,
    "discover": Discover,
    "explain": Explain,
    "evaluate": Evaluate,
    "compare": Compare,
    "capture": Capture,
    "capture_model": CaptureModel,
    "capture_configuration": CaptureConfiguration,
    "iterate": Iterate,
    "generate": Generate,
    "stand": Stand,
    "line_up": LineUp,
    "go": Go,
    "outline": Outline,
    "examine": Examine,
    "open_problem": OpenProblem,
    "pose": Pose,
    "draw": Draw,
    "inspect": Inspect,
    "try_dummies": TryDummies,
    "quit": Quit,
}
_WORDS = {kind: word for word, kind in VERBS.items()}
_REPLIES = {kind: get_args(kind.__orig_bases__[0])[0] for kind in _WORDS}  # type: ignore[attr-defined]  # all have one


def verb(request: Request[Fields]) -> str:
    """Return the word of a request.

    >>> verb(Release(1))
    'release'
    """
    return _WORDS[type(request)]


def reply_type(request: Request[R]) -> type[R]:
    """Return the type of the reply to a request.

    >>> reply_type(Release(1)).__name__
    'Remainder'
    """
    return _REPLIES[type(request)]  # type: ignore[no-any-return]
