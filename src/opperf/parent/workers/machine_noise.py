"""What makes this machine a noisy one: the signs of it, and the doubt that each is worth, with a remedy."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from opperf.domain.reason import Warning
from opperf.parent.workers.machine import ROOT, ask, memory_facts, processor_facts

#: How long `noise` watches by default. Seconds: 25 ticks of the clock that steal time is counted in.
PROBE = 0.25
#: The share of the watched time that may be taken away before it is worth a warning.
TAKEN_LIMIT = 0.01
#: A gap between two readings of the clock over this many seconds means that something else ran; one is 50-100 ns.
GAP = 20e-6


@dataclass(frozen=True)
class Signs:
    """The state of a machine that noise is judged by; None is unknown.

    `taken` and `stolen` are shares of a short watch: of wall time in which a busy loop did not run, and of CPU time
    that the hypervisor gave to others.
    """

    cores: int
    load: float | None = None
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    huge_pages: str | None = None
    isolated_cpus: str | None = None
    cpu_limit: float | None = None
    swap_used: int | None = None
    hypervisor: bool | None = None
    stolen: float | None = None
    pauses: float | None = None


def noise(seconds: float = PROBE, root: Path = ROOT) -> list[Warning]:
    """Return what makes this machine a noisy one, each with a remedy; keeps one core busy for `seconds`."""
    return judge(signs(seconds, root))


def signs(seconds: float = PROBE, root: Path = ROOT) -> Signs:
    """Read the state of the machine."""
    # Before the watch, which is a load of its own.
    load = ask(lambda: os.getloadavg()[0])
    stolen, pauses = _watch(seconds)
    facts = facts_of_noise(root)
    return Signs(cores=os.cpu_count() or 1, load=load, stolen=stolen, pauses=pauses, **facts)


def facts_of_noise(root: Path = ROOT) -> dict[str, Any]:
    """Return the facts that `judge` looks at."""
    facts = {**processor_facts(root), **memory_facts(root)}
    names = ("governor", "turbo", "smt", "huge_pages", "isolated_cpus", "cpu_limit", "swap_used", "hypervisor")
    return {name: facts[name] for name in names}


def judge(signs: Signs) -> list[Warning]:
    """Say what is noisy about a machine, most telling first."""
    on_cpu = (_take(signs), _stolen(signs), _load(signs), _cpu_limit(signs))
    findings = (*on_cpu, *_clock(signs), *_memory(signs), *_sharing(signs))
    return [warning for warning in findings if warning is not None]


def _take(signs: Signs) -> Warning | None:
    if signs.pauses is None or signs.pauses <= TAKEN_LIMIT:
        return None
    return Warning(
        "interrupted",
        f"a busy loop did not run {signs.pauses:.1%} of the time",
        "stop other work, or pin with `--cpus LIST` to CPUs that have none",
    )


def _stolen(signs: Signs) -> Warning | None:
    if signs.stolen is None or signs.stolen <= TAKEN_LIMIT:
        return None
    return Warning(
        "steal",
        f"the hypervisor gave {signs.stolen:.1%} of the CPU time to other machines",
        "measure on a machine, or an instance type, with CPUs of its own",
    )


def _load(signs: Signs) -> Warning | None:
    if signs.load is None or signs.load <= signs.cores / 2:
        return None
    return Warning("load", f"the load average is {signs.load:.1f} on {signs.cores} CPUs", "wait for other work to end")


def _cpu_limit(signs: Signs) -> Warning | None:
    if signs.cpu_limit is None or signs.cpu_limit >= signs.cores:
        return None
    return Warning(
        "cpu_limit",
        f"this container may use {signs.cpu_limit:g} of {signs.cores} CPUs, and is stopped when it has used them up",
        "give the container whole CPUs (`--cpuset-cpus`) instead of a quota",
    )


def _clock(signs: Signs) -> tuple[Warning | None, ...]:
    governor = turbo = None
    if signs.governor not in (None, "performance"):
        governor = Warning(
            "governor",
            f"the frequency governor is `{signs.governor}`, so the clock follows the load",
            "`sudo cpupower frequency-set -g performance`",
        )
    if signs.turbo:
        turbo = Warning(
            "turbo",
            "turbo is on, so the clock follows temperature and what the other cores do",
            "turn it off: write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to .../cpufreq/boost",
        )
    return governor, turbo


def _memory(signs: Signs) -> tuple[Warning | None, ...]:
    swap = pages = None
    if signs.swap_used:
        swap = Warning(
            "swap",
            f"{signs.swap_used / 2**20:.0f} MiB are swapped out",
            "free memory, then `sudo swapoff -a && sudo swapon -a`",
        )
    if signs.huge_pages == "always":
        pages = Warning(
            "huge_pages",
            "transparent huge pages are `always`: whether an array gets them changes from run to run",
            "write `madvise` to /sys/kernel/mm/transparent_hugepage/enabled",
        )
    return swap, pages


def _sharing(signs: Signs) -> tuple[Warning | None, ...]:
    virtual = isolation = threads = None
    if signs.hypervisor:
        virtual = Warning(
            "virtual_machine",
            "this is a virtual machine: neighbours share its caches and memory, unseen",
            "trust differences less than on a machine of your own, and measure with `--processes 5` or more",
        )
    if signs.isolated_cpus == "":
        isolation = Warning(
            "isolation",
            "no CPU is kept free of other work",
            "boot with `isolcpus=LIST` and measure with `--cpus LIST`",
        )
    if signs.smt:
        threads = Warning(
            "smt",
            "cores run two threads each, which slow each other down",
            "pin with `--cpus LIST` to one thread of each core, or write `off` to /sys/devices/system/cpu/smt/control",
        )
    return virtual, isolation, threads


def _watch(seconds: float) -> tuple[float | None, float | None]:
    """Keep one core busy, and return the shares of CPU time stolen and of wall time taken away."""
    before = ask(psutil.cpu_times)
    clock = time.perf_counter
    start = last = clock()
    lost = 0.0
    while last - start < seconds:
        now = clock()
        if now - last > GAP:
            lost += now - last
        last = now
    after = ask(psutil.cpu_times)
    pauses = lost / (last - start) if last > start else None
    return ask(lambda: _stolen_share(before, after)), pauses


def _stolen_share(before: Any, after: Any) -> float | None:
    if before is None or after is None:
        return None
    # Up to steal: the guest times that follow are inside user time.
    spent = sum(after[:8]) - sum(before[:8])
    return (after.steal - before.steal) / spent if spent > 0 else None
