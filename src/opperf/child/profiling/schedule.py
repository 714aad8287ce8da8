"""Which steps of a program are profiled: some are passed over, some warm up, some count."""

from __future__ import annotations

from dataclasses import dataclass

from opperf.domain.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Passes over `skip` steps, then watches `warmup` steps for nothing and `active` ones that count, `repeat` times.

    `repeat=None` goes on to the end. What a profiler sets up at first is seen in the steps that do not count.

    >>> [Schedule(skip=1, warmup=1, active=2).phase(step) for step in range(5)]
    ['off', 'warm', 'on', 'on', 'off']
    """

    skip: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int | None = 1

    def __post_init__(self) -> None:
        for name, least in (("skip", 0), ("warmup", 0), ("active", 1), ("repeat", 1)):
            value = getattr(self, name)
            if value is None and name == "repeat":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"`{name}` of a schedule is {value!r}, expected a whole number >= {least}", slug="bad_schedule"
                )

    def phase(self, step: int) -> str:
        """Return whether a step is `off`, `warm` or `on`; steps count from zero."""
        length = self.warmup + self.active
        turn, place = divmod(step - self.skip, length)
        if turn < 0 or (self.repeat is not None and turn >= self.repeat):
            return "off"
        return "warm" if place < self.warmup else "on"
