"""How busy a machine was with what opperf had not started, and from when on that is worth a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject

#: The load of other programs, as a share of the CPUs, beyond which times are longer and less certain.
CROWDED = 0.5


@dataclass(frozen=True)
class Load:
    """A load average over a minute, how much of it was not opperf's own, and the CPUs that it is on."""

    average: float
    others: float
    cpus: int

    @property
    def is_crowded(self) -> bool:
        """Whether other programs took much of the machine."""
        return self.others > self.cpus * CROWDED

    def __str__(self) -> str:
        return f"{self.average:.1f} on {self.cpus} CPU{'' if self.cpus == 1 else 's'}"


def load_of(machine: Mapping[str, object], busy_jobs: int) -> Load | None:
    """Return the load among the facts of a machine: before measuring, or after that, whichever was more.

    After it, `busy_jobs` is what opperf itself kept busy: the CPUs that its jobs take. A fact is a list of the averages
    over one, five and fifteen minutes; None is returned where it is not known.

    >>> str(load_of({"cores_logical": 2, "load": [0.1, 0, 0], "load_after": [25.3, 9, 3]}, busy_jobs=1))
    '25.3 on 2 CPUs'
    """
    cpus = machine.get("cores_logical")
    loads = [
        Load(average, max(0.0, average - busy), cpus)
        for name, busy in (("load", 0), ("load_after", busy_jobs))
        if isinstance(cpus, int) and (average := _last_minute(machine.get(name))) is not None
    ]
    return max(loads, key=lambda load: load.others, default=None)


def with_highest_load(machine: JsonObject, machines: Sequence[JsonObject]) -> JsonObject:
    """Return facts of a machine with the load over several runs of one command, in their order.

    Before the first of them nothing of it was opperf's own.
    """
    after = [one["load_after"] for one in machines if _last_minute(one.get("load_after")) is not None]
    highest = max(after, key=lambda load: _last_minute(load) or 0.0, default=None)
    return {**machine, "load": machines[0].get("load"), "load_after": highest}


def _last_minute(load: object) -> float | None:
    average = load[0] if isinstance(load, (list, tuple)) and load else load
    return float(average) if isinstance(average, (int, float)) and not isinstance(average, bool) else None
