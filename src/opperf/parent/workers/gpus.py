"""Which GPUs of NVIDIA a machine has, and how a child is shown the one that it measures on, and no other.

A process that sees several may open a context on each, where another one measures, and what names none of them lands on
the first. `cuda:1` is the second one of NVIDIA's own tools, or of those that `CUDA_VISIBLE_DEVICES` leaves.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.device import BY_BUS, COMMAND, ORDER, SHARERS, SHOWN
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.registry import BEST_DEVICE, BUILT_IN

DEVICES, DRIVER = Path("/dev"), Path("/proc/driver/nvidia")
#: What the system shows of devices that are not NVIDIA's: AMD's, those below Windows, any that computes or draws, and
#: those that are handed to a virtual machine, as TPUs are.
OTHERS = ("kfd", "dxg", "accel*", "accel/accel*", "dri/renderD*", "vfio/[0-9]*")
#: What frameworks call one device by several names: AMD's in PyTorch, JAX and HIP, Intel's in PyTorch and SYCL.
ALIASES = {"hip": "cuda", "rocm": "cuda", "level_zero:gpu": "xpu"}
#: How long nvidia-smi may take, in seconds, and how much longer for each GPU: a driver that is loaded first takes one
#: to three for each (https://docs.nvidia.com/deploy/driver-persistence/).
LIMIT, LIMIT_EACH = 5.0, 5.0
#: How the UUID of a part of a GPU begins, and how nvidia-smi lists one.
PART = "MIG-"
_PART = re.compile(r"^\s+(MIG \S+)\s.*\(UUID: (MIG-[^)]+)\)", re.MULTILINE)
_FACT = re.compile(r"^([^:\n]+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
QUERY = ("--query-gpu=name,memory.total,driver_version,uuid,pci.bus_id", "--format=csv,noheader,nounits")


@dataclass(frozen=True)
class Gpu:
    """One GPU, by what nvidia-smi says of it.

    `memory` is in bytes, None where it does not tell; `bus` is the place on the bus.
    """

    name: str
    memory: int | None
    driver: str
    uuid: str
    bus: str = ""


class Silence(InputError):
    """The driver does not answer."""


def facts(environment: Mapping[str, str] = os.environ) -> list[dict[str, object]] | None:
    """Return name, memory and driver of each GPU, or of the parts of one that processes are shown (MIG).

    None where neither nvidia-smi nor the driver tells.
    """
    try:
        gpus = present()
    except Silence:
        return None
    if gpus is None:
        return None
    parts = [gpu for gpu in _visible_gpus(gpus, environment) if gpu.uuid.startswith(PART)]
    return [{"name": one.name, "memory": one.memory, "driver": one.driver} for one in parts or gpus]


def visible_names(environment: Mapping[str, str] = os.environ) -> list[str] | None:
    """Return the names of the GPUs that frameworks see, by their numbers there; None where they see all.

    With another `CUDA_VISIBLE_DEVICES`, `cuda:0` may be another card, or another part of one.
    """
    if SHOWN not in environment:
        return None
    try:
        return [gpu.name for gpu in _visible_gpus(present() or (), environment)]
    except Silence:
        return None


def _visible_gpus(gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
    """Return those of all GPUs that a process sees, and the parts that it does, by the names of their profiles."""
    by_uuid = {gpu.uuid: gpu for gpu in gpus}
    uuids = visible([*by_uuid], environment.get(SHOWN))
    program = shutil.which("nvidia-smi") if any(uuid.startswith(PART) for uuid in uuids) else None
    names = {} if program is None else _parts(program)
    driver = gpus[0].driver if gpus else ""
    return [by_uuid.get(uuid) or Gpu(names.get(uuid, uuid), None, driver, uuid) for uuid in uuids]


@cache
def _parts(program: str) -> Mapping[str, str]:
    """Return the profile of each part of a divided GPU by its UUID, as `MIG 1g.10gb`."""
    words: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "timeout": LIMIT}
    try:
        answer = subprocess.run([program, "-L"], stdin=subprocess.DEVNULL, **words)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return {uuid: profile for profile, uuid in _PART.findall(answer.stdout)}


def present() -> Sequence[Gpu] | None:
    """Return the GPUs of the machine, by nvidia-smi, or where that does not answer, or is missing, by the driver.

    None without both; raises `Silence` where nvidia-smi does not answer in time, and the driver does not tell.
    """
    program = shutil.which("nvidia-smi")
    answer = None if program is None else _answer(program, LIMIT + LIMIT_EACH * len(_nodes()))
    if answer is None or isinstance(answer, Silence):
        answer = read_driver(DRIVER, DEVICES) or answer
    if isinstance(answer, Silence):
        raise answer
    return answer


@cache
def _answer(program: str, limit: float) -> Sequence[Gpu] | Silence | None:
    try:
        answer = subprocess.run(
            [program, *QUERY],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        text = f"`nvidia-smi` does not answer within {limit:g} s, so nobody knows which GPUs this machine has"
        hint = "name the device: `--device cuda:0`, or `--device cpu`; `nvidia-smi -pm 1` keeps the driver loaded"
        return Silence(text, hint=hint, slug="no_device")
    except OSError:
        return None
    return read_listing(answer.stdout) if answer.returncode == 0 else None


def read_listing(text: str) -> list[Gpu]:
    """Read the lines of nvidia-smi; its memory is in MiB.

    >>> read_listing("NVIDIA H200, 143771, 570.86.15, GPU-1, 00000000:1B:00.0")
    [Gpu(name='NVIDIA H200', memory=150754820096, driver='570.86.15', uuid='GPU-1', bus='00000000:1B:00.0')]
    """
    rows = [[part.strip() for part in line.split(",")] for line in text.splitlines()]
    return [
        Gpu(name, int(memory) * 2**20 if memory.isdecimal() else None, driver, uuid, bus)
        for name, memory, driver, uuid, bus in (row for row in rows if len(row) == 5)
    ]


def read_driver(folder: Path, devices: Path) -> list[Gpu]:
    """Return the GPUs that the driver lists in its folder of `/proc`, in the order of their places on the bus.

    A container may have no nvidia-smi, and shows by its devices which of the machine's it has. The driver tells no UUID
    of a GPU that nobody has used since it was loaded.
    """
    version = re.search(r"Kernel Module(?: for \w+)?\s+([\d.]+)", _text(folder / "version"))
    result = []
    for place in sorted(folder.glob("gpus/*")):
        facts = dict(_FACT.findall(_text(place / "information")))
        name, uuid, minor = (facts.get(key, "") for key in ("Model", "GPU UUID", "Device Minor"))
        if name and "?" not in uuid and (devices / f"nvidia{minor}").exists():
            result.append(Gpu(name, None, version[1] if version else "", uuid, place.name))
    return result


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def visible(uuids: Sequence[str], mask: str | None) -> list[str]:
    """Return the GPUs that CUDA leaves visible, by a variable's text: up to the first word that names none.

    >>> visible(["GPU-aa", "GPU-ab"], "1,GPU-aa,7,0"), visible(["GPU-aa", "GPU-ab"], "GPU-a"), visible(["GPU-aa"], None)
    (['GPU-ab', 'GPU-aa'], [], ['GPU-aa'])
    """
    if mask is None:
        return [*uuids]
    result: list[str] = []
    for word in (part.strip() for part in mask.split(",")):
        if word.isdecimal():
            alike = [*uuids[int(word) : int(word) + 1]]
        elif word.startswith(PART):
            alike = [word]
        else:
            alike = [uuid for uuid in uuids if word and uuid.startswith(word)]
        if len(alike) != 1:
            break
        result += alike
    return result


def variables(side: Side, environment: Mapping[str, str] = os.environ, sharers: int = 1) -> dict[str, str]:
    """Return the variables of a child on a device: its command, how many hold tensors there, and which GPU it sees.

    They show no GPU where the side says itself what is visible, and where nvidia-smi does not know it: then the
    framework tells what is wrong.
    """
    if side.device == "cpu":
        return {}
    result = {COMMAND: str(os.getpid()), SHARERS: str(sharers)}
    uuid = _uuid(side, environment)
    return result if uuid is None or SHOWN in side.variables else {**result, SHOWN: uuid, ORDER: BY_BUS}


def identity(side: Side, environment: Mapping[str, str] = os.environ) -> str:
    """Return the name of a device for every process of the machine: its UUID, or where it has none one of its names."""
    kind, _, index = side.device.rpartition(":")
    return _uuid(side, environment) or (f"{ALIASES[kind]}:{index}" if kind in ALIASES else side.device)


def bus_place(side: Side) -> str | None:
    """Return where a side's GPU is on the bus, as Linux names it; None where nobody tells, and for any other device."""
    uuid = _uuid(side, os.environ)
    bus = next((gpu.bus for gpu in present() or () if gpu.uuid == uuid), None) if uuid else None
    return None if bus is None else bus[-len("0000:00:00.0") :].lower()


def _uuid(side: Side, environment: Mapping[str, str]) -> str | None:
    """Return the UUID of a side's GPU; None for any other device, and where nvidia-smi does not know it."""
    kind, _, index = side.device.partition(":")
    if kind not in ("cuda", BEST_DEVICE):
        return None
    try:
        uuids = [gpu.uuid for gpu in present() or ()]
    except Silence:
        return None
    return next(iter(visible(uuids, {**environment, **side.variables}.get(SHOWN))[int(index or 0) :]), None)


def inside(side: Side, variables: Mapping[str, str]) -> str:
    """Return the name of a side's device in a child that has such variables: the only GPU is the first."""
    return "cuda:0" if SHOWN in variables and side.device != BEST_DEVICE else side.device


def outside(
    devices: Sequence[str], variables: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> list[str]:
    """Return the devices of a framework whose child saw one GPU of several: it has the others too."""
    if "cuda:0" not in devices or SHOWN not in variables:
        return [*devices]
    count = len(visible([gpu.uuid for gpu in present() or ()], environment.get(SHOWN)))
    return [*(f"cuda:{i}" for i in range(count)), *(one for one in devices if one != "cuda:0")]


def check_devices(sides: Iterable[tuple[str, str]]) -> None:
    """Raise `InputError` for a GPU where the machine has none: for any of these frameworks and their devices."""
    for framework, device in sides:
        if device.startswith("cuda:") and framework in BUILT_IN - {"null"} and not _may_have_gpu():
            hint = "leave out `--device`, or measure on another machine with `--fleet`"
            raise InputError(f"no device `{device}`: this machine has no GPU", hint=hint, slug="unknown_device")


def has_gpu() -> bool:
    """Whether there is a GPU, or the like, that a framework may see; raises `Silence` where the driver does not say."""
    return bool(present()) or _has_others()


def shows_device() -> bool:
    """Whether there is one, as far as is known."""
    try:
        return has_gpu()
    except Silence:
        return False


def _may_have_gpu() -> bool:
    """Whether anything speaks for a GPU: a driver's device, or its tool."""
    return shutil.which("nvidia-smi") is not None or bool(_nodes()) or _has_others()


def _has_others() -> bool:
    return any(next(DEVICES.glob(pattern), None) for pattern in OTHERS)


def _nodes() -> list[Path]:
    return [*DEVICES.glob("nvidia[0-9]*")]
