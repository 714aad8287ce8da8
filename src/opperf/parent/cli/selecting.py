"""From what was typed to what is measured and how: one place for every verb that takes operators."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.parent.cli.options import How, Judging, Keeping, Report, Sampling, Settling, What, Where

if TYPE_CHECKING:
    from opperf.domain.plan import Settings
    from opperf.parent.analysis.verdict import Rule
    from opperf.parent.planning.selection import Selection
    from opperf.parent.session import Options


def selection(
    operators: Sequence[str] | None,
    what: What,
    where: Where | None = None,
    config: Sequence[Path] = (),
    names: Sequence[str] = (),
    *,
    others: bool = False,
) -> Selection:
    """Return the selection; without `where`, the sides are named elsewhere. Raises `InputError`.

    `names` are operators that a file names. They are names, whatever they look like; `operators` may be code. `others`
    says that something else is measured, so that a plugin without names brings none.
    """
    from opperf.catalog.param.document import read_config
    from opperf.domain.code import named
    from opperf.parent.cli.screen import tell
    from opperf.parent.planning.selection import Selection
    from opperf.parent.sources.plugin_file import declared_code, plugin_file, with_plugins, workloads
    from opperf.parent.sources.shapes_file import read_shapes
    from opperf.parent.sources.user_inputs import input_cases, pairs

    plugins = [plugin_file(path) for path in what.plugin or ()]
    own = workloads(plugins, installed=bool(config), note=tell)
    others = others or bool(what.category or what.every or what.suite or config)
    sides = where or Where()
    return Selection(
        operators=with_plugins([*map(named, operators or ()), *names], plugins, others=others, note=tell),
        categories=what.category or (),
        every=what.every,
        skip=what.skip or (),
        suite=what.suite,
        configs=[read_config(path, own) for path in config],
        plugins=own.plugins,
        declared=declared_code(plugins),
        frameworks=sides.framework or (),
        environments=sides.environment or (),
        devices=sides.device or (),
        modes=sides.mode or (),
        dtypes=what.dtype or (),
        sizes=what.size or (),
        directions=what.direction or (),
        inputs=input_cases(what.inputs or ()),
        rows=[] if what.shapes is None else read_shapes(what.shapes),
        attributes=pairs(what.attribute or (), "--attribute"),
        values=what.values or (),
        random=what.random,
        threads=sides.threads,
        engine=sides.engine,
        allocator=sides.allocator,
    )


def settings(how: How, sampling: Sampling | None = None, **plain: Any) -> Settings:
    """Return the settings; `plain` holds those that need no reading. Raises `InputError`."""
    from opperf.domain.plan import Settings
    from opperf.domain.units import parse_duration, parse_percent

    asked = sampling or Sampling()
    return Settings(
        warmup=asked.warmup,
        runs=asked.runs,
        precision=parse_percent(asked.precision, name="`--precision`"),
        trial_budget=parse_duration(asked.trial_budget, name="`--trial-budget`"),
        timeout=parse_duration(how.timeout, name="`--timeout`"),
        budget=None if how.budget is None else parse_duration(how.budget, name="`--budget`"),
        processes=asked.processes,
        cache=asked.cache,
        cpus=None if how.cpus is None else usable_cpus(how.cpus),
        seed=how.seed,
        **plain,
    )


def inputs(operators: Sequence[str] | None, what: What, config: Sequence[Path] = ()) -> list[Path | None]:
    """Return the files that a command reads, which it must not write: the user's own code among them."""
    code = [Path(found[1]) for name in operators or () if (found := re.match(r"(?:.*?code:)?(.+\.py)(?::|$)", name))]
    return [what.suite, what.shapes, *config, *(what.plugin or ()), *code]


def rule(judging: Judging, settling: Settling | None = None) -> Rule:
    """Return the rule of a comparison; raises `InputError`."""
    from opperf.domain.units import parse_percent
    from opperf.parent.analysis.verdict import Rule

    asked = settling or Settling()
    return Rule(
        tolerance=parse_percent(judging.tolerance, name="`--tolerance`"),
        pairs=judging.pairs,
        most=most_pairs(judging.pairs, asked.max_pairs, settle=asked.settle),
    )


def most_pairs(pairs: int, most: int | None, *, settle: bool) -> int | None:
    """Return how many pairs a comparison may have that goes on until it is settled; None for one that does not.

    Raises `InputError` for a number that means nothing.
    """
    from opperf.domain.errors import InputError
    from opperf.domain.plan import check_most
    from opperf.parent.analysis.verdict import MOST_PAIRS

    check_most("--pairs", pairs, "pairs")
    check_most("--max-pairs", most or 0, "pairs")
    if not settle and most is not None:
        raise InputError("`--max-pairs` means nothing by itself", hint="add `--settle`")
    if most is not None and most < pairs:
        raise InputError(f"`--max-pairs` is {most}, fewer than the {pairs} pairs of the first look")
    return max(MOST_PAIRS, pairs) if settle and most is None else most


def run_options(keeping: Keeping, report: Report) -> Options:
    """Return what is asked of a run: what is resumed goes on where it stood, unless another place is named."""
    from opperf.parent.session import Options

    return Options(
        output=report.output or keeping.resume,
        resume=keeping.resume,
        labels=labels(report),
        keep_samples=not keeping.no_samples,
        command=("opperf", *sys.argv[1:]),
    )


def labels(report: Report) -> dict[str, str]:
    """Return the labels of a run; raises `InputError`."""
    from opperf.parent.sources.user_inputs import pairs

    return pairs(report.label or (), "--label")


def usable_cpus(text: str) -> tuple[int, ...]:
    """Read `--cpus`; raises `InputError` for what is no list of CPUs, or not of this machine's."""
    from opperf.domain.errors import InputError
    from opperf.parent.workers.machine import cpu_ranges

    # `cpu_ranges` passes over what it cannot read, as a fact may; a wish may not.
    if not re.fullmatch(r"\d{1,18}(-\d{1,18})?(,\d{1,18}(-\d{1,18})?)*", text.strip()) or not any(cpu_ranges(text)):
        raise InputError(f"`--cpus` is `{text[:100]}`, expected a list of CPUs", hint="write for example `0-3,6`")
    known = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    chosen: dict[int, None] = {}
    for cpu in chain.from_iterable(cpu_ranges(text)):
        if cpu not in known:  # at the latest behind the last that is known, however far the range goes
            raise InputError(
                f"`--cpus` names CPU {cpu}, which this process may not use",
                hint=f"it may use {', '.join(str(cpu) for cpu in sorted(known))}",
            )
        chosen[cpu] = None
    return tuple(chosen)
