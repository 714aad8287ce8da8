"""Sides as a user writes them beside benchmark files: one may be a commit (`git:v2.4.0`), and need not say a framework.

A commit is built when a child of its side starts. Its repository and the command that builds it come from the user; the
settings of a suite of asv may name a repository of this machine, and packages that an environment of it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from opperf.domain.code import SuiteCode, read_suite_code
from opperf.domain.errors import InputError
from opperf.parent.documents.environment import CURRENT, GIT
from opperf.parent.planning.side_text import SUITE_FRAMEWORKS
from opperf.parent.sources.asv_folder import AsvFolder, asv_folder
from opperf.parent.sources.options import Building
from opperf.parent.workers.commits import USUAL_COMMAND, Repository, name_commit

#: What a side begins with that does not say its framework.
WITHOUT_FRAMEWORK = (GIT, "python=", CURRENT.text)


def is_commit(side: object) -> bool:
    """Whether a side as it is written names a commit."""
    return isinstance(side, str) and side.lstrip().startswith(GIT)


def suite_sides(sides: Sequence[str], operators: Iterable[str], building: Building) -> list[str]:
    """Return sides of a comparison, commits by the names that their environments have from now on.

    A side that does not say its framework is of the one that its benchmark files are for. Raises `InputError` for a
    commit or a repository that is not there.
    """
    suites = _suites(operators)
    folders = [asv_folder(suite.path) for suite in suites if suite.kind == "asv"] if any(map(is_commit, sides)) else []
    texts = [_commit_side(side, folders, building) if is_commit(side) else side for side in sides]
    return with_frameworks(texts, operators)


def with_frameworks(sides: Iterable[str], operators: Iterable[str]) -> list[str]:
    """Return sides with the framework that benchmark files are for, where they do not say one."""
    frameworks = {SUITE_FRAMEWORKS[suite.kind] for suite in _suites(operators)}
    usual = next(iter(frameworks)) if len(frameworks) == 1 else None
    return [side if usual is None or _says_framework(side) else f"{side};framework={usual}" for side in sides]


def check_building(sides: Iterable[str], building: Building) -> None:
    """Raise `InputError` for options that build commits where no side is one."""
    options = {"--repo": building.repo, "--build": building.build}
    idle = next((name for name, value in options.items() if value is not None), None)
    if idle is not None and not any(map(is_commit, sides)):
        raise InputError(f"`{idle}` builds commits, and no side is one", hint="name one: `--base git:v2.4.0`")


def _commit_side(side: str, folders: Sequence[AsvFolder], building: Building) -> str:
    """Return a side by the name of its commit's environment."""
    first, semicolon, rest = side.strip().partition(";")
    revision = first.removeprefix(GIT).strip()
    if not revision:
        raise InputError(f"`{side}` names no commit", hint="write `git:v2.4.0`, a tag, a branch or a commit")
    command = USUAL_COMMAND if building.build is None else building.build.strip()
    if not command:
        raise InputError("`--build` is empty, expected a command", hint=f'such as `--build "{USUAL_COMMAND}"`')
    usual = next((folder.repository for folder in folders if folder.repository is not None), Path())
    repository = Repository(usual if building.repo is None else building.repo)
    packages = dict.fromkeys(package for folder in folders for package in folder.packages)
    return name_commit(revision, repository, command, [*packages]) + semicolon + rest


def _suites(operators: Iterable[str]) -> list[SuiteCode]:
    return [suite for text in operators if (suite := read_suite_code(text)) is not None]


def _says_framework(side: str) -> bool:
    first, *rest = (word.strip() for word in side.split(";"))
    return not first.startswith(WITHOUT_FRAMEWORK) or any(word.startswith("framework=") for word in rest)
