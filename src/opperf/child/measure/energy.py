"""Energy of a call, by counters that move by steps: of a processor's packages by the kernel, of a GPU by its driver.

Such a counter tells what a whole package or GPU took, whoever ran there, and it tells so only every millisecond (RAPL)
or every 20 to 100 (NVML). So a reading goes from one step to a later one, over calls enough that the two blocks in
which these steps fell are a small share of it: that share is what the reading does not tell, its resolution.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from opperf.child.measure.block import Block
from opperf.child.measure.gpu import LIBRARY, Gpu, gpu_of
from opperf.domain.backend import Unsupported
from opperf.domain.clock import EnergyMeter
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Quantity
from opperf.domain.rapl import Rapl
from opperf.domain.reason import Warning

#: A reading takes so many steps of the counter at least, so many blocks and so many seconds.
STEPS, BLOCKS, SECONDS = 5, 50, 0.25
#: A counter that does not move for so long, in seconds, counts nothing.
STILL = 2.0
#: What NVML tells at least, in joules.
NVML_UNIT = 1e-3
#: CPU time of others during a reading that is worth a word, as a share of this process's own.
MOST_OF_OTHERS = 0.05


class Nvml:
    """A GPU, by the library of its driver."""

    source, unit = "NVML, whatever runs on the GPU", NVML_UNIT

    def __init__(self, gpu: Gpu) -> None:
        """Take a GPU; raises `Unsupported` where it does not tell its energy."""
        self._gpu, self._last = gpu, 0.0
        if gpu.energy() is None:
            message = "the GPU does not tell its energy: NVML knows that of Volta and later"
            raise Unsupported(message, slug="no_meter")

    def joules(self) -> float:
        """Read the energy of the GPU since its driver was loaded; for a moment without an answer, what it was."""
        millijoules = self._gpu.energy()
        if millijoules is not None:
            self._last = millijoules / 1e3
        return self._last


def meter_of(device: str) -> EnergyMeter:
    """Return the counter of a device as frameworks name it; raises `Unsupported` where there is none."""
    if device == "cpu":
        return Rapl()
    gpu = gpu_of(device)
    if gpu is None:
        message = f"there is no energy counter of `{device}` here: NVML (`{LIBRARY}`) does not know it"
        raise Unsupported(message, slug="no_meter")
    return Nvml(gpu)


@dataclass(frozen=True)
class Reading:
    """The energy of one call, how it was read, and the doubts about it."""

    energy: Quantity
    facts: dict[str, object]
    warnings: tuple[Warning, ...]


def read(block: Block, calls: int, meter: EnergyMeter, wall: Callable[[], int]) -> Reading:
    """Call until the meter has told enough; raises `Unsupported` where it stands still."""

    def step() -> tuple[int, float]:
        """Call until the counter moves; return the number of calls, and what it says then."""
        count, since, before = 0, wall(), meter.joules()
        while (now := meter.joules()) == before:
            if wall() - since > STILL * 1e9:
                raise Unsupported(f"the energy counter stands still ({meter.source})", slug="no_meter")
            block.run(calls)
            count += calls
        return count, now

    _, first = step()
    began, busy = wall(), _busy()
    count, _ = step()
    length = wall() - began
    while wall() - began < max(SECONDS * 1e9, STEPS * length) or count < BLOCKS * calls:
        block.run(calls)
        count += calls
    more, last = step()
    count, seconds = count + more, (wall() - began) / 1e9
    resolution = calls / count + meter.unit / (last - first)
    facts: dict[str, object] = {"joules": last - first, "seconds": seconds, "calls": count, "resolution": resolution}
    energy = Quantity((last - first) / count, meter.source, resolution)
    return Reading(energy, facts, tuple(_others(busy, _busy()) if isinstance(meter, Rapl) else ()))


def _busy(file: Path = Path("/proc/stat")) -> tuple[float, float]:
    """Return the CPU seconds of the whole machine, and those of this process."""
    with suppress(OSError, ValueError, IndexError):
        # "cpu  user nice system idle iowait irq softirq steal ...", in ticks
        words = [int(word) for word in file.read_text().partition("\n")[0].split()[1:8]]
        times = os.times()
        return (sum(words) - words[3] - words[4]) / os.sysconf("SC_CLK_TCK"), times.user + times.system
    return 0.0, 0.0


def _others(before: Sequence[float], after: Sequence[float]) -> list[Warning]:
    """Return the warning for others that worked while energy was read.

    >>> [one.message for one in _others((10.0, 1.0), (12.0, 2.0))]
    ['others took 1.0 s of CPU time while this process took 1.0 s: their energy is in that of the call']
    """
    machine, process = (late - early for early, late in zip(before, after))
    others = machine - process
    if others <= MOST_OF_OTHERS * process:
        return []
    text = f"others took {others:.1f} s of CPU time while this process took {process:.1f} s"
    hint = "compare on a machine that does nothing else"
    return [Warning("energy_of_others", f"{text}: their energy is in that of the call", hint)]
