"""What opperf knows of a machine beyond one run: how far identical code moves on it, and how fast it can be."""

from __future__ import annotations

from opperf.domain.floor import Floor
from opperf.domain.peaks import Rate
from opperf.parent.store.machine_file import MachineFile

FLOORS = MachineFile[Floor]("noise floors", "noise", "floors", "opperf noise", Floor.from_json)
RATES = MachineFile[Rate]("measured peaks", "peaks", "rates", "opperf doctor --peaks", Rate.from_json)
