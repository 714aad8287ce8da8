"""The libraries by which benchmark files of other tools are read, beside any environment: pure Python alone.

They lie in a folder of the cache that is last on a child's path. So the packages of an environment are those that its
name says, and one which has the library uses its own.
"""

from __future__ import annotations

import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.environments import Progress, build_once
from opperf.parent.workers.installer import find_links, uv
from opperf.parent.workers.package import cache_folder

#: The package and module of a tool's library, and the version that opperf installs where it has none itself.
LIBRARIES = {"asv": ("asv_runner", "0.3.2")}


def library_folder(kind: str, progress: Progress) -> str:
    """Return a folder that holds a tool's library alone; raises `EnvironmentFailure` where it cannot be had."""
    name, usual = LIBRARIES[kind]
    try:
        number, spec_here = version(name), find_spec(name)
    except PackageNotFoundError:
        number, spec_here = usual, None
    requirement = f"{name}=={number}"
    source = None if spec_here is None or spec_here.origin is None else Path(spec_here.origin).parent

    def build(folder: Path) -> None:
        if source is not None:
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            return
        progress(f"installing {requirement} ...")
        spec = EnvironmentSpec.parse(requirement)
        uv(
            spec,
            "pip",
            "install",
            "--python",
            sys.executable,
            "--target",
            str(folder),
            *find_links(),
            "--",
            requirement,
        )

    return str(build_once(cache_folder() / "libraries" / requirement, requirement, progress, build))
