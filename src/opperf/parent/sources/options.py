"""The options that verbs share, each declared once: what to measure, where, how precisely, and for how long.

Verbs that take the same options together take a class of them. An option that some verb takes without the others of its
class has a name of its own, and stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Optional, TypeAlias, Union

from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Settings, Side
from opperf.domain.suite import Suite
from opperf.parent.documents.tolerances import EXPECTED_PROCESSES, FIRST_PAIRS, THRESHOLD, TOLERANCE, Tolerances
from opperf.parent.sources.option import BYTES, CHECK, JOBS, PERCENT, SECONDS, Option, at_least, option, tolerances

#: So many candidates are explained for a page: each takes a process more.
EXPLAINED = 20

Names: TypeAlias = tuple[str, ...]
Paths: TypeAlias = tuple[Path, ...]
#: Inputs of cases by name, and attributes: texts as they are typed, or values of Python.
Arguments: TypeAlias = Mapping[str, object]
Cases: TypeAlias = tuple[Arguments, ...]


def _cases(words: Sequence[str]) -> Cases:
    from opperf.parent.sources.user_inputs import input_cases

    return tuple(input_cases(words))


def _attributes(words: Sequence[str]) -> Arguments:
    from opperf.parent.sources.user_inputs import pairs

    return pairs(words, "--attribute")


def _labels(words: Sequence[str]) -> Mapping[str, str]:
    from opperf.parent.sources.user_inputs import pairs

    return pairs(words, "--label")


INPUT = Option(
    "[NAME=]SHAPE",
    "Shape of an input, or of all; type and values may follow: `ids=9:int64:range=0..64`. Repeat for more cases.",
    flag="input",
)
Inputs = Annotated[Cases, Option(INPUT.metavar, INPUT.help, flag="input", words=_cases, keyword="Inputs")]
Attributes = Annotated[
    Arguments,
    Option(
        "NAME=VALUE",
        "Value of an attribute, such as `axis=1`.",
        flag="attribute",
        words=_attributes,
        keyword="Mapping[str, object] | None",
    ),
]
Plugin = Annotated[
    Paths, Option("FILE", "Python file or module with your own operators or framework. opperf runs its code.")
]
Config = Annotated[Paths, Option("FILE", "Measure the cases of a PARAM benchmark config. Repeatable.")]
Labels = Annotated[
    Mapping[str, str],
    Option("K=V", "Label to store with the run.", flag="label", words=_labels, keyword="Mapping[str, str] | None"),
]
Framework = Annotated[
    Names,
    Option(
        "F",
        "torch, tensorflow, mxnet, jax, numpy. Default: those installed here. Repeatable.",
        complete="frameworks",
    ),
]
Environment = Annotated[
    Names,
    Option("E", "Environment of a framework: `torch`, `numpy==1.26.4` or `python=PATH`.", complete="environments"),
]
Device = Annotated[
    Names, Option("D", "cpu, cuda:0, gpu(0), xpu:0; auto: the best of each framework. Default: a GPU if there is one.")
]
Jobs = Annotated[
    int,
    Option(
        "N|auto",
        "Number of trials to measure side by side, each on its own cores. auto: as many as do not disturb each other.",
        JOBS,
    ),
]
Clock = Annotated[
    str,
    Option(
        "wall|profiler|instructions",
        "Clock to use: profiler is the framework's own (mxnet, tensorflow); instructions are counted under Valgrind.",
    ),
]
Metric = Annotated[
    str,
    Option(
        "NAME", "Metric that decides: time, energy, memory, instructions, latency, device, compile_time and others."
    ),
]
ComparingClock = Annotated[
    str,
    Option(
        "wall|instructions",
        "What to compare: the time (wall), or the number of executed instructions, counted under Valgrind.",
    ),
]
Loop = Annotated[str, Option("python|native", "Also time each operator from C or C++ (native), to see Python's share.")]
Check = Annotated[
    Optional[str],
    Option(
        "timed|small|none",
        "Results to check: of timed calls (default for your own code), of a small case (default for others), none.",
        CHECK,
    ),
]
NoCheck = Annotated[bool, Option("", "The same as `--check none`.")]
Explain = Annotated[bool, Option("", "Show what each side ran, where one is slower or faster.")]
MemoryLimit = Annotated[
    Optional[int],
    Option("SIZE", "Leave out cases that need more memory. Default: a twelfth of the machine's.", BYTES),
]


@dataclass(frozen=True)
class What:
    """The operators and their inputs."""

    category: Names = option(
        (), "C", "Add all operators of a category, or of another tool's group.", complete="categories"
    )
    all: bool = option(False, "", "All operators.")
    skip: Names = option((), "PATTERN", "Leave out operators that match a pattern, such as `conv*`.", key="skip")
    select: Optional[str] = option(
        None,
        "REGEX",
        "Benchmarks to use of `asv:`, `op_bench:` or `pytest:` files: those whose name, with parameters, has a match.",
    )
    suite: Union[Path, Suite, None] = option(
        None, "FILE", "Measure the cases of a suite file.", keyword="str | Path | Suite | None"
    )
    dtype: Names = option((), "D", "Element type to use instead of float32, such as `bf16`.", complete="dtypes")
    values: Names = option(
        (),
        "[NAME=]V",
        "Values of all inputs, or of one (`weight=denormal`): uniform, normal, constant, zeros, ones, sorted, "
        "reversed, denormal, sparse:0.9.",
        complete="values",
    )
    random: Optional[int] = option(None, "N", "Random cases per operator. See `--seed`.")
    size: Names = option(
        (), "S", "Default inputs to use: small, common, large, skewed, int64. Repeatable.", complete="sizes"
    )
    direction: Names = option((), "D", "forward, backward or forward_backward. Repeatable.", complete="directions")
    inputs: Inputs = ()
    shapes: Optional[Path] = option(
        None, "FILE", "Read cases from a .csv, .json or .jsonl file with a column for each input or attribute."
    )
    attributes: Attributes = field(default_factory=dict)
    plugin: Plugin = ()


@dataclass(frozen=True)
class Where:
    """On which sides."""

    framework: Framework = ()
    environment: Environment = ()
    device: Device = ()
    mode: Names = option(
        (),
        "M",
        "eager, compiled, xla (tensorflow) or cuda_graph (torch on a GPU). Default: eager; compiled for jax and "
        "onnxruntime.",
        complete="modes",
    )
    threads: int = option(Side.threads, "N", "Number of threads the framework may use.")
    engine: str = option(
        Side.engine,
        "naive|threaded",
        "MXNet's engine: naive runs operators in the calling thread, threaded in threads of its own.",
    )
    allocator: str = option(
        Side.allocator,
        "fixed|default",
        "Memory allocator: fixed keeps malloc's thresholds constant, default leaves them alone.",
    )


@dataclass(frozen=True)
class Sampling:
    """When a trial has samples enough. Each is a field of `Settings`."""

    warmup: Optional[int] = option(None, "N", "Number of calls before the first sample.")
    runs: Optional[int] = option(None, "N", "Number of samples per trial and process.")
    precision: float = option(Settings.precision, "P", "Stop once the median is this precise.", PERCENT)
    trial_budget: float = option(Settings.trial_budget, "SECONDS", "Sampling time per trial.", SECONDS)
    processes: int = option(Settings.processes, "K", "Number of processes per trial. Three or more give an interval.")
    cache: str = option(Settings.cache, "hot|cold", "State of the CPU cache before each call.")


@dataclass(frozen=True)
class Judging:
    """When a comparison is decided."""

    pairs: int = option(FIRST_PAIRS, "K", "Number of pairs of processes to measure at first.")
    tolerance: Tolerances = option(
        Tolerances(TOLERANCE), "PERCENT", "Smallest change worth reporting.", tolerances(TOLERANCE)
    )


@dataclass(frozen=True)
class Vetting:
    """Which candidates are judged beside those that are named, how many at a time, and in what room."""

    constant: Names = option((), "NAME", "Input that is the same in all calls, such as weights: it may be packed once.")
    many: Optional[Path] = option(
        None,
        "PLACE",
        "Also judge each Python file of this folder, or each line of this JSON Lines file.",
        flag="candidates",
    )
    jobs: int = option(1, "N", "Number of candidates to check at a time; one is timed.", at_least(1))
    explain: bool = option(False, "", f"Show what ran in a call; --html does for up to {EXPLAINED} named candidates.")
    resume: bool = option(False, "", "Continue the file of --output.")
    room: str = option(
        "auto",
        "auto|none",
        "What confines candidates: auto uses all that this machine has, none trusts them with your files.",
    )


@dataclass(frozen=True)
class Deciding(Judging):
    """When a comparison is decided, whether to add pairs until it is, and how long each takes samples."""

    settle: bool = option(False, "", "Add pairs until there is a verdict.")
    max_pairs: Optional[int] = option(None, "N", "Maximum number of pairs with --settle. Default: 64.")
    trial_budget: Optional[float] = option(
        None, "SECONDS", "Sampling time of a case in each pair. Default: as needed.", SECONDS
    )
    precision: Optional[float] = option(
        None, "P", "Stop sampling in a pair once its ratio is this precise. Default: half the tolerance.", PERCENT
    )


@dataclass(frozen=True)
class Contrasting(Judging):
    """How far sides must be apart at a brief look to be measured again, and how many of those are."""

    factor: float = option(1.5, "X", "Smallest ratio of a brief look that is confirmed.")
    confirm: int = option(30, "N", "Maximum number of gaps to confirm, the largest first.")


@dataclass(frozen=True)
class Limits:
    """What holds for the whole of a command, whatever it measures. Each is a field of `Settings`."""

    budget: Optional[float] = option(None, "SECONDS", "Time limit for the whole command.", SECONDS)
    timeout: float = option(Settings.timeout, "SECONDS", "Time limit for one trial.", SECONDS)
    cpus: Union[str, Sequence[int], None] = option(
        None, "LIST", "CPUs to run on, such as `0-3,6`.", keyword="str | Sequence[int] | None"
    )
    seed: int = option(Settings.seed, "S", "Seed for the values of inputs, and for random cases.")
    share_device: bool = option(Settings.share_device, "", "Measure also on a device that another command measures on.")


@dataclass(frozen=True)
class How(Limits):
    """What holds for the whole of a command, however it samples. Each is a field of `Settings`."""

    compile_cache: str = option(
        Settings.compile_cache,
        "shared|none",
        "Compiled code on disk: shared by a side's processes, or none, so that each compiles for itself.",
    )


@dataclass(frozen=True)
class Expecting:
    """Expectations instead of a base: which, how far a time may be off, and for which sides they are."""

    expected: Optional[Path] = option(None, "FILE", "Compare with the expectations in this file instead.", key="file")
    threshold: Tolerances = option(
        Tolerances(THRESHOLD), "PERCENT", "Allowed deviation from an expectation.", tolerances(THRESHOLD)
    )
    processes: int = option(EXPECTED_PROCESSES, "K", "Processes per expectation.")
    framework: Framework = ()
    environment: Environment = ()
    device: Device = ()


@dataclass(frozen=True)
class Building:
    """How commits are built that sides name."""

    repo: Optional[Path] = option(
        None, "DIR", "Git repository of sides such as `git:v2.4.0`. Default: that of the suite, or the current folder."
    )
    build: Optional[str] = option(
        None, "COMMAND", "Command that builds such a side. Default: `pip install .` in the commit's own folder."
    )


@dataclass(frozen=True)
class GateOptions(How, Expecting, Deciding, Building):
    """What a gate file may say beside what is compared, and options instead of it."""

    inconclusive: str = option("fail", "pass|fail", "What to do when there is no verdict.")
    jobs: Jobs = Settings.jobs
    metric: Metric = Settings.metric
    clock: ComparingClock = Settings.clock


@dataclass(frozen=True)
class Studying:
    """What operators are compared with to see how far identical code moves, and how often."""

    repeats: Optional[int] = option(
        None,
        "N",
        "Number of times to compare each operator with itself. Default: 3, with --error-rate as many as fit into 5 "
        "minutes or the budget.",
    )
    error_rate: bool = option(
        False,
        "",
        "Measure how often comparisons here call identical code changed, and how often they find extra calls.",
    )
    effect: Optional[float] = option(None, "PERCENT", "Share of extra calls for --error-rate. Default: 5%.", PERCENT)
    layout: bool = option(
        False, "", "Also compare each operator with itself where its code and data are loaded elsewhere in memory."
    )


@dataclass(frozen=True)
class Bisecting:
    """Between which builds a change is searched, and how they are made."""

    good: Annotated[str, Option("BUILD", "Build before the change: `1.26.4`, a commit or `python=PATH`.")]
    bad: Annotated[str, Option("BUILD", "Build after the change.")]
    repo: Optional[Path] = option(None, "DIR", "Search the commits of this Git repository.")
    build: Optional[str] = option(None, "COMMAND", "Command that builds a commit, such as `pip install .`.")
    package: Optional[str] = option(None, "NAME", "Search the releases of this package, beside the framework.")
    pre: bool = option(False, "", "Include pre-releases.")
    metric: Metric = Settings.metric


@dataclass(frozen=True)
class Exploring:
    """Which cases are searched for, over which dimensions, and for how long."""

    objective: Optional[str] = option(
        None,
        "O",
        "What to look for: cliff, memory, slower-than or peak-share. Default: cliff, or slower-than with --against.",
    )
    against: Optional[str] = option(None, "SIDE", "Look for cases where this side is faster, such as `torch`.")
    dims: Optional[str] = option(None, "RANGES", "Sizes to explore, such as `m=1..4096,k=256`.")
    factor: float = option(1.2, "X", "Smallest ratio worth reporting.")
    looks: int = option(500, "N", "Maximum number of cases to look at per operator.")


@dataclass(frozen=True)
class OnFleet:
    """The machines to use instead of this one."""

    fleet: Optional[str] = option(
        None, "ENGINE", "Measure on a fleet: `ray://HOST:10001`, `ray` (this machine) or `slurm:JOBS`."
    )
    where: Optional[str] = option(None, "CONDITIONS", "Nodes of the fleet to use, such as `cpu=AMD EPYC*, gpu=H200`.")
    replicate: Optional[int] = option(None, "M", "Measure on M machines of each kind in the fleet.")
