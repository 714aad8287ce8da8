"""The options of the functions, as their signatures show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TypeAlias, TypedDict, TypeVar, Union, cast

from opperf.domain.errors import OpperfError
from opperf.parent.library.results import Suite
from opperf.parent.library.spelling import in_python

#: An operator by its name, or a function of your own.
Operator: TypeAlias = Union[str, Callable[..., object]]
Names: TypeAlias = Union[str, Sequence[str], None]
Paths: TypeAlias = Union[str, Path, Sequence[Union[str, Path]], None]
Number: TypeAlias = Union[float, str, None]
Inputs: TypeAlias = Union[Mapping[str, object], Sequence[Mapping[str, object]], None]


class What(TypedDict, total=False):
    """Which operators, and with which inputs."""

    category: Names
    all: bool
    skip: Names
    suite: str | Path | Suite | None
    dtype: Names
    values: Names
    random: int | None
    size: Names
    direction: Names
    inputs: Inputs
    shapes: str | Path | None
    attributes: Mapping[str, object] | None
    plugin: Paths


class Where(TypedDict, total=False):
    """On which sides."""

    framework: Names
    environment: Names
    device: Names
    mode: Names
    threads: int
    engine: str
    allocator: str


class Limits(TypedDict, total=False):
    """What holds for the whole of a call, whatever it measures."""

    budget: Number
    timeout: float | str
    cpus: str | Sequence[int] | None
    seed: int


class How(Limits, total=False):
    """What holds for the whole of a call, however it samples."""

    compile_cache: str


class Jobs(TypedDict, total=False):
    """How many trials are measured side by side: a number, or `"auto"`."""

    jobs: int | str


class Sampling(TypedDict, total=False):
    """When a trial has samples enough."""

    warmup: int | None
    runs: int | None
    precision: float | str
    trial_budget: float | str
    processes: int
    cache: str


class RunOptions(What, Where, Sampling, How, Jobs, total=False):
    """The options of `run`."""


class CompareOptions(What, How, Jobs, total=False):
    """The options of `compare`."""


class GateOptions(What, total=False):
    """The options of `gate`; what is left out is as its file says."""

    config: str | Path | None
    base: Operator | None
    new: Operator | Sequence[Operator] | None
    tolerance: Number
    pairs: int | None
    settle: bool | None
    max_pairs: int | None
    trial_budget: Number
    precision: Number
    expected: str | Path | None
    threshold: Number
    processes: int | None
    framework: Names
    environment: Names
    device: Names
    inconclusive: str | None
    budget: Number
    timeout: Number
    cpus: str | None
    jobs: int | str | None
    clock: str | None
    compile_cache: str | None
    seed: int | None
    check: bool | str
    explain: bool
    labels: Mapping[str, str] | None
    progress: bool
    fleet: str | None
    where: str | None
    replicate: int | None


class NoiseOptions(What, Where, How, Jobs, total=False):
    """The options of `noise`."""


class ExploreOptions(Where, How, Jobs, total=False):
    """The options of `explore`."""

    dtype: Names
    direction: Names
    inputs: Inputs
    attributes: Mapping[str, object] | None
    plugin: Paths


class BisectOptions(What, How, total=False):
    """The options of `bisect`."""

    framework: Names
    device: Names
    threads: int


class JudgeOptions(Limits, total=False):
    """The options of `judge`."""

    framework: Names
    environment: Names
    device: Names
    threads: int
    dtype: Names
    size: Names
    inputs: Inputs
    attributes: Mapping[str, object] | None
    plugin: Paths


class ReplayOptions(Sampling, How, Jobs, total=False):
    """The options of `replay`."""


#: The defaults of options; all others default to None.
DEFAULTS: Mapping[str, object] = {
    "all": False,
    "threads": 1,
    "engine": "naive",
    "allocator": "fixed",
    "timeout": 120.0,
    "seed": 0,
    "compile_cache": "shared",
    "precision": 0.02,
    "trial_budget": 0.5,
    "processes": 1,
    "cache": "hot",
    "jobs": 1,
}
#: The defaults of `gate`, where its file has none.
OF_GATE: Mapping[str, object] = {"all": False, "check": True, "explain": False, "progress": False}
F = TypeVar("F", bound=Callable[..., object])


def with_options(options: type) -> Callable[[F], F]:
    """Show the options in the signature of a function, and raise `TypeError` for one that is not among them."""

    def show(function: F) -> F:
        own = [one for one in signature(function).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        defaults = OF_GATE if options is GateOptions else DEFAULTS
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=hint.__forward_arg__)
            for name, hint in options.__annotations__.items()
        ]
        whole = Signature([*own, *more], return_annotation=signature(function).return_annotation)

        @wraps(function)
        def checked(*words: object, **keywords: object) -> object:
            whole.bind(*words, **keywords)
            try:
                return function(*words, **keywords)
            except OpperfError as error:
                raise in_python(error, whole.parameters) from error.__cause__

        vars(checked)["__signature__"] = whole
        return cast("F", checked)

    return show
