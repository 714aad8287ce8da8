"""Earlier measurements of this machine: its noise floors and its peak rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time

from opperf.domain.files.destination import ensure_private
from opperf.domain.peaks import Rate
from opperf.parent.documents.floor import Floor
from opperf.parent.store.machine_file import EFFECTS, FLOORS, RATES
from opperf.parent.workers import canaries, machine
from opperf.parent.workers.contention import Effect
from opperf.parent.workers.package import cache_folder

#: Seconds between two printings of one reminder.
DAY = 86_400


def stored_floors() -> dict[tuple[object, ...], Floor]:
    """Return the noise floors that `opperf noise` measured on this machine."""
    return FLOORS.read(FLOORS.path(cache_folder(), machine.facts()))


def stored_rates() -> tuple[Rate, ...]:
    """Return how fast copies and products ran that `opperf doctor --peaks` measured on this machine."""
    return tuple(RATES.read(RATES.path(cache_folder(), machine.facts())).values())


def is_due(reminder: str) -> bool:
    """Whether to print a reminder: once a day, which a file in the cache remembers; without a cache, each time."""
    file = cache_folder() / "reminders" / reminder
    try:
        if file.exists() and 0 <= time() - file.stat().st_mtime < DAY:
            return False
        ensure_private(file.parent)
        file.touch()
    except OSError:
        return True
    return True


def stored_effects(jobs: int) -> list[Effect]:
    """Return how far so many jobs disturb each other, where that was measured on this machine."""
    stored = EFFECTS.read(EFFECTS.path(cache_folder(), machine.facts())).values()
    before = [effect for effect in stored if effect.jobs == jobs]
    # Files of older versions have no rates.
    return before if any(effect.rate for effect in before) else []


def effects(leases: Sequence[tuple[int, ...]], note: Callable[[str], None]) -> list[Effect]:
    """Return how far as many jobs as leases disturb each other; measured once for each machine, when it is idle."""
    jobs = len(leases)
    path = EFFECTS.path(cache_folder(), machine.facts())
    before = stored_effects(jobs)
    if not before:
        note(f"measuring once how far {jobs} jobs disturb each other on this machine")
        before, idle = canaries.measure(leases)
        if idle:
            EFFECTS.add(path, before)
        else:
            note(
                "note: other work runs on this machine, so this will be measured again; wait for it to end, to be sure"
            )
    return before
