"""The options that verbs share, each declared once: what to measure, where, and how.

Verbs that take the same options together take a class of them, and `grouped` makes options of its fields. An option
that some verb takes without the others of its class has a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Optional, TypeAlias

import typer

from opperf.parent.cli import completion

Words: TypeAlias = Optional[list[str]]
Option = typer.Option

Operators = Annotated[
    Words,
    typer.Argument(metavar="OPERATOR", help="`add`, or `mxnet:nd.broadcast_add`.", autocompletion=completion.operators),
]
Plugin = Annotated[
    Optional[list[Path]],
    Option(metavar="FILE", help="A Python file or module with operators of your own; its code is run."),
]
Category = Annotated[
    Words,
    Option(
        metavar="C",
        help="All operators of a category, or of a group of another tool.",
        autocompletion=completion.categories,
    ),
]
Config = Annotated[
    Optional[list[Path]], Option(metavar="FILE", help="The cases of a PARAM benchmark config; may be given again.")
]
Input = Annotated[
    Words, Option("--input", metavar="[NAME=]SHAPE", help="Shape of an input, or of all; repeat names for more cases.")
]
Framework = Annotated[
    Words,
    Option(
        metavar="F",
        help="torch, mxnet, jax, numpy; default: those that import here.",
        autocompletion=completion.frameworks,
    ),
]
Environment = Annotated[
    Words,
    Option(
        metavar="E",
        help="`torch`, `numpy==1.26.4` or `python=PATH`; binds to its framework.",
        autocompletion=completion.environments,
    ),
]
Device = Annotated[Words, Option(metavar="D", help="cpu, cuda:0, gpu(0); default: a GPU if there is one.")]
Threads = Annotated[int, Option(metavar="N", help="Threads of the framework.")]
Budget = Annotated[Optional[str], Option(metavar="SECONDS", help="Time for the whole command.")]
Cpus = Annotated[Optional[str], Option(metavar="LIST", help="CPUs to stay on, as in `0-3,6`.")]
Clock = Annotated[str, Option(metavar="wall|native", help="native asks the framework's own profiler (mxnet).")]
NoCheck = Annotated[bool, Option("--no-check", help="Time operators without checking what they compute.")]
Explain = Annotated[bool, Option("--explain", help="Show what ran on each side where one is slower or faster.")]
Format = Annotated[Optional[str], Option(metavar="F", help="console, json, csv or md.")]
Output = Annotated[Optional[Path], Option(metavar="FILE", help="Write there; while running, a journal lies beside it.")]


Force = Annotated[bool, Option("--force", help="Overwrite files that are there.")]


@dataclass(frozen=True)
class What:
    """Which operators, and what they are given."""

    category: Category = None
    every: Annotated[bool, Option("--all", help="All operators.")] = False
    skip: Annotated[Words, Option(metavar="PATTERN", help="Leave out operators that match, as in `conv*`.")] = None
    suite: Annotated[Optional[Path], Option(metavar="FILE", help="The cases of a suite file.")] = None
    dtype: Annotated[
        Words,
        Option(metavar="D", help="Element type in place of float32, as in `bf16`.", autocompletion=completion.dtypes),
    ] = None
    values: Annotated[
        Words,
        Option(
            metavar="V",
            help="uniform, normal, constant, zeros, ones, sorted, reversed, denormal, sparse:0.9.",
            autocompletion=completion.values,
        ),
    ] = None
    random: Annotated[Optional[int], Option(metavar="N", help="So many random cases; see `--seed`.")] = None
    size: Annotated[
        Words, Option(metavar="S", help="small, common, large, skewed, int64.", autocompletion=completion.sizes)
    ] = None
    direction: Annotated[
        Words, Option(metavar="D", help="forward, backward, forward_backward.", autocompletion=completion.directions)
    ] = None
    inputs: Input = None
    shapes: Annotated[
        Optional[Path],
        Option(metavar="FILE", help="Cases from a .csv, .json or .jsonl: columns are inputs, attributes."),
    ] = None
    attribute: Annotated[Words, Option(metavar="NAME=VALUE", help="Value of an attribute, as in `axis=1`.")] = None
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
            help="eager or compiled; default: eager, but for jax and onnxruntime.",
            autocompletion=completion.modes,
        ),
    ] = None
    threads: Threads = 1
    engine: Annotated[
        str, Option(metavar="naive|threaded", help="naive runs in the calling thread, threaded beside it.")
    ] = "naive"
    allocator: Annotated[str, Option(metavar="fixed|default", help="fixed holds malloc's thresholds still.")] = "fixed"


@dataclass(frozen=True)
class Sampling:
    """When a trial has samples enough."""

    warmup: Annotated[Optional[int], Option(metavar="N", help="Calls before the first sample.")] = None
    runs: Annotated[Optional[int], Option(metavar="N", help="Samples of each trial and process.")] = None
    precision: Annotated[str, Option(metavar="P", help="Stop when the median is known this well.")] = "2%"
    trial_budget: Annotated[str, Option(metavar="SECONDS", help="Sampling time of one trial.")] = "0.5"
    processes: Annotated[int, Option(metavar="K", help="Fresh processes for each trial; 3 give an interval.")] = 1
    cache: Annotated[str, Option(metavar="hot|cold", help="hot or cold CPU cache.")] = "hot"


@dataclass(frozen=True)
class Judging:
    """When a comparison is decided."""

    pairs: Annotated[int, Option(metavar="K", help="Pairs of processes before the first look.")] = 5
    tolerance: Annotated[str, Option(metavar="PERCENT", help="A change that nobody minds.")] = "2%"


@dataclass(frozen=True)
class Settling:
    """Whether a comparison goes on until it is decided."""

    settle: Annotated[bool, Option("--settle", help="Go on until the interval decides.")] = False
    max_pairs: Annotated[Optional[int], Option(metavar="N", help="Pairs at most with --settle; default: 64.")] = None


@dataclass(frozen=True)
class How:
    """What holds for the whole of a command, however it samples."""

    budget: Budget = None
    timeout: Annotated[str, Option(metavar="SECONDS", help="Time for one trial in its child.")] = "120"
    cpus: Cpus = None
    seed: Annotated[int, Option(metavar="S", help="Decides the values of inputs, and random cases.")] = 0


@dataclass(frozen=True)
class Keeping:
    """What a run leaves, and where it goes on."""

    no_samples: Annotated[bool, Option("--no-samples", help="Keep summaries only.")] = False
    strict: Annotated[bool, Option("--strict", help="Exit with 3 when any trial failed.")] = False
    dry_run: Annotated[bool, Option("--dry-run", help="Print the plan and measure nothing.")] = False
    resume: Annotated[Optional[Path], Option(metavar="FILE", help="Go on where that file or its journal ends.")] = None


@dataclass(frozen=True)
class Report:
    """What comes out."""

    label: Annotated[Words, Option(metavar="K=V", help="Kept with the run.")] = None
    format: Format = None
    output: Output = None
    force: Force = False
