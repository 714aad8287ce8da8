"""Make opperf run on a node that has only Python and the engine: standard library alone.

opperf's own files travel with the engine. What they import there besides is in `PACKAGES`: a node whose Python has all
of it is used as it is; for another one, pip puts what the head has of it into a folder of the cache, once.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from opperf.domain.files.destination import ensure_private

#: The libraries that measuring needs beside the standard one; each is imported by its own name. Those of a room are on
#: Linux alone.
PACKAGES = ("filelock", "platformdirs", "psutil", "uv")
OF_ROOMS = ("landlockpy", "pyseccomp")


def requirements() -> list[str]:
    """Return the requirements of a node, as installed here."""
    of_rooms = tuple(name for name in OF_ROOMS if find_spec(name))
    return [f"{name}=={importlib.metadata.version(name)}" for name in (*PACKAGES, *of_rooms)]


def prepare(requirements: Sequence[str]) -> None:
    """Have the requirements importable, downloaded if they are not; raises `RuntimeError` where pip cannot get it."""
    if all(find_spec(requirement.partition("==")[0]) for requirement in requirements):
        return
    folder = _home() / hashlib.sha256(repr([sorted(requirements), sys.version]).encode()).hexdigest()[:16]
    if not folder.is_dir():
        _install(requirements, folder)
    sys.path.append(str(folder))


def _home() -> Path:
    cache = os.environ.get("OPPERF_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "opperf"
    return Path(cache).expanduser() / "node"


def _install(requirements: Sequence[str], folder: Path) -> None:
    """Fill a folder; it appears whole or not at all, and the loser of a race discards its copy."""
    ensure_private(folder.parent)
    filling = tempfile.mkdtemp(prefix="filling-", dir=folder.parent)
    try:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--target", filling, *requirements]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise RuntimeError(f"pip cannot install {' '.join(requirements)}: {done.stderr.strip()[-500:]}")
        with contextlib.suppress(OSError):
            os.rename(filling, folder)
    finally:
        shutil.rmtree(filling, ignore_errors=True)
