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

from opperf.domain.dataclass import dataclass
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.environments import Progress, build_once
from opperf.parent.workers.installer import find_links, uv
from opperf.parent.workers.package import cache_folder


@dataclass(frozen=True)
class Library:
    """A tool's package, the version that opperf installs where it has none itself, and the modules that make it up.

    `backports` are what an older Python than opperf's own needs in addition.
    """

    package: str
    version: str
    modules: tuple[str, ...]
    backports: tuple[str, ...] = ()


LIBRARIES = {
    "asv": Library("asv_runner", "0.3.2", ("asv_runner",)),
    "pytest": Library(
        "pytest",
        "9.2.0",
        ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments"),
        ("exceptiongroup", "tomli", "typing_extensions"),
    ),
}


def library_folder(kind: str, progress: Progress) -> str:
    """Return a folder that holds a tool's library alone; raises `EnvironmentFailure` where it cannot be had."""
    library = LIBRARIES[kind]
    try:
        number, sources = version(library.package), _sources(library)
    except PackageNotFoundError:
        number, sources = library.version, []
    requirement = f"{library.package}=={number}"

    def build(folder: Path) -> None:
        if sources:
            for source in sources:
                _copy(source, folder)
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
            *library.backports,
        )

    return str(build_once(cache_folder() / "libraries" / requirement, requirement, progress, build))


def _sources(library: Library) -> list[Path]:
    """Return where the modules of a library lie in opperf's own environment, nothing where one of them is missing."""
    own = [_source(name) for name in library.modules]
    older = [_source(name) for name in library.backports]
    return [] if None in own else [path for path in (*own, *older) if path is not None]


def _source(name: str) -> Path | None:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin)
    return file.parent if file.name == "__init__.py" else file


def _copy(source: Path, folder: Path) -> None:
    if source.is_file():
        shutil.copy2(source, folder)
    else:
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
