"""The options of verbs that run a whole program: what is captured of it, and what of it is profiled.

Each is declared once, for the command line and the library alike, as those are that measure operators (`options`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Optional

from opperf.domain.dataclass import dataclass
from opperf.domain.message.requests import Usage
from opperf.domain.profile.rows import BY_NAME
from opperf.domain.profile.watching import ALLOCATOR, GRANULARITY, Watching
from opperf.parent.sources.model_configuration import usage_of
from opperf.parent.sources.option import BYTES, SECONDS, Option, at_least, option
from opperf.parent.sources.options import INPUT, Arguments, Plugin

#: Seconds that all calls of a function may take together.
CAPTURE_TIMEOUT = 300.0


def _model_inputs(words: Sequence[str]) -> Arguments:
    from opperf.parent.sources.user_inputs import pairs

    return pairs(words, "--input")


ModelInputs = Annotated[
    Arguments,
    Option(INPUT.metavar, INPUT.help, flag="input", words=_model_inputs, keyword="Mapping[str, object] | None"),
]


@dataclass(frozen=True)
class Capturing:
    """In which framework a program is captured, how, and for how long; of a model by its configuration, how it runs."""

    framework: Optional[str] = option(
        None,
        "F",
        "Framework to capture: torch, mxnet, jax, tensorflow. Default: what the code imports. Models use ONNX Runtime.",
    )
    inputs: ModelInputs = field(default_factory=dict)
    environment: Optional[str] = option(
        None, "E", "Environment to run your code in: `current`, `torch==2.6.0` or `python=PATH`. Default: as for `run`."
    )
    plugin: Plugin = ()
    abstract: bool = option(
        False, "", "Follow shapes alone: nothing is allocated, computed or timed, so that any model fits."
    )
    phase: str = option(Usage.phase, "PHASE", "What a model by its configuration does: prefill, decode or train.")
    batch: int = option(Usage.batch, "N", "Sequences or images of a call of such a model.")
    context: int = option(Usage.context, "N", "Words of each sequence; for decode, those before the next word.")
    dtype: Optional[str] = option(
        None, "DTYPE", "Element type of such a model. Default: the configuration's, or float32."
    )
    split: int = option(Usage.split, "N", "Devices among which such a model is divided; the suite is of one.")
    layers: str = option(Usage.layers, "all|one", "All layers of such a model, or the first of each stack.")
    timeout: float = option(CAPTURE_TIMEOUT, "SECONDS", "Time limit for all calls of a function together.", SECONDS)

    @property
    def usage(self) -> Usage:
        """How a model by its configuration is called; raises `InputError` for a wrong value."""
        return usage_of(self.phase, self.batch, self.context, self.dtype, self.split, self.layers)


@dataclass(frozen=True)
class Profiling:
    """Where a script runs, what is recorded of it, what is made of that, and how its rows are grouped and sorted."""

    framework: Optional[str] = option(None, "F", "torch, mxnet, jax, tensorflow. Default: all that the script imports.")
    environment: Optional[str] = option(
        None,
        "E",
        "Environment to run in: `torch`, `torch==2.6.0` or `python=PATH`. Default: one with the framework.",
    )
    plugin: Plugin = ()
    memory: bool = option(False, "", "Record the memory that operators allocate.")
    shapes: bool = option(False, "", "Record the shapes of inputs.")
    stacks: bool = option(False, "", "Record which lines of Python called each operator.")
    modules: bool = option(True, "", "Record which modules or layers called each operator.")
    api: bool = option(False, "", "Also record calls of the framework's Python API.")
    granularity: str = option(GRANULARITY, "bulk|operator", "How MXNet runs graphs: bulk, or operator by operator.")
    allocator: str = option(
        ALLOCATOR,
        "default|fixed",
        "Memory allocator: fixed keeps malloc's thresholds constant, as `run` does.",
    )
    memory_limit: Optional[int] = option(
        None, "SIZE", "Stop recording before the profile needs more. Default: half of free memory.", BYTES
    )
    function: Optional[str] = option(None, "MODULE:NAME", "Profile only calls of this function.")
    skip: int = option(0, "N", "Number of calls to skip first.", at_least(0))
    calls: Optional[int] = option(
        None, "N", "Number of calls to profile after the skipped ones. Default: all.", at_least(1)
    )
    by: str = option(BY_NAME, "name|group|shape|module|stack|kernel", "Group rows by this property.")
    sort: Optional[str] = option(
        None,
        "self|total|calls|mean",
        "Sort rows by this column, `self` by default; with `--diff` by how much it changed.",
    )
    tool: Optional[str] = option(None, "nsys|ncu|vtune|perf", "Also run under a vendor's profiler.", flag="with")
    save_suite: Optional[Path] = option(None, "FILE", "Write the operators with their arguments as a suite (PyTorch).")
    output: Optional[Path] = option(None, "DIR", "Folder to write files to. Default: the current one.")

    @property
    def watching(self) -> Watching:
        """What is recorded: what was asked for, and what rows are grouped by."""
        return Watching(
            memory=self.memory,
            shapes=self.shapes or self.by == "shape",
            stacks=self.stacks,
            modules=self.modules or self.by == "module",
            api=self.api,
            memory_limit=self.memory_limit,
        )
