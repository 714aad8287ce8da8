"""From what was typed to what is measured and how: one place for every verb that takes operators."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opperf.plan import Settings
    from opperf.planning.selection import Selection
    from opperf.session import Options


def selection(
    *,
    operators: Sequence[str] | None,
    category: Sequence[str] | None,
    every: bool,
    skip: Sequence[str] | None,
    suite: Path | None,
    dtype: Sequence[str] | None,
    values: Sequence[str] | None,
    random: int | None,
    size: Sequence[str] | None,
    direction: Sequence[str] | None,
    inputs: Sequence[str] | None,
    attribute: Sequence[str] | None,
    plugin: Sequence[Path] | None = None,
    config: Sequence[Path] | None = None,
    **where: Any,
) -> Selection:
    """Return the selection; `where` holds the fields that say on which sides. Raises `InputError`."""
    import typer

    from opperf.planning.selection import Selection
    from opperf.sources.param.document import read_config
    from opperf.sources.plugin_file import plugin_file, with_plugins, workloads
    from opperf.sources.user_inputs import pairs

    given = pairs(inputs or (), "--input")
    note = partial(typer.echo, err=True)
    plugins = [plugin_file(path) for path in plugin or ()]
    own = workloads(plugins, installed=bool(config), note=note)
    return Selection(
        operators=with_plugins(operators or (), plugins, others=bool(category or every or suite or config), note=note),
        categories=category or (),
        every=every,
        skip=skip or (),
        suite=suite,
        configs=[read_config(path, own) for path in config or ()],
        plugins=own.plugins,
        dtypes=dtype or (),
        values=values or (),
        random=random,
        sizes=size or (),
        directions=direction or (),
        inputs=[given] if given else [],
        attributes=pairs(attribute or (), "--attribute"),
        **where,
    )


def settings(
    *,
    timeout: str,
    budget: str | None,
    cpus: str | None,
    seed: int,
    precision: str | None = None,
    trial_budget: str | None = None,
    **plain: Any,
) -> Settings:
    """Return the settings; `plain` holds those that need no reading. Raises `InputError`."""
    from opperf.plan import Settings
    from opperf.units import parse_duration, parse_percent

    if precision is not None:
        plain["precision"] = parse_percent(precision, name="`--precision`")
    if trial_budget is not None:
        plain["trial_budget"] = parse_duration(trial_budget, name="`--trial-budget`")
    return Settings(
        timeout=parse_duration(timeout, name="`--timeout`"),
        budget=None if budget is None else parse_duration(budget, name="`--budget`"),
        cpus=None if cpus is None else usable_cpus(cpus),
        seed=seed,
        **plain,
    )


def run_options(*, output: Path | None, resume: Path | None, label: Sequence[str] | None, no_samples: bool) -> Options:
    """Return what is asked of a run: what is resumed goes on where it stood, unless another place is named."""
    from opperf.session import Options
    from opperf.sources.user_inputs import pairs

    return Options(
        output=output or resume,
        resume=resume,
        labels=pairs(label or (), "--label"),
        keep_samples=not no_samples,
        command=("opperf", *sys.argv[1:]),
    )


def usable_cpus(text: str) -> tuple[int, ...]:
    """Read `--cpus`; raises `InputError` for what is no list of CPUs, or not of this machine's."""
    from opperf.errors import InputError
    from opperf.workers.machine import cpu_list

    # `cpu_list` passes over what it cannot read, as a fact may; a wish may not.
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text.strip()) or not (chosen := cpu_list(text)):
        raise InputError(f"`--cpus` is `{text}`, expected a list of CPUs", hint="write for example `0-3,6`")
    known = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(chosen)
    missing = sorted(set(chosen) - known)
    if missing:
        raise InputError(
            f"`--cpus` names CPU {missing[0]}, which this process may not use",
            hint=f"it may use {', '.join(str(cpu) for cpu in sorted(known))}",
        )
    return tuple(chosen)
