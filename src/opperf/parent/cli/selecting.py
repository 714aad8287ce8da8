"""From what was typed to what is measured and how: one place for every verb that takes operators."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.parent.cli.options import How, Judging, Keeping, Report, Sampling, Settling, What, Where

if TYPE_CHECKING:
    from opperf.parent.compare import Judging as Rules
    from opperf.parent.session import Options


def request(what: What, *groups: Where | Sampling | How, config: Sequence[Path] = ()) -> dict[str, Any]:
    """Return what options ask for, as the use cases take it; raises `InputError`."""
    from opperf.parent.sources.user_inputs import input_cases, pairs

    order: dict[str, Any] = {}
    for group in (what, *groups):
        order |= vars(group)
    given = {"inputs": input_cases(what.inputs or ()), "attributes": pairs(what.attribute or (), "--attribute")}
    return {**order, **given, "all": what.every, "config": config}


def inputs(operators: Sequence[str] | None, what: What, config: Sequence[Path] = ()) -> list[Path | None]:
    """Return the files that a command reads, which it must not write: the user's own code among them."""
    code = [Path(match[1]) for name in operators or () if (match := re.match(r"(?:.*?code:)?(.+\.py)(?::|$)", name))]
    return [what.suite, what.shapes, *config, *(what.plugin or ()), *code]


def judging(judged: Judging, settling: Settling, report: Report, *, explain: bool = False) -> Rules:
    """Return when a comparison is decided; raises `InputError`."""
    from opperf.parent.compare import Judging as Rules

    words = {**vars(judged), **vars(settling)}
    return Rules(**words, explain=explain, labels=labels(report), command=command())


def run_options(keeping: Keeping, report: Report) -> Options:
    """Return what is asked of a run: what is resumed goes on where it stood, unless another place is named."""
    from opperf.parent.session import Options

    return Options(
        output=report.output or keeping.resume,
        resume=keeping.resume,
        labels=labels(report),
        keep_samples=not keeping.no_samples,
        command=command(),
    )


def labels(report: Report) -> dict[str, str]:
    """Return the labels of a run; raises `InputError`."""
    from opperf.parent.sources.user_inputs import pairs

    return pairs(report.label or (), "--label")


def command() -> tuple[str, ...]:
    """Return the command line, as reports have it."""
    return ("opperf", *sys.argv[1:])
