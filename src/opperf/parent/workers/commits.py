"""Commits of a Git repository, each built once by a command in an environment of its own, and kept.

A side whose environment is a commit names it: `git:v2.4.0`. Which repository that is of, and which command builds it,
are the user's to say, and the side carries them. It is built when it is first needed. A side that a file names carries
nothing, and is not built.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.environment import (
    CURRENT,
    GIT,
    CommitSource,
    CommitText,
    EnvironmentSpec,
    requirement_name,
)
from opperf.parent.workers.environments import PYTHON, build_once
from opperf.parent.workers.installer import find_links, listen, surroundings, uv
from opperf.parent.workers.package import cache_folder
from opperf.parent.workers.supervision import carry_out

#: How long git may take to answer, and a command to build a commit, in seconds.
PATIENCE, BUILD_PATIENCE = 300.0, 3600.0
#: The command that builds a commit where nobody names one.
USUAL_COMMAND = "pip install ."
#: Letters of a commit that name it.
SHORT = 10
#: The mark of a commit that cannot be built, and the lowest exit code by which a shell says that a command was killed.
FAILED, KILLED = "opperf-failed", 128
#: Which way of building a folder is of: those of the first may hold what a killed build had left.
LAYOUT = 2


@dataclass(frozen=True)
class Recipe:
    """How a commit becomes an environment: packages are installed, then the user's command runs in its worktree."""

    command: str
    requirements: tuple[str, ...] = ()


class Repository:
    """A Git repository."""

    def __init__(self, folder: Path) -> None:
        """Take a folder in its working tree; raises `InputError` where there is no repository."""
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            raise InputError(f"`--repo {folder}`: there is no such folder", slug="repository")
        self._git("rev-parse", "--git-dir")

    def commit(self, revision: str) -> str:
        """Return the whole name of the commit that a revision names; raises `InputError` where it names none."""
        try:
            return self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except InputError as error:
            raise InputError(
                f"`{self.folder}` has no commit `{revision}`",
                hint="`git log` shows its commits",
                slug="unknown_release",
            ) from error

    def history(self, first: str, last: str) -> list[str]:
        """Return the commits from one to another along first parents; empty where the first does not come before."""
        if first not in self._git("rev-list", "--first-parent", last).split():
            return []
        return [first, *self._git("rev-list", "--first-parent", "--reverse", f"{first}..{last}").split()]

    def say(self, commit: str) -> str:
        """Return a commit with its subject."""
        return self._git("log", "-1", "--format=%h %s", commit)

    def describe(self, commit: str) -> tuple[str, str, str, str]:
        """Return the subject, author, date (ISO 8601) and first tag of a commit; no tag is an empty text."""
        words = ("--contains", commit, "--sort=creatordate", "--count=1", "--format=%(refname:strip=2)", "refs/tags")
        tag = self._git("for-each-ref", *words)
        date, author, subject = self._git("log", "-1", "--format=%aI%x00%an%x00%s", commit).split("\0", 2)
        return subject, author, date, tag

    def build(self, commit: str, recipe: Recipe, note: Callable[[str], None]) -> Path:
        """Return the folder of a commit's environment; builds it where it is not there.

        Raises `EnvironmentFailure` for a commit that cannot be built, which is not tried again.
        """
        home = build_home("commits", self.folder, commit, recipe.command, sys.executable, *recipe.requirements)
        return build_once(home, commit[:SHORT], note, partial(self._build, commit, recipe, note))

    def _build(self, commit: str, recipe: Recipe, note: Callable[[str], None], folder: Path) -> None:
        """Build a commit into an empty folder, from a worktree of its own."""
        if (folder.parent / FAILED).exists():
            raise EnvironmentFailure(
                f"{commit[:SHORT]} cannot be built: it failed before",
                hint=f"to have it built again, remove `{folder.parent}`",
                slug="environment_build",
            )
        note(f"building {self.say(commit)}")
        uv(CURRENT, "venv", "--seed", "--python", sys.executable, str(folder))
        if recipe.requirements:
            uv(CURRENT, "pip", "install", "--python", str(folder / PYTHON), *find_links(), "--", *recipe.requirements)
        self._git("worktree", "prune")  # of builds that were killed
        tree = folder / "tree"
        self._git("worktree", "add", "--detach", "--force", str(tree), commit)
        try:
            _carry_out(recipe.command, commit[:SHORT], folder, tree)
        finally:
            self._git("worktree", "remove", "--force", str(tree))

    def _git(self, *words: str) -> str:
        process = listen(["git", "-C", str(self.folder), *words], PATIENCE)
        if process.returncode != 0:
            last = (process.stderr.strip().splitlines() or ["git gave no reason"])[-1]
            message = f"`git {shlex.join(words[:2])}` in {self.folder}: {last[:200]}"
            raise InputError(message, hint="name a repository: `--repo DIR`", slug="repository")
        return process.stdout.strip()


def _carry_out(command: str, name: str, folder: Path, tree: Path) -> None:
    """Run the command that builds a commit; raises `EnvironmentFailure`, and marks a commit that it fails for."""
    path = f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**surroundings(), "PATH": path, "VIRTUAL_ENV": str(folder)}
    try:
        # The user's own command, as they would type it.
        process = carry_out(["/bin/sh", "-c", command], BUILD_PATIENCE, environment, tree)
    except subprocess.TimeoutExpired as late:
        raise EnvironmentFailure(f"{name} was not built in {BUILD_PATIENCE:.0f} s", slug="environment_build") from late
    if process.returncode != 0:
        if 0 < process.returncode < KILLED:  # one that was killed says nothing of the commit
            (folder.parent / FAILED).touch()
        last = (process.stderr.strip() or process.stdout.strip() or "no output").splitlines()[-1]
        raise EnvironmentFailure(
            f"{name} cannot be built: `{command}` exits with {process.returncode}: {last[:200]}",
            slug="environment_build",
        )


def build_home(kind: str, *key: object) -> Path:
    """Return the folder for a build, by all that makes it another one."""
    digest = hashlib.sha256("\n".join(map(str, (LAYOUT, *key))).encode()).hexdigest()
    return cache_folder() / kind / digest[:16]


def requirements(framework: str, packages: Sequence[str] = ()) -> tuple[str, ...]:
    """List the packages that are installed before a commit is built, and the framework where none of them brings it.

    >>> requirements("numpy", ["scipy"]), requirements("numpy", ["numpy==2.2.6"]), requirements("null")
    (('numpy', 'scipy'), ('numpy==2.2.6',), ())
    """
    is_there = framework == "null" or any(FRAMEWORKS[framework].owns(requirement_name(text)) for text in packages)
    return tuple(packages) if is_there else (framework, *packages)


def name_commit(revision: str, repository: Repository, command: str, packages: Sequence[str] = ()) -> CommitText:
    """Name the environment of a commit: `git:v2.4.0 (0123456789)`.

    Raises `InputError` for a revision that the repository does not have.
    """
    commit = repository.commit(revision)
    text = f"{GIT}{revision}" if commit.startswith(revision) else f"{GIT}{revision} ({commit[:SHORT]})"
    return CommitText(text, CommitSource(repository.folder, commit, command, tuple(packages)))


def commit_python(spec: EnvironmentSpec, framework: str, note: Callable[[str], None]) -> Path:
    """Return the Python of a commit's environment, which is built once; raises `InputError` for a mere name."""
    source = spec.source
    if source is None:
        raise InputError(
            f"`{spec.text}` is a commit, which nothing here builds",
            hint="`opperf compare` and `opperf gate` build one: `--base git:v2.4.0 --new git:main`",
            slug="commit",
        )
    recipe = Recipe(source.command, requirements(framework, source.packages))
    return Repository(source.repository).build(source.commit, recipe, note) / PYTHON
