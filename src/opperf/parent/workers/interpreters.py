"""Find the Python that a framework is measured in.

A framework that imports in the interpreter that opperf runs in is used there; otherwise opperf builds an environment.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.plan import Side
from opperf.domain.registry import FRAMEWORKS, LAYER_LIBRARIES, MODULE_LIBRARIES, REAL_FRAMEWORKS
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec, preset, requirement_name
from opperf.parent.workers.commits import commit_python
from opperf.parent.workers.environments import PYTHON, Progress, create, probe, quiet, version_text
from opperf.parent.workers.passwords import environment_of

#: The oldest Python that a worker runs in.
OLDEST_PYTHON = (3, 10)


def imports_here(framework: str) -> bool:
    """Whether a framework can be imported in this interpreter, as far as can be told without importing it."""
    if framework == "null":
        return True
    return _imports(FRAMEWORKS[framework].module)


def _imports(module: str) -> bool:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    # A folder that merely has the framework's name, such as the one it is built in, has no origin.
    return spec is not None and spec.origin is not None


def importable() -> tuple[str, ...]:
    """Return the frameworks that can be imported in this interpreter."""
    return tuple(name for name in REAL_FRAMEWORKS if imports_here(name))


def choose_environment(
    spec: EnvironmentSpec, framework: str, libraries: Collection[str] = (), packages: Sequence[str] = ()
) -> EnvironmentSpec:
    """Return the environment that is really meant, with libraries of layers in it where opperf builds it.

    `current` gives way to the preset where the framework is missing, or such a library. `packages` are what benchmark
    files need, by their own settings: they are beside a framework that is named alone.
    """
    mine = [library for library in libraries if framework in LAYER_LIBRARIES[library].hosts]
    if spec == CURRENT and not (imports_here(framework) and all(map(_imports, mine))):
        spec = preset(framework)
    for text in packages if spec.requirements and not spec.names_packages else ():
        name = requirement_name(text)
        if not FRAMEWORKS[framework].owns(name) and name != requirement_name(spec.requirements[0]):
            spec = spec.with_package(text)
    for library in mine:
        spec = spec.with_package(library) if spec.requirements and not spec.has(library) else spec
    return spec


def program_environment(framework: str, libraries: Collection[str] = ()) -> EnvironmentSpec:
    """Return the environment of a program that imports `libraries` of modules or layers: `current` if it has all."""
    if imports_here(framework) and all(map(_imports, libraries)):
        return CURRENT
    spec = preset(framework)
    for library in libraries:
        if not (library in LAYER_LIBRARIES and spec.has(library)):
            spec = spec.with_package(MODULE_LIBRARIES.get(library, (framework, library))[1])
    return spec


def suite_environment(framework: str, packages: Sequence[str]) -> str:
    """Return where benchmarks are measured that need packages and name no environment.

    `current` where it has the framework and all of them; else one with the version of the framework among them.
    """
    if not packages or framework == "null" or (imports_here(framework) and all(map(_is_here, packages))):
        return CURRENT.text
    own = next((text for text in packages if FRAMEWORKS[framework].owns(requirement_name(text))), framework)
    plain = framework if own == requirement_name(own) else own
    return EnvironmentSpec.parse(" + ".join([plain, *(text for text in packages if text != own)])).text


def _is_here(requirement: str) -> bool:
    """Whether a package is installed in this interpreter, in a version that will do."""
    # Imported here, as few commands need them.
    from importlib.metadata import PackageNotFoundError, version

    from packaging.requirements import Requirement

    package = Requirement(requirement)
    try:
        return package.specifier.contains(version(package.name), prereleases=True)
    except PackageNotFoundError:
        return False


def settled_side(
    side: Side, libraries: Collection[str] = (), packages: Sequence[str] = (), *, explicit: bool = False
) -> Side:
    """Return the side with the environment that is really used, where libraries of layers or packages are needed too.

    Where `current` is the user's `explicit` choice, no other is used: raises `EnvironmentFailure`.
    """
    spec = environment_of(side.environment)
    environment = choose_environment(spec, side.framework, libraries, packages)
    if spec.source is not None:
        return side  # its text knows what builds it
    if explicit and spec == CURRENT != environment:
        missing = " and ".join((side.framework, *libraries))
        raise EnvironmentFailure(
            f"`--environment current` is `{sys.executable}`, which cannot import {missing}",
            hint=f"leave `--environment` out, and opperf builds `{environment.text}`; or name a Python that has it: "
            "`--environment python=PATH`",
            slug="framework_missing",
        )
    return replace(side, environment=environment.text)


def interpreter(spec: EnvironmentSpec, *, framework: str, progress: Progress = quiet) -> Path:
    """Return the Python to measure a framework in; builds the environment where that is needed.

    Raises `InputError` for a path that is no Python, `EnvironmentFailure` when the framework cannot be had there.
    """
    spec = choose_environment(spec, framework)
    if spec == CURRENT:
        return Path(os.path.abspath(sys.executable))
    if spec.path is not None:
        return _own_python(spec.path, framework)
    if spec.kind == "commit":
        return _with_framework(commit_python(spec, framework, progress), spec.text, framework)
    environment = create(spec, progress=progress)
    if framework not in (*environment.frameworks, "null"):
        raise EnvironmentFailure(
            f"environment `{spec.text}` has {_packages(environment.frameworks)}, but not {framework}",
            hint=f"use `{framework}`, or a requirement that installs it",
            slug="framework_missing",
        )
    return Path(environment.executable)


def _own_python(text: str, framework: str) -> Path:
    """Check an interpreter of the user's own; a folder means the Python of the environment in it."""
    path = Path(text).expanduser()
    if path.name == text and not path.exists():
        # A bare name is looked for as a shell would.
        path = Path(shutil.which(text) or path)
    # Not resolved: the link is what makes the Python of an environment see that environment.
    path = (path / PYTHON if path.is_dir() else path).absolute()
    if not os.access(path, os.X_OK):
        problem = "cannot be run" if path.exists() else "does not exist"
        raise InputError(f"`python={text}`: `{path}` {problem}", hint="give the path of a Python", slug="python_path")
    return _with_framework(path, f"python={text}", framework)


@cache  # each child of a command would ask again, and a pair starts two; what is raised is asked again
def _with_framework(python: Path, text: str, framework: str) -> Path:
    """Return a Python that has a framework; `text` is what the user called it."""
    version, modules = probe(python, text)
    if version < OLDEST_PYTHON:
        raise InputError(
            f"`{text}` is Python {version_text(version)}, and a worker needs {version_text(OLDEST_PYTHON)} or newer",
            hint="use a newer Python that has the framework",
            slug="python_version",
        )
    if framework != "null" and framework not in modules:
        raise EnvironmentFailure(
            f"`{text}` has no {framework} (Python {version_text(version)}; it has {_packages(modules)})",
            hint=f"install it there, or name `{framework}`, whose environment opperf builds",
            slug="framework_missing",
        )
    return python


def _packages(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "no framework"
