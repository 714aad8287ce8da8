"""Build the environments that frameworks are measured in, with uv, in the cache folder, each once.

* An environment is what its mark says. `ready.json` is written last, in one step, and names the folder it speaks of;
  a folder without a mark is never used, and goes when the environment is next built.
* Every attempt gets a folder of its own, so that none finds what another has left. uv ends with opperf, on Linux;
  where it outlives it, it goes on writing into a folder that nothing will ever name.
* A lock of the operating system lets one process build while the others wait; it is free the moment its holder is
  gone, however that died.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeAlias

from opperf.domain.codec import decode
from opperf.domain.errors import EnvironmentFailure, InputError, unknown
from opperf.domain.files.destination import write_text
from opperf.domain.files.json_text import value_of
from opperf.domain.registry import FRAMEWORKS, REAL_FRAMEWORKS
from opperf.parent.documents.environment import BuiltEnvironment, EnvironmentSpec
from opperf.parent.workers.installer import BUILD_LIMIT, find_links, listen, uv
from opperf.parent.workers.package import cache_folder, ensure_folder
from opperf.parent.workers.passwords import environment_of, hide_passwords

#: Told what is going on, a line at a time.
Progress: TypeAlias = Callable[[str], None]
_MARK = "ready.json"
#: The mark of what is built for no spec; it names the folder.
_WHOLE = "opperf-ready"


def quiet(text: str) -> None:
    """Discard a line of progress."""


def create(spec: EnvironmentSpec, *, progress: Progress = quiet, python: str | None = None) -> BuiltEnvironment:
    """Return the environment that was built for a spec; builds it unless that was done before.

    `python` is the interpreter to build it for, None for the usual one.
    Raises `InputError` for one that opperf does not build, `EnvironmentFailure` for one that cannot be built.
    """
    if not spec.requirements:
        raise InputError(
            f"environment `{spec.text}` is not one that opperf can build",
            hint=f"name a framework ({', '.join(REAL_FRAMEWORKS)}) or a requirement (`numpy==1.26.4`)",
        )
    python = python or _python_request(spec)
    folder = ensure_folder(_home()) / _folder_name(spec, python)
    environment = _read(folder)
    if environment is not None:
        return environment
    with _lock(folder, spec.text, progress):
        # Another process may have built it while this one waited.
        return _read(folder) or _build(spec, python, folder, progress)


def is_built(spec: EnvironmentSpec) -> bool:
    """Whether `create` has nothing to do."""
    return bool(spec.requirements) and _read(_home() / _folder_name(spec, _python_request(spec))) is not None


def environments() -> list[BuiltEnvironment]:
    """Return the environments that can be used, by name."""
    home = _home()
    result = [_read(folder) for folder in sorted(home.iterdir())] if home.is_dir() else []
    return [environment for environment in result if environment is not None]


def remove(name: str, *, progress: Progress = quiet) -> list[str]:
    """Remove what was built under a name (a folder's, or what was asked for) and return the folders' names.

    A half-built environment goes by the name of its folder. Raises `InputError` for a name that nothing goes by.
    """
    home = _home()
    folders = [path for path in sorted(home.iterdir()) if path.is_dir()] if home.is_dir() else []
    texts = {folder.name: environment.text for folder in folders if (environment := _read(folder)) is not None}
    try:
        spec = environment_of(name)
        names = {name, spec.text} | ({_folder_name(spec, _python_request(spec))} if spec.requirements else set())
    except InputError:
        names = {name}
    matches = [folder for folder in folders if {folder.name, texts.get(folder.name)} & names]
    if not matches:
        raise unknown("environment", name, {*texts, *texts.values()}, hint="`opperf env list` shows them")
    for folder in matches:
        with _lock(folder, folder.name, progress):
            (folder / _MARK).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
    return [folder.name for folder in matches]


def remove_all(*, progress: Progress = quiet) -> list[str]:
    """Remove every environment, half-built ones too, and return the folders' names."""
    home = _home()
    folders = [path.name for path in sorted(home.iterdir()) if path.is_dir()] if home.is_dir() else []
    return [name for folder in folders for name in remove(folder, progress=progress)]


def _home() -> Path:
    return cache_folder() / "environments"


def _folder_name(spec: EnvironmentSpec, python: str) -> str:
    """Name the folder after everything that makes the environment another one."""
    tag = python if python != sys.executable else f"{sysconfig.get_config_var('SOABI')} {sys.version_info[:2]}"
    files: list[object] = [_file_state(requirement) for requirement in spec.requirements]
    files += [_digest(file) for file in spec.files]
    facts = [list(spec.requirements), files, tag, sysconfig.get_platform()]
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", spec.requirements[0].partition(" @ ")[0]).strip("-.")
    return f"{slug}-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]}"


def _file_state(requirement: str) -> object:
    """Return the state of a wheel or a repository of the user's own, by which another is told; raises without one."""
    url = urllib.parse.urlsplit(requirement.partition(" @ ")[2] or requirement)
    path, _, revision = urllib.parse.unquote(url.path).partition("@")
    if url.scheme == "git+file":
        words = ("git", "-C", path, "rev-parse", "--verify", "--end-of-options", f"{revision or 'HEAD'}^{{commit}}")
        with contextlib.suppress(OSError):
            process = listen(words, PROBE_LIMIT)
            if process.returncode == 0:
                return process.stdout.strip()
        hint = "write `git+file:///path/to/repo` or `git+file:///path/to/repo@REVISION`"
        raise InputError(f"`{requirement}`: `{path}` has no commit `{revision or 'HEAD'}`", hint=hint)
    if url.scheme != "file":
        return None
    path = urllib.parse.unquote(url.path)
    try:
        state = os.stat(path)
    except OSError as problem:
        raise InputError(
            f"`{requirement}`: cannot read `{path}`: {problem.strerror}",
            hint="write `NAME @ file:///path/to.whl` with a path that exists",
        ) from problem
    return [state.st_size, state.st_mtime_ns]


def _digest(file: str) -> str:
    """Return the digest of a file of requirements, by which another is told; raises `InputError` without one."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError as problem:
        raise InputError(f"cannot read `{file}`: {problem.strerror}", hint="write `-r FILE`") from problem


def _python_request(spec: EnvironmentSpec) -> str:
    """Say which Python uv shall use: this one, or the newest that the framework still has packages for."""
    newest = spec.newest_python
    return sys.executable if newest is None or sys.version_info[:2] <= newest else version_text(newest)


@contextlib.contextmanager
def _lock(folder: Path, text: str, progress: Progress) -> Iterator[None]:
    """Hold what belongs to one environment."""
    # Imported here, as it takes 40 ms, and an environment that is there needs no lock.
    from filelock import FileLock, Timeout

    lock = FileLock(folder.with_name(f"{folder.name}.lock"))
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress(f"waiting for another process to build {text} ...")
            lock.acquire(timeout=BUILD_LIMIT, poll_interval=0.1)
    except Timeout as problem:
        raise EnvironmentFailure(
            f"another process has locked `{folder.name}` for {BUILD_LIMIT:.0f} s",
            hint="wait for it or stop it, then try again",
            slug="environment_locked",
        ) from problem
    except OSError as problem:
        raise EnvironmentFailure(
            f"cannot lock `{lock.lock_file}`: {problem.strerror}",
            hint="set OPPERF_CACHE_DIR to a writable folder",
            slug="cache_folder",
        ) from problem
    try:
        yield
    finally:
        lock.release()


def build_once(home: Path, text: str, progress: Progress, build: Callable[[Path], None]) -> Path:
    """Return a folder that was built whole; builds it in a new one, which holds nothing that another has left."""
    mark = ensure_folder(home) / _WHOLE
    with _lock(home, text, progress):
        if mark.exists():
            return home / mark.read_text(encoding="utf-8")
        for left in home.glob("attempt-*"):
            shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="attempt-", dir=home))
        try:
            build(folder)
            write_text(mark, folder.name)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return folder


def _read(folder: Path) -> BuiltEnvironment | None:
    """Return the contents of the mark; None unless the environment is whole."""
    try:
        environment = decode(BuiltEnvironment, value_of((folder / _MARK).read_bytes()), str(folder), name=folder.name)
    except (OSError, ValueError, InputError):
        return None
    # It is a link to the Python that uv took, which may have been removed since.
    executable = folder / environment.executable
    if ".." in Path(environment.executable).parts or not executable.is_relative_to(folder):
        return None  # a mark names a Python of its own folder, and no other program
    return replace(environment, executable=str(executable)) if executable.exists() else None


def _build(spec: EnvironmentSpec, python: str, folder: Path, progress: Progress) -> BuiltEnvironment:
    """Build an environment, the lock being held."""
    start = time.monotonic()
    progress(f"building environment {spec.text} ...")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        attempt = Path(tempfile.mkdtemp(prefix="attempt-", dir=ensure_folder(folder)))
        environment = _install(spec, python, folder, attempt)
        _write_mark(folder, environment)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    progress(f"built in {time.monotonic() - start:.1f} s")
    return environment


def _install(spec: EnvironmentSpec, base: str, folder: Path, attempt: Path) -> BuiltEnvironment:
    """Have uv make the environment in `attempt`, and return what became of it."""
    uv(spec, "venv", "--python", base, "--allow-existing", str(attempt))
    python = attempt / PYTHON
    files = [word for file in spec.files for word in ("--requirement", file)]
    uv(spec, "pip", "install", "--python", str(python), *find_links(), *files, "--", *spec.requirements)
    packages = uv(spec, "pip", "freeze", "--python", str(python)).splitlines()
    version, frameworks = probe(python, spec.text)
    return BuiltEnvironment(
        name=folder.name,
        text=spec.text,
        requirements=tuple(map(hide_passwords, spec.requirements)),
        executable=str(python),
        python=version_text(version),
        frameworks=frameworks,
        packages=tuple(map(hide_passwords, packages)),
        size=sum(path.lstat().st_size for path in attempt.rglob("*")),
        created=time.time(),
        uv=uv(spec, "--version").split()[1],
    )


def _write_mark(folder: Path, environment: BuiltEnvironment) -> None:
    fields = asdict(environment) | {"executable": Path(environment.executable).relative_to(folder).as_posix()}
    write_text(folder / _MARK, json.dumps(fields, indent=2))


#: Where the Python of an environment is, in its folder.
PYTHON = "Scripts/python.exe" if os.name == "nt" else "bin/python"
#: How long an interpreter may take to say what it is. Seconds: a cold disk takes most of it.
PROBE_LIMIT = 60.0

# Runs in any Python, an old one too. The current folder is on the path, and is not the interpreter's own.
_PROBE = """
import json, sys
sys.path = [entry for entry in sys.path if entry]
found = []
if sys.version_info >= (3, 10):
    import importlib.util
    def spec_of(name):
        try:
            return importlib.util.find_spec(name)
        except ImportError:  # a part of a package that is not there
            return None
    specs = [(name, spec_of(name)) for name in sys.argv[1:]]
    found = [name for name, spec in specs if spec is not None and spec.origin is not None]
print(json.dumps({"version": list(sys.version_info[:3]), "modules": found}))
"""


def probe(python: Path, text: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the version of a Python, and the frameworks that it can import.

    `text` is what the user called it. Raises `InputError` for what is no Python, `EnvironmentFailure` for one that does
    not answer.
    """
    modules = {name: framework.module for name, framework in FRAMEWORKS.items() if name != "null"}
    try:
        answer = listen([str(python), "-c", _PROBE, *dict.fromkeys(modules.values())], PROBE_LIMIT)
    except subprocess.TimeoutExpired as problem:
        raise EnvironmentFailure(
            f"`{text}` has not answered in {PROBE_LIMIT:.0f} s", hint=f"try `{python} -c ''`", slug="python_path"
        ) from problem
    except OSError as problem:
        raise InputError(f"`{python}` cannot be run: {problem.strerror}", slug="python_path") from problem
    try:
        # The last line: whatever runs as Python starts (a .pth file) may have printed before.
        document = json.loads(answer.stdout.splitlines()[-1])
        there = set(document["modules"])
        return tuple(document["version"]), tuple(name for name, module in modules.items() if module in there)
    except (IndexError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            f"`{python}` is not a working Python: when asked for its version, it exited with code {answer.returncode}",
            hint=f"try `{python} --version`",
            slug="python_path",
        ) from problem


def version_text(version: tuple[int, ...]) -> str:
    """Return a version as it is written."""
    return ".".join(str(part) for part in version)
