"""Control groups: they bound what a tree of processes takes, and version 2 of them freezes it.

A group belongs to the room of one command, and its name holds the process that supervises it, as that of a temporary
folder does: those whose supervisor is no more can be removed by anybody.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

#: How the names of groups and temporary folders of rooms begin.
PREFIX = "opperf.room-"
#: Version 2, which has no name here, and of version 1 what limits.
CONTROLLERS = ("", "pids", "memory")
#: How long a dead process may stay in its group, in looks of two milliseconds.
LOOKS, LOOK = 50, 0.002


def folders(process: int | str = "self") -> dict[str, str]:
    """Return the folders of a process's groups by their controllers, as far as they can be seen from here.

    Sources: cgroups(7), and proc(5) for `mountinfo`.
    """
    lines: list[list[str]] = []
    with suppress(OSError), open(f"/proc/{process}/cgroup", encoding="utf-8") as file:
        lines += [line.rstrip("\n").split(":", 2) for line in file]
    paths = {name: path for _, names, path in lines for name in names.split(",")}
    places = {}
    for name, root, point in _mounts() if paths else ():
        path = paths.get(name, "")
        if name in CONTROLLERS and (path + "/").startswith(root.rstrip("/") + "/"):
            places[name] = os.path.normpath(os.path.join(point, os.path.relpath(path, root)))
    return places


def _mounts() -> Iterator[tuple[str, str, str]]:
    """Yield controllers, what is mounted of their hierarchies, and where."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            mount, _, system = line.partition(" - ")
            root, point = mount.split()[3:5]
            kind, _, options = system.split()[:3]
            if kind in ("cgroup", "cgroup2"):
                for name in options.split(",") if kind == "cgroup" else [""]:
                    yield name, root, point


def make(name: str, *, memory: int | None, processes: int | None) -> list[str]:
    """Return new groups with these limits, below those of this process: as many as this user may make."""
    limits = {"pids.max": processes, "memory.max": memory, "memory.limit_in_bytes": memory}
    groups = []
    for folder in set(folders().values()):
        with suppress(OSError):
            os.mkdir(group := os.path.join(folder, name))
            groups.append(group)
            for file, limit in limits.items():
                if limit is not None and os.path.exists(path := os.path.join(group, file)):
                    _write(path, str(limit))
    return groups


def join(groups: Sequence[str]) -> None:
    """Move this process into groups; into those that take it."""
    for group in groups:
        with suppress(OSError):
            _write(os.path.join(group, "cgroup.procs"), "0")


def remove(groups: Sequence[str]) -> None:
    """Remove groups whose processes have died."""
    for group in groups:
        for _ in range(LOOKS):
            try:
                os.rmdir(group)
                break
            except FileNotFoundError:  # another one was faster
                break
            except OSError:
                time.sleep(LOOK)


def sweep() -> None:
    """Remove the groups and temporary folders of rooms whose supervisor is no more: they ended too suddenly for it."""
    for folder in set(folders().values()):
        with suppress(OSError):
            for name in filter(_is_left, os.listdir(folder)):
                remove([os.path.join(folder, name)])
    folder = tempfile.gettempdir()
    for name in filter(_is_left, os.listdir(folder)):
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def label(supervisor: int) -> str:
    """Return how the names begin of what belongs to the room of a supervising process.

    Containers may share a folder, and each has a process of that number: the number of its namespace is in the name.
    """
    return f"{PREFIX}{os.stat('/proc/self/ns/pid').st_ino}-{supervisor}-"


def _is_left(name: str) -> bool:
    """Whether a group or folder is of a room whose supervisor is no more."""
    owner = name.removeprefix(PREFIX).partition("-")[2].partition("-")[0]
    return owner.isdecimal() and name.startswith(label(int(owner))) and not os.path.exists(f"/proc/{owner}")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
