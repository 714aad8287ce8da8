"""A program's operators, measured by themselves: what all calls of each take, and its share of the whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from opperf.domain.record import Record


def with_shares(records: Sequence[Record]) -> list[Record]:
    """Return the records of a suite, in their order, each with the fact `suite` where it was measured.

    It holds the seconds of all calls (`total`), their `share` of the sum over the records of the same side, and
    `cumulative`, the share of those that take as much or more.
    """
    sides: dict[object, list[Record]] = defaultdict(list)
    for record in records:
        if record.total is not None:
            sides[_whole(record)].append(record)
    shares = {key: facts for several in sides.values() for key, facts in _shares(several)}
    return [
        replace(record, facts={**record.facts, "suite": shares[record.trial.key]})
        if record.trial.key in shares
        else record
        for record in records
    ]


def _whole(record: Record) -> object:
    """Return what a record is a part of: its side, whatever spells its operator."""
    return replace(record.trial.side, implementation=None).key


def _shares(records: Iterable[Record]) -> Iterable[tuple[object, dict[str, float]]]:
    costs = sorted(((record.total or 0.0, record.trial.key) for record in records), key=lambda cost: -cost[0])
    whole = sum(total for total, _ in costs)
    so_far = 0.0
    for total, key in costs:
        so_far += total
        yield key, {"total": total, "share": total / whole, "cumulative": so_far / whole}
