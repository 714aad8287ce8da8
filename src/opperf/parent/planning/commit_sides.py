"""Sides as a user writes them beside benchmark files: one may be a commit (`git:v2.4.0`), and need not say a framework.

A commit is built when a child of its side starts. Its repository and the command that builds it come from the user; the
settings of a suite of asv may name a repository of this machine, and packages that an environment of it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.code import SuiteCode, read_suite_code
from opperf.domain.errors import InputError
from opperf.parent.documents.environment import CURRENT, GIT, CommitText
from opperf.parent.planning.side_text import SUITE_FRAMEWORKS, SideText
from opperf.parent.sources.asv_folder import AsvFolder, asv_folder
from opperf.parent.sources.options import Building
from opperf.parent.workers.commits import USUAL_COMMAND, Repository, name_commit

#: What a side begins with that does not say its framework.
WITHOUT_FRAMEWORK = (GIT, "python=", CURRENT.text)


def is_commit(side: object) -> bool:
    """Whether a side as it is written names a commit."""
    return isinstance(side, str) and side.lstrip().startswith(GIT)


def with_commits(sides: Sequence[SideText], operators: Iterable[str], building: Building) -> list[SideText]:
    """Return sides of a comparison whose commits know what builds them.

    Raises `InputError` for a commit or a repository that is not there.
    """
    is_built = [is_commit(side.side.environment) for side in sides]
    folders = [asv_folder(suite.path) for suite in _suites(operators) if suite.kind == "asv"] if any(is_built) else []
    return [_with_commit(side, folders, building) if built else side for side, built in zip(sides, is_built)]


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


def _with_commit(side: SideText, folders: Sequence[AsvFolder], building: Building) -> SideText:
    environment = _commit(side.side.environment, folders, building)
    text = side.text.replace(side.side.environment, environment, 1)
    return replace(side, text=text, side=replace(side.side, environment=environment))


def _commit(text: str, folders: Sequence[AsvFolder], building: Building) -> CommitText:
    """Return the environment of a commit."""
    revision = text.removeprefix(GIT).strip()
    if not revision:
        raise InputError(f"`{text}` names no commit", hint="write `git:v2.4.0`, a tag, a branch or a commit")
    command = USUAL_COMMAND if building.build is None else building.build.strip()
    if not command:
        raise InputError("`--build` is empty, expected a command", hint=f'such as `--build "{USUAL_COMMAND}"`')
    usual = next((folder.repository for folder in folders if folder.repository is not None), Path())
    repository = Repository(usual if building.repo is None else building.repo)
    packages = dict.fromkeys(package for folder in folders for package in folder.packages)
    return name_commit(revision, repository, command, [*packages])


def _suites(operators: Iterable[str]) -> list[SuiteCode]:
    return [suite for text in operators if (suite := read_suite_code(text)) is not None]


def _says_framework(side: str) -> bool:
    first, *rest = (word.strip() for word in side.split(";"))
    return not first.startswith(WITHOUT_FRAMEWORK) or any(word.startswith("framework=") for word in rest)
