"""The room of a candidate: what its process may touch, the command that starts it there, and what of that really holds.

Nothing is promised that was not tried: before the first child, a process in such a room tries to read, write, connect
and signal, and what it met is named. Linux has the mechanisms; which of them a machine lets a user have differs.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import opperf
from opperf.confinement import LACKING, LACKS
from opperf.confinement.mounts import DECOY, TEMPORARY
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, WorkerFailure
from opperf.parent.workers.machine import available_memory
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.supervision import carry_out

#: What confines a child, each as far as the machine offers it.
MECHANISMS = ("namespaces", "landlock", "seccomp")
#: Where systems have programs and libraries, and of their settings what those ask for. No secret is among them.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store"),
    *("/etc/alternatives", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
    *(
        "/sys/devices/system",
        "/sys/fs/cgroup",
        "/sys/kernel/mm",
        "/etc/localtime",
        "/etc/nsswitch.conf",
        "/etc/passwd",
        "/etc/os-release",
    ),
)
#: What runs first in the parent's Python, which has the standard library on its path, and is told where opperf is.
ENTRANCE = (
    "import json, sys; policy = json.loads(sys.argv[1]); sys.path.extend(policy['libraries']); "
    "from opperf.confinement.entrance import main; main(policy, sys.argv[2:])"
)
TRESPASS = Path(opperf.__file__).parent / "confinement" / "trespass.py"
#: Limits that an honest kernel does not meet: threads and processes, bytes of temporary files, open files.
PROCESSES, SPACE, FILES = 1024, 4 << 30, 4096
#: Share of the memory that is free which all processes of a room may take.
MEMORY_SHARE = 0.8
#: A start takes a tenth of a second; on a busy machine ten times as long.
LIMIT = 60.0
#: A folder for temporary files with a longer name leaves no room for that of a socket in it.
LONGEST_PLACE = 64


@dataclass(frozen=True)
class Room:
    """What a process may touch. Paths are absolute; a folder stands for all in it.

    It reads `readable` but for `hidden`, and writes to a temporary folder of its own alone. `memory` and `space` (of
    temporary files) are bytes, `cpu_time` seconds of each process; None is no limit. It stays on its `cpus`, which it
    cannot choose itself.
    """

    readable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    memory: int | None = None
    processes: int | None = PROCESSES
    cpu_time: int | None = None
    space: int = SPACE
    files: int | None = FILES
    cpus: tuple[int, ...] | None = None
    mechanisms: tuple[str, ...] = MECHANISMS


def room_of(
    python: Path,
    files: Iterable[Path],
    hidden: Iterable[Path] = (),
    *,
    memory: int | None = None,
    cpus: tuple[int, ...] | None = None,
) -> Room:
    """Return the room of a child: it reads its interpreter, opperf's own part of a child, and the files that are given.

    `hidden` wins over `files`. Raises `InputError` for files that would open the whole machine to it.
    """
    paths = [os.path.abspath(path) for path in files]
    for path in paths:
        if TEMPORARY in (path, os.path.realpath(path)) or os.path.realpath(path) == "/":
            raise InputError(
                f"a room cannot hold all of `{path}`", hint="name the candidate's own folder", slug="room_too_wide"
            )
    return Room(
        tuple(dict.fromkeys((*SYSTEM, *python_paths(python), str(package_folder()), *paths))),
        tuple(os.path.abspath(path) for path in hidden),
        int(available_memory() * MEMORY_SHARE) if memory is None else memory,
        cpus=cpus,
    )


def belongings(file: Path) -> Path:
    """Return the files of a candidate: its own, or the whole package that it is in."""
    folder = file.absolute()
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


@cache
def python_paths(python: Path) -> tuple[str, ...]:
    """Return where an interpreter has its own files, and its packages."""
    code = "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, *sys.path]))"
    try:
        answer = carry_out([os.path.abspath(python), "-c", code], LIMIT, os.environ, Path("/"))
        paths = json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise WorkerFailure(f"cannot ask `{python}` for its packages: {problem}", slug="spawn") from problem
    except ValueError as problem:
        message = f"`{python}` does not say where its packages are"
        raise WorkerFailure(message, slug="spawn", stderr=answer.stderr) from problem
    return tuple(dict.fromkeys((os.path.abspath(python), *filter(os.path.exists, paths))))


def under(room: Room, mechanisms: tuple[str, ...] | None = None) -> list[str]:
    """Return the command that runs a child in a room, for a `Worker`; raises `InputError` where too little holds.

    With `mechanisms`, those of a `probe` of another such room, nothing is tried again.
    """
    return _command(replace(room, mechanisms=probe(room) if mechanisms is None else mechanisms))


def probe(room: Room) -> tuple[str, ...]:
    """Return the mechanisms that hold, each tried by a process in a room like it.

    It is tried once in the life of this process. Raises `InputError` where what they leave open is too much.
    """
    return _probe(room.mechanisms)


@cache
def _probe(mechanisms: tuple[str, ...]) -> tuple[str, ...]:
    lacks: dict[str, str] = {}
    while True:
        mechanisms = tuple(name for name in mechanisms if name not in lacks)
        met, crimes, lack, reason = _try(mechanisms)
        if lack not in mechanisms:
            break
        lacks[lack] = reason
    if lack:
        crimes = [f"do anything ({reason})"]
    unproven = sorted(set(mechanisms) - set(met))
    if not crimes and not unproven:
        return mechanisms
    reasons = [f"{name}: {reason}" for name, reason in lacks.items()] + [f"{name}: no effect" for name in unproven]
    reason = f" ({'; '.join(reasons)})" if reasons else ""
    raise InputError(
        f"this machine offers too little for a room{reason}: a candidate could {', '.join(crimes) or 'get round it'}",
        hint="with `--room none` there is none; name only candidates then that you would run yourself",
        slug="no_room",
    )


def _try(mechanisms: tuple[str, ...]) -> tuple[list[str], list[str], str, str]:
    """Return the refusals that a process in a room met, and its free ways; or what the machine lacks, and why."""
    with ExitStack() as stack:
        # The path of a socket has 107 bytes at most.
        place = None if len(tempfile.gettempdir()) < LONGEST_PLACE else "/tmp"
        folder = os.path.realpath(stack.enter_context(tempfile.TemporaryDirectory(prefix="opperf-probe-", dir=place)))
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        paths = {name: os.path.join(folder, name) for name in ("readable", "outside")}
        for path in paths.values():
            os.mkdir(path)
        paths |= {"secret": f"{paths['outside']}/secret", "hidden": f"{paths['readable']}/hidden"}
        for name in ("secret", "hidden"):
            Path(paths[name]).write_text("a secret")
        tag = f"{os.getpid()}-{threading.get_ident()}"  # rooms of several jobs are tried at the same time
        names = {"socket": f"\0opperf-probe-{tag}", "path": f"{paths['outside']}/socket"}
        for name in names.values():
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(name)
            server.listen()
        targets = {
            **paths,
            **names,
            "parent": os.getpid(),
            "port": port.getsockname()[1],
            "device": os.devnull if "namespaces" in mechanisms else 0,
            "decoy": DECOY if "namespaces" in mechanisms else paths["secret"],
        }
        python = os.path.abspath(sys.executable)  # what it may go through on the way is in no room
        own = (*python_paths(Path(python)), str(TRESPASS), paths["readable"])
        trial = Room((*SYSTEM, *own), hidden=(paths["hidden"],), mechanisms=mechanisms)
        return _answer([*_command(trial), python, "-I", "-S", str(TRESPASS), json.dumps(targets)])


def _answer(words: Sequence[str]) -> tuple[list[str], list[str], str, str]:
    try:
        trial = carry_out(words, LIMIT, os.environ)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return [], [], "room", str(problem)
    if trial.returncode == 0:
        answer = json.loads(trial.stdout)
        return answer["mechanisms"], answer["crimes"], "", ""
    line = trial.stderr.strip().rpartition("\n")[2]
    if trial.returncode == LACKING and line.startswith(LACKS):
        name, _, reason = line.removeprefix(LACKS).partition(": ")
        return [], [], name, reason
    return [], [], "room", f"it ended with {trial.returncode}: {line}"


def _command(room: Room) -> list[str]:
    specs = filter(None, map(find_spec, ("landlockpy", "pyseccomp")))
    origins = [Path(opperf.__file__), *(Path(spec.origin) for spec in specs if spec.origin)]
    libraries = [str(path.parents[1] if path.name == "__init__.py" else path.parent) for path in origins]
    return [sys.executable, "-I", "-S", "-c", ENTRANCE, json.dumps({**asdict(room), "libraries": libraries})]
