"""The trials of benchmark files that the user named: each of the benchmarks that are found in a side's environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from opperf.domain.case import Case
from opperf.domain.code import SUITE_EXAMPLES, SuiteCode
from opperf.domain.errors import InputError
from opperf.domain.plan import Side, Trial
from opperf.domain.units import plural
from opperf.parent.planning.cases import ChildAnswers
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.asv_folder import benchmark_folder
from opperf.parent.sources.test_folder import test_path
from opperf.parent.workers.suite_library import library_folder

#: What each tool's files are found by.
FOLDERS: Mapping[str, Callable[[str], str]] = {"asv": benchmark_folder, "pytest": test_path}
#: How many names a message gives as examples.
MOST_NAMED = 3


def benchmark_files(files: SuiteCode, note: Callable[[str], None]) -> SuiteCode:
    """Return the files that a user named, with the folder that holds them and their tool's library.

    Raises `InputError` for a folder without any, `EnvironmentFailure` where the library cannot be had.
    """
    return replace(files, path=FOLDERS[files.kind](files.path), library=library_folder(files.kind, note))


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
    if idle is not None and not (selection.operators or selection.categories or selection.every or selection.suite):
        hint = "`--select REGEX` chooses among their parameters too"
        raise InputError(f"`{idle}` does not apply to `{selection.benchmarks[0]}`", hint=hint)
    _pattern(selection)


def benchmark_trials(selection: Selection, side: Side, answers: ChildAnswers) -> Iterator[Trial]:
    """Yield the trials of benchmark files on a side; raises `InputError` for files that cannot be loaded there."""
    for files in selection.benchmarks:
        discovery = answers.discover(side, files, "common")
        if discovery.reason is not None:
            raise InputError(f"`{files}`{_place(side)}: {discovery.reason}", hint=discovery.hint, slug="user_code")
        cases = [example.case for example in discovery.examples]
        selected = [case for case in cases if _is_selected(case, selection)]
        if not selected:
            raise _none(files, selection, cases, side)
        here = replace(side, implementation=files)
        for case in selected:
            for direction in selection.directions or ("forward",):
                yield Trial(case, here, direction, str(files))


def added_trials(selection: Selection, trials: Sequence[Trial], side: Side, answers: ChildAnswers) -> list[Trial]:
    """Return trials on a base for what is found on another side alone; each side says there what it lacks."""
    if not selection.benchmarks:
        return []
    keys, base = {(trial.case.id, trial.direction) for trial in trials}, trials[0].side
    plain = replace(side, implementation=None)
    return [
        replace(trial, side=replace(base, implementation=trial.side.implementation))
        for trial in benchmark_trials(selection, plain, answers)
        if (trial.case.id, trial.direction) not in keys
    ]


def full_names(case: Case) -> tuple[str, ...]:
    """Return a benchmark with its parameters: as tables show them, with strings in quotes as asv does, as pytest does.

    >>> full_names(Case("bench.time_sort", attributes={"n": 100, "kind": "quick"}))
    ('bench.time_sort(100, quick)', "bench.time_sort(100, 'quick')", 'bench.time_sort[100-quick]')
    """
    if not case.attributes:
        return (case.operator,)
    values = case.attributes.values()
    names = (f"{case.operator}({', '.join(map(spelling, values))})" for spelling in (str, repr))
    return (*names, f"{case.operator}[{'-'.join(map(str, values))}]")


def _is_selected(case: Case, selection: Selection) -> bool:
    pattern = _pattern(selection)
    left_out = any(fnmatchcase(case.operator, skip) for skip in selection.skip)
    return not left_out and (pattern is None or any(map(pattern.search, full_names(case))))


def _pattern(selection: Selection) -> re.Pattern[str] | None:
    try:
        return None if selection.select is None else re.compile(selection.select)
    except re.error as error:
        raise InputError(f"`--select` is `{selection.select}`, which is no regular expression: {error}") from error


def _none(files: SuiteCode, selection: Selection, cases: Sequence[Case], side: Side) -> InputError:
    """Say that nothing is left of benchmark files, and what they have."""
    names = list(dict.fromkeys(case.operator for case in cases))
    examples = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
    hint = f"it has {plural(len(names), 'benchmark')}, such as {examples}" if names else None
    what = "no benchmarks" if selection.select is None else f"no benchmark that `--select {selection.select}` matches"
    return InputError(f"`{files}`{_place(side)} has {what}", hint=hint, slug="empty_plan")


def _place(side: Side) -> str:
    return "" if side.environment == "current" else f" in `{side.environment}`"
