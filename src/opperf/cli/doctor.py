"""`opperf doctor`: what each environment says of itself, and what makes this machine noisy."""

from __future__ import annotations

import typer

from opperf.cli import options

#: Facts of an environment that fit on a line; the whole of them is in every result file.
TOLD = ("version", "blas", "isa", "engine", "threads", "threads_seen", "allocator", "import_seconds")


def doctor(
    *,
    framework: options.Framework = None,
    environment: options.Environment = None,
    threads: options.Threads = 1,
) -> None:
    """Say what each environment is, and what makes this machine noisy, with remedies."""
    from opperf.cli.progress import Bar
    from opperf.errors import OpperfError
    from opperf.plan import Settings
    from opperf.planning.selection import Selection
    from opperf.planning.sides import frameworks, sides
    from opperf.session import settled_side
    from opperf.workers import machine
    from opperf.workers.interpreters import importable
    from opperf.workers.pool import Pool
    from opperf.workers.process import OperatorFailure

    here = importable()
    selection = Selection(frameworks=framework or (), environments=environment or (), threads=threads)
    named = framework or environment or here
    chosen = [settled_side(side) for side in sides(selection, frameworks(selection, here))] if named else []
    typer.echo("machine")
    for name, value in machine.facts().items():
        if value is not None and not isinstance(value, (dict, list)):
            typer.echo(f"  {name}: {value}")
    typer.echo("\nnoise")
    found = machine.noise()
    for doubt in found:
        typer.echo(f"  {doubt.slug}: {doubt.message}")
        if doubt.hint:
            typer.echo(f"    hint: {doubt.hint}")
    if not found:
        typer.echo("  nothing found")
    typer.echo("\nenvironments")
    if not chosen:
        typer.echo("  no framework imports here; `opperf doctor --framework torch` looks at a built one")
        return
    with Pool(Settings(), Bar().note) as pool:
        for side in chosen:
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
