"""The GPUs of this machine, as far as NVIDIA's own tool tells without any framework."""

from __future__ import annotations

import shutil
import subprocess

#: How long nvidia-smi may take. Seconds: a driver that must be loaded first takes one or two.
GPU_LIMIT = 5.0


def has_gpu() -> bool:
    """Whether there is a GPU that a framework may see."""
    return bool(gpus())


def gpus() -> list[dict[str, object]] | None:
    """Return name, memory in bytes and driver of each GPU; None where nvidia-smi is missing or does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    query = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(
            [program, *query],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=GPU_LIMIT,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return gpus_listed(answer.stdout) if answer.returncode == 0 else None


def gpus_listed(text: str) -> list[dict[str, object]]:
    """Read the lines of nvidia-smi; its memory is in MiB.

    >>> gpus_listed("NVIDIA H200, 143771, 570.86.15")
    [{'name': 'NVIDIA H200', 'memory': 150754820096, 'driver': '570.86.15'}]
    """
    gpus: list[dict[str, object]] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 3:
            memory = int(parts[1]) * 2**20 if parts[1].isdecimal() else None
            gpus.append({"name": parts[0], "memory": memory, "driver": parts[2]})
    return gpus
