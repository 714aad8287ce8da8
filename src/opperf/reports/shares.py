"""What the operators of a suite amount to, beside the time of the program that they were captured from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opperf.reports.columns import framework
from opperf.reports.escaping import one_line
from opperf.units import format_seconds

if TYPE_CHECKING:
    from opperf.record import Record, Run

#: Within these shares of the program's own time its operators explain it.
EXPLAINED = (0.7, 1.3)


def lines(run: Run) -> list[str]:
    """Return a line for each side of a run of a suite; none for another run."""
    suite = run.environment.get("suite")
    if suite is None:
        return []
    sides: dict[str, list[Record]] = {}
    for record in run.records:
        side = record.trial.side
        words = (framework(record), side.device, side.mode, f"threads {side.threads}")
        sides.setdefault(", ".join(words), []).append(record)
    return [one_line(_line(name, records, suite)) for name, records in sides.items() if any(r.total for r in records)]


def _line(name: str, records: Sequence[Record], suite: Mapping[str, Any]) -> str:
    """Say what the calls of one side take together, and how that compares with the program."""
    measured = [record for record in records if record.total is not None]
    calls = sum(record.trial.count for record in measured)
    total = sum(record.total or 0.0 for record in measured)
    everything = sum(record.trial.count for record in records)
    how = ", unfused," if str(suite.get("source")).endswith(", unfused") else ""
    told = f"{name}: {calls} of {everything} calls{how} take {format_seconds(total)} by themselves"
    program = suite.get("program")
    if program is None or not program["time"]:
        return told
    whole = program["time"]
    told += (
        f"; `{suite['name']}` took {format_seconds(whole)} when it was captured ({program['framework']} "
        f"{program['version']}, threads {program['threads']}): {total / whole:.2f} of it"
    )
    if total / whole < EXPLAINED[0]:
        gap = format_seconds((whole - total) / max(1, calls))
        return f"{told}. The rest lies between operators, {gap} a call: Python, dispatch, gradients' bookkeeping"
    if total / whole > EXPLAINED[1]:
        return f"{told}. In the program they overlap, are fused, or are called without Python"
    return told
