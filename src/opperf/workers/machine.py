"""What machine this is, and what makes it a noisy one.

A number is read beside the machine it was measured on. Every fact is best effort: what a machine does not tell is
None, and asking never raises. Nothing here names the machine or its user.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from opperf.reason import Warning
from opperf.workers.gpus import gpus

if TYPE_CHECKING:
    from collections.abc import Callable

#: How long `noise` watches by default. Seconds: 25 ticks of the clock that steal time is counted in.
PROBE = 0.25
#: The share of the watched time that may be taken away before it is worth a warning.
TAKEN_LIMIT = 0.01
#: A gap between two readings of the clock over this many seconds means that something else ran; one is 50-100 ns.
GAP = 20e-6
#: The instruction sets that decide which kernel a framework picks, oldest first.
INSTRUCTION_SETS = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16"),
    *("amx_tile", "amx_bf16", "amx_int8", "asimd", "asimddp", "sve", "sve2", "i8mm", "bf16"),
)

_ROOT = Path("/")
_Fact = TypeVar("_Fact")


def facts(root: Path = _ROOT) -> dict[str, Any]:
    """Return what a record says of the machine, ready for JSON; `root` is where /sys and /proc are."""
    return {
        **_system_facts(root),
        **_processor_facts(root),
        **_memory_facts(root),
        "load": _asked(lambda: [round(load, 2) for load in os.getloadavg()]),
        "steal_seconds": _asked(lambda: float(psutil.cpu_times().steal)),
        "gpus": gpus(),
    }


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
    taken: float | None = None


def noise(seconds: float = PROBE, root: Path = _ROOT) -> list[Warning]:
    """Return what makes this machine a noisy one, each with a remedy; keeps one core busy for `seconds`."""
    return judge(signs(seconds, root))


def signs(seconds: float = PROBE, root: Path = _ROOT) -> Signs:
    """Read the state of the machine."""
    # Before the watch, which is a load of its own.
    load = _asked(lambda: os.getloadavg()[0])
    stolen, taken = _watch(seconds)
    found = facts_of_noise(root)
    return Signs(cores=os.cpu_count() or 1, load=load, stolen=stolen, taken=taken, **found)


def facts_of_noise(root: Path = _ROOT) -> dict[str, Any]:
    """Return the facts that `judge` looks at."""
    known = {**_processor_facts(root), **_memory_facts(root)}
    names = ("governor", "turbo", "smt", "huge_pages", "isolated_cpus", "cpu_limit", "swap_used", "hypervisor")
    return {name: known[name] for name in names}


def judge(signs: Signs) -> list[Warning]:
    """Say what is noisy about a machine, most telling first."""
    on_cpu = (_taken(signs), _stolen(signs), _load(signs), _cpu_limit(signs))
    found = (*on_cpu, *_clock(signs), *_memory(signs), *_sharing(signs))
    return [warning for warning in found if warning is not None]


def _taken(signs: Signs) -> Warning | None:
    if signs.taken is None or signs.taken <= TAKEN_LIMIT:
        return None
    return Warning(
        "interrupted",
        f"a busy loop did not run {signs.taken:.1%} of the time",
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
    before = _asked(psutil.cpu_times)
    clock = time.perf_counter
    start = last = clock()
    lost = 0.0
    while last - start < seconds:
        now = clock()
        if now - last > GAP:
            lost += now - last
        last = now
    after = _asked(psutil.cpu_times)
    taken = lost / (last - start) if last > start else None
    return _asked(lambda: _stolen_share(before, after)), taken


def _stolen_share(before: Any, after: Any) -> float | None:
    if before is None or after is None:
        return None
    # Up to steal: the guest times that follow are inside user time.
    spent = sum(after[:8]) - sum(before[:8])
    return (after.steal - before.steal) / spent if spent > 0 else None


def _system_facts(root: Path) -> dict[str, Any]:
    return {
        "system": platform.system() or None,
        "kernel": platform.release() or None,
        "distribution": _asked(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "architecture": platform.machine() or None,
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "python": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "container": _container(root),
        "aslr": _number(root / "proc/sys/kernel/randomize_va_space"),
    }


def _processor_facts(root: Path) -> dict[str, Any]:
    cpus = root / "sys/devices/system/cpu"
    info = _text(root / "proc/cpuinfo") or ""
    flags = set((_field(info, "flags") or _field(info, "Features") or "").split())
    return {
        "cpu": _field(info, "model name") or platform.processor() or None,
        "instruction_sets": [name for name in INSTRUCTION_SETS if name in flags] if flags else None,
        "cores_logical": os.cpu_count(),
        "cores_physical": _asked(lambda: psutil.cpu_count(logical=False)),
        "cores_usable": _asked(lambda: len(os.sched_getaffinity(0))),
        "cpu_limit": _cpu_quota(root),
        "caches": _caches(cpus / "cpu0/cache"),
        "numa_nodes": len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None,
        "governor": _text(cpus / "cpu0/cpufreq/scaling_governor"),
        "frequency_max": _kilohertz(cpus / "cpu0/cpufreq/cpuinfo_max_freq"),
        "turbo": _turbo(cpus),
        "smt": _switch(cpus / "smt/active"),
        "isolated_cpus": _text(cpus / "isolated"),
        "hypervisor": "hypervisor" in flags if flags else None,
    }


def _memory_facts(root: Path) -> dict[str, Any]:
    return {
        "memory_total": _asked(lambda: int(psutil.virtual_memory().total)),
        "memory_available": _asked(lambda: int(psutil.virtual_memory().available)),
        "swap_used": _asked(_swap_used),
        "huge_pages": _selected(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
    }


def _swap_used() -> int:
    with warnings.catch_warnings():
        # psutil says so where a kernel does not count what is swapped in and out, which nobody asks for here.
        warnings.simplefilter("ignore", RuntimeWarning)
        return int(psutil.swap_memory().used)


def _caches(folder: Path) -> list[dict[str, Any]] | None:
    """Return level, type, size in bytes and how many CPUs share it, for each cache of the first CPU."""
    found = []
    for index in sorted(folder.glob("index[0-9]*")):
        level, size = _number(index / "level"), _bytes(_text(index / "size"))
        if level is not None and size is not None:
            kind = (_text(index / "type") or "").lower() or None
            found.append({"level": level, "type": kind, "size": size, "shared_by": _shared(index)})
    return found or None


def _shared(index: Path) -> int | None:
    listed = _text(index / "shared_cpu_list")
    return len(cpu_list(listed)) or None if listed is not None else None


def cpu_list(text: str) -> list[int]:
    """Read a list of CPUs as the kernel writes it.

    >>> cpu_list("0-2,5")
    [0, 1, 2, 5]
    """
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.extend(range(int(first), int(last or first) + 1))
    return found


def _turbo(cpus: Path) -> bool | None:
    stopped = _switch(cpus / "intel_pstate/no_turbo")
    return not stopped if stopped is not None else _switch(cpus / "cpufreq/boost")


def _cpu_quota(root: Path) -> float | None:
    """Return how many CPUs the control group may use; None where there is no limit."""
    groups = root / "sys/fs/cgroup"
    limit = (_text(groups / "cpu.max") or "").split()
    if not limit:
        limit = [_text(groups / "cpu" / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
    if len(limit) != 2 or not all(part.isdecimal() for part in limit) or int(limit[1]) == 0:
        return None
    return int(limit[0]) / int(limit[1])


def _container(root: Path) -> str | None:
    for mark, name in (("run/.containerenv", "podman"), (".dockerenv", "docker")):
        if _asked((root / mark).exists):
            return name
    found = re.search(r"kubepods|docker|lxc|containerd", _text(root / "proc/1/cgroup") or "")
    return found[0] if found else None


def _asked(question: Callable[[], _Fact]) -> _Fact | None:
    """Return the answer, or None where this system has none."""
    with contextlib.suppress(OSError, AttributeError, KeyError, ValueError, NotImplementedError, psutil.Error):
        return question()
    return None


def _text(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip()
    return None


def _number(path: Path) -> int | None:
    text = _text(path) or ""
    return int(text) if text.isdecimal() else None


def _switch(path: Path) -> bool | None:
    number = _number(path)
    return None if number is None else number == 1


def _kilohertz(path: Path) -> float | None:
    number = _number(path)
    return None if number is None else number * 1e3


def _bytes(text: str | None) -> int | None:
    """Read a size as sysfs writes it (`32K`)."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text or "")
    return int(found[1]) * 1024 ** " KMG".index(found[2] or " ") if found else None


def _selected(text: str | None) -> str | None:
    """Return the choice in brackets (`always [madvise] never`)."""
    found = re.search(r"\[(\w+)\]", text or "")
    return found[1] if found else None


def _field(info: str, name: str) -> str | None:
    found = re.search(rf"^{name}\s*:[ \t]*(.*)$", info, re.MULTILINE)
    return found[1].strip() or None if found else None
