"""Who is fastest: the sides of a run beside each other, where one case was measured on several frameworks.

Times of processes that ran one after the other differ by what the machine did meanwhile: sides that are within
`ALIKE` of each other are said to be alike, and what decides is `opperf compare`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from opperf.domain.record import Record
from opperf.domain.units import format_factor, format_seconds
from opperf.parent.reports.text import short_text, subject

#: Times of one case within this share of the fastest are alike: as much lay between processes of identical code.
ALIKE = 0.10
#: More cases than these are counted instead of named.
MOST_CASES = 5


def fastest(records: Sequence[Record]) -> list[str]:
    """Say which framework is fastest in each case and direction, and how much longer the others take."""
    cases: dict[tuple[object, ...], dict[str, float]] = {}
    names: dict[tuple[object, ...], str] = {}
    types: dict[tuple[object, ...], dict[str, str]] = {}
    cases_differ = len({record.trial.case for record in records}) > 1
    for record in records:
        trial = record.trial
        if record.time is None or not record.time.value > 0:
            continue
        key = trial.case.id, trial.direction
        inputs = [short_text(trial.case)] if cases_differ else []
        names[key] = " ".join([subject(trial.case, trial.side), trial.direction, *inputs])
        if result_types := _types(record):
            types.setdefault(key, {})[trial.side.framework] = result_types
        times = cases.setdefault(key, {})
        times[trial.side.framework] = min(record.time.value, times.get(trial.side.framework, record.time.value))
    compared = {key: times for key, times in cases.items() if len(times) > 1}
    if not compared:
        return []
    if len(compared) > MOST_CASES:
        counts = Counter(framework for times in compared.values() for framework in _first(times))
        ranks = ", ".join(f"{framework} in {count}" for framework, count in counts.most_common())
        return [f"fastest or within {ALIKE:.0%} of it, of {len(compared)} cases: {ranks}"]
    return [
        f"fastest: {names[key]}: {_places(times)}{_other_types(types.get(key, {}))}" for key, times in compared.items()
    ]


def _types(record: Record) -> str:
    """Return the element types of what a call returns, as `float32, int64`; nothing where they are not known."""
    results = record.facts.get("results")
    return ", ".join(str(one).partition(" ")[0] for one in results) if isinstance(results, (list, tuple)) else ""


def _other_types(types: Mapping[str, str]) -> str:
    """Say which framework returns what, where they return elements of different types: not all do the same work."""
    if len({*types.values()}) < 2:
        return ""
    return f"; not the same work: {', '.join(f'{framework} returns {text}' for framework, text in types.items())}"


def _first(times: dict[str, float]) -> list[str]:
    """Return the fastest, and those that are alike."""
    return [framework for framework, time in times.items() if time <= min(times.values()) * (1 + ALIKE)]


def _places(times: dict[str, float]) -> str:
    """Write the fastest with its time, and others by how many times as long they take."""
    least = min(times.values())
    first, *others = sorted(times, key=lambda framework: times[framework])
    alike = _first(times)
    words = [
        f"{one} about as fast" if one in alike else f"{one} takes {format_factor(times[one] / least, 2)} times as long"
        for one in others
    ]
    return ", ".join([f"{first} {format_seconds(least)}", *words])
