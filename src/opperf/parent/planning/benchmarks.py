"""The trials of benchmark files that the user named: each of the benchmarks that are found in a side's environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

from opperf.domain.case import Case
from opperf.domain.code import SUITE_EXAMPLES, SuiteCode
from opperf.domain.errors import InputError, WorkerFailure
from opperf.domain.fatal_imports import blame_import
from opperf.domain.files.destination import folder_until_exit
from opperf.domain.message.replies import BROKEN, Example
from opperf.domain.parameter import full_names
from opperf.domain.plan import Side, Trial
from opperf.domain.units import plural
from opperf.parent.documents.environment import GIT, EnvironmentSpec, requirement_name
from opperf.parent.planning.cases import ChildAnswers
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.asv_folder import asv_folder
from opperf.parent.sources.test_files import test_files, test_path
from opperf.parent.workers.suite_library import LIBRARIES, library_folder

#: How many names a message gives as examples.
MOST_NAMED = 3
#: Takes a line of news.
Note: TypeAlias = Callable[[str], None]


def quietly(*news: object) -> None:
    """Say nothing."""


#: What is loaded of a path that a user names, by tool: asv's library and pytest find the files in a folder themselves.
PLACES: Mapping[str, Callable[[str], Sequence[str]]] = {
    "asv": lambda path: [asv_folder(path).folder],
    "op_bench": test_files,
    "pytest": lambda path: [test_path(path)],
}
#: Which benchmarks a tool runs itself where nobody selects any; of a tool that is not here, all.
USUAL = {"op_bench": re.compile(r"\(short[,)]")}


def benchmark_files(files: SuiteCode, note: Note) -> list[SuiteCode]:
    """Return the files that a user named, with what is loaded of them and their tool's library.

    Raises `InputError` for a folder without any, `EnvironmentFailure` where the library cannot be had.
    """
    library = library_folder(files.kind, note) if files.kind in LIBRARIES else None
    is_folder = Path(files.path).is_dir()
    places = PLACES[files.kind](files.path)
    shared = str(folder_until_exit("suite"))
    return [
        replace(files, path=place, library=library, member=is_folder and Path(place).is_file(), shared=shared)
        for place in places
    ]


def check_select(selection: Selection) -> None:
    """Raise `InputError` for what benchmark files do not take, before a child starts."""
    if selection.select is not None and not selection.benchmarks:
        hint = f"name some, as in `{next(iter(SUITE_EXAMPLES.values()))}`"
        raise InputError("`--select` chooses among the benchmarks of other tools' files, and none are named", hint=hint)
    if not selection.benchmarks:
        return
    options = {
        "--dtype": selection.dtypes,
        "--size": selection.sizes,
        "--values": selection.values,
        "--random": selection.random is not None,
        "--input or --shapes": selection.inputs or selection.rows,
        "--attribute": selection.attributes,
    }
    idle = next((name for name, value in options.items() if value), None)
    if idle is not None and selection.benchmarks_alone:
        hint = "`--select REGEX` chooses among their parameters too"
        raise InputError(f"`{idle}` does not apply to `{selection.benchmarks[0]}`", hint=hint)
    _pattern(selection)


def benchmark_trials(selection: Selection, side: Side, answers: ChildAnswers, note: Note) -> Iterator[Trial]:
    """Yield the trials of benchmark files on a side; raises `InputError` for files that cannot be loaded there."""
    return (trial for trial, _ in labelled_trials(selection, side, answers, note))


def labelled_trials(
    selection: Selection, side: Side, answers: ChildAnswers, note: Note = quietly
) -> Iterator[tuple[Trial, Mapping[str, str]]]:
    """Yield the trials of benchmark files on a side, with what their tool says of each.

    A file of a folder that cannot be loaded is a trial too: measuring it says why. Of one that no pattern matches,
    whose benchmarks may do, `note` is told. Raises `InputError` for one that was named itself, and where nothing is
    left.
    """
    every: list[Example] = []
    unseen: list[Example] = []
    selected_count = 0
    for files in selection.benchmarks:
        here = replace(side, implementation=files)
        examples, reason, hint = _examples(files, side, answers, note)
        if reason is not None and not files.member:
            raise InputError(f"`{files}`{_place(side)}: {reason}", hint=hint, slug="user_code")
        selected = [example for example in examples if _is_selected(example.case, selection, USUAL.get(files.kind))]
        every += examples
        selected_count += len(selected)
        if not selected and not files.member:
            raise _none(str(files), selection, every, side)
        broken = [example for example in examples if BROKEN in example.labels]
        if reason is not None:
            broken = [Example(Case(Path(files.path).name), labels={BROKEN: reason})]
            selected = [example for example in broken if _is_selected(example.case, selection)]
        unseen += [one for one in broken if one not in selected and not _is_skipped(one.case, selection)]
        for example in selected:
            for direction in selection.directions or (example.direction,):
                yield Trial(example.case, here, direction, str(files)), example.labels
    if selection.benchmarks and not selected_count:
        raise _none(f"{files.kind}:{Path(files.path).parent}", selection, every, side)
    if unseen:
        note(f"note: `--select` does not look into {_listing(unseen)}{_place(side)}: {unseen[0].labels[BROKEN]}")


def _examples(
    files: SuiteCode, side: Side, answers: ChildAnswers, note: Note
) -> tuple[Sequence[Example], str | None, str | None]:
    """Return the benchmarks that are found on a side, or why there are none, and a hint.

    A file whose import ends the child is one that cannot be loaded; the others are looked into once more, without it.
    """
    while True:
        try:
            discovery = answers.discover(side, files, "common")
        except WorkerFailure as error:
            reason = None if files.shared is None else blame_import(Path(files.shared), error)
            if reason is not None:
                note(f"note: {reason.message}{_place(side)}; it is left out")
                continue
            if not files.member:
                message = f"`{files}`{_place(side)}: {error.message}"
                raise WorkerFailure(message, hint=error.hint, slug=error.slug, stderr=error.stderr) from error
            return (), error.message, error.hint
        return discovery.examples, discovery.reason, discovery.hint


def added_trials(
    selection: Selection, trials: Sequence[Trial], side: Side, answers: ChildAnswers, note: Note
) -> list[Trial]:
    """Return trials on a base for what is found on another side alone; each side says there what it lacks.

    A file that only the other side cannot load is told by each of its benchmarks, which the base has.
    """
    if not selection.benchmarks:
        return []
    keys, base = {(trial.case.id, trial.direction) for trial in trials}, trials[0].side
    plain = replace(side, implementation=None)
    return [
        replace(trial, side=replace(base, implementation=trial.side.implementation))
        for trial, labels in labelled_trials(selection, plain, answers, note)
        if (trial.case.id, trial.direction) not in keys and BROKEN not in labels
    ]


def settings_notes(selection: Selection, sides: Iterable[Side]) -> Iterator[str]:
    """Yield what of the settings of benchmark files does not hold: in all, and of packages in each environment.

    An environment has what the user says is beside its framework; one that is not opperf's own has what it has.
    """
    sides = list(sides)
    for folder in selection.suite_folders:
        yield from (f"{folder.settings}: {text}" for text in folder.unread)
        if any(side.environment.startswith(GIT) for side in sides):
            advice = "is not run: name a command yourself, by `--build`"
            yield from (f"{folder.settings}: its `{name}` {advice}" for name in folder.commands)
        project = folder.project or ""
        names = [*folder.packages, *([project] if project and project == requirement_name(project) else [])]
        for environment in dict.fromkeys(side.environment for side in sides):
            spec = EnvironmentSpec.parse(environment)
            there = {*map(requirement_name, spec.requirements)}
            missing = [name for name in names if requirement_name(name) not in there]
            if missing and spec.requirements and not spec.files:
                several = ", ".join(missing)
                hint = f"name them, as in `{environment} + {missing[0]}`"
                yield f"{folder.settings} lists {several}, which `{environment}` does not name: {hint}"


def _is_selected(case: Case, selection: Selection, usual: re.Pattern[str] | None = None) -> bool:
    """Whether a benchmark is selected; where no pattern is given, whether the `usual` one of its tool matches."""
    pattern = usual if selection.select is None else _pattern(selection)
    return not _is_skipped(case, selection) and (pattern is None or any(map(pattern.search, full_names(case))))


def _is_skipped(case: Case, selection: Selection) -> bool:
    return any(fnmatchcase(case.operator, skip) for skip in selection.skip)


def _pattern(selection: Selection) -> re.Pattern[str] | None:
    try:
        return None if selection.select is None else re.compile(selection.select)
    except re.error as error:
        raise InputError(f"`--select` is `{selection.select}`, which is no regular expression: {error}") from error


def _none(files: str, selection: Selection, every: Sequence[Example], side: Side) -> InputError:
    """Say that nothing is left of benchmark files, and what they have."""
    names: dict[str, str] = {}
    for example in every:
        if BROKEN not in example.labels:  # as a pattern is held against it
            names.setdefault(example.case.operator, next(iter(full_names(example.case))))
    hint = f"it has {plural(len(names), 'benchmark')}, such as {_quoted([*names.values()])}" if names else None
    broken = next((example for example in every if BROKEN in example.labels), None)
    if broken is not None:
        hint = f"those of `{broken.case.operator}` are not known: {broken.labels[BROKEN]}"
    usual = "no benchmarks that its tool runs unasked: choose some with `--select`" if names else "no benchmarks"
    what = usual if selection.select is None else f"no benchmark that `--select {selection.select}` matches"
    return InputError(f"`{files}`{_place(side)} has {what}", hint=hint, slug="empty_plan")


def _listing(examples: Sequence[Example]) -> str:
    """Name the first of some examples, and say how many more there are."""
    more = len(examples) - MOST_NAMED
    names = _quoted([example.case.operator for example in examples])
    return names if more <= 0 else f"{names} and {more} more"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMED])


def _place(side: Side) -> str:
    return "" if side.environment == "current" else f" in `{side.environment}`"
