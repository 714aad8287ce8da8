"""The options that verbs share, each declared once: what to measure, where, and how; and what use cases make of them.

Verbs that take the same options together take a class of them, whose fields `option_groups` makes options of. An option
that some verb takes without the others of its class has a name of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeAlias

import typer

from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonDict
from opperf.parent.cli import completion
from opperf.parent.documents.tolerances import FIRST_PAIRS, TOLERANCE
from opperf.parent.reports.formats import join_words, names
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from opperf.parent.commands.compare import Judging as Rules
    from opperf.parent.measuring.fleet.dispatch import Wishes
    from opperf.parent.measuring.session import Options


#: A default as it is typed, and stands in the help.
USUAL_TOLERANCE = f"{TOLERANCE:.3%}".replace(".000", "")
Words: TypeAlias = Optional[list[str]]
Option = typer.Option

Operators = Annotated[
    Words,
    typer.Argument(
        metavar="OPERATOR...",
        help="Operators to use, such as `add` or `mxnet:nd.broadcast_add`.",
        autocompletion=completion.operators,
    ),
]
Plugin = Annotated[
    Optional[list[Path]],
    Option(metavar="FILE", help="Python file or module with your own operators or framework. opperf runs its code."),
]
Category = Annotated[
    Words,
    Option(
        metavar="C",
        help="Add all operators of a category, or of another tool's group.",
        autocompletion=completion.categories,
    ),
]
CONFIG = "Measure the cases of a PARAM benchmark config. Repeatable."
Config = Annotated[Optional[list[Path]], Option(metavar="FILE", help=CONFIG)]
INPUT = "Shape of an input, or of all; type and values may follow: `ids=9:int64:range=0..64`. Repeat for more cases."
Input = Annotated[Words, Option("--input", metavar="[NAME=]SHAPE", help=INPUT)]
Framework = Annotated[
    Words,
    Option(
        metavar="F",
        help="torch, tensorflow, mxnet, jax, numpy. Default: those installed here. Repeatable.",
        autocompletion=completion.frameworks,
    ),
]
Environment = Annotated[
    Words,
    Option(
        metavar="E",
        help="Environment of a framework: `torch`, `numpy==1.26.4` or `python=PATH`.",
        autocompletion=completion.environments,
    ),
]
Device = Annotated[Words, Option(metavar="D", help="cpu, cuda:0, gpu(0); default: a GPU if there is one.")]
Threads = Annotated[int, Option(metavar="N", help="Number of threads the framework may use.")]
Budget = Annotated[Optional[str], Option(metavar="SECONDS", help="Time limit for the whole command.")]
Cpus = Annotated[Optional[str], Option(metavar="LIST", help="CPUs to run on, such as `0-3,6`.")]
Clock = Annotated[
    str,
    Option(
        metavar="wall|native|instructions",
        help="Clock to use: native is the framework's own profiler (mxnet, tensorflow); instructions are counted "
        "under Valgrind.",
    ),
]
COMPARING_CLOCK = "What to compare: the time (wall), or the number of executed instructions, counted under Valgrind."
ComparingClock = Annotated[str, Option(metavar="wall|instructions", help=COMPARING_CLOCK)]
JOBS = "Number of trials to measure side by side, each on its own cores. auto: as many as do not disturb each other."
COMPILE = "Compiled code on disk: shared by a side's processes, or none, so that each compiles for itself."
CompileCache = Annotated[str, Option(metavar="shared|none", help=COMPILE)]
Jobs = Annotated[str, Option(metavar="N|auto", help=JOBS)]
Loop = Annotated[
    str,
    Option(metavar="python|native", help="Also time each operator from C or C++ (native), to see Python's share."),
]
CHECK = "Results to check: of timed calls (default for your own code), of a small case (default for others), none."
Check = Annotated[Optional[str], Option(metavar="timed|small|none", help=CHECK)]
NoCheck = Annotated[bool, Option("--no-check", help="The same as `--check none`.")]
Explain = Annotated[bool, Option("--explain", help="Show what each side ran, where one is slower or faster.")]
Format = Annotated[Optional[str], Option(metavar="F", help=f"Output format: {join_words(names())}.")]
#: Of a report that says what passed.
CheckFormat = Annotated[
    Optional[str], Option("--format", metavar="F", help=f"Output format: {join_words(names(checks=True))}.")
]
Output = Annotated[
    Optional[Path],
    Option(metavar="FILE", help="Write the results to this file. A run also keeps a journal next to it."),
]
Html = Annotated[Optional[Path], Option(metavar="FILE", help="Write a page with charts and tables to this file.")]
Plot = Annotated[Optional[Path], Option(metavar="FILE", help="Write the charts to this file, as SVG.")]
Database = Annotated[
    Optional[str],
    Option(
        metavar="[FILE|URL]",
        help="Add the results to a database. Default: $OPPERF_DATABASE, opperf.toml, then your user database.",
    ),
]
#: The commands whose `--database` may be given without a value, for the default database.
STORING = ("run", "compare", "gate", "noise", "replay", "nightly", "judge")
Force = Annotated[bool, Option("--force", help="Overwrite existing files.")]


@dataclass(frozen=True)
class What:
    """The operators and their inputs."""

    category: Category = None
    every: Annotated[bool, Option("--all", help="All operators.")] = False
    skip: Annotated[
        Words, Option(metavar="PATTERN", help="Leave out operators that match a pattern, such as `conv*`.")
    ] = None
    suite: Annotated[Optional[Path], Option(metavar="FILE", help="Measure the cases of a suite file.")] = None
    dtype: Annotated[
        Words,
        Option(
            metavar="D",
            help="Element type to use instead of float32, such as `bf16`.",
            autocompletion=completion.dtypes,
        ),
    ] = None
    values: Annotated[
        Words,
        Option(
            metavar="[NAME=]V",
            help="Values of all inputs, or of one (`weight=denormal`): uniform, normal, constant, zeros, ones, sorted, "
            "reversed, denormal, sparse:0.9.",
            autocompletion=completion.values,
        ),
    ] = None
    random: Annotated[Optional[int], Option(metavar="N", help="Random cases per operator. See `--seed`.")] = None
    size: Annotated[
        Words,
        Option(
            metavar="S",
            help="Default inputs to use: small, common, large, skewed, int64. Repeatable.",
            autocompletion=completion.sizes,
        ),
    ] = None
    direction: Annotated[
        Words,
        Option(
            metavar="D", help="forward, backward or forward_backward. Repeatable.", autocompletion=completion.directions
        ),
    ] = None
    inputs: Input = None
    shapes: Annotated[
        Optional[Path],
        Option(
            metavar="FILE",
            help="Read cases from a .csv, .json or .jsonl file with a column for each input or attribute.",
        ),
    ] = None
    attribute: Annotated[Words, Option(metavar="NAME=VALUE", help="Value of an attribute, such as `axis=1`.")] = None
    plugin: Plugin = None


@dataclass(frozen=True)
class Where:
    """On which sides."""

    framework: Framework = None
    environment: Environment = None
    device: Device = None
    mode: Annotated[
        Words,
        Option(
            metavar="M",
            help="eager, compiled, xla (tensorflow) or cuda_graph (torch on a GPU). Default: eager; compiled for jax "
            "and onnxruntime.",
            autocompletion=completion.modes,
        ),
    ] = None
    threads: Threads = 1
    engine: Annotated[
        str,
        Option(
            metavar="naive|threaded",
            help="MXNet's engine: naive runs operators in the calling thread, threaded in threads of its own.",
        ),
    ] = "naive"
    allocator: Annotated[
        str,
        Option(
            metavar="fixed|default",
            help="Memory allocator: fixed keeps malloc's thresholds constant, default leaves them alone.",
        ),
    ] = "fixed"


@dataclass(frozen=True)
class Sampling:
    """When a trial has samples enough."""

    warmup: Annotated[Optional[int], Option(metavar="N", help="Number of calls before the first sample.")] = None
    runs: Annotated[Optional[int], Option(metavar="N", help="Number of samples per trial and process.")] = None
    precision: Annotated[str, Option(metavar="P", help="Stop once the median is this precise.")] = "2%"
    trial_budget: Annotated[str, Option(metavar="SECONDS", help="Sampling time per trial.")] = "0.5"
    processes: Annotated[
        int, Option(metavar="K", help="Number of processes per trial. Three or more give an interval.")
    ] = 1
    cache: Annotated[str, Option(metavar="hot|cold", help="State of the CPU cache before each call.")] = "hot"


Tolerance = Annotated[str, Option(metavar="PERCENT", help="Smallest change worth reporting.")]


@dataclass(frozen=True)
class Judging:
    """When a comparison is decided."""

    pairs: Annotated[int, Option(metavar="K", help="Number of pairs of processes to measure at first.")] = FIRST_PAIRS
    tolerance: Tolerance = USUAL_TOLERANCE


@dataclass(frozen=True)
class Settling:
    """Whether to add pairs until there is a verdict."""

    settle: Annotated[bool, Option("--settle", help="Add pairs until there is a verdict.")] = False
    max_pairs: Annotated[
        Optional[int], Option(metavar="N", help="Maximum number of pairs with --settle. Default: 64.")
    ] = None


@dataclass(frozen=True)
class Limits:
    """What holds for the whole of a command, whatever it measures."""

    budget: Budget = None
    timeout: Annotated[str, Option(metavar="SECONDS", help="Time limit for one trial.")] = "120"
    cpus: Cpus = None
    seed: Annotated[int, Option(metavar="S", help="Seed for the values of inputs, and for random cases.")] = 0


@dataclass(frozen=True)
class How(Limits):
    """What holds for the whole of a command, however it samples."""

    compile_cache: CompileCache = "shared"


@dataclass(frozen=True)
class OnFleet:
    """The machines to use instead of this one."""

    fleet: Annotated[
        Optional[str],
        Option(metavar="ENGINE", help="Measure on a fleet: `ray://HOST:10001`, `ray` (this machine) or `slurm:JOBS`."),
    ] = None
    where: Annotated[
        Optional[str],
        Option(metavar="CONDITIONS", help="Nodes of the fleet to use, such as `cpu=AMD EPYC*, gpu=H200`."),
    ] = None
    replicate: Annotated[
        Optional[int], Option(metavar="M", help="Measure on M machines of each kind in the fleet.")
    ] = None


@dataclass(frozen=True)
class Keeping:
    """Where a run writes, and what it resumes."""

    no_samples: Annotated[bool, Option("--no-samples", help="Keep only summaries, not samples.")] = False
    strict: Annotated[bool, Option("--strict", help="Exit with code 3 if any trial failed.")] = False
    dry_run: Annotated[bool, Option("--dry-run", help="Print the plan without measuring.")] = False
    resume: Annotated[
        Optional[Path], Option(metavar="FILE", help="Continue an interrupted run from its file or journal.")
    ] = None


@dataclass(frozen=True)
class Report:
    """What comes out."""

    label: Annotated[Words, Option(metavar="K=V", help="Label to store with the run.")] = None
    format: CheckFormat = None
    output: Output = None
    html: Html = None
    plot: Plot = None
    database: Database = None
    force: Force = False


def verb_application(**attributes: Any) -> typer.Typer:
    """Return an application for one verb of `opperf`, with the attributes that all have."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, **attributes)


def request(what: What, *groups: Where | Sampling | How, config: Sequence[Path] = ()) -> JsonDict:
    """Return what options ask for, as the use cases take it; raises `InputError`."""
    from opperf.parent.sources.user_inputs import input_cases, pairs

    order: JsonDict = {}
    for group in (what, *groups):
        order |= vars(group)
    case = {"inputs": input_cases(what.inputs or ()), "attributes": pairs(what.attribute or (), "--attribute")}
    return {**order, **case, "all": what.every, "config": config}


def inputs(operators: Sequence[str] | None, what: What, config: Sequence[Path] = ()) -> list[Path | None]:
    """Return the files that a command reads, which it must not write: the user's own code among them."""
    code = [Path(match[1]) for name in operators or () if (match := re.match(r"(?:.*?code:)?(.+\.py)(?::|$)", name))]
    return [what.suite, what.shapes, *config, *(what.plugin or ()), *code]


def judging(options: Judging, settling: Settling, report: Report, **more: Any) -> Rules:
    """Return when a comparison is decided; raises `InputError`."""
    from opperf.parent.commands.compare import Judging as Rules

    words = {**vars(options), **vars(settling), **more}
    return Rules(**words, labels=labels(report), command=command())


def run_options(keeping: Keeping, report: Report) -> Options:
    """Return the options of a run; a resumed run continues in its own file unless another one is named."""
    from opperf.parent.measuring.session import Options

    return Options(
        output=report.output or keeping.resume,
        resume=keeping.resume,
        labels=labels(report),
        keep_samples=not keeping.no_samples,
        command=command(),
    )


def wishes(fleet: OnFleet) -> Wishes | None:
    """Return the options of a fleet, None without one; raises `InputError` for options that need one."""
    if fleet.fleet is None and fleet.where is None and fleet.replicate is None:
        return None
    from opperf.parent.measuring.fleet.dispatch import wishes

    return wishes(fleet.fleet, fleet.where, fleet.replicate)


def labels(report: Report) -> dict[str, str]:
    """Return the labels of a run; raises `InputError`."""
    from opperf.parent.sources.user_inputs import pairs

    return pairs(report.label or (), "--label")


def command() -> tuple[str, ...]:
    """Return the command line, as reports have it: without passwords."""
    return ("opperf", *own_command()[1:])


def with_values(words: Sequence[str]) -> list[str]:
    """Return a command line whose `--database` has a value, which is empty where the user gave none.

    >>> with_values(["run", "add", "--database", "--format", "csv"])
    ['run', 'add', '--database=', '--format', 'csv']
    """
    if not words or words[0] not in STORING:
        return [*words]
    return [
        "--database=" if word == "--database" and (not after or after.startswith("-")) else word
        for word, after in zip(words, [*words[1:], ""])
    ]
