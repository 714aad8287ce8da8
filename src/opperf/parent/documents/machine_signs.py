"""What makes a machine a noisy one: the signs of it, and the doubt that each is worth, with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import get_type_hints

from opperf.domain.codec import read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict
from opperf.domain.reason import Warning
from opperf.parent.documents.load import CROWDED

#: The share of the watched time that may be taken away before it is worth a warning.
TAKEN_LIMIT = 0.01
#: The share of it that may be taken away before the best of many samples suffers, too.
BUSY_LIMIT = 0.1


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
