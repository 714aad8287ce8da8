"""What the operators of a suite amount to, beside the time of the program that they were captured from.

A program is more than what was measured of it: calls that failed or were not chosen, calls that no suite can hold, and
what lies between operators. Each is named, so that no part of the program is taken for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opperf.domain.suite import LeftOut, Suite
from opperf.domain.units import format_seconds
from opperf.parent.reports.columns import framework

if TYPE_CHECKING:
    from opperf.domain.record import Record, Run

#: Within these shares of the program's own time its operators explain it.
EXPLAINED = (0.7, 1.3)
#: So many reasons of what was left out are listed, those of the most calls first.
REASONS = 5


def lines(run: Run) -> list[str]:
    """Return a line for each side of a run of a suite, and what the suite left out; none for another run."""
    suite = run.suite
    if suite is None:
        return []
    sides: dict[str, list[Record]] = {}
    for record in run.records:
        side = record.trial.side
        words: tuple[str, ...] = (framework(record), side.device, side.mode, f"threads {side.threads}")
        if "merged" in run.environment:
            words += (f"run of {getattr(record.known.run, 'started', None)}",)
        sides.setdefault(", ".join(words), []).append(record)
    measured = [_line(name, records, suite) for name, records in sides.items() if any(r.total for r in records)]
    return [*measured, *_reasons(suite)] if measured else []


def _line(name: str, records: Sequence[Record], suite: Suite) -> str:
    """Say what the calls of one side take together, and how that compares with the program."""
    measured = [record for record in records if record.total is not None]
    calls = sum(record.trial.count for record in measured)
    total = sum(record.total or 0.0 for record in measured)
    lacking = sum(one.count for one in suite.left_out)
    everything = sum(record.trial.count for record in records) + lacking
    how = ", unfused," if suite.source.endswith(", unfused") else ""
    told = f"{name}: {calls} of {everything} calls{how} take {format_seconds(total)} by themselves, with warm caches"
    if lacking:
        told += f"; {lacking} are left out of the suite, {_took(suite.left_out)}"
    program = suite.program
    if program is None or not program.time:
        return told
    whole = program.time
    told += (
        f"; `{suite.name}` took {format_seconds(whole)} when it was captured ({program.framework} "
        f"{program.version}, threads {program.threads}): {total / whole:.2f} of it"
    )
    if total / whole > EXPLAINED[1]:
        return f"{told}. In the program they overlap, are fused, or are called without Python"
    if total / whole >= EXPLAINED[0]:
        return told
    return f"{told}. {_rest(whole - total, calls, everything - calls - lacking, lacking)}"


def _took(left_out: Sequence[LeftOut]) -> str:
    """Say what calls took that were left out, as far as somebody recorded it."""
    known = [one.recorded for one in left_out if one.recorded is not None]
    if not known:
        return "their time unknown"
    some = "" if len(known) == len(left_out) else "those of known time "
    return f"{some}{format_seconds(sum(known))} when they were recorded"


def _rest(seconds: float, calls: int, unmeasured: int, lacking: int) -> str:
    """Say what the rest of a program's time is: calls that were not measured, and what lies between operators."""
    between = "between operators: Python, dispatch, gradients' bookkeeping, cold caches"
    if not unmeasured and not lacking:
        gap = format_seconds(seconds / max(1, calls))
        return f"The rest lies {between.replace(':', f', {gap} a call:')}"
    parts = [f"the {lacking} calls that are left out"] * bool(lacking)
    parts += [f"{unmeasured} calls that were not measured"] * bool(unmeasured)
    return f"The rest, {format_seconds(seconds)}, is {', '.join(parts)}, and what lies {between}"


def _reasons(suite: Suite) -> list[str]:
    """Say what was left out of a suite and why, with its time in the program where that is known."""
    several = sorted(suite.left_out, key=lambda one: -one.count)
    told = []
    for one in several[:REASONS]:
        took = "" if one.recorded is None else f", {format_seconds(one.recorded)} when it was recorded"
        told.append(f"left out: {one.count} x {one.name}{took}: {one.reason}")
    rest = sum(one.count for one in several[REASONS:])
    return [*told, *([f"left out: {rest} more calls, which the suite names"] if rest else [])]
