"""The releases of a framework between a good and a bad one, from the package index, each with a Python that takes it.

A framework may have several packages, such as MXNet's `mxnet` and `mxnet-mkl`. From one to the other the releases of
the first come first, up to the newest that both have; then those of the second.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import InvalidVersion, Version

from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.plan import Side
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec, requirement_name
from opperf.parent.planning.side_text import in_environment
from opperf.parent.workers.environments import PYTHON, build_once, create, quiet, version_text
from opperf.parent.workers.installer import find_links, listen, uv, uv_executable
from opperf.parent.workers.interpreters import OLDEST_PYTHON
from opperf.parent.workers.package import cache_folder

#: How long the index may take to answer, in seconds.
PATIENCE = 300.0
#: Into how many parts builds are divided by those that are looked at although good and bad are close, where a build is
#: soon installed: of up to a dozen all are.
INSTALLED_PARTS = 8


class Releases:
    """Releases of a framework's packages, each built in a Python that has a wheel of it."""

    parts = INSTALLED_PARTS

    def __init__(
        self, requirements: Mapping[str, str], note: Callable[[str], None], packages: Sequence[str] = ()
    ) -> None:
        """Take what installs each release, by its name, and packages that each has beside it."""
        self.names: Sequence[str] = list(requirements)
        self._requirements, self._packages, self._note = requirements, packages, note

    @cached_property
    def _pythons(self) -> list[str]:
        """The Pythons that may take a release: one that takes both ends first, so that a change is not Python's."""
        ends = [self._requirements[name] for name in (self.names[0], self.names[-1])]
        own = next(iter(pythons()))
        both = next((python for python in pythons() if all(_complaint(end, python) is None for end in ends)), own)
        return list(dict.fromkeys([both, *pythons()]))

    def side(self, name: str, plain: Side) -> Side:
        """Return a side in the environment of a release, of this Python or of another one that takes it; builds it."""
        requirement = self._requirements[name]
        spec = EnvironmentSpec.parse(" + ".join([requirement, *self._packages]))
        python = next((one for one in self._pythons if _complaint(requirement, one) is None), None)
        if python is None:
            current, here = next(iter(pythons())), ", ".join(pythons())
            raise EnvironmentFailure(
                f"Python {here} {'has' if len(pythons()) == 1 else 'have'} no wheel of {requirement}: "
                f"{_complaint(requirement, current)}",
                hint="install a Python that it has wheels for: opperf finds it on the PATH",
                slug="environment_build",
            )
        if python == next(iter(pythons())):
            create(spec, progress=self._note)
            return in_environment(plain, spec.text)
        self._note(f"{requirement} is measured in Python {python}")
        executable = create(spec, progress=self._note, python=pythons()[python]).executable
        return in_environment(plain, f"python={executable}")

    def digest(self, name: str) -> str | None:
        """Return None: releases differ."""
        return None


@cache
def pythons() -> dict[str, str]:
    """Return the Pythons of this machine that a child runs in, by version: this one, then the nearest to it."""
    current = sys.version_info[:2]
    words = ("python", "list", "--only-installed", "--output-format", "json")
    rows = json.loads(listen([uv_executable(), *words], PATIENCE).stdout or "[]")
    paths: dict[tuple[int, int], str] = {}
    for row in rows:
        version = row["version_parts"]["major"], row["version_parts"]["minor"]
        if row["implementation"] == "cpython" and row.get("variant", "default") == "default":
            paths.setdefault(version, row["path"])
    nearest = sorted((one for one in paths if one >= OLDEST_PYTHON), key=lambda one: (abs(one[1] - current[1]), one))
    ordered = {current: sys.executable} | {version: paths[version] for version in nearest if version != current}
    return {version_text(version): path for version, path in ordered.items()}


@cache
def _complaint(requirement: str, python: str) -> str | None:
    """Return why a version of Python has no wheel of a release; None where it has one."""
    with TemporaryDirectory(prefix="opperf-") as folder:
        file = Path(folder) / "requirements.in"
        file.write_text(requirement + "\n", encoding="utf-8")
        words = ("pip", "compile", "--no-deps", "--no-header", "--only-binary", ":all:", "--python-version", python)
        try:
            uv(CURRENT, *words, *find_links(), str(file))
        except EnvironmentFailure as failure:
            return failure.message.partition("\n")[0].partition("cannot be built: ")[2]
    return None


def releases(
    framework: str, good: str, bad: str, *, pre: bool, packages: Sequence[str] = (), note: Callable[[str], None]
) -> Releases:
    """Return the releases from one to another, both named by version or requirement (`numpy==1.26.4`).

    Further `packages` are beside each, but for those of the framework.
    Raises `InputError` for a release that the index does not have, `EnvironmentFailure` where it does not answer.
    """
    framework_entry = FRAMEWORKS[framework]
    beside = [text for text in packages if not framework_entry.owns(requirement_name(text))]
    if not framework_entry.distributions:
        raise InputError(f"{framework} has no releases", hint="search commits: `--repo DIR --build COMMAND`")
    names = [requirement_name(text) if "==" in text else framework_entry.distributions[0] for text in (good, bad)]
    if names[0] != names[1] and not all(map(framework_entry.owns, names)):
        raise InputError(f"`{names[0]}` and `{names[1]}` are not both packages of {framework}")
    ends = [_version(text.rpartition("==")[2]) for text in (good, bad)]
    if ends[0] > ends[1]:
        raise InputError(f"`--good {good}` is newer than `--bad {bad}`", hint="exchange them to look for a speedup")
    if ends[0] == ends[1] and names[0] == names[1]:
        raise InputError(f"`--good {good}` and `--bad {bad}` are the same release", hint="name an older good one")
    pre = pre or any(end.is_prerelease for end in ends)
    series = {package: _series(package, pre=pre) for package in dict.fromkeys(names)}  # each is asked for once
    for package, end in zip(names, ends):
        _check_there(package, end, series[package])
    between = [[version for version in series[package] if ends[0] <= version <= ends[1]] for package in names]
    if names[0] == names[1]:
        return Releases({str(version): f"{names[0]}=={version}" for version in between[0]}, note, beside)
    common = max((version for version in between[0] if version in between[1]), default=max(between[0]))
    first = [f"{names[0]}=={version}" for version in between[0] if version <= common]
    second = [f"{names[1]}=={version}" for version in between[1] if version >= common]
    return Releases({name: name for name in [*first, *second]}, note, beside)


def versions_between(package: str, good: str, bad: str, *, pre: bool) -> list[str]:
    """Return the releases of any package from one to another, both named by version or requirement.

    Raises `InputError` for a release that the index does not have, `EnvironmentFailure` where it does not answer.
    """
    for text in (good, bad):
        if "==" in text and requirement_name(text) != requirement_name(package):
            hint = f"write `{package}==1.2`, or the version alone"
            raise InputError(f"`{text}` is no release of {package}", hint=hint)
    ends = [_version(text.rpartition("==")[2]) for text in (good, bad)]
    if ends[0] == ends[1]:
        raise InputError(f"`--good {good}` and `--bad {bad}` are the same release", hint="name an older good one")
    series = _series(package, pre=pre or any(end.is_prerelease for end in ends))
    for version in ends:
        _check_there(package, version, series)
    between = [str(version) for version in series if min(ends) <= version <= max(ends)]
    return between if ends[0] < ends[1] else between[::-1]


def _version(text: str) -> Version:
    try:
        return Version(text.strip())
    except InvalidVersion as error:
        raise InputError(f"`{text}` is not a version", hint="write `1.26.4`, or `numpy==1.26.4`") from error


def _series(package: str, *, pre: bool) -> list[Version]:
    """Return all releases of a package, the oldest first."""
    return sorted({_version(text) for text in index_versions(package, pre=pre)})


def _check_there(package: str, end: Version, versions: list[Version]) -> None:
    """Raise `InputError` where a release that is named is not there."""
    if end not in versions:
        near = ", ".join(str(version) for version in versions[-8:])
        raise InputError(
            f"the package index has no {package} {end}", hint=f"its newest releases are {near}", slug="unknown_release"
        )


def index_versions(package: str, *, pre: bool) -> list[str]:
    """Return the releases of a package for any Python, without those that were yanked."""
    python = sys.executable if importlib.util.find_spec("pip") is not None else _uv_python()
    words = ("index", "versions", package, "--ignore-requires-python", *(["--pre"] if pre else []))
    process = listen([python, "-m", "pip", *words], PATIENCE)
    match = re.search(r"Available versions: (.*)", process.stdout)
    if process.returncode != 0 or match is None:
        last = (process.stderr.strip().splitlines() or ["no answer"])[-1]
        raise EnvironmentFailure(
            f"the package index does not list {package}: {last[:300]}",
            hint="pip asks it: see `pip config list`",
            slug="index",
        )
    return match[1].split(",")


def _uv_python() -> str:
    """Return a Python that has pip, made once by uv."""

    def install(folder: Path) -> None:
        uv(CURRENT, "venv", "--seed", str(folder), *find_links())

    return str(build_once(cache_folder() / "pip", "pip", quiet, install) / PYTHON)
