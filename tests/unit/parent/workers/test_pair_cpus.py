"""Where both children of a pair are measured, and where they import their frameworks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.plan import Side
from opperf.parent.workers import pair_cpus
from opperf.parent.workers.pair_cpus import BINDING, cpus_ahead, near_cpus, shared_cpus, starting_cpus


@pytest.fixture(autouse=True)
def unbound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing binds threads to CPUs, unless a test does."""
    for name in BINDING:
        monkeypatch.delenv(name, raising=False)


def test_both_sides_share_as_many_cpus_as_the_more_threaded_one_has_threads() -> None:
    usable = sorted(os.sched_getaffinity(0))
    assert shared_cpus(Side("torch"), Side("torch")) == (usable[-1],)
    assert shared_cpus(Side("torch"), Side("torch", threads=2)) == tuple(usable[-2:])


def test_the_cpus_next_to_a_gpu_are_those_that_the_bus_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "sys/bus/pci/devices/0000:9a:00.0"
    place.mkdir(parents=True)
    (place / "local_cpulist").write_text("32-33,96\n")
    places = {"cuda:1": "0000:9a:00.0", "cuda:0": "0000:1b:00.0"}
    monkeypatch.setattr(pair_cpus, "bus_place", lambda side: places.get(side.device))
    near = [near_cpus(Side("torch", device=device), tmp_path) for device in ("cuda:1", "cuda:0", "cpu")]
    assert near == [{32, 33, 96}, set(), set()]


def test_on_a_gpu_they_are_next_to_it_where_those_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(
        pair_cpus, "near_cpus", lambda side: {"cuda:0": frozenset({0, 1}), "cuda:1": frozenset({2, 3})}[side.device]
    )
    first, second = Side("torch", device="cuda:0"), Side("torch", device="cuda:1")
    assert shared_cpus(first, first) == (1,)
    assert starting_cpus(first, first, None) == (0,)
    assert shared_cpus(first, second) == (3,)


@pytest.mark.parametrize(
    ("threads", "chosen", "variables", "nodes", "apart"),
    [
        (1, None, {}, "0000", (2,)),
        (2, None, {}, "0000", (0, 1)),
        (3, None, {}, "0000", None),  # there are not so many others
        (1, (0,), {}, "0000", None),  # the user chose where children run
        (1, None, {"env.OMP_PROC_BIND": "close"}, "0000", None),  # a runtime binds threads to what it sees when loaded
        (1, None, {}, "0001", None),  # what is read at import would lie in another node's memory
    ],
)
def test_the_second_child_imports_on_other_cpus_of_the_same_node(
    threads: int,
    chosen: tuple[int, ...] | None,
    variables: dict[str, str],
    nodes: str,
    apart: tuple[int, ...] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(pair_cpus, "_node", lambda cpu: nodes[cpu])
    new = Side("torch", threads=threads, settings=variables)
    assert starting_cpus(Side("torch"), new, chosen) == apart


def machine(root: Path, siblings: list[str], node_of: str) -> None:
    """Write what a system tells of its CPUs: those of the core of each, and its node of memory."""
    for cpu, (together, node) in enumerate(zip(siblings, node_of)):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}"
        (folder / "topology").mkdir(parents=True)
        (folder / "topology" / "core_cpus_list").write_text(f"{together}\n")
        (folder / f"node{node}").mkdir()


@pytest.mark.parametrize(
    ("siblings", "nodes", "sides", "result"),
    [
        ("0 1 2 3", "0000", [{}], ((3,), (2,), (1,))),
        ("0 1", "00", [{}], ()),  # each pair starts when the one before has ended
        ("0 1 2", "000", [{}], ()),  # nothing is left for all else
        ("0,4 1,5 2,6 3,7 0,4 1,5 2,6 3,7", "00000000", [{}], ((7,), (2,), (1,))),  # never the core's other half
        ("0,1 0,1 2,3 2,3", "0000", [{}], ()),  # four CPUs of two cores
        ("0 1 2 3", "0011", [{}], ()),  # what is read at import would lie in another node's memory
        ("0 1 2 3 4 5 6 7", "00000000", [{}, {"threads": 2}], ((6, 7), (4, 5), (2, 3))),
        ("0 1 2 3", "0000", [{}, {"settings": {"env.OMP_PROC_BIND": "close"}}], ()),
    ],
)
def test_the_children_of_the_next_pair_import_on_cores_that_nobody_needs(
    siblings: str,
    nodes: str,
    sides: list[dict[str, Any]],
    result: tuple[tuple[int, ...], ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    machine(tmp_path, siblings.split(), nodes)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(len(nodes))})
    assert cpus_ahead([Side("torch", **one) for one in sides], tmp_path) == result
