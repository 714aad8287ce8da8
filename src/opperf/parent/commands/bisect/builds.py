"""The builds between a good and a bad one: packages of two environments, or commits that a command builds."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from packaging.version import Version

from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.commands.bisect.releases import INSTALLED_PARTS, index_versions, versions_between
from opperf.parent.documents.bisection import Commit
from opperf.parent.documents.environment import CURRENT, requirement_name
from opperf.parent.planning.side_text import in_environment
from opperf.parent.workers.commits import SHORT, Recipe, Repository, build_home
from opperf.parent.workers.environments import PYTHON, build_once
from opperf.parent.workers.installer import find_links, uv

#: Into how many parts commits are divided by those that are looked at although good and bad are close: each is built.
BUILT_PARTS = 4


class Builds(Protocol):
    """Builds in their order, the good one first and the bad one last."""

    @property
    def names(self) -> Sequence[str]:
        """The builds."""

    @property
    def parts(self) -> int:
        """Into how many parts those builds divide them that are looked at although good and bad are close."""

    def side(self, name: str, plain: Side) -> Side:
        """Return a side in the environment of a build; builds it. Raises `OpperfError` where that fails."""

    def digest(self, name: str) -> str | None:
        """Return the digest of builds that are the same to the byte; None where that is not known."""


class Packages:
    """The packages of two environments: from the good one to the bad one, one package after the other.

    The framework's version may be the same on both sides and its environment not, as of JAX with jaxlib. Each build has
    one more package as the bad environment has it, so a step names a package. With `package` its releases are the
    builds, and the others stay as in the good environment, but for what a release needs to be another one.
    """

    parts = INSTALLED_PARTS

    def __init__(self, good: str, bad: str, package: str | None, note: Callable[[str], None]) -> None:
        """Take two interpreters; raises `InputError` where their packages do not differ."""
        self._good, self._package, self._note = good, package, note
        before, after = (_packages(python) for python in (good, bad))
        self._sets = _exchanges(before, after) if package is None else _releases_of(package, before, after)
        if len(self._sets) < 2:
            raise InputError(f"`{good}` and `{bad}` have the same packages", hint="bisect their commits with `--repo`")
        self.names: Sequence[str] = list(self._sets)

    def side(self, name: str, plain: Side) -> Side:
        """Return a side in the environment with the packages of a build; builds it where it is not there."""
        if name == "good":
            return in_environment(plain, self._good)
        packages = [f"{package}=={version}" for package, version in sorted(self._sets[name].items())]

        def install(folder: Path) -> None:
            self._note(f"building {name}")
            uv(CURRENT, "venv", "--python", _python_of(self._good), str(folder))
            target = str(folder / PYTHON)
            uv(CURRENT, "pip", "install", "--no-deps", "--python", target, *find_links(), *packages)
            if self._package is not None:  # what does not suit it, such as numba's llvmlite, is exchanged with it
                own = f"{self._package}=={self._sets[name][self._package]}"
                uv(CURRENT, "pip", "install", "--python", target, *find_links(), own)

        python = build_once(build_home("mixtures", self._good, *packages), name, self._note, install)
        return in_environment(plain, f"python={python}")

    def digest(self, name: str) -> str | None:
        """Return None: builds differ in a package."""
        return None


class Beside:
    """Releases of a package beside a framework, in the environment of the good one, each with what it needs."""

    parts = INSTALLED_PARTS

    def __init__(
        self,
        framework: str,
        package: str,
        good: str,
        bad: str,
        *,
        pre: bool,
        packages: Sequence[str] = (),
        note: Callable[[str], None],
    ) -> None:
        """Take a package by name, two versions of it, and further packages.

        Raises `InputError` for what the index does not have.
        """
        self._package, self._note = package, note
        versions = versions_between(package, good, bad, pre=pre)
        self.names: Sequence[str] = [f"{package}=={version}" for version in versions]
        preset = FRAMEWORKS[framework].preset
        own = [requirement_name(text) if "==" in text else text for text in preset]
        self._base = [text for text in (*own, *packages) if requirement_name(text) != package]

    def side(self, name: str, plain: Side) -> Side:
        """Return a side in the environment with a release; builds it where it is not there."""
        first = self.names[0]

        def install(folder: Path) -> None:
            self._note(f"building {name}")
            uv(CURRENT, "venv", "--python", sys.executable, str(folder))
            words = ("pip", "install", "--python", str(folder / PYTHON), *find_links())
            uv(CURRENT, *words, *self._base, first)
            if name != first:  # with the framework, which may need another release of its own: jax with jaxlib
                uv(CURRENT, *words, *self._base, name)

        home = build_home("together", sys.executable, *self._base, first, name)
        return in_environment(plain, f"python={build_once(home, name, self._note, install) / PYTHON}")

    def digest(self, name: str) -> str | None:
        """Return None: builds differ in a package."""
        return None


def _python_of(side: str) -> str:
    """Return the executable that `python=PATH` means."""
    path = Path(side.partition("=")[2]).expanduser()
    python = path / PYTHON if path.is_dir() else path
    if not python.is_file():
        raise InputError(f"`{side}`: there is no interpreter", hint="name a Python, or the folder of its environment")
    return str(python)


def _packages(side: str) -> dict[str, str]:
    """Return the version of each package of an environment, without what installs packages."""
    rows = json.loads(uv(CURRENT, "pip", "list", "--format", "json", "--python", _python_of(side)))
    return {row["name"]: row["version"] for row in rows if row["name"] not in ("pip", "setuptools", "wheel", "uv")}


def _releases_of(package: str, before: dict[str, str], after: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the packages of the good environment with each release of one of them; raises `InputError`."""
    if package not in before or package not in after:
        raise InputError(f"`--package {package}` is not installed on both sides", slug="unknown_release")
    ends = sorted(Version(packages[package]) for packages in (before, after))
    versions = sorted({Version(text) for text in index_versions(package, pre=ends[1].is_prerelease)})
    between = [str(version) for version in versions if ends[0] <= version <= ends[1]]
    order = between if Version(before[package]) == ends[0] else between[::-1]
    return {f"{package} {version}": {**before, package: version} for version in order}


def _exchanges(before: dict[str, str], after: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the packages of the good environment, then with one more after the other as the bad one has it.

    Packages that bring one framework (MXNet's `mxnet` and `mxnet-mkl`) are exchanged together: they are the same files.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(name for name in {*before, *after} if before.get(name) != after.get(name)):
        owner = next((own.name for own in FRAMEWORKS.values() if own.owns(name)), name)
        both = name in before and name in after
        groups.setdefault(name if both else owner, []).append(name)
    builds, mixture = {"good": before}, dict(before)
    for names in groups.values():
        others = {name: version for name, version in mixture.items() if name not in names}
        mixture = {**others, **{name: after[name] for name in names if name in after}}
        builds[f"{_versions(names, before)} -> {_versions(names, after)}"] = mixture
    return builds


def _versions(names: Sequence[str], packages: dict[str, str]) -> str:
    return " ".join(f"{name} {packages[name]}" for name in names if name in packages) or f"no {' '.join(names)}"


class Commits:
    """Commits of a repository, each built in an environment of its own by a command, and kept.

    The ends are called as the user named them, and the commits between them by their hashes.
    """

    parts = BUILT_PARTS

    def __init__(self, folder: Path, good: str, bad: str, recipe: Recipe, note: Callable[[str], None]) -> None:
        """Take the first-parent history; raises `InputError` for revisions that do not lie on it."""
        self._repository, self._recipe, self._note = Repository(folder), recipe, note
        first, last = map(self._repository.commit, (good, bad))
        if first == last:
            raise InputError(f"`--good {good}` and `--bad {bad}` are the same commit", slug="unknown_release")
        history = self._repository.history(first, last)
        if not history:
            raise InputError(
                f"`--good {good}` is not a first-parent ancestor of `--bad {bad}`",
                hint="name a commit of the branch that came before",
                slug="unknown_release",
            )
        ends = {first: good, last: bad}
        self._commits = {_name(commit, ends.get(commit)): commit for commit in history}
        self.names: Sequence[str] = list(self._commits)
        self._folders: dict[str, Path] = {}
        self._digests: dict[str, str] = {}

    def short_hash(self, name: str) -> str:
        """Return the name of a commit that stays when its branch goes on."""
        return self._commits[name][:SHORT]

    def describe(self, names: Iterable[str]) -> tuple[Commit, ...]:
        """Return the commits of builds, as Git knows them; raises `InputError` where it does not answer."""
        return tuple(
            Commit(name, self._commits[name], *self._repository.describe(self._commits[name])) for name in names
        )

    def side(self, name: str, plain: Side) -> Side:
        """Return a side in the environment of a commit; builds it where it is not there."""
        if name not in self._folders:
            self._folders[name] = self._repository.build(self._commits[name], self._recipe, self._note)
        return in_environment(plain, f"python={self._folders[name] / PYTHON}")

    def digest(self, name: str) -> str | None:
        """Return the hash of all that was installed: its files but for caches and records of when and whence."""
        if name not in self._digests:
            self._digests[name] = self._hash(name)
        return self._digests[name]

    def _hash(self, name: str) -> str:
        total = hashlib.sha256()
        for packages in sorted(self._folders[name].glob("lib/python*/site-packages")):
            for file in sorted(path for path in packages.rglob("*") if path.is_file()):
                if file.suffix == ".pyc" or file.name in ("RECORD", "direct_url.json", "INSTALLER", "REQUESTED"):
                    continue
                total.update(str(file.relative_to(packages)).encode())
                total.update(file.read_bytes())
        return total.hexdigest()


def _name(commit: str, revision: str | None) -> str:
    """Return the name of a build: the one that the user gave, unless that is a hash.

    >>> _name("0f5c2b7e91d4", None), _name("0f5c2b7e91d4", "v1"), _name("0f5c2b7e91d4", "0F5C")
    ('0f5c2b7e91', 'v1', '0f5c2b7e91')
    """
    return commit[:SHORT] if revision is None or commit.startswith(revision.lower()) else revision
