"""What every benchmark prints and writes: a table, a verdict on each figure, and a JSON file beside the script."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from opperf.parent.workers import machine

RESULTS = Path(__file__).with_name("results")


def publish(
    name: str,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    figures: Mapping[str, tuple[float, float, str]],
    more: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> None:
    """Print rows and figures and write `results/NAME.json`; exits with 1 when a figure is missed.

    A figure is (measured, limit, unit), and is met when it is at most its limit. `more` holds further tables.
    """
    console = Console(width=160, highlight=False)
    for heading, shown in {title: rows, **(more or {})}.items():
        table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
        for column in shown[0] if shown else ():
            table.add_column(column, justify="left" if isinstance(shown[0][column], str) else "right", no_wrap=True)
        for row in shown:
            table.add_row(*(value if isinstance(value, str) else f"{value:.4g}" for value in row.values()))
        console.print(table)
    met = {figure: measured <= limit for figure, (measured, limit, _) in figures.items()}
    for figure, (measured, limit, unit) in figures.items():
        console.print(f"{'met   ' if met[figure] else 'MISSED'} {figure}: {measured:.3g} {unit}, at most {limit:g}")
    facts = machine.facts()
    RESULTS.mkdir(exist_ok=True)
    document = {
        "benchmark": name,
        "date": date.today().isoformat(),
        "machine": {key: facts.get(key) for key in ("cpu", "cores_logical", "hypervisor", "kernel", "python")},
        "figures": {
            figure: {"measured": measured, "limit": limit, "unit": unit, "met": met[figure]}
            for figure, (measured, limit, unit) in figures.items()
        },
        "rows": list(rows),
        **({"more": {heading: list(shown) for heading, shown in more.items()}} if more else {}),
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(0 if all(met.values()) else 1)
