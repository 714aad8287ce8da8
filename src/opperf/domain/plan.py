"""Where and how cases are measured: sides, trials, settings, and the plan that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Optional, TypeAlias, Union

from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode, SuiteCode
from opperf.domain.codec import Exact, Fields, decode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.metric import ENERGY, METRICS, Metric, compared_metric
from opperf.domain.registry import Direction
from opperf.domain.type_hint import Above, Count, Form, Natural, OneOf, Positive, bounds_of, check_bound
from opperf.domain.units import parse_percent

#: How allocations are served: `fixed` holds glibc's thresholds where its dynamic rule ends, `default` leaves them.
ALLOCATORS = ("fixed", "default")
#: How a framework with its own engine runs: `naive` in the calling thread, `threaded` in other threads.
ENGINES = ("naive", "threaded")
MODES = ("eager", "compiled", "xla", "cuda_graph")
CACHES = ("hot", "cold")
#: What of an operator's results is compared: those of `timed` calls, those of its `small` case, or none.
TIMED, SMALL, UNCHECKED = "timed", "small", "none"
CHECKS = (TIMED, SMALL, UNCHECKED)
#: The fields of a side that say how its framework runs, as a user writes them: `threads=2`.
HOW = ("device", "mode", "threads", "engine", "allocator")
#: By which clock trials are timed: `wall` is opperf's engine, `profiler` the framework's own profiler.
PROFILER = "profiler"
#: The frameworks whose profiler tells the time of single operators.
PROFILER_CLOCKS = ("mxnet", "tensorflow")
#: `instructions` also counts what a call executes, under Valgrind.
INSTRUCTIONS = "instructions"
CLOCKS = ("wall", PROFILER, INSTRUCTIONS)
#: The variable that tells a child that it counts instructions. Each layout of memory makes it longer by so many bytes:
#: where the environment ends, the heap of Python's start begins. `PLACING` does that where time is measured.
COUNTING, PLACING, LAYOUT_BYTES = "OPPERF_COUNTING", "OPPERF_PLACING", 1000
#: Where the tensors of two sides lie that are compared, anew in each round: at the same places, or each at its own.
PLACEMENTS = PLANNED, DRAWN = "planned", "drawn"
#: Who makes the calls of a block: `python`, or also a loop in C or C++ (`native`).
NATIVE = "native"
LOOPS = ("python", NATIVE)
#: Whether equal children share what their compilers have written to the disk.
SHARED_CODE = "shared"
COMPILE_CACHES = (SHARED_CODE, "none")
#: The settings of a run that change what is measured; the others only bound it.
MEASURING = (
    *("warmup", "runs", "precision", "trial_budget", "processes", "cache", "clock", "loop", "seed", "cpus"),
    "metric",
)
#: The settings of a side that nothing is measured on: it computes what others should.
REFERENCE = {"role": "reference"}
#: The settings of a side that runs the user's own program, as it runs without opperf.
PROGRAM = {"role": "program"}
#: Prefix of a side's settings that are environment variables of its child, set before anything is imported.
VARIABLE = "env."
#: Prefix of a side's settings that are attributes which the case has on that side alone.
ATTRIBUTE = "attribute."
#: The settings of a side that is another one with a known difference: a share of extra calls, or a number that places
#: what its process loads elsewhere in memory.
EXTRA_CALLS, LAYOUT = "extra_calls", "layout"


#: Maximum values: more is a typing error, and would fill the memory or never end.
MOST = {"warmup": 10**9, "runs": 10**6, "processes": 1000, "pairs": 1000, "threads": 4096, "random": 10_000}
#: Each layout makes the environment larger, in which no variable may have more than 128 KiB.
MOST_LAYOUTS = 100
#: A piece that takes at least this share of a whole gets the whole budget of a trial; others get at least this
#: share of the budget.
FULL_SHARE, LEAST_BUDGET = 0.01, 0.04
#: The settings that are times, and the longest, in seconds, about 30 years: the system's clocks count little further.
SECONDS, LONGEST = ("trial_budget", "timeout", "budget"), 1e9


def check_most(option: str, value: int, kind: str) -> None:
    """Raise `InputError` for a number of some `kind` beyond what `MOST` says of it."""
    if value > MOST[kind]:
        raise InputError(f"`{option}` is {value}, expected {MOST[kind]} at most", slug="too_many")


def spell(implementation: str | Code | ProblemCode | SuiteCode | None) -> str | None:
    """Return an implementation as records spell it, code too."""
    return None if implementation is None else str(implementation)


def _read_name(data: object, where: str) -> str | None:
    name: str | None = read_as(Optional[str], data, where)
    return name


def check_name(data: object) -> object:
    """Return how a check is called; True and False are what it was in older files, and is in Python."""
    return {True: SMALL, False: UNCHECKED}.get(data, data) if isinstance(data, bool) else data


def _read_check(data: object, where: str) -> str | None:
    name: str | None = read_as(Annotated[Optional[str], OneOf(CHECKS)], check_name(data), where)
    return name


def _write_check(check: str | None) -> str | bool | None:
    """Write a check as files have it: settings of earlier versions are written as those did."""
    return {SMALL: True, UNCHECKED: False}.get(check, check) if check is not None else None


#: Null leaves it to the side.
Check: TypeAlias = Annotated[Optional[str], Form(f"{', '.join(CHECKS)} or null", _write_check, _read_check)]
#: Read from a file it is a name, or a label of what was code.
Implementation: TypeAlias = Annotated[
    Union[str, Code, ProblemCode, SuiteCode, None], Form("a string or null", spell, _read_name)
]


@dataclass(frozen=True)
class Side(Fields):
    """Where and how: everything that may differ between two measurements of one case.

    `environment` is written as the user did (`torch`, `numpy==1.26.4`, `python=/path`), or `current`. `settings` are
    the backend's own (`slowdown` of the null framework), and environment variables (`env.OMP_NUM_THREADS`). A side that
    was read from a file has the names of implementations, never code: what was code is a label.
    """

    framework: str
    environment: str = "current"
    device: str = "cpu"
    mode: Annotated[str, OneOf(MODES)] = "eager"
    threads: Count = 1
    implementation: Implementation = None
    engine: Annotated[str, OneOf(ENGINES)] = "naive"
    allocator: Annotated[str, OneOf(ALLOCATORS)] = "fixed"
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: object, where: str = "") -> ReadSide:
        """Read the JSON form, which nothing is started for; raises `InputError` that names the place."""
        return decode(ReadSide, data, where or "side")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Side) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two sides equal."""
        return (*self.process, self.spelling)

    @property
    def spelling(self) -> str | None:
        """The implementation as records spell it, code too."""
        return spell(self.implementation)

    @property
    def process(self) -> tuple[object, ...]:
        """The settings that trials in the same child share."""
        return (
            self.framework,
            self.environment,
            self.device,
            self.mode,
            self.threads,
            self.engine,
            self.allocator,
            tuple(sorted(self.settings.items())),
        )

    @property
    def is_one_cpu(self) -> bool:
        """Whether a call has one thread and no device beside it, so that CPU time can be the time that it takes."""
        return (self.device, self.threads) == ("cpu", 1)

    @property
    def is_reference(self) -> bool:
        """Whether this is where results are computed that others are checked against: NumPy, in float64."""
        return self.settings == REFERENCE

    @property
    def is_program(self) -> bool:
        """Whether the user's own program runs here, and nothing else."""
        return self.settings == PROGRAM

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables that stand among the settings, as `env.NAME`."""
        return {key[len(VARIABLE) :]: value for key, value in self.settings.items() if key.startswith(VARIABLE)}

    @property
    def attributes(self) -> dict[str, str]:
        """The attributes that the case has on this side alone, as text: they stand among the settings."""
        return {key[len(ATTRIBUTE) :]: value for key, value in self.settings.items() if key.startswith(ATTRIBUTE)}

    @property
    def extra_calls(self) -> float:
        """The share of calls that it makes beyond those it should; raises `InputError` for what is none."""
        text = self.settings.get(EXTRA_CALLS)
        share = 0.0 if text is None else parse_percent(text, name=f"`{EXTRA_CALLS}`")
        if text is not None and not 0 < share < 1:
            raise InputError(f"`{EXTRA_CALLS}` is `{text}`, expected more than 0% and less than 100%")
        if share and self.device != "cpu":
            raise InputError(f"`{EXTRA_CALLS}` is for a CPU, not for `{self.device}`")
        return share

    @property
    def layout(self) -> int:
        """Which layout of memory its process has, 0 for that of every other; raises `InputError` for what is none."""
        text = self.settings.get(LAYOUT, "0")
        if not text.isdecimal() or len(text) > 3 or int(text) > MOST_LAYOUTS:
            raise InputError(f"`{LAYOUT}` is `{text}`, expected a whole number from 0 to {MOST_LAYOUTS}")
        return int(text)


class ReadSide(Side):
    """A side as a file or a database names it: it says where something was measured, and nothing is started for it.

    It equals the side of the same words that a user names. Copies of it are read ones too, until somebody has held it
    to what the user allows, and says so by `as_user_named`.
    """

    def as_user_named(self) -> Side:
        """Return the side as one that may be started."""
        return Side(**{one.name: getattr(self, one.name) for one in fields(self)})


@dataclass(frozen=True)
class Trial(Fields):
    """One case on one side in one direction.

    `origin` says where the case comes from (`catalog:common`), `count` how often it occurs there.
    """

    case: Case
    side: Side
    direction: Direction
    origin: str = "user"
    count: Count = 1

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two trials the same: case id, side and direction."""
        return (self.case.id, self.side.key, self.direction)

    def as_user_named(self) -> Trial:
        """Return the trial on a side that may be started: the caller has held it to what the user allows."""
        return replace(self, side=self.side.as_user_named()) if isinstance(self.side, ReadSide) else self


@dataclass(frozen=True)
class Settings(Fields):
    """How every trial of a run is measured. Durations are seconds.

    `warmup` and `runs` count calls before the first and samples of a trial; None leaves both to the rules in
    `measure/`. `precision` is the relative half-width of the interval of the median at which sampling may stop.
    `trial_budget` bounds the sampling of one trial, `timeout` the whole of it in its child, `budget` the command.
    `memory_limit` bounds the bytes that a trial may need on the machine. With `by_share` a trial whose calls take
    little of what was measured before it gets less of the budget.
    `check` says which results are compared with what they should be; None: of the user's own code those of timed calls,
    of others those of the operator's small case (see `check_of`). With the clock `native` the
    framework's own profiler says what its operators took; with `instructions`, what they execute is counted as well,
    and they are timed with the vectors that Valgrind has. With the loop `native` calls are timed from C too. `jobs` is
    how many trials may run side by side; 0 is as many as do not disturb each other. With the compile cache `shared`
    a child loads what an equal one has compiled; else each compiles for itself. `metric` is measured beside the time,
    and decides comparisons. With `share_device` another command may measure on the same device.
    """

    warmup: Natural | None = None
    runs: Count | None = None
    precision: Positive = 0.02
    trial_budget: Positive = 0.5
    timeout: Positive = 120.0
    budget: Positive | None = None
    processes: Count = 1
    cache: Annotated[str, OneOf(CACHES)] = "hot"
    clock: Annotated[str, OneOf(CLOCKS)] = "wall"
    loop: Annotated[str, OneOf(LOOPS)] = "python"
    seed: int = 0
    cpus: tuple[int, ...] | None = None
    memory: bool = True
    latency: bool = True
    check: Check = None
    memory_limit: Annotated[int, Above(0)] | None = None
    by_share: bool = False
    jobs: Natural = 1
    compile_cache: Annotated[str, OneOf(COMPILE_CACHES)] = SHARED_CODE
    metric: str = "time"
    share_device: bool = False

    sparse = ("jobs", "loop", "check", "compile_cache", "metric", "share_device")

    def __post_init__(self) -> None:
        for name, bound in bounds_of(Settings).items():
            value, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if value is None:
                continue
            check_bound(option, value, bound)
            if name in MOST:
                check_most(option, value, name)
            elif name in SECONDS and value > LONGEST:
                raise InputError(f"`{option}` is {value:g}, expected {LONGEST:g} s at most")
        if self.check is not None and self.check not in CHECKS:
            raise InputError(f"`--check` is `{self.check}`, expected {', '.join(CHECKS[:-1])} or {CHECKS[-1]}")
        self._check_metric()
        if self.clock == PROFILER and self.cache == "cold":
            raise InputError("`--clock profiler` cannot be combined with a cold cache", hint="leave out `--cache cold`")

        if self.clock == PROFILER and self.loop == NATIVE:
            raise InputError(
                "`--clock profiler` cannot be combined with `--loop native`",
                hint="leave out `--clock profiler`: it has no time of Python in it",
            )

    def _check_metric(self) -> None:
        metric = compared_metric(self.metric).name
        if metric == INSTRUCTIONS:
            raise InputError("`instructions` are counted by a clock of their own", hint="`--clock instructions`")
        if self.metric != "time" and self.clock != "wall":
            hint = f"leave out `--clock {self.clock}`"
            raise InputError(f"`--metric {self.metric}` is not measured by `--clock {self.clock}`", hint=hint)
        if metric == ENERGY and self.jobs != 1:
            text = "`--metric energy` needs the machine for itself: its counters know no processes"
            raise InputError(text, hint="leave out `--jobs`")
        if metric == "compile_time" and self.compile_cache == SHARED_CODE:
            hint = "`--compile-cache none`"
            raise InputError("`--metric compile_time` needs processes that compile for themselves", hint=hint)

    @property
    def decisive(self) -> Metric:
        """The metric that decides comparisons."""
        return METRICS[INSTRUCTIONS] if self.clock == INSTRUCTIONS else compared_metric(self.metric)

    def check_of(self, side: Side) -> str:
        """Return which results of a side are compared.

        Where the allocator is left alone, what the check of timed calls frees would raise its thresholds.
        """
        own = isinstance(side.implementation, Code) and side.allocator == "fixed"
        return self.check or (TIMED if own else SMALL)

    def checking_own(self, trials: Iterable[Trial]) -> Settings:
        """Return these settings, in which nothing is checked unless some of the trials are of the user's own code."""
        own = any(isinstance(trial.side.implementation, Code) for trial in trials)
        return self if own else replace(self, check=UNCHECKED)

    def differences(self, other: Settings) -> list[str]:
        """Return the names of the settings that make two measurements unlike."""
        return [name for name in MEASURING if getattr(self, name) != getattr(other, name)]


@dataclass(frozen=True)
class Part(Exact):
    """A piece of work that a program calls `count` times; all pieces take `whole` seconds together.

    How well the sum is known depends on what takes most of it. So what takes less than `FULL_SHARE` of it gets less
    time, in proportion, down to `LEAST_BUDGET`.
    """

    count: int
    whole: float

    def budget(self, full: float, seconds: float) -> float:
        """Return the budget for calls of `seconds`, where `full` is the budget of a single trial.

        >>> Part(count=10, whole=9.9).budget(0.5, 0.01), Part(count=1, whole=9.999).budget(0.5, 0.001)
        (0.5, 0.02)
        """
        total = self.count * seconds
        return full * max(LEAST_BUDGET, min(1.0, total / (self.whole + total) / FULL_SHARE))


@dataclass(frozen=True)
class Plan:
    """The trials of a run, each once, in the order in which they are measured, and their settings.

    `selection` has the requested trials in order; equal inputs repeat a trial.
    """

    trials: tuple[Trial, ...]
    settings: Settings
    selection: tuple[Trial, ...] = ()

    @property
    def again(self) -> int:
        """How many requested trials equal an earlier one."""
        return max(0, len(self.selection) - len(self.trials))
