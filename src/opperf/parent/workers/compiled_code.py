"""Where the compilers of children keep what they have compiled: in a folder of opperf's, common to equal children.

The children of a command import the same framework and compile the same function again and again: `torch.compile` takes
a process 12 s of CPU time for a softmax, and 1.5 s where it finds what an earlier one made of it.

* What lies there is loaded as code. So the folder is the user's alone (0700, checked), and it lies where the user's
  environment says that caches lie: nothing that opperf reads from a file names it, nor the folder that is tested.
* Children share a folder where they are equal but for what they are called with: the same interpreter, framework,
  device, mode, threads and settings. What either side of a comparison compiles serves the other only where both are
  the same, and then it serves each as much: neither can be given what was compiled for another.
* It outlives its command where opperf made the environment, in which nothing changes. Beneath an interpreter of the
  user's own a framework may be built anew, without its version telling: such a folder goes with the process.
* numba looks only at the file of a function and at its date, not at what the function calls. Where it keeps anything
  goes with the process in any case.
* On a device other than the CPU compilers time several kernels and keep the fastest. Whom luck gave a slow one would
  have it in every process, and a verdict by it; so each compiles by itself there.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from opperf.domain.errors import EnvironmentFailure
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.plan import EXTRA_CALLS, LAYOUT, SHARED_CODE, Side
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.package import DIGEST, KEEP_FOR, cache_folder, ensure_folder

#: The variable by which each compiler of PyTorch finds its folder, and the name of that.
FOLDERS = {"TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton"}
#: What keeps them from reading what lies on the disk. A child of JAX does without in any case.
WITHOUT = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TRITON_ALWAYS_COMPILE": "1"}
NUMBA = "NUMBA_CACHE_DIR"
#: All that is set here: a framework reads none of them when it is imported, but its compiler when that is.
VARIABLES = frozenset({*FOLDERS, *WITHOUT, NUMBA})


def compiler_variables(choice: str, side: Side, spec: EnvironmentSpec, python: Path) -> Mapping[str, str]:
    """Return the variables that say where the compilers of a child keep what they have compiled, or that they do not.

    Raises `EnvironmentFailure` for a folder that another user may write to.
    """
    if side.framework == "null":
        return {}
    of_torch = side.framework == "torch"
    if choice != SHARED_CODE:
        numba = _of_this_process() / f"numba-{time.monotonic_ns()}"
        return {**(WITHOUT if of_torch else {}), NUMBA: str(numba)}
    numba = _of_this_process() / key(side, python) / "numba"
    if side.device != "cpu" or not of_torch:
        return {NUMBA: str(numba)}
    folder = _lasting(key(side, python)) if spec.requirements else _of_this_process() / key(side, python)
    return {**{name: str(folder / compiler) for name, compiler in FOLDERS.items()}, NUMBA: str(numba)}


def key(side: Side, python: Path) -> str:
    """Return the properties that children share which may share compiled code.

    >>> one = Side("torch", mode="compiled", implementation="torch.add")
    >>> python = Path("/usr/bin/python3")
    >>> key(one, python) == key(Side("torch", mode="compiled"), python), key(one, python) == key(Side("torch"), python)
    (True, False)
    """
    settings = {name: value for name, value in side.settings.items() if name not in (EXTRA_CALLS, LAYOUT)}
    words = (python, side.framework, side.device, side.mode, side.threads, side.engine, *sorted(settings.items()))
    return hashlib.sha256("\0".join(map(str, words)).encode()).hexdigest()[:DIGEST]


def _lasting(name: str) -> Path:
    """Return a folder that outlives the command; those that no command has used for long are removed."""
    home = ensure_folder(cache_folder() / "compiled")
    check_own(home)
    folder = ensure_folder(home / name)
    check_own(folder)
    os.utime(folder)
    limit = time.time() - KEEP_FOR
    for entry in home.iterdir():
        with suppress(FileNotFoundError):  # another process may be pruning as well
            if entry.stat().st_mtime < limit:
                shutil.rmtree(entry, ignore_errors=True)
    return folder


def check_own(folder: Path) -> None:
    """Raise `EnvironmentFailure` for a folder that is a link, or that somebody else owns or may write to."""
    about = folder.lstat()
    if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022:
        return
    raise EnvironmentFailure(
        f"`{folder}` holds compiled code, but others than you may write to it",
        hint=f"remove it, or restrict it (`chmod 700 {folder}`); `--compile-cache none` does without",
        slug="cache_folder",
    )


@cache
def _of_this_process() -> Path:
    """Return a folder that goes when this process ends; one that is left of a killed process goes with the next."""
    folder = ScratchFolder("compiled")
    atexit.register(folder.close)
    return folder.path
