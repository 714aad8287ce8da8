"""The options that verbs share, each declared once: what to measure, where, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional, TypeAlias

import typer

Words: TypeAlias = Optional[list[str]]
Option = typer.Option

# What ----------------------------------------------------------------------------------------------------------------
Operators = Annotated[Words, typer.Argument(metavar="OPERATOR", help="`add`, or `mxnet:nd.broadcast_add`.")]
Plugin = Annotated[
    Optional[list[Path]],
    Option(metavar="FILE", help="A Python file or module with operators of your own; its code is run."),
]
Category = Annotated[Words, Option(metavar="C", help="All operators of a category, or of a group of another tool.")]
Every = Annotated[bool, Option("--all", help="All operators.")]
Skip = Annotated[Words, Option(metavar="PATTERN", help="Leave out operators that match, as in `conv*`.")]
SuiteFile = Annotated[Optional[Path], Option(metavar="FILE", help="The cases of a suite file.")]
Config = Annotated[
    Optional[list[Path]], Option(metavar="FILE", help="The cases of a PARAM benchmark config; may be given again.")
]
Dtype = Annotated[Words, Option(metavar="D", help="Element type in place of float32.")]
Values = Annotated[
    Words, Option(metavar="V", help="uniform, normal, constant, zeros, ones, sorted, reversed, denormal, sparse:0.9.")
]
Random = Annotated[Optional[int], Option("--random", metavar="N", help="So many random cases; see `--seed`.")]
Size = Annotated[Words, Option(metavar="S", help="small, common, large, skewed, int64.")]
Direction = Annotated[Words, Option(metavar="D", help="forward, backward, forward_backward.")]
Input = Annotated[Words, Option("--input", metavar="NAME=SHAPE", help="Shape of an input.")]
Attribute = Annotated[Words, Option(metavar="NAME=VALUE", help="Value of an attribute, as in `axis=1`.")]

# Where ---------------------------------------------------------------------------------------------------------------
Framework = Annotated[Words, Option(metavar="F", help="torch, mxnet, jax, numpy; default: those that import here.")]
Environment = Annotated[
    Words, Option(metavar="E", help="`torch`, `numpy==1.26.4` or `python=PATH`; binds to its framework.")
]
Device = Annotated[Words, Option(metavar="D", help="cpu, cuda:0, gpu(0); default: a GPU if there is one.")]
Mode = Annotated[Words, Option(metavar="M", help="eager or compiled; default: eager, but for jax and onnxruntime.")]
Threads = Annotated[int, Option(metavar="N", help="Threads of the framework.")]
Cpus = Annotated[Optional[str], Option(metavar="LIST", help="CPUs to stay on, as in `0-3,6`.")]
Engine = Annotated[str, Option(metavar="naive|threaded", help="naive runs in the calling thread, threaded beside it.")]
Allocator = Annotated[str, Option(metavar="fixed|default", help="fixed holds malloc's thresholds still.")]

# How -----------------------------------------------------------------------------------------------------------------
Warmup = Annotated[Optional[int], Option(metavar="N", help="Calls before the first sample.")]
Runs = Annotated[Optional[int], Option(metavar="N", help="Samples of each trial and process.")]
Precision = Annotated[str, Option(metavar="P", help="Stop when the median is known this well.")]
Budget = Annotated[Optional[str], Option(metavar="SECONDS", help="Time for the whole command.")]
TrialBudget = Annotated[str, Option(metavar="SECONDS", help="Sampling time of one trial.")]
Timeout = Annotated[str, Option(metavar="SECONDS", help="Time for one trial in its child.")]
Processes = Annotated[int, Option(metavar="K", help="Fresh processes for each trial; 3 give an interval.")]
Cache = Annotated[str, Option(metavar="hot|cold", help="hot or cold CPU cache.")]
Clock = Annotated[str, Option(metavar="wall|native", help="native asks the framework's own profiler (mxnet).")]
NoCheck = Annotated[bool, Option("--no-check", help="Time operators without checking what they compute.")]
Seed = Annotated[int, Option(metavar="S", help="Decides the values of inputs, and random cases.")]

Pairs = Annotated[int, Option(metavar="K", help="Pairs of processes before the first look.")]
Tolerance = Annotated[str, Option(metavar="PERCENT", help="A change that nobody minds.")]

# What comes out ------------------------------------------------------------------------------------------------------
Label = Annotated[Words, Option(metavar="K=V", help="Kept with the run.")]
NoSamples = Annotated[bool, Option("--no-samples", help="Keep summaries only.")]
Strict = Annotated[bool, Option("--strict", help="Exit with 3 when any trial failed.")]
DryRun = Annotated[bool, Option("--dry-run", help="Print the plan and measure nothing.")]
Format = Annotated[Optional[str], Option(metavar="F", help="console, json, csv or md.")]
Output = Annotated[Optional[Path], Option(metavar="FILE", help="Write there; while running, a journal lies beside it.")]
Resume = Annotated[Optional[Path], Option(metavar="FILE", help="Go on where that file or its journal ends.")]
