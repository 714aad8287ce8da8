"""Two profiles beside each other, operator by operator: what became slower, what is gone, and what is new."""

from __future__ import annotations

from dataclasses import dataclass

from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import Row, rows


@dataclass(frozen=True)
class Change:
    """One row in both profiles; None where one of them has none such. Times are seconds."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    before: Row | None
    after: Row | None

    @property
    def difference(self) -> float:
        """How much more time its calls took by themselves."""
        earlier, later = (0.0 if row is None else row.own for row in (self.before, self.after))
        return later - earlier

    @property
    def ratio(self) -> float | None:
        """The later time by itself over the earlier; None where there is none to compare."""
        if self.before is None or self.after is None or not self.before.own:
            return None
        return self.after.own / self.before.own

    @property
    def ratio_of_call(self) -> float | None:
        """The same of one call: half of the calls took no longer, which a few disturbed ones do not move."""
        if self.before is None or self.after is None or not self.before.p50:
            return None
        return self.after.p50 / self.before.p50


def changes(before: Profile, after: Profile, by: str = "name") -> tuple[Change, ...]:
    """Return a change for each row of either, what differs most first; raises `InputError` for an unknown grouping."""
    earlier, later = ({_key(row, by): row for row in rows(one, by)} for one in (before, after))
    result = [Change(key[0], key[1], earlier.get(key), later.get(key)) for key in {**earlier, **later}]
    return tuple(sorted(result, key=lambda change: (-abs(change.difference), change.name)))


def _key(row: Row, by: str) -> tuple[str, tuple[tuple[int, ...], ...], bool]:
    # Modules have a row for the forward and one for the backward.
    return row.name, row.shapes, by == "module" and row.backward
