"""Energy of a call, by counters that move by steps: of a processor's packages by the kernel, of a GPU by its driver.

Such a counter tells what a whole package or GPU took, whoever ran there, and it tells so only every millisecond (RAPL)
or every 20 to 100 (NVML). So a reading goes from one step to a later one, over calls enough that the two blocks in
which these steps fell are a small share of it: that share is what the reading does not tell, its resolution.

RAPL is read as the kernel's powercap framework has it (https://docs.kernel.org/power/powercap/powercap.html).
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
from opperf.domain.reason import Warning

POWERCAP = Path("/sys/class/powercap")
#: A reading takes so many steps of the counter at least, so many blocks and so many seconds.
STEPS, BLOCKS, SECONDS = 5, 50, 0.25
#: A counter that does not move for so long, in seconds, counts nothing.
STILL = 2.0
#: What the counters tell at least, in joules: RAPL counts by 61 uJ, or finer, and NVML by 1 mJ.
RAPL_UNIT, NVML_UNIT = 61e-6, 1e-3
#: CPU time of others during a reading that is worth a word, as a share of this process's own.
MOST_OF_OTHERS = 0.05


@dataclass
class Package:
    """The counter of one package, in microjoules; it starts again at zero beyond its range."""

    file: Path
    range: int
    last: int
    total: int = 0

    def read(self) -> int:
        """Read the energy of the package since the first reading, in microjoules."""
        now = int(self.file.read_text())
        self.total += now - self.last if now >= self.last else now - self.last + self.range
        self.last = now
        return self.total


class Rapl:
    """The packages of the machine's processors, together."""

    unit = RAPL_UNIT

    def __init__(self, folder: Path = POWERCAP) -> None:
        """Find them; raises `Unsupported` where there are none, or only root may read them."""
        # `intel-rapl:0:1` is a part of `intel-rapl:0`, and `psys` is the whole machine.
        zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1]
        names = {zone: name for zone in zones if (name := _text(zone / "name")).startswith("package")}
        if not names:
            raise Unsupported(
                f"there is no energy counter of a CPU here: no package in `{folder}/intel-rapl:*`",
                slug="no_meter",
                hint="measure on the machine itself: virtual ones and containers hide RAPL",
            )
        try:
            self._packages = [_package(zone) for zone in names]
        except PermissionError as error:
            raise Unsupported(
                f"only root may read the energy counter of the CPU, `{error.filename}`",
                slug="no_meter",
                hint=f"`sudo chmod a+r {folder}/intel-rapl:*/energy_uj`",
            ) from error
        except (OSError, ValueError) as error:
            raise Unsupported(f"the energy counter of the CPU cannot be read: {error}", slug="no_meter") from error
        self.source = f"RAPL, {' and '.join(names.values())}, whatever runs there"

    def joules(self) -> float:
        """Read the energy of all packages since they were `count`, in joules."""
        return sum(package.read() for package in self._packages) / 1e6


def _package(zone: Path) -> Package:
    file = zone / "energy_uj"
    return Package(file, int((zone / "max_energy_range_uj").read_text()), int(file.read_text()))


def _text(file: Path) -> str:
    with suppress(OSError):
        return file.read_text().strip()
    return ""


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
