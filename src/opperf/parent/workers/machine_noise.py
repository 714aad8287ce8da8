"""Read the signs of noise on this machine: its settings, its load, and what a short watch of the clock shows."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import psutil

from opperf.domain.files.json_text import JsonDict
from opperf.domain.reason import Warning
from opperf.parent.documents.machine_signs import Signs, judge
from opperf.parent.workers.machine import ROOT, ask, memory_facts, processor_facts

#: How long `noise` watches by default. Seconds: 25 ticks of the clock that steal time is counted in.
PROBE = 0.25
#: A gap between two readings of the clock over this many seconds means that something else ran; one is 50-100 ns.
GAP = 20e-6


def noise(seconds: float = PROBE, root: Path = ROOT) -> list[Warning]:
    """Return the sources of noise on this machine, each with a remedy; keeps one core busy for `seconds`."""
    return judge(signs(seconds, root))


def signs(seconds: float = PROBE, root: Path = ROOT) -> Signs:
    """Read the state of the machine."""
    # Before the watch, which is a load of its own.
    load = ask(lambda: os.getloadavg()[0])
    stolen, pauses = _watch(seconds)
    facts = facts_of_noise(root)
    return Signs(cores=os.cpu_count() or 1, load=load, stolen=stolen, pauses=pauses, **facts)


def facts_of_noise(root: Path = ROOT) -> JsonDict:
    """Return the facts that `judge` looks at."""
    facts = {**processor_facts(root), **memory_facts(root)}
    names = ("governor", "turbo", "smt", "huge_pages", "isolated_cpus", "cpu_limit", "swap_used", "hypervisor")
    return {name: facts[name] for name in names}


def _watch(seconds: float) -> tuple[float | None, float | None]:
    """Keep one core busy, and return the shares of CPU time stolen and of wall time taken away."""
    before = ask(psutil.cpu_times)
    clock = time.perf_counter
    start = last = clock()
    loss = 0.0
    while last - start < seconds:
        now = clock()
        if now - last > GAP:
            loss += now - last
        last = now
    after = ask(psutil.cpu_times)
    pauses = loss / (last - start) if last > start else None
    return ask(lambda: _stolen_share(before, after)), pauses


def _stolen_share(before: Any, after: Any) -> float | None:
    if before is None or after is None:
        return None
    # Up to steal: the guest times that follow are inside user time.
    ticks = sum(after[:8]) - sum(before[:8])
    return (after.steal - before.steal) / ticks if ticks > 0 else None
