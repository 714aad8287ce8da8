"""The cache folder, and in it the private folders that hold opperf alone.

A worker runs in an interpreter that has never heard of opperf. It gets one folder on its path, and that folder must
hold nothing but opperf: with the parent's whole site-packages there, MXNet would pick up the parent's NumPy 2 and die.

* The folder is named after the content of its files, so a child never runs code of another version than its parent,
  and a checkout that is being edited gets a new folder with each change.
* It appears whole or not at all: it is filled under another name and then renamed.
* The parent's tower stays at home, and PARAM's grammar of configs: a child never imports them.

A script that is profiled gets another one: the whole package, since the script may use opperf itself, and beside it the
`sitecustomize` that starts the profiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

import platformdirs

from opperf.domain.errors import EnvironmentFailure
from opperf.domain.files.destination import ensure_private

#: Copies that no command has asked for in this long are removed when a new one is made. Seconds.
KEEP_FOR = 30 * 24 * 3600.0
#: What a child needs of the package: modules, and what it compiles itself.
SOURCES = (".py", ".c", ".cpp")
#: Rooms of the package that no child enters.
AT_HOME = ("parent", "param")
#: Length of the content's digest in the folder's name: 64 bits, far beyond chance.
DIGEST = 16


def cache_folder() -> Path:
    """Return the folder where opperf keeps what it can make again; `OPPERF_CACHE_DIR` moves it."""
    setting = os.environ.get("OPPERF_CACHE_DIR")
    return Path(setting).expanduser().absolute() if setting else platformdirs.user_cache_path("opperf")


def ensure_folder(folder: Path) -> Path:
    """Return the folder, made where it was missing; raises `EnvironmentFailure` when the cache cannot be written."""
    try:
        ensure_private(folder)
    except OSError as problem:
        raise EnvironmentFailure(
            f"cannot make the cache folder `{folder}`: {problem.strerror}",
            hint="set OPPERF_CACHE_DIR to a writable folder",
            slug="cache_folder",
        ) from problem
    return folder


def package_folder(source: Path | None = None) -> Path:
    """Return a folder that holds `opperf` without its parent, to be the only addition to a child's path.

    `source` is the package to copy, by default the one that is running.
    """
    return _folder(*(_running_child() if source is None else _child_of(source, _contents(source))))


def autostart_folder() -> Path:
    """Return a folder for PYTHONPATH: `opperf`, and the `sitecustomize` that starts its profiler with Python."""
    contents = {**_running_contents(), "sitecustomize.py": (_running() / "sitecustomize.py").read_bytes()}
    return _folder(contents, _digest(contents))


def _running() -> Path:
    return Path(__file__).resolve().parents[2]


@cache
def _running_contents() -> dict[str, bytes]:
    """Read the package that is running, once: the children of one run are alike, also where its files are edited."""
    return _contents(_running())


@cache
def _running_child() -> tuple[dict[str, bytes], str]:
    return _child_of(_running(), _running_contents())


def _child_of(source: Path, contents: dict[str, bytes]) -> tuple[dict[str, bytes], str]:
    """Return the files of a package that a child needs, and their digest."""
    at_home = tuple(f"{source.name}/{room}/" for room in AT_HOME)
    own = {name: text for name, text in contents.items() if not name.startswith(at_home)}
    return own, _digest(own)


def _folder(contents: dict[str, bytes], digest: str) -> Path:
    """Return the folder that holds these files, made where it was missing."""
    home = ensure_folder(cache_folder() / "package")
    folder = home / digest
    try:
        if not folder.is_dir():
            _write(contents, home, folder)
            _prune(home, keep=folder)
        os.utime(folder)
    except OSError as problem:
        raise EnvironmentFailure(
            f"cannot copy opperf for its workers to `{folder}`: {problem.strerror}",
            hint="free some space, or set OPPERF_CACHE_DIR to another folder",
            slug="cache_folder",
        ) from problem
    return folder


def _contents(source: Path) -> dict[str, bytes]:
    """Read every source of the package, by its path beside it, and the mark that says it is typed."""
    files = sorted(path for path in source.rglob("*") if path.suffix in SOURCES and "__pycache__" not in path.parts)
    if (source / "py.typed").is_file():
        files.append(source / "py.typed")
    return {path.relative_to(source.parent).as_posix(): path.read_bytes() for path in files}


def _digest(contents: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in contents.items():
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:DIGEST]


def _write(contents: dict[str, bytes], home: Path, folder: Path) -> None:
    filling = Path(tempfile.mkdtemp(prefix="filling-", dir=home))
    try:
        for name, content in contents.items():
            path = filling / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        filling.rename(folder)
    except OSError:
        # Another process may have been faster: then the folder is there, with the same content.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(filling, ignore_errors=True)


def _prune(home: Path, *, keep: Path) -> None:
    limit = time.time() - KEEP_FOR
    for folder in home.iterdir():
        # Another process may be pruning as well.
        with contextlib.suppress(FileNotFoundError):
            if folder != keep and folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)
