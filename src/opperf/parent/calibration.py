"""Earlier measurements of this machine: its noise floors and its peak rates."""

from __future__ import annotations

from opperf.domain.floor import Floor
from opperf.domain.peaks import Rate
from opperf.parent.store.machine_file import FLOORS, RATES
from opperf.parent.workers import machine
from opperf.parent.workers.package import cache_folder


def stored_floors() -> dict[tuple[object, ...], Floor]:
    """Return the noise floors that `opperf noise` measured on this machine."""
    return FLOORS.read(FLOORS.path(cache_folder(), machine.facts()))


def stored_rates() -> tuple[Rate, ...]:
    """Return how fast copies and products ran that `opperf doctor --peaks` measured on this machine."""
    return tuple(RATES.read(RATES.path(cache_folder(), machine.facts())).values())
