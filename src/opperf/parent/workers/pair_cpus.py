"""Which CPUs a pair of children is measured on, and on which its children import: in their turn, or ahead of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from opperf.domain.plan import Side
from opperf.parent.workers.gpus import bus_place
from opperf.parent.workers.machine import ROOT, cpu_ranges
from opperf.parent.workers.topology import leases, usable_cores

#: Sets of cores for a pair, for either child of the next and for all else, each with one for each thread of a child.
CORE_SETS = 4
#: Variables that bind threads to the CPUs that a runtime sees when it is loaded.
BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY")


def shared_cpus(base: Side, new: Side) -> tuple[int, ...] | None:
    """Return the CPUs that both sides stay on: as many as the more threaded one has threads, the last ones there are.

    On a GPU they are the last of those next to it: from the others each launch goes through the link between sockets.
    On CPUs of their own, two identical children met different neighbours: their log-ratios spread by up to 22 %. The
    first CPUs serve more interrupts than the last.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    return tuple(_usable(base, new)[-max(base.threads, new.threads) :])


def starting_cpus(base: Side, new: Side, cpus: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the CPUs that the second child imports its framework on, before it joins the first; None for the same.

    Importing a framework is most of the time of a pair, and no part of what is measured. A framework counts its CPUs
    at import, so they are as many as those of the comparison, and next to them: what is read then lies in the memory
    of the same node. Where the user chose CPUs, or binds threads to them, a child starts where it stays.
    """
    count = max(base.threads, new.threads)
    if cpus is not None or _binds(base, new) or not hasattr(os, "sched_getaffinity"):
        return None
    usable = _usable(base, new)
    apart = usable[-2 * count : -count]
    if len(apart) < count or len({_node(cpu) for cpu in usable[-2 * count :]}) > 1:
        return None
    return tuple(apart)


def _usable(base: Side, new: Side) -> list[int]:
    """Return the CPUs that this process may use, in order: those next to the GPUs of both sides, if they are enough."""
    usable = sorted(os.sched_getaffinity(0))
    places = [cpus for side in (base, new) if (cpus := near_cpus(side))]
    near = [cpu for cpu in usable if all(cpu in cpus for cpus in places)]
    return near if len(near) >= max(base.threads, new.threads) else usable


def near_cpus(side: Side, root: Path = ROOT) -> frozenset[int]:
    """Return the CPUs next to a side's GPU; none where nobody tells, and for any other device."""
    place = bus_place(side)
    with suppress(OSError):
        text = "" if place is None else (root / "sys/bus/pci/devices" / place / "local_cpulist").read_text()
        return frozenset(chain.from_iterable(cpu_ranges(text)))
    return frozenset()


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
