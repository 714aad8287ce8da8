"""Joules of a call, by counters in a tree as the kernel's, a library as NVML, and one on a virtual clock."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.child.measure.test_gpu import Library

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure import energy
from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.gpu import Gpu
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.plan import Settings, Side
from opperf.domain.rapl import Rapl

RANGE = 1_000_000


def zone(folder: Path, name: str, label: str, microjoules: int) -> Path:
    """Make a zone of the powercap tree; return the file of its counter."""
    place = folder / name
    place.mkdir(parents=True)
    (place / "name").write_text(f"{label}\n")
    (place / "max_energy_range_uj").write_text(f"{RANGE}\n")
    (place / "energy_uj").write_text(f"{microjoules}\n")
    return place / "energy_uj"


def test_packages_are_summed_and_neither_their_parts_nor_the_whole_machine_are(tmp_path: Path) -> None:
    first, second = (zone(tmp_path, f"intel-rapl:{i}", f"package-{i}", 100) for i in (0, 1))
    others = zone(tmp_path, "intel-rapl:0:0", "core", 0), zone(tmp_path, "intel-rapl:2", "psys", 0)
    meter = Rapl(tmp_path)
    for file, microjoules in ((first, 350_100), (second, 200_100), *((other, 900_000) for other in others)):
        file.write_text(str(microjoules))
    assert meter.joules() == pytest.approx(0.55)
    assert meter.source == "RAPL, package-0 and package-1, whatever runs there"


def test_a_counter_that_starts_again_goes_on_where_it_was(tmp_path: Path) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", RANGE - 300)
    meter = Rapl(tmp_path)
    for microjoules in (RANGE - 100, 400, 500):
        file.write_text(str(microjoules))
        meter.joules()
    assert meter.joules() == pytest.approx(800e-6)


def test_a_machine_without_packages_says_what_was_looked_for(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "psys", 0)
    with pytest.raises(Unsupported, match=f"no package in `{tmp_path}/intel-rapl:"):
        Rapl(tmp_path)


def test_a_counter_that_only_root_may_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", 0)
    read = Path.read_text

    def refuse(path: Path, *arguments: Any, **words: Any) -> str:
        if path == file:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **words)

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(Unsupported, match=f"only root may read the energy counter of the CPU, `{file}`") as refused:
        Rapl(tmp_path)
    assert refused.value.hint == f"`sudo chmod a+r {tmp_path}/intel-rapl:*/energy_uj`"


def test_a_gpu_tells_its_energy_in_joules_and_what_it_last_told_where_it_does_not_answer() -> None:
    library = Library(TotalEnergyConsumption=2_500)
    meter = energy.Nvml(Gpu(library, "1"))
    assert meter.joules() == 2.5
    library.answers.clear()
    assert meter.joules() == 2.5


def test_a_gpu_that_is_too_old_has_no_energy() -> None:
    with pytest.raises(Unsupported, match="Volta and later"):
        energy.Nvml(Gpu(Library(), "1"))


def test_a_device_that_the_driver_does_not_know_says_what_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(energy, "gpu_of", lambda device: None)
    with pytest.raises(Unsupported, match=r"no energy counter of `cuda:0` here: NVML \(`libnvidia-ml"):
        energy.meter_of("cuda:0")


def work(backend: NullBackend) -> Work:
    """Calls of 100 us each on the virtual clock."""
    return backend.forward(Bound(backend.resolve("steady"), ()))


def test_the_joules_of_a_call_are_exact_where_a_step_ends_with_a_block() -> None:
    backend = NullBackend(Side("null", settings={"power": "65"}))
    measured = Engine(backend, NoCounters()).measure(work(backend), Settings(runs=2, metric="energy"), output_bytes=0)
    level = measured.level("energy")
    assert level is not None
    assert level.value == pytest.approx(65 * 100e-6)
    assert measured.facts["energy"]["calls"] * level.value == pytest.approx(measured.facts["energy"]["joules"])
    assert measured.facts["energy"]["seconds"] >= energy.SECONDS
    assert level.resolution == pytest.approx(5 / measured.facts["energy"]["calls"])


def test_energy_is_measured_where_it_is_asked_for_alone() -> None:
    backend = NullBackend(Side("null", settings={"power": "65"}))
    assert (
        Engine(backend, NoCounters()).measure(work(backend), Settings(runs=2), output_bytes=0).level("energy") is None
    )


def test_a_side_without_a_counter_is_measured_all_the_same_and_says_why() -> None:
    backend = NullBackend(Side("null"))
    measured = Engine(backend, NoCounters()).measure(work(backend), Settings(runs=2, metric="energy"), output_bytes=0)
    assert (len(measured.time.samples), measured.level("energy")) == (2, None)
    assert [one.slug for one in measured.warnings] == ["no_meter"]


def test_a_counter_that_stands_still_counts_nothing() -> None:
    backend = NullBackend(Side("null", settings={"power": "0"}))
    block = Block(work(backend), backend, NoCounters())
    with pytest.raises(Unsupported, match="stands still"):
        energy.read(block, 5, backend.energy_meter(), backend.clock.wall)


@pytest.mark.parametrize(("others", "slugs"), [(0.01, []), (1.5, ["energy_of_others"])])
def test_work_of_others_is_in_the_reading_and_told(others: float, slugs: list[str]) -> None:
    assert [one.slug for one in energy._others((10.0, 3.0), (12.0 + others, 5.0))] == slugs


def test_the_machine_is_as_busy_as_the_kernel_says(tmp_path: Path) -> None:
    file = tmp_path / "stat"
    file.write_text("cpu  100 20 30 4000 50 6 7 8 9 10\ncpu0 1 2 3\n")
    ticks = os.sysconf("SC_CLK_TCK")
    assert energy._busy(file)[0] == pytest.approx((100 + 20 + 30 + 6 + 7) / ticks)
    assert energy._busy(tmp_path / "missing") == (0.0, 0.0)
