"""`opperf doctor`: what each environment says of itself, and what makes this machine noisy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opperf.parent.cli import options
from opperf.parent.cli.screen import show
from opperf.parent.reports.layout import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opperf.domain.plan import Side

#: Facts of an environment that fit on a line; the whole of them is in every result file.
TOLD = ("version", "blas", "isa", "engine", "threads", "threads_seen", "allocator", "import_seconds")


def doctor(
    *,
    framework: options.Framework = None,
    environment: options.Environment = None,
    device: options.Device = None,
    threads: options.Threads = 1,
    peaks: Annotated[bool, typer.Option("--peaks", help="Measure how fast this machine can go.")] = False,
) -> None:
    """Say what the environments are, and what makes times noisy.

    `--peaks` measures how fast the machine can be.
    """
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.sides import frameworks, sides
    from opperf.parent.workers.interpreters import importable, settled_side

    here = importable()
    selection = Selection(
        frameworks=framework or (), environments=environment or (), devices=device or (), threads=threads
    )
    named = framework or environment or here
    chosen = [settled_side(side) for side in sides(selection, frameworks(selection, here))] if named else []
    show([*_machine(), *_noise()])
    if peaks:
        _measure(chosen)
    typer.echo()
    show(_peaks(chosen[0].device if chosen else "cpu", threads))
    _tell_environments(chosen)


def _machine() -> Iterator[Note]:
    """Yield the facts of the machine that fit on a line."""
    from opperf.parent.workers import machine

    yield Note("machine")
    for name, value in machine.facts().items():
        if value is not None and not isinstance(value, (dict, list)):
            yield Note(f"{name}: {value}", 2)


def _noise() -> Iterator[Note]:
    """Yield what makes the machine noisy, with remedies."""
    from opperf.parent.workers import machine_noise

    yield from (Note(), Note("noise"))
    found = machine_noise.noise()
    for doubt in found:
        yield Note(f"{doubt.slug}: {doubt.message}", 2)
        if doubt.hint:
            yield Note(f"hint: {doubt.hint}", 4)
    if not found:
        yield Note("nothing found", 2)


def _tell_environments(sides: Sequence[Side]) -> None:
    """Print what the child of each side says of its environment, or why it cannot be used."""
    from opperf.domain.errors import OpperfError
    from opperf.domain.plan import Settings
    from opperf.parent.cli.progress import Bar
    from opperf.parent.workers.pool import Pool

    typer.echo("\nenvironments")
    if not sides:
        show([Note("no framework imports here; `opperf doctor --framework torch` looks at a built one", 2)])
        return
    with Pool(Settings(), Bar().note) as pool:
        for side in sides:
            show([Note(f"{side.framework} in `{side.environment}`", 2)])
            try:
                worker = pool.worker(side)
            except OpperfError as error:
                first, *others = (line for line in str(error).splitlines() if line)
                show([Note(f"cannot be used: {first}", 4), *(Note(line, 4) for line in others)])
                continue
            known = (name for name in TOLD if worker.facts.get(name) is not None)
            facts = (Note(f"{name}: {worker.facts[name]}", 4) for name in known)
            show([Note(f"devices: {', '.join(worker.devices)}", 4), *facts])


def _measure(sides: Sequence[Side]) -> None:
    """Measure the machine's limits, and keep them."""
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Settings
    from opperf.parent.cli.progress import Bar
    from opperf.parent.peaks import measure

    if not sides:
        raise InputError("no framework imports here to measure with", hint="name one: `--framework torch`")
    bar = Bar()
    measure(sides, Settings(memory=False, latency=False), bar)
    bar.close()


def _peaks(device: str, threads: int) -> Iterator[Note]:
    """Yield the limits of a device that were measured, and with what."""
    from opperf.domain.peaks import MOVE
    from opperf.domain.units import format_byte_rate, format_bytes, format_flop_rate
    from opperf.parent.calibration import stored_rates

    known = [rate for rate in stored_rates() if (rate.device, rate.threads) == (device, threads)]
    yield Note(f"peaks of {device}, {threads} thread(s)")
    best: dict[tuple[str, object], tuple[float, str]] = {}
    for rate in known:
        what = (rate.kind, rate.size if rate.kind == MOVE else rate.dtype)
        best[what] = max(best.get(what, (0.0, "")), (rate.rate, f"{rate.operator} of {rate.framework}"))
    for (kind, size), (fastest, source) in best.items():
        if kind == MOVE:
            yield Note(f"moving {format_bytes(int(str(size)))}: {format_byte_rate(fastest)} ({source})", 2)
        else:
            yield Note(f"products of {size}: {format_flop_rate(fastest)} ({source})", 2)
    if not known:
        yield Note("not measured; `opperf doctor --peaks --framework torch` measures them", 2)
