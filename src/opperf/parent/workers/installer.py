"""Run uv, which builds environments, in surroundings that do not mislead it.

uv is not pip: it reads UV_FIND_LINKS, UV_INDEX and its own files of settings, and nothing of pip's. The folders of
wheels that pip was told of (PIP_FIND_LINKS) are passed on: those who set them expect every installer to look there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from opperf.domain.environment import EnvironmentSpec, requirement_name
from opperf.domain.errors import EnvironmentFailure, near
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.supervision import carry_out

#: How long an environment may take to build. Seconds: gigabytes of CUDA over a slow line take most of it.
BUILD_LIMIT = 3600.0
#: How much of uv's complaint is shown.
LAST_LINES = 20
#: Letters of a line of it that stands in the message.
LONGEST_LINE = 300
# Before what uv says: its marks of causes, and its words for them.
_MARGIN = re.compile(r"^[\s×╰─▶├│]*((error|cause):\s*)?")  # noqa: RUF001
# These point uv or Python at an environment that is not the one being built.
_MISLEADING = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "UV_PYTHON", "UV_SYSTEM_PYTHON")


def uv(spec: EnvironmentSpec, *arguments: str) -> str:
    """Run uv and return what it printed; raises `EnvironmentFailure` with its last words."""
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
            f"environment `{spec.text}` cannot be built: {complaint(process.stderr)}",
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
    with TemporaryDirectory(prefix="opperf-") as folder:
        file = Path(folder) / "requirements.in"
        file.write_text(own + "\n", encoding="utf-8")
        words = ("pip", "compile", "--no-deps", "--no-header", "--no-annotate")
        return uv(spec, *words, *nightly, *find_links(), str(file)).strip()


def find_links() -> list[str]:
    """Return the options that give uv the folders of wheels that pip would look in.

    uv reads UV_FIND_LINKS (separated by commas) and nothing of pip's; given as an option, ours would hide that.
    """
    own = [place.strip() for place in os.environ.get("UV_FIND_LINKS", "").split(",") if place.strip()]
    pips = [os.path.expanduser(place) for place in os.environ.get("PIP_FIND_LINKS", "").split()]
    # pip passes over a folder that is not there, and uv stops.
    there = [place for place in pips if "://" in place or os.path.exists(place)]
    return [option for place in dict.fromkeys([*own, *there]) for option in ("--find-links", place)]


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
    if re.search(r"dns|connect|timed out|offline|error sending request", stderr, re.IGNORECASE):
        return "uv could not reach the package index; to use local wheels, set UV_FIND_LINKS to their folder"
    return "correct the requirement, or build the environment yourself and use `python=PATH`"


def complaint(stderr: str) -> str:
    r"""Return what went wrong in one line, the first that uv says and the last, and all of the end where there is more.

    >>> complaint("error: No solution found\n  cause: Because there is no numpy==99.9")
    'No solution found: Because there is no numpy==99.9'
    """
    lines = [_MARGIN.sub("", line).strip() for line in stderr.splitlines() if not line.startswith("hint:")]
    telling = [line[:LONGEST_LINE] for line in lines if line]
    if not telling:
        return "uv gave no reason"
    headline = ": ".join(dict.fromkeys((telling[0], telling[-1])))
    end = "\n".join(stderr.strip().splitlines()[-LAST_LINES:])
    return headline if len(telling) < 3 else f"{headline}\n\nuv says:\n\n{end}"
