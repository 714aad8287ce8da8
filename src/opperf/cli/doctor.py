"""`opperf doctor`: what each environment says of itself, and what makes this machine noisy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opperf.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opperf.plan import Side

#: Facts of an environment that fit on a line; the whole of them is in every result file.
TOLD = ("version", "blas", "isa", "engine", "threads", "threads_seen", "allocator", "import_seconds")


def doctor(
    *,
    framework: options.Framework = None,
    environment: options.Environment = None,
    device: options.Device = None,
    threads: options.Threads = 1,
    peaks: Annotated[bool, typer.Option("--peaks", help="Measure how fast this machine can be.")] = False,
) -> None:
    """Say what each environment is, how fast this machine can be, and what makes it noisy, with remedies."""
    from opperf.planning.selection import Selection
    from opperf.planning.sides import frameworks, sides
    from opperf.session import settled_side
    from opperf.workers.interpreters import importable

    here = importable()
    selection = Selection(
        frameworks=framework or (), environments=environment or (), devices=device or (), threads=threads
    )
    named = framework or environment or here
    chosen = [settled_side(side) for side in sides(selection, frameworks(selection, here))] if named else []
    _tell_machine()
    _tell_noise()
    if peaks:
        _measure(chosen)
    _tell_peaks(chosen[0].device if chosen else "cpu", threads)
    _tell_environments(chosen)


def _tell_machine() -> None:
    """Print the facts of the machine that fit on a line."""
    from opperf.workers import machine

    typer.echo("machine")
    for name, value in machine.facts().items():
        if value is not None and not isinstance(value, (dict, list)):
            typer.echo(f"  {name}: {value}")


def _tell_noise() -> None:
    """Print what makes the machine noisy, with remedies."""
    from opperf.workers import machine_noise

    typer.echo("\nnoise")
    found = machine_noise.noise()
    for doubt in found:
        typer.echo(f"  {doubt.slug}: {doubt.message}")
        if doubt.hint:
            typer.echo(f"    hint: {doubt.hint}")
    if not found:
        typer.echo("  nothing found")


def _tell_environments(sides: Sequence[Side]) -> None:
    """Print what the child of each side says of its environment, or why it cannot be used."""
    from opperf.cli.progress import Bar
    from opperf.errors import OpperfError
    from opperf.plan import Settings
    from opperf.workers.pool import Pool
    from opperf.workers.process import OperatorFailure

    typer.echo("\nenvironments")
    if not sides:
        typer.echo("  no framework imports here; `opperf doctor --framework torch` looks at a built one")
        return
    with Pool(Settings(), Bar().note) as pool:
        for side in sides:
            typer.echo(f"  {side.framework} in `{side.environment}`")
            try:
                worker = pool.worker(side)
            except (OpperfError, OperatorFailure) as error:
                typer.echo(f"    cannot be used: {error}".replace("\n\nhint:", "\n    hint:"))
                continue
            typer.echo(f"    devices: {', '.join(worker.devices)}")
            for name in TOLD:
                if worker.facts.get(name) is not None:
                    typer.echo(f"    {name}: {worker.facts[name]}")


def _measure(sides: Sequence[Side]) -> None:
    """Measure the machine's limits, and keep them."""
    from opperf.cli.progress import Bar
    from opperf.errors import InputError
    from opperf.limits import measure
    from opperf.plan import Settings

    if not sides:
        raise InputError("no framework imports here to measure with", hint="name one: `--framework torch`")
    bar = Bar()
    measure(sides, Settings(memory=False, latency=False), bar)
    bar.close()


def _tell_peaks(device: str, threads: int) -> None:
    """Print the limits of a device that were measured, and with what."""
    from opperf.peaks import MOVE
    from opperf.session import stored_rates
    from opperf.units import format_byte_rate, format_bytes, format_flop_rate

    known = [rate for rate in stored_rates() if (rate.device, rate.threads) == (device, threads)]
    typer.echo(f"\npeaks of {device}, {threads} thread(s)")
    best: dict[tuple[str, object], tuple[float, str]] = {}
    for rate in known:
        what = (rate.kind, rate.size if rate.kind == MOVE else rate.dtype)
        best[what] = max(best.get(what, (0.0, "")), (rate.rate, f"{rate.operator} of {rate.framework}"))
    for (kind, size), (fastest, source) in best.items():
        if kind == MOVE:
            typer.echo(f"  moving {format_bytes(int(str(size)))}: {format_byte_rate(fastest)} ({source})")
        else:
            typer.echo(f"  products of {size}: {format_flop_rate(fastest)} ({source})")
    if not known:
        typer.echo("  not measured; `opperf doctor --peaks --framework torch` measures them")
