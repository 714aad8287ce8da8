"""Which CPUs jobs may have: physical cores, their siblings, nodes of memory, and what this process may use of them."""

from __future__ import annotations

import os
from collections.abc import Collection
from itertools import chain
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.parent.workers.machine import ROOT, cpu_quota, cpu_ranges

#: Where the kernel lists the CPUs of one physical core, under its newer and its older name.
SIBLINGS = ("core_cpus_list", "thread_siblings_list")


@dataclass(frozen=True)
class Core:
    """A physical core: those of its CPUs that may be used, and its node of memory, None where it is not known."""

    cpus: tuple[int, ...]
    node: int | None = None


def usable_cores(root: Path = ROOT, usable: Collection[int] | None = None) -> list[Core]:
    """Return the physical cores that have a usable CPU, by default of those that this process may run on."""
    if usable is None:
        usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    cores: dict[tuple[int, ...], Core] = {}
    for cpu in sorted(usable):
        folder = root / f"sys/devices/system/cpu/cpu{cpu}"
        siblings = tuple(one for one in _siblings(folder, cpu) if one in usable)
        nodes = (int(path.name[4:]) for path in folder.glob("node[0-9]*"))
        cores.setdefault(siblings, Core(siblings, next(nodes, None)))
    return list(cores.values())


def leases(cores: list[Core], threads: int, root: Path = ROOT) -> list[tuple[int, ...]]:
    """Return disjoint sets of CPUs, each one CPU of as many physical cores as a job has threads.

    The cores of a set share a node of memory where a node has enough of them. The last cores come first: the first
    ones serve more interrupts. A limit of the control group allows no more CPUs in all than it grants.
    """
    nodes: dict[int | None, list[int]] = {}
    for core in reversed(cores):
        nodes.setdefault(core.node, []).append(core.cpus[0])
    groups = [group for group in nodes.values() if len(group) >= threads] or [[*chain(*nodes.values())]]
    sets = [
        tuple(sorted(group[start : start + threads]))
        for group in groups
        for start in range(0, len(group) - threads + 1, threads)
    ]
    quota = cpu_quota(root)
    return sets if quota is None else sets[: max(1, int(quota / threads))]


def _siblings(folder: Path, cpu: int) -> tuple[int, ...]:
    for name in SIBLINGS:
        try:
            cpus = tuple(chain(*cpu_ranges((folder / "topology" / name).read_text())))
        except OSError:
            continue
        if cpu in cpus:
            return cpus
    return (cpu,)
