"""`opperf doctor`: describe each environment, and what makes this machine noisy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opperf.parent.cli import options
from opperf.parent.cli.output import deliver, tell
from opperf.parent.sources.option import Only
from opperf.parent.sources.options import Plugin, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from opperf.domain.plan import Side
    from opperf.parent.reports.machine import Visit


def doctor(
    *,
    where: Annotated[Where, Only("framework", "environment", "device", "threads")],
    plugin: Plugin = (),
    peaks: Annotated[bool, typer.Option("--peaks", help="Measure this machine's peak bandwidth and FLOP/s.")] = False,
    format: options.Format = None,
) -> None:
    """Show the environments, and what makes times noisy here.

    `--peaks` measures how fast the machine can go.
    """
    from opperf.parent.documents import machine_signs
    from opperf.parent.measuring.calibration import stored_rates
    from opperf.parent.planning.request import plugin_files
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.side_text import frameworks, sides
    from opperf.parent.reports.machine import document
    from opperf.parent.workers import gpus, machine, machine_noise
    from opperf.parent.workers.interpreters import importable, settled_side

    plugins = plugin_files(plugin, where.framework, note=tell)
    here = importable()
    selection = Selection(
        frameworks=where.framework,
        environments=where.environment,
        devices=where.device,
        threads=where.threads,
        plugins=plugins,
    )
    asks = where.framework or where.environment or here
    default_sides = [settled_side(side) for side in sides(selection, frameworks(selection, here))] if asks else []
    facts, signs = machine.facts(), machine_noise.signs()
    if peaks:
        _measure(default_sides, plugins, machine_signs.busy(signs))
    place = (default_sides[0].device if default_sides else "cpu", where.threads)
    rates = [rate for rate in stored_rates() if (rate.device, rate.threads) == place]
    best = selection.wants_best_device or not where.device
    visits = _visits(default_sides, plugins, best=best, looks=selection.wants_best_device or gpus.shows_device())
    deliver(document(facts, machine_signs.judge(signs), place, rates, [*visits]), format)


def _visits(sides: Sequence[Side], plugins: Sequence[Path], *, best: bool, looks: bool) -> Iterator[Visit]:
    """Yield what the child of each side says of its environment, or why it cannot be used.

    The child is one on the `best` device, where a framework tells of any, or one `looks` for it.
    """
    from opperf.domain.errors import OpperfError
    from opperf.domain.plan import Settings
    from opperf.parent.cli.progress import Bar
    from opperf.parent.reports.machine import Visit
    from opperf.parent.workers.pool import Pool

    with Pool(Settings(), Bar().note, plugins) as pool:
        for side in sides:
            try:
                worker = pool.looking_worker(side) if best and looks else pool.worker(side)
                if best and worker.side.device == "cpu" and worker.devices[0] != "cpu":
                    worker = pool.looking_worker(side)
            except OpperfError as error:
                yield Visit(side.framework, side.environment, error=str(error))
            else:
                yield Visit(side.framework, side.environment, worker.devices, worker.facts)


def _measure(sides: Sequence[Side], plugins: Sequence[Path], doubt: str | None) -> None:
    """Measure the machine's limits, and keep them, marked where they are those of a busy machine."""
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Settings
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.peaks import measure

    if not sides:
        raise InputError("no framework can be imported here", hint="name one: `--framework torch`")
    bar = Bar()
    if doubt is not None:
        bar.note(f"warning: {doubt}: peaks are marked as too low, and replace none that are higher")
    measure(sides, Settings(memory=False, latency=False), bar, plugins, doubt)
    bar.close()
