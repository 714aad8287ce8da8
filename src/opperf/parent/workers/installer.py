"""Run uv, which builds environments, in surroundings that do not mislead it.

uv is not pip: it reads UV_FIND_LINKS, UV_INDEX and its own files of settings, and nothing of pip's. The folders of
wheels that pip was told of (PIP_FIND_LINKS) are passed on: those who set them expect every installer to look there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from opperf.domain.errors import EnvironmentFailure, near
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.environment import EnvironmentSpec, requirement_name
from opperf.parent.workers.build_failures import UNREACHED, build_failure
from opperf.parent.workers.supervision import carry_out

#: How long an environment may take to build. Seconds: gigabytes of CUDA over a slow line take most of it.
BUILD_LIMIT = 3600.0
# These point uv or Python at an environment that is not the one being built.
_MISLEADING = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_PYTHON", "UV_SYSTEM_PYTHON")


def uv(spec: EnvironmentSpec, *arguments: str) -> str:
    """Run uv and return what it printed; raises `EnvironmentFailure` with what went wrong."""
    try:
        process = carry_out([uv_executable(), "--quiet", "--color=never", *arguments], BUILD_LIMIT, surroundings())
    except subprocess.TimeoutExpired as problem:
        raise EnvironmentFailure(
            f"environment `{spec.text}` was not built in {BUILD_LIMIT:.0f} s",
            hint="try again: uv caches its downloads",
            slug="environment_build",
        ) from problem
    if process.returncode != 0:
        raise EnvironmentFailure(
            f"environment `{spec.text}` cannot be built: {build_failure(process.stderr, _newest_version)}",
            hint=_remedy(spec, process.stderr),
            slug="environment_build",
        )
    return process.stdout


def uv_executable() -> str:
    """Return the path of uv; raises `EnvironmentFailure` where there is none."""
    # Imported here, as everything but a build does without it.
    from uv import find_uv_bin

    try:
        return find_uv_bin()
    except FileNotFoundError as problem:
        path = shutil.which("uv")
        if path is not None:
            return path
        raise EnvironmentFailure(
            "cannot find uv, which builds environments", hint="install it: `pip install uv`", slug="no_uv"
        ) from problem


def newest(requirement: str, index: str | None = None) -> str:
    """Return a requirement pinned to its newest version, of an index with nightly wheels too where one is named.

    Raises `EnvironmentFailure` where there is none.
    """
    spec = EnvironmentSpec.parse(requirement)
    own = next(one for one in spec.requirements if spec.framework is None or FRAMEWORKS[spec.framework].owns(one))
    nightly = [] if index is None else ["--index", index, "--prerelease", "allow"]
    return _pin(spec, own, nightly)


def _newest_version(package: str) -> str | None:
    """Return the newest version of a package, None where there is none."""
    with contextlib.suppress(EnvironmentFailure):
        return _pin(EnvironmentSpec.parse("current"), package).rpartition("==")[2]
    return None


def _pin(spec: EnvironmentSpec, requirement: str, words_of_index: Sequence[str] = ()) -> str:
    """Return a requirement pinned to its newest version."""
    with TemporaryDirectory(prefix="opperf-") as folder:
        file = Path(folder) / "requirements.in"
        file.write_text(requirement + "\n", encoding="utf-8")
        words = ("pip", "compile", "--no-deps", "--no-header", "--no-annotate")
        return uv(spec, *words, *words_of_index, *find_links(), str(file)).strip()


def find_links() -> list[str]:
    """Return the options that give uv the folders of wheels that pip would look in.

    uv reads UV_FIND_LINKS (separated by commas) and nothing of pip's; given as an option, ours would hide that.
    """
    links = [place.strip() for place in os.environ.get("UV_FIND_LINKS", "").split(",") if place.strip()]
    pips = [os.path.expanduser(place) for place in os.environ.get("PIP_FIND_LINKS", "").split()]
    # pip passes over a folder that is not there, and uv stops.
    there = [place for place in pips if "://" in place or os.path.exists(place)]
    return [option for place in dict.fromkeys([*links, *there]) for option in ("--find-links", place)]


def listen(command: Sequence[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Run a program that gets no input and is not misled; return what it said, within `limit` seconds."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit,
        env=surroundings(),
    )


def surroundings() -> dict[str, str]:
    """Return the variables of this process less those that speak of its own environment."""
    return {name: value for name, value in os.environ.items() if name not in _MISLEADING}


def _remedy(spec: EnvironmentSpec, stderr: str) -> str:
    first = next(iter(spec.requirements), "")
    distributions = [distribution for framework in FRAMEWORKS.values() for distribution in framework.distributions]
    close = near(requirement_name(first), distributions) if first and spec.framework is None else []
    if close:
        return f"did you mean {', '.join(f'`{name}`' for name in close)}?"
    if UNREACHED.search(stderr):
        return "to use local wheels, set UV_FIND_LINKS to their folder"
    return "correct the requirement, or build the environment yourself and use `python=PATH`"
