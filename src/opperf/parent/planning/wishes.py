"""What a user asks of a fleet; a command that asks nothing of one imports none."""

from __future__ import annotations

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.node import Where
from opperf.domain.plan import MOST
from opperf.parent.sources.options import OnFleet


@dataclass(frozen=True)
class Wishes:
    """What a user asks of a fleet: its engine, which nodes, and on how many machines of each kind."""

    engine: str
    where: str | None = None
    replicate: int | None = None

    def __post_init__(self) -> None:
        if self.replicate is not None and not 1 <= self.replicate <= MOST["processes"]:
            raise InputError(
                f"`--replicate` is {self.replicate}, expected a whole number from 1 to {MOST['processes']}"
            )
        Where.parse(self.where)


def wishes(options: OnFleet) -> Wishes | None:
    """Return the options of a fleet, None without one; raises `InputError` for options that need one."""
    if options.fleet is not None:
        return Wishes(options.fleet, options.where, options.replicate)
    for name, value in (("where", options.where), ("replicate", options.replicate)):
        if value is not None:
            raise InputError(f"`--{name}` needs `--fleet`", hint="name one, for example `--fleet ray://HOST:10001`")
    return None
