"""The builds between a good and a bad one: releases of a package, or commits of a repository that a command builds."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from packaging.version import InvalidVersion, Version

from opperf.domain.environment import EnvironmentSpec, requirement_name
from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.environments import create
from opperf.parent.workers.installer import find_links, listen, surroundings, uv
from opperf.parent.workers.package import cache_folder

#: How long the index, or a command of git, may take to answer, in seconds.
PATIENCE = 300.0
#: How long a command that builds a commit may take.
BUILD_PATIENCE = 3600.0
#: Letters of a commit that name it.
SHORT = 10
#: The mark of an environment that stands whole.
READY = "opperf-ready"


class Builds(Protocol):
    """Builds in their order, the good one first and the bad one last."""

    @property
    def names(self) -> Sequence[str]:
        """The builds."""

    def side(self, name: str) -> str:
        """Return a build as a side names its environment; builds it. Raises `OpperfError` where that fails."""

    def digest(self, name: str) -> str | None:
        """Return what two builds share that are the same to the byte; None where that is not known."""


@dataclass(frozen=True)
class Releases:
    """Releases of a framework's package, from the index that pip uses."""

    package: str
    names: Sequence[str]
    note: Callable[[str], None]

    def side(self, name: str) -> str:
        """Return the requirement, whose environment stands."""
        text = f"{self.package}=={name}"
        create(EnvironmentSpec.parse(text), progress=self.note)
        return text

    def digest(self, name: str) -> str | None:
        """Return None: releases differ."""
        return None


def releases(framework: str, good: str, bad: str, *, pre: bool, note: Callable[[str], None]) -> Releases:
    """Return the releases from one to another, both named by version or requirement (`numpy==1.26.4`).

    Raises `InputError` for a release that the index does not have, `EnvironmentFailure` where it does not answer.
    """
    package = requirement_name(good) if "==" in good else FRAMEWORKS[framework].distributions[0]
    ends = [_version(text.rpartition("==")[2]) for text in (good, bad)]
    pre = pre or any(end.is_prerelease for end in ends)
    versions = sorted({_version(text) for text in _versions(package, pre=pre)})
    for end in ends:
        if end not in versions:
            near = ", ".join(str(version) for version in versions[-8:])
            raise InputError(
                f"the package index has no {package} {end} for this Python",
                hint=f"its newest releases are {near}",
                slug="unknown_release",
            )
    if ends[0] >= ends[1]:
        raise InputError(f"`--good {good}` is not older than `--bad {bad}`", hint="exchange them to look for a speedup")
    between = [str(version) for version in versions if ends[0] <= version <= ends[1]]
    return Releases(package, between, note)


def _version(text: str) -> Version:
    try:
        return Version(text.strip())
    except InvalidVersion as error:
        raise InputError(f"`{text}` is no version", hint="write `1.26.4`, or `numpy==1.26.4`") from error


def _versions(package: str, *, pre: bool) -> list[str]:
    """Return the releases that pip could install here, which leaves out those that were yanked."""
    own = importlib.util.find_spec("pip") is not None
    python = [sys.executable, "-m", "pip"]
    if not own:
        folder = EnvironmentSpec.parse(f"{package}")
        python = [_uv_python(folder), "-m", "pip"]
    command = [*python, "index", "versions", package, *(["--pre"] if pre else [])]
    done = listen(command, PATIENCE)
    match = re.search(r"Available versions: (.*)", done.stdout)
    if done.returncode != 0 or match is None:
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise EnvironmentFailure(
            f"the package index does not list {package}: {last[:300]}",
            hint="pip asks it: see `pip config list`",
            slug="index",
        )
    return match[1].split(",")


def _uv_python(spec: EnvironmentSpec) -> str:
    """Return a Python that has pip, made once by uv."""
    folder = cache_folder() / "pip"
    python = folder / "bin" / "python"
    if not python.exists():
        uv(spec, "venv", "--seed", str(folder), *find_links())
    return str(python)


class Packages:
    """The packages of two environments: from the good one to the bad one, one package after the other.

    The framework's version may be the same on both sides and its environment not, as of JAX with jaxlib. Each build has
    one more package as the bad environment has it, so a step names a package. With `package` the others stay as in the
    good environment, and its releases are the builds.
    """

    def __init__(self, good: str, bad: str, package: str | None, note: Callable[[str], None]) -> None:
        """Take two interpreters; raises `InputError` where their packages do not differ."""
        self._good, self._note = good, note
        before, after = (_packages(python) for python in (good, bad))
        unlike = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        if package is not None:
            self._sets = _releases_of(package, before, after)
        else:
            self._sets = {"good": before}
            mixture = dict(before)
            for name in unlike:
                mixture = {**mixture, name: after[name]} if name in after else _without(mixture, name)
                self._sets[f"{name} {before.get(name, 'missing')} -> {after.get(name, 'missing')}"] = mixture
        if len(self._sets) < 2:
            raise InputError(f"`{good}` and `{bad}` have the same packages", hint="bisect their commits with `--repo`")
        self.names: Sequence[str] = list(self._sets)

    def side(self, name: str) -> str:
        """Return the environment with the packages of a build; builds it where it is not there."""
        if name == "good":
            return self._good
        packages = [f"{package}=={version}" for package, version in sorted(self._sets[name].items())]
        key = hashlib.sha256("\n".join([self._good, *packages]).encode()).hexdigest()[:16]
        folder = cache_folder() / "mixtures" / key
        if not (folder / READY).exists():
            self._note(f"building {name}")
            spec = EnvironmentSpec.parse("current")
            uv(spec, "venv", "--allow-existing", "--python", _python_of(self._good), str(folder))
            target = str(folder / "bin" / "python")
            uv(spec, "pip", "install", "--no-deps", "--python", target, *find_links(), *packages)
            (folder / READY).touch()
        return f"python={folder}"

    def digest(self, name: str) -> str | None:
        """Return None: builds differ in a package."""
        return None


def _python_of(side: str) -> str:
    """Return the executable that `python=PATH` means."""
    path = Path(side.partition("=")[2]).expanduser()
    return str(path / "bin" / "python" if path.is_dir() else path)


def _packages(side: str) -> dict[str, str]:
    """Return the version of each package of an environment, without what installs packages."""
    spec = EnvironmentSpec.parse("current")
    rows = json.loads(uv(spec, "pip", "list", "--format", "json", "--python", _python_of(side)))
    return {row["name"]: row["version"] for row in rows if row["name"] not in ("pip", "setuptools", "wheel", "uv")}


def _releases_of(package: str, before: dict[str, str], after: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the packages of the good environment with each release of one of them; raises `InputError`."""
    if package not in before or package not in after:
        raise InputError(f"`--package {package}` is not installed on both sides", slug="unknown_release")
    ends = sorted(Version(packages[package]) for packages in (before, after))
    versions = sorted({Version(text) for text in _versions(package, pre=ends[1].is_prerelease)})
    between = [str(version) for version in versions if ends[0] <= version <= ends[1]]
    order = between if Version(before[package]) == ends[0] else between[::-1]
    return {f"{package} {version}": {**before, package: version} for version in order}


def _without(packages: dict[str, str], name: str) -> dict[str, str]:
    return {other: version for other, version in packages.items() if other != name}


class Commits:
    """Commits of a repository, each built in an environment of its own by a command, and kept."""

    def __init__(
        self, repository: Path, good: str, bad: str, command: str, requirement: str | None, note: Callable[[str], None]
    ) -> None:
        """Take the first-parent history; raises `InputError` for revisions that do not lie on it."""
        self._repository, self._command, self._note = repository.resolve(), command, note
        self._requirement = requirement
        first, last = (_git(self._repository, "rev-parse", "--verify", f"{end}^{{commit}}") for end in (good, bad))
        lines = _git(self._repository, "rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()
        ancestors = _git(self._repository, "rev-list", "--first-parent", last).split()
        if first not in ancestors or not lines:
            raise InputError(
                f"`--good {good}` is no first-parent ancestor of `--bad {bad}`",
                hint="name a commit of the branch that came before",
                slug="unknown_release",
            )
        self._commits = {commit[:SHORT]: commit for commit in [first, *lines]}
        self.names: Sequence[str] = list(self._commits)
        self._folders: dict[str, Path] = {}
        self._digests: dict[str, str] = {}

    def say(self, name: str) -> str:
        """Return a commit with its subject."""
        return _git(self._repository, "log", "-1", "--format=%h %s", self._commits[name])

    def side(self, name: str) -> str:
        """Return the environment of a commit; builds it where it is not there."""
        folder = self._folders.get(name) or self._environment(name)
        self._folders[name] = folder
        return f"python={folder / 'bin' / 'python'}"

    def _environment(self, name: str) -> Path:
        key = f"{self._repository} {self._commits[name]} {self._command} {self._requirement}"
        folder = cache_folder() / "commits" / hashlib.sha256(key.encode()).hexdigest()[:16]
        mark = folder / READY
        if mark.exists():
            return folder
        if (folder / "opperf-failed").exists():
            raise EnvironmentFailure(f"{name} cannot be built: it failed before", slug="environment_build")
        self._note(f"building {self.say(name)}")
        spec = EnvironmentSpec.parse("current")
        uv(spec, "venv", "--seed", "--allow-existing", str(folder))
        if self._requirement is not None:
            uv(spec, "pip", "install", "--python", str(folder / "bin" / "python"), *find_links(), self._requirement)
        tree = folder / "tree"
        if not tree.exists():
            _git(self._repository, "worktree", "add", "--detach", "--force", str(tree), self._commits[name])
        try:
            self._run(name, folder, tree)
        finally:
            _git(self._repository, "worktree", "remove", "--force", str(tree))
        mark.touch()
        return folder

    def _run(self, name: str, folder: Path, tree: Path) -> None:
        path = f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
        environment = {**surroundings(), "PATH": path, "VIRTUAL_ENV": str(folder)}
        try:
            done = subprocess.run(
                self._command,
                shell=True,  # the user's own command, as they would type it
                cwd=tree,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=BUILD_PATIENCE,
            )
        except subprocess.TimeoutExpired as late:
            raise EnvironmentFailure(
                f"{name} was not built in {BUILD_PATIENCE:.0f} s", slug="environment_build"
            ) from late
        if done.returncode != 0:
            (folder / "opperf-failed").touch()
            last = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
            raise EnvironmentFailure(
                f"{name} cannot be built: `{self._command}` exits with {done.returncode}: {last[:200]}",
                slug="environment_build",
            )

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


def _git(repository: Path, *words: str) -> str:
    done = listen(["git", "-C", str(repository), *words], PATIENCE)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["git says nothing"])[-1]
        raise InputError(f"`git {shlex.join(words[:2])}` in {repository}: {last[:200]}", slug="repository")
    return done.stdout.strip()
