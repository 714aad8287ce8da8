"""The libraries by which benchmark files of other tools are read, beside any environment: pure Python alone.

They lie in a folder of the cache that is last on a child's path. So the packages of an environment are those that its
name says, and one which has the library uses its own.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.dataclass import dataclass
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.environments import Progress, build_once
from opperf.parent.workers.installer import find_links, uv
from opperf.parent.workers.package import cache_folder

if TYPE_CHECKING:
    from importlib.metadata import PackagePath


@dataclass(frozen=True)
class Library:
    """A tool's package, the version that opperf installs where it has none itself, and what that needs.

    `backports` are what an older Python than opperf's own needs in addition.
    """

    package: str
    version: str
    needs: tuple[str, ...] = ()
    backports: tuple[str, ...] = ()


LIBRARIES = {
    "asv": Library("asv_runner", "0.3.2"),
    "pytest": Library(
        *("pytest", "9.2.0", ("pluggy", "iniconfig", "packaging", "pygments")),
        ("exceptiongroup", "tomli", "typing_extensions"),
    ),
}


def library_folder(kind: str, progress: Progress) -> str:
    """Return a folder that holds a tool's library alone; raises `EnvironmentFailure` where it cannot be had."""
    from importlib.metadata import version  # 15 ms, as it reads mail headers

    library = LIBRARIES[kind]
    files = _files(library)
    number = version(library.package) if files else library.version
    requirement = f"{library.package}=={number}"

    def build(folder: Path) -> None:
        if files:
            for file in files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file.locate(), folder / file)
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


def _files(library: Library) -> list[PackagePath]:
    """Return the files of a library in opperf's own environment, none where a part of it is missing."""
    own = [_files_of(name) for name in (library.package, *library.needs)]
    return [file for files in (*own, *map(_files_of, library.backports)) for file in files] if all(own) else []


def _files_of(name: str) -> list[PackagePath]:
    """Return the files that a package has installed, but for commands and compiled code; none where it is missing."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        files = distribution(name).files or []
    except PackageNotFoundError:
        return []
    return [file for file in files if file.parts[0] != ".." and file.suffix != ".pyc"]
