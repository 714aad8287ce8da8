"""What machine this is.

A number is read beside the machine it was measured on. Every fact is best effort: what a machine does not tell is
None, and asking never raises. Nothing here names the machine or its user.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

from opperf.parent.workers import gpus

#: The instruction sets that decide which kernel a framework picks, oldest first.
INSTRUCTION_SETS = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16"),
    *("amx_tile", "amx_bf16", "amx_int8", "asimd", "asimddp", "sve", "sve2", "i8mm", "bf16"),
)

#: Where /sys and /proc are.
ROOT = Path("/")
#: Where control groups of version 2 and of version 1 have the memory that they allow, and what is taken of it.
CGROUP_MEMORY = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
_Fact = TypeVar("_Fact")


def facts(root: Path = ROOT) -> dict[str, object]:
    """Return the facts of the machine on a record, ready for JSON; `root` is where /sys and /proc are."""
    return {
        **_system_facts(root),
        **processor_facts(root),
        **memory_facts(root),
        "load": loads(),
        "steal_seconds": ask(lambda: float(psutil.cpu_times().steal)),
        "gpus": gpus.facts(),
        "gpus_visible": gpus.visible_names(),
    }


def loads() -> list[float] | None:
    """Return the load averages over one, five and fifteen minutes."""
    return ask(lambda: [round(load, 2) for load in os.getloadavg()])


def _system_facts(root: Path) -> dict[str, object]:
    return {
        "system": platform.system() or None,
        "kernel": platform.release() or None,
        "distribution": ask(lambda: platform.freedesktop_os_release()["PRETTY_NAME"]),
        "architecture": platform.machine() or None,
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "python": platform.python_version(),
        "python_implementation": platform.python_implementation(),
        "container": _container(root),
        "aslr": _number(root / "proc/sys/kernel/randomize_va_space"),
    }


def processor_facts(root: Path = ROOT) -> dict[str, object]:
    """Return the facts of the processors, and what their clock follows."""
    cpus = root / "sys/devices/system/cpu"
    info = _text(root / "proc/cpuinfo") or ""
    flags = set((_field(info, "flags") or _field(info, "Features") or "").split())
    return {
        "cpu": _field(info, "model name") or platform.processor() or None,
        "instruction_sets": [name for name in INSTRUCTION_SETS if name in flags] if flags else None,
        "cores_logical": os.cpu_count(),
        "cores_physical": ask(lambda: psutil.cpu_count(logical=False)),
        "cores_usable": ask(lambda: len(os.sched_getaffinity(0))),
        "cpu_limit": cpu_quota(root),
        "caches": _caches(cpus / "cpu0/cache"),
        "numa_nodes": len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None,
        "governor": _text(cpus / "cpu0/cpufreq/scaling_governor"),
        "frequency_max": _kilohertz(cpus / "cpu0/cpufreq/cpuinfo_max_freq"),
        "turbo": _turbo(cpus),
        "smt": _switch(cpus / "smt/active"),
        "isolated_cpus": _text(cpus / "isolated"),
        "hypervisor": "hypervisor" in flags if flags else None,
    }


def available_memory(root: Path = ROOT) -> int:
    """Return the bytes that can be taken: what the machine has free, or what the control group still allows."""
    groups = root / "sys/fs/cgroup"
    free = [int(psutil.virtual_memory().available)]
    for limit, usage in CGROUP_MEMORY:
        most, use = _number(groups / limit), _number(groups / usage)
        if most is not None and use is not None:
            free.append(max(0, most - use))
    return min(free)


def memory_facts(root: Path = ROOT) -> dict[str, object]:
    """Return the facts of the memory, in bytes, and of its pages."""
    return {
        "memory_total": ask(lambda: int(psutil.virtual_memory().total)),
        "memory_available": ask(lambda: int(psutil.virtual_memory().available)),
        "swap_used": ask(_swap_used),
        "huge_pages": _select(_text(root / "sys/kernel/mm/transparent_hugepage/enabled")),
    }


def _swap_used() -> int:
    with warnings.catch_warnings():
        # psutil says so where a kernel does not count what is swapped in and out, which nobody asks for here.
        warnings.simplefilter("ignore", RuntimeWarning)
        return int(psutil.swap_memory().used)


def _caches(folder: Path) -> list[dict[str, object]] | None:
    """Return level, type, size in bytes and how many CPUs share it, for each cache of the first CPU."""
    caches: list[dict[str, object]] = []
    for index in sorted(folder.glob("index[0-9]*")):
        level, size = _number(index / "level"), _bytes(_text(index / "size"))
        if level is not None and size is not None:
            kind = (_text(index / "type") or "").lower() or None
            caches.append({"level": level, "type": kind, "size": size, "shared_by": _sharer_count(index)})
    return caches or None


def _sharer_count(index: Path) -> int | None:
    text = _text(index / "shared_cpu_list")
    return sum(map(len, cpu_ranges(text))) or None if text is not None else None


def cpu_ranges(text: str) -> list[range]:
    """Read a list of CPUs as the kernel writes it.

    >>> cpu_ranges("0-2,5")
    [range(0, 3), range(5, 6)]
    """
    ranges = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            ranges.append(range(int(first), int(last or first) + 1))
    return ranges


def _turbo(cpus: Path) -> bool | None:
    no_turbo = _switch(cpus / "intel_pstate/no_turbo")
    return not no_turbo if no_turbo is not None else _switch(cpus / "cpufreq/boost")


def cpu_quota(root: Path) -> float | None:
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
        if ask((root / mark).exists):
            return name
    match = re.search(r"kubepods|docker|lxc|containerd", _text(root / "proc/1/cgroup") or "")
    return match[0] if match else None


def ask(question: Callable[[], _Fact]) -> _Fact | None:
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
    match = re.fullmatch(r"(\d+)([KMG]?)", text or "")
    return int(match[1]) * 1024 ** " KMG".index(match[2] or " ") if match else None


def _select(text: str | None) -> str | None:
    """Return the choice in brackets (`always [madvise] never`)."""
    match = re.search(r"\[(\w+)\]", text or "")
    return match[1] if match else None


def _field(info: str, name: str) -> str | None:
    match = re.search(rf"^{name}\s*:[ \t]*(.*)$", info, re.MULTILINE)
    return match[1].strip() or None if match else None
