"""What the functions share: arguments as a request has them, and where a result is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import field
from pathlib import Path
from typing import Any, Optional

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.parent.commands import run as running
from opperf.parent.library.options import Operator
from opperf.parent.library.results import Replay, Results, Suite, WhatIf
from opperf.parent.measuring.progress import Progress, Silent, Stderr
from opperf.parent.measuring.session import Options
from opperf.parent.planning.request import Request
from opperf.parent.sources.live_array import given_inputs
from opperf.parent.sources.live_function import operator_text
from opperf.parent.sources.option import declarations, group_of, option
from opperf.parent.sources.options import How, Labels, Sampling, What, Where
from opperf.parent.store.output_lock import lock_output
from opperf.parent.workers.package import cache_folder
from opperf.parent.workers.passwords import own_command
from opperf.parent.workers.variables import arrays_folder


def names_of(operators: Operator | Sequence[Operator] | None) -> list[str]:
    """Return the names of operators, or their code."""
    return [text_of(one) for one in as_list(operators)]


def text_of(operator: object) -> str:
    """Return a name, or code for a function; raises `InputError` for anything else."""
    if isinstance(operator, (str, Path)):
        return str(operator)
    if callable(operator):
        return operator_text(operator, cache_folder())
    raise InputError(f"`{operator!r}` is not an operator", hint="give a name, or something to call")


def side_text(side: object, framework: str | None) -> str:
    """Return a side as a text; the framework is that of a function."""
    text = text_of(side)
    return f"{text};framework={framework}" if callable(side) and framework is not None else text


def as_list(values: Any) -> list[Any]:
    """Return one thing, or several, as a list."""
    if values is None:
        return []
    single = isinstance(values, (str, Path, Results)) or callable(values)
    return [values] if single else list(values)


def request_of(keywords: Mapping[str, object]) -> Request:
    """Return the request that the keywords of a function make; raises `InputError`."""
    suite = keywords.get("suite")
    inputs = tuple(given_inputs(one, arrays_folder()) for one in cases(keywords.get("inputs")))
    values = {**keywords, "suite": suite.suite if isinstance(suite, Suite) else suite, "inputs": inputs}
    groups = (group_of(What, values), group_of(Where, values), group_of(Sampling, values), group_of(How, values))
    own = {one.name: one.read(values[one.name]) for one in declarations(Request) if values.get(one.name) is not None}
    return Request(*groups, **own)


def cases(inputs: object) -> list[Mapping[str, object]]:
    """Return the inputs of each case; raises `InputError` for what is no mapping."""
    cases = [inputs] if isinstance(inputs, Mapping) else list(inputs) if isinstance(inputs, (list, tuple)) else []
    for case in cases:
        if not isinstance(case, Mapping):
            raise InputError(
                f"inputs: found {type(case).__name__}, expected a mapping for each case",
                hint='`inputs=[{"x": (64, 64)}]`',
            )
    return cases


def progress_of(talk: bool) -> Progress:
    """Return the display of progress: on stderr where it is asked for, or nowhere."""
    return Stderr() if talk else Silent()


@dataclass(frozen=True)
class Keeping:
    """Where a result is kept and with what, and whether its progress is reported."""

    labels: Labels = field(default_factory=dict)
    keep_samples: bool = option(True, "", "Keep every sample.")
    output: Optional[Path] = option(None, "FILE", "File to write.")
    resume: Optional[Path] = option(None, "FILE", "File or journal of a run to go on with.")
    force: bool = option(False, "", "Replace a file that exists.")
    progress: bool = option(False, "", "Report progress on stderr.")

    @property
    def display(self) -> Progress:
        """Where progress is reported."""
        return progress_of(self.progress)

    @property
    def options(self) -> Options:
        """The same for a run; a resumed one continues in its own file unless another one is named."""
        return Options(self.output or self.resume, self.resume, self.labels, keep_samples=self.keep_samples)

    def lock(self) -> AbstractContextManager[object]:
        """Lock the file of the result; raises `InputError`."""
        options = self.options
        lock = lock_output(options.output, own_command(), force=self.force, resume=options.resume, resumes=True)
        return nullcontext() if lock is None else closing(lock)

    def write(self, report: Results | Replay | WhatIf) -> None:
        """Write a result where it is to be kept; its journal has done its work then."""
        if self.options.output is not None:
            report.save(self.options.output)
            running.drop_journal(self.options)
