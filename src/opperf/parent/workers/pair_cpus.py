"""Which CPUs a pair of children is measured on, and on which its children import: in their turn, or ahead of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from opperf.domain.plan import Side
from opperf.parent.workers.machine import ROOT
from opperf.parent.workers.topology import leases, usable_cores

#: Sets of cores for a pair, for either child of the next and for all else, each with one for each thread of a child.
CORE_SETS = 4
#: Variables that bind threads to the CPUs that a runtime sees when it is loaded.
BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY")


def shared_cpus(base: Side, new: Side) -> tuple[int, ...] | None:
    """Return the CPUs that both sides stay on: as many as the more threaded one has threads, the last ones there are.

    On CPUs of their own, two identical children met different neighbours: their log-ratios spread by up to 22 %. The
    first CPUs serve more interrupts than the last.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    return tuple(usable[-max(base.threads, new.threads) :])


def starting_cpus(base: Side, new: Side, cpus: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the CPUs that the second child imports its framework on, before it joins the first; None for the same.

    Importing a framework is most of the time of a pair, and no part of what is measured. A framework counts its CPUs
    at import, so they are as many as those of the comparison, and next to them: what is read then lies in the memory
    of the same node. Where the user chose CPUs, or binds threads to them, a child starts where it stays.
    """
    count = max(base.threads, new.threads)
    if cpus is not None or _binds(base, new) or not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    apart = usable[-2 * count : -count]
    if len(apart) < count or len({_node(cpu) for cpu in usable[-2 * count :]}) > 1:
        return None
    return tuple(apart)


def _node(cpu: int) -> str | None:
    """Return the node of memory that a CPU belongs to, None where the system does not tell."""
    return next((path.name for path in Path(f"/sys/devices/system/cpu/cpu{cpu}").glob("node[0-9]*")), None)


def cpus_ahead(sides: Sequence[Side], root: Path = ROOT) -> tuple[tuple[int, ...], ...]:
    """Return the CPUs of a pair of these sides, and those on which either child of the next may import meanwhile.

    They are on physical cores of their own, of the same node of memory, with one left for all other work. There
    are none with fewer than four, or where threads are bound to CPUs.
    """
    widest = max(sides, key=lambda side: side.threads)
    measured, threads = shared_cpus(widest, widest), widest.threads
    if measured is None or _binds(*sides):
        return ()
    cores = usable_cores(root)
    own = [core for core in cores if {*core.cpus} & {*measured}]
    free = [core for core in cores if core not in own and core.node == own[0].node]
    apart = leases(free, threads, root)
    if len(leases(cores, threads, root)) < CORE_SETS or len(apart) < CORE_SETS - 1:
        return ()
    return (measured, *apart[:2])


def _binds(*sides: Side) -> bool:
    """Whether threads stay on the CPUs that a runtime sees when it is loaded."""
    return any(name in {**os.environ, **side.variables} for side in sides for name in BINDING)
