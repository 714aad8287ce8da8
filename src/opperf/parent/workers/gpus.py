"""Which GPUs of NVIDIA a machine has, and how a child is shown the one that it measures on, and no other.

A process that sees several may open a context on each, where another one measures, and what names none of them lands on
the first. `cuda:1` is the second one of NVIDIA's own tools, or of those that `CUDA_VISIBLE_DEVICES` leaves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.device import BY_BUS, COMMAND, ORDER, SHOWN
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.registry import BEST_DEVICE, BUILT_IN

DEVICES = Path("/dev")
#: How long nvidia-smi may take, in seconds, and how much longer for each GPU: a driver that is loaded first takes one
#: to three for each (https://docs.nvidia.com/deploy/driver-persistence/).
LIMIT, LIMIT_EACH = 5.0, 5.0
QUERY = ("--query-gpu=name,memory.total,driver_version,uuid", "--format=csv,noheader,nounits")


@dataclass(frozen=True)
class Gpu:
    """One GPU, by what nvidia-smi says of it; `memory` in bytes, None where it does not tell."""

    name: str
    memory: int | None
    driver: str
    uuid: str


class Silence(InputError):
    """The driver does not answer."""


def facts() -> list[dict[str, object]] | None:
    """Return name, memory and driver of each GPU; None where nvidia-smi is missing or does not answer."""
    try:
        gpus = present()
    except Silence:
        return None
    return None if gpus is None else [{"name": one.name, "memory": one.memory, "driver": one.driver} for one in gpus]


def present() -> Sequence[Gpu] | None:
    """Return the GPUs of the machine, None without nvidia-smi; raises `Silence` where that does not answer in time."""
    program = shutil.which("nvidia-smi")
    answer = None if program is None else _answer(program, LIMIT + LIMIT_EACH * len(_nodes()))
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

    >>> read_listing("NVIDIA H200, 143771, 570.86.15, GPU-1")
    [Gpu(name='NVIDIA H200', memory=150754820096, driver='570.86.15', uuid='GPU-1')]
    """
    rows = [[part.strip() for part in line.split(",")] for line in text.splitlines()]
    return [
        Gpu(name, int(memory) * 2**20 if memory.isdecimal() else None, driver, uuid)
        for name, memory, driver, uuid in (row for row in rows if len(row) == 4)
    ]


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
        elif word.startswith("MIG-"):  # a part of a GPU
            alike = [word]
        else:
            alike = [uuid for uuid in uuids if word and uuid.startswith(word)]
        if len(alike) != 1:
            break
        result += alike
    return result


def variables(side: Side, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables of a child on a GPU: which it sees, and the command that it belongs to.

    They show nothing where the side says itself what is visible, and where nvidia-smi does not know the GPU: then the
    framework tells what is wrong.
    """
    kind, _, index = side.device.partition(":")
    if kind not in ("cuda", BEST_DEVICE):
        return {}
    result = {COMMAND: str(os.getpid())}
    try:
        uuids = [gpu.uuid for gpu in present() or ()]
    except Silence:
        uuids = []
    names = visible(uuids, environment.get(SHOWN))[int(index or 0) :]
    return {**result, SHOWN: names[0], ORDER: BY_BUS} if names and SHOWN not in side.variables else result


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
    """Whether there is a GPU that a framework may see; raises `Silence` where the driver does not say."""
    return bool(present())


def _may_have_gpu() -> bool:
    """Whether anything speaks for a GPU: a driver's device, or its tool."""
    others = (DEVICES / "kfd", DEVICES / "dxg", *_nodes())
    return shutil.which("nvidia-smi") is not None or any(device.exists() for device in others)


def _nodes() -> list[Path]:
    return [*DEVICES.glob("nvidia[0-9]*")]
