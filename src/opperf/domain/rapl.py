"""The energy counters of the machine's processors, by which children measure, and which the parent looks for first.

They are read as the kernel's powercap framework has them (https://docs.kernel.org/power/powercap/powercap.html).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from opperf.domain.backend import Unsupported
from opperf.domain.dataclass import dataclass
from opperf.domain.metric import NO_METER

POWERCAP = Path("/sys/class/powercap")
#: What a counter tells at least, in joules: 61 uJ, or less.
RAPL_UNIT = 61e-6


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

    def __init__(self, folder: Path | None = None) -> None:
        """Find them; raises `Unsupported` where there are none, or only root may read them."""
        folder = folder or POWERCAP
        # `intel-rapl:0:1` is a part of `intel-rapl:0`, and `psys` is the whole machine.
        zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1]
        names = {zone: name for zone in zones if (name := _text(zone / "name")).startswith("package")}
        if not names:
            raise Unsupported(
                f"there is no energy counter of a CPU here: no package in `{folder}/intel-rapl:*`",
                slug=NO_METER,
                hint="measure on the machine itself: virtual ones and containers hide RAPL",
            )
        try:
            self._packages = [_package(zone) for zone in names]
        except PermissionError as error:
            raise Unsupported(
                f"only root may read the energy counter of the CPU, `{error.filename}`",
                slug=NO_METER,
                hint=f"`sudo chmod a+r {folder}/intel-rapl:*/energy_uj`",
            ) from error
        except (OSError, ValueError) as error:
            raise Unsupported(f"the energy counter of the CPU cannot be read: {error}", slug=NO_METER) from error
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
