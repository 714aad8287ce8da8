"""What a child answers: a reply to each request, its hello, and the failure of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Optional

from opperf.domain.case import Case
from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.measurement import Samples
from opperf.domain.reason import Reason, Warning
from opperf.domain.registry import Direction
from opperf.domain.suite import Suite
from opperf.domain.type_hint import Count, Natural


@dataclass(frozen=True)
class Hello(Exact):
    """What a child says of itself, unasked, when its framework is imported."""

    pid: int
    facts: Mapping[str, object]
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Failure(Exact):
    """Why a request, or the start of a child, came to nothing.

    What a framework does not have is `skipped`. After the `last` one the child is of no use.
    """

    reason: Reason
    skipped: bool = False
    last: bool = False


@dataclass(frozen=True)
class Preparation(Exact):
    """A trial that can be measured under a handle.

    `spent` is what making its `inputs` and its first `calls` took, in seconds. `watched` says that the framework has a
    profiler that may show what it runs on the device. `results` are the types and extents of what it returns, where
    asked for. `size` is what the process holds by then, in bytes.
    """

    handle: int
    facts: Mapping[str, object]
    spent: Mapping[str, float]
    watched: bool = False
    results: tuple[str, ...] = ()
    size: Natural = 0


@dataclass(frozen=True)
class Sampling(Exact):
    """The samples of one turn, and what makes them doubtful."""

    samples: Samples
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True)
class Instructions(Exact):
    """The instructions of one call, the median of so many `rounds` of blocks, each of so many `calls`.

    `spread` is how far the rounds lie apart, as a share of the median.
    """

    per_call: float
    spread: float
    calls: Count
    rounds: Count
    instruction_set: str


@dataclass(frozen=True)
class Remainder(Exact):
    """The bytes that a child holds more, after it released a trial, than after the first."""

    size: int


@dataclass(frozen=True)
class Meaning(Exact):
    """What a name means to a framework: the `operator` that it is bound to, a function at a `path`, or neither.

    `arguments` are neutral names by those of the implementation; `takes` the names of a function's own arguments where
    Python tells them, `builds` those of a layer's constructor. `unlike` are the operator's attributes that have
    another default in the function, `schemas` the signatures of a registered operator. Where nothing is meant there are
    names `near` it, or a `reason`. `wrong` is what keeps the user's own code from being loaded, `by_default` whether it
    can be called without arguments.
    """

    path: Optional[str] = None
    operator: Optional[str] = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    unsupported: Mapping[str, str] = field(default_factory=dict)
    note: Optional[str] = None
    takes: Optional[tuple[str, ...]] = None
    near: tuple[str, ...] = ()
    reason: Optional[str] = None
    wrong: Optional[str] = None
    hint: Optional[str] = None
    builds: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    by_default: bool = False


#: The label of an example that stands for a whole file of benchmarks: why that cannot be loaded.
BROKEN = "broken"


@dataclass(frozen=True)
class Example(Exact):
    """A case of an operator, and by which factor it is larger than the sample that it is made from.

    Of a benchmark of another tool, `direction` is what it measures, and `labels` what the tool says of it beside its
    name.
    """

    case: Case
    scale: Count = 1
    direction: Direction = "forward"
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Discovery(Exact):
    """The paths of registered operators that no binding names, or example cases of one, or the reason for none.

    `listing` is what another tool itself lists of benchmark files, where it was asked for.
    """

    paths: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    reason: str | None = None
    hint: str | None = None
    listing: tuple[JsonObject, ...] = ()


@dataclass(frozen=True)
class Output(Exact):
    """A tensor of a result, in a file of raw elements."""

    file: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Evaluation(Exact):
    """The tensors of a result."""

    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Agreement(Exact):
    """Results agree; if they do not, the request fails."""


@dataclass(frozen=True)
class Recording(Exact):
    """The operators of a program as a suite, with notes; or what is `wrong` with the program."""

    suite: Optional[Suite] = None
    notes: tuple[str, ...] = ()
    wrong: Optional[str] = None
    hint: Optional[str] = None


@dataclass(frozen=True)
class Entries(Exact):
    """The ids and entries that the user's own iterator gives, as it gives them; or what is `wrong` with it."""

    entries: tuple[tuple[object, object], ...] = ()
    wrong: Optional[str] = None
    hint: Optional[str] = None


@dataclass(frozen=True)
class Arguments(Exact):
    """What the user's own generator makes of an entry, each argument in its JSON form."""

    args: tuple[object, ...]
    kwargs: Mapping[str, object]


@dataclass(frozen=True)
class Descriptions(Exact):
    """The arguments that the user's own generator makes of entries; or what is `wrong` with it."""

    described: tuple[Arguments, ...] = ()
    wrong: Optional[str] = None
    hint: Optional[str] = None


@dataclass(frozen=True)
class Outlined(Exact):
    """A tensor of a result: its shape, element type, and the bytes from one element to the next along each axis.

    `kind` is the class that it is of, where that is not one of the framework's own. The examiner says whether it lies
    in an input.
    """

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    kind: str = ""
    in_input: bool = False


@dataclass(frozen=True)
class Outlines(Exact):
    """The tensors of a result, in order; the class of one that holds none."""

    tensors: tuple[Outlined, ...]
    kind: str = ""


@dataclass(frozen=True)
class Inspection(Exact):
    """What a comparison of one result with the reference found: nothing where it is right."""

    sparse = ("wrong", "slug", "details")

    wrong: str = ""
    slug: str = ""
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Passing(Exact):
    """The results that nobody has computed and that would be taken for right, in words.

    Of a reference that is not `steady` its own result is not taken for right the second time. Results are `alike` where
    those of other values have the same shapes.
    """

    dummies: tuple[str, ...]
    steady: bool
    alike: bool = True
