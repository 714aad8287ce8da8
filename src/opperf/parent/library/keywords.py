"""The options of the functions for a type checker; `make generate` writes it from `sources/options`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from typing_extensions import Required

from opperf.parent.library.options import Inputs, Names, Operator, Paths
from opperf.parent.library.results import Suite


class Bisecting(TypedDict, total=False):
    """Between which builds a change is searched, and how they are made."""

    good: Required[str]
    bad: Required[str]
    repo: str | Path | None
    build: str | None
    package: str | None
    pre: bool
    metric: str


class Building(TypedDict, total=False):
    """How commits are built that sides name."""

    repo: str | Path | None
    build: str | None


class Capturing(TypedDict, total=False):
    """In which framework a program is captured, how, and for how long; of a model by its configuration, how it runs."""

    framework: str | None
    inputs: Mapping[str, object] | None
    environment: str | None
    plugin: Paths
    abstract: bool
    phase: str
    batch: int
    context: int
    dtype: str | None
    split: int
    layers: str
    timeout: float | str


class Contrasting(TypedDict, total=False):
    """How far sides must be apart at a brief look to be measured again, and how many of those are."""

    pairs: int
    tolerance: float | str
    factor: float
    confirm: int


class Deciding(TypedDict, total=False):
    """When a comparison is decided, whether to add pairs until it is, and how long each takes samples."""

    pairs: int
    tolerance: float | str
    settle: bool
    max_pairs: int | None
    trial_budget: float | str | None
    precision: float | str | None


class Exploring(TypedDict, total=False):
    """Which cases are searched for, over which dimensions, and for how long."""

    objective: str | None
    against: str | None
    dims: str | None
    factor: float
    looks: int


class Gating(TypedDict, total=False):
    """What a gate compares, and what else to do with it."""

    config: str | Path | None
    base: Operator | None
    new: Operator | Sequence[Operator] | None
    explain: bool
    labels: Mapping[str, str] | None
    progress: bool


class How(TypedDict, total=False):
    """What holds for the whole of a command, however it samples. Each is a field of `Settings`."""

    budget: float | str | None
    timeout: float | str
    cpus: str | Sequence[int] | None
    seed: int
    share_device: bool
    compile_cache: str


class Judging(TypedDict, total=False):
    """When a comparison is decided."""

    pairs: int
    tolerance: float | str


class Keeping(TypedDict, total=False):
    """Where a result is kept and with what, and whether its progress is reported."""

    labels: Mapping[str, str] | None
    keep_samples: bool
    output: str | Path | None
    resume: str | Path | None
    force: bool
    progress: bool


class Limits(TypedDict, total=False):
    """What holds for the whole of a command, whatever it measures. Each is a field of `Settings`."""

    budget: float | str | None
    timeout: float | str
    cpus: str | Sequence[int] | None
    seed: int
    share_device: bool


class OnFleet(TypedDict, total=False):
    """The machines to use instead of this one."""

    fleet: str | None
    where: str | None
    replicate: int | None


class Profiling(TypedDict, total=False):
    """Where a script runs, what is recorded of it, what is made of that, and how its rows are grouped and sorted."""

    framework: str | None
    environment: str | None
    plugin: Paths
    memory: bool
    shapes: bool
    stacks: bool
    modules: bool
    api: bool
    granularity: str
    allocator: str
    memory_limit: int | str | None
    function: str | None
    skip: int
    calls: int | None
    by: str
    sort: str | None
    tool: str | None
    save_suite: str | Path | None
    output: str | Path | None


class Sampling(TypedDict, total=False):
    """When a trial has samples enough. Each is a field of `Settings`."""

    warmup: int | None
    runs: int | None
    precision: float | str
    trial_budget: float | str
    processes: int
    cache: str


class Studying(TypedDict, total=False):
    """What operators are compared with to see how far identical code moves, and how often."""

    repeats: int | None
    error_rate: bool
    effect: float | str | None
    layout: bool


class Vetting(TypedDict, total=False):
    """Which candidates are judged beside those that are named, how many at a time, and in what room."""

    constant: Names
    many: str | Path | None
    jobs: int
    explain: bool
    resume: bool
    room: str


class What(TypedDict, total=False):
    """The operators and their inputs."""

    category: Names
    all: bool
    skip: Names
    select: str | None
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


class BisectOptions(Bisecting, What, Judging, How, total=False):
    """The options of `bisect`."""

    framework: Names
    device: Names
    threads: int


class CaptureOptions(Capturing, total=False):
    """The options of `capture`."""


class CompareOptions(What, Deciding, Building, How, OnFleet, total=False):
    """The options of `compare`."""

    jobs: int | str
    metric: str
    check: bool | str | None


class ContrastOptions(What, Contrasting, How, total=False):
    """The options of `contrast`."""

    jobs: int | str
    check: bool | str | None
    labels: Mapping[str, str] | None
    output: str | Path | None
    resume: str | Path | None
    force: bool
    progress: bool


class ExploreOptions(Exploring, Where, How, total=False):
    """The options of `explore`."""

    dtype: Names
    direction: Names
    inputs: Inputs
    attributes: Mapping[str, object] | None
    plugin: Paths
    jobs: int | str


class GateOptions(Gating, What, OnFleet, total=False):
    """The options of `gate`."""

    repo: str | Path | None
    build: str | None
    pairs: int | None
    tolerance: float | str | None
    settle: bool | None
    max_pairs: int | None
    trial_budget: float | str | None
    precision: float | str | None
    expected: str | Path | None
    threshold: float | str | None
    processes: int | None
    framework: Names
    environment: Names
    device: Names
    budget: float | str | None
    timeout: float | str | None
    cpus: str | Sequence[int] | None
    seed: int | None
    share_device: bool | None
    compile_cache: str | None
    inconclusive: str | None
    jobs: int | str | None
    metric: str | None
    clock: str | None
    check: bool | str | None


class JudgeOptions(Vetting, Judging, Limits, total=False):
    """The options of `judge`."""

    fleet: str | None
    where: str | None
    framework: Names
    environment: Names
    device: Names
    threads: int
    dtype: Names
    size: Names
    inputs: Inputs
    attributes: Mapping[str, object] | None
    plugin: Paths


class NoiseOptions(Studying, What, Where, Judging, How, total=False):
    """The options of `noise`."""

    jobs: int | str


class ProfileOptions(Profiling, total=False):
    """The options of `profile`."""


class ReplayOptions(Sampling, How, OnFleet, Keeping, total=False):
    """The options of `replay`."""

    plugin: Paths
    environment: Names
    device: Names
    threads: int
    jobs: int | str
    memory_limit: int | str | None


class RunOptions(What, Where, Sampling, How, OnFleet, Keeping, total=False):
    """The options of `run`."""

    config: Paths
    jobs: int | str
    metric: str
    clock: str
    loop: str
    check: bool | str | None
    memory_limit: int | str | None
