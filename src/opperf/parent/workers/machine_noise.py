"""What makes this machine a noisy one: the signs of it, and the doubt that each is worth, with a remedy."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import psutil

from opperf.domain.codec import read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict
from opperf.domain.reason import Warning
from opperf.parent.documents.load import CROWDED
from opperf.parent.workers.machine import ROOT, ask, memory_facts, processor_facts

#: How long `noise` watches by default. Seconds: 25 ticks of the clock that steal time is counted in.
PROBE = 0.25
#: The share of the watched time that may be taken away before it is worth a warning.
TAKEN_LIMIT = 0.01
#: The share of it that may be taken away before the best of many samples suffers, too.
BUSY_LIMIT = 0.1
#: A gap between two readings of the clock over this many seconds means that something else ran; one is 50-100 ns.
GAP = 20e-6


@dataclass(frozen=True)
class Signs:
    """The state of a machine that noise is judged by; None is unknown.

    `pauses` and `stolen` are shares of a short watch: of wall time in which a busy loop did not run, and of CPU time
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

    @classmethod
    def of(cls, facts: Mapping[str, object]) -> Signs:
        """Return the signs among the facts that a run has of its machine; one that is not of its type is unknown.

        The load is a list there, of the averages over one, five and fifteen minutes.

        >>> signs = Signs.of({"cores_logical": 2, "load": [3.5, 1.0, 0.5], "turbo": "on"})
        >>> signs.cores, signs.load, signs.turbo
        (2, 3.5, None)
        """
        load = facts.get("load")
        readings = {
            **facts,
            "cores": facts.get("cores_logical"),
            "load": load[0] if isinstance(load, list) and load else load,
        }
        signs: JsonDict = {}
        for name, hint in get_type_hints(cls).items():
            with suppress(InputError):
                signs[name] = read_as(hint, readings.get(name), name)
        return cls(**{"cores": 1, **signs})


def busy(signs: Signs) -> str | None:
    """Say what else the machine does where that is too much for limits to be measured on it; None where it is idle."""
    worst = replace(
        signs,
        pauses=signs.pauses if signs.pauses is not None and signs.pauses > BUSY_LIMIT else None,
        stolen=signs.stolen if signs.stolen is not None and signs.stolen > BUSY_LIMIT else None,
    )
    texts = [doubt.message for doubt in judge(worst) if doubt.slug in ("interrupted", "steal", "load")]
    return "; ".join(texts) or None


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


def judge(signs: Signs) -> list[Warning]:
    """Say what is noisy about a machine, most telling first."""
    return [*_doubts(signs)]


def _doubts(signs: Signs) -> Iterator[Warning]:
    if signs.pauses is not None and signs.pauses > TAKEN_LIMIT:
        text = f"a busy loop was paused for {signs.pauses:.1%} of the time"
        yield Warning("interrupted", text, "stop other programs, or pin to idle CPUs with `--cpus LIST`")
    if signs.stolen is not None and signs.stolen > TAKEN_LIMIT:
        text = f"the hypervisor gave {signs.stolen:.1%} of the CPU time to other machines"
        yield Warning("steal", text, "use a machine or instance type with dedicated CPUs")
    if signs.load is not None and signs.load > signs.cores * CROWDED:
        yield Warning(
            "load", f"the load average is {signs.load:.1f} on {signs.cores} CPUs", "wait until other programs finish"
        )
    if signs.cpu_limit is not None and signs.cpu_limit < signs.cores:
        text = f"this container may use {signs.cpu_limit:g} of {signs.cores} CPUs, and is throttled beyond that"
        yield Warning("cpu_limit", text, "give the container whole CPUs (`--cpuset-cpus`) instead of a quota")
    if signs.governor not in (None, "performance"):
        text = f"the frequency governor is `{signs.governor}`, so the clock follows the load"
        yield Warning("governor", text, "`sudo cpupower frequency-set -g performance`")
    if signs.turbo:
        text = "turbo is on, so the clock depends on temperature and on the load of other cores"
        remedy = "turn it off: write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to .../cpufreq/boost"
        yield Warning("turbo", text, remedy)
    if signs.swap_used:
        text = f"{signs.swap_used / 2**20:.0f} MiB are swapped out"
        yield Warning("swap", text, "free memory, then `sudo swapoff -a && sudo swapon -a`")
    if signs.huge_pages == "always":
        text = "transparent huge pages are `always`: whether an array gets them varies from run to run"
        yield Warning("huge_pages", text, "write `madvise` to /sys/kernel/mm/transparent_hugepage/enabled")
    if signs.hypervisor:
        text = "this is a virtual machine: other machines may share its caches and memory, invisibly"
        remedy = "trust small differences less, and measure with `--processes 5` or more"
        yield Warning("virtual_machine", text, remedy)
    if signs.isolated_cpus == "":
        remedy = "boot with `isolcpus=LIST` and measure with `--cpus LIST`"
        yield Warning("isolation", "no CPU is isolated from other work", remedy)
    if signs.smt:
        text = "each core runs two threads, which slow each other down"
        remedy = (
            "pin with `--cpus LIST` to one thread of each core, or write `off` to /sys/devices/system/cpu/smt/control"
        )
        yield Warning("smt", text, remedy)


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
