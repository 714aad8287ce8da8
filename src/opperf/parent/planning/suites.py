"""A suite in a plan: which of its cases are meant, and what becomes of cases that are equal.

Operators named in addition to a suite select from it. They add nothing: what the cases of a suite take together, and
each one's share of that, would describe something that was never recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from opperf.catalog.valid_values import base_name
from opperf.domain.code import Code
from opperf.domain.errors import InputError, near
from opperf.domain.plan import Trial
from opperf.domain.registry import hosts_of, runs_on, split_implementation
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.planning.selection import Selection

#: The most origins of equal cases to name, and the most operators of a suite in a hint.
MOST_ORIGINS, MOST_NAMED = 3, 8


def check_suite(selection: Selection) -> None:
    """Raise `InputError` for options that conflict with a suite, whose cases have their inputs."""
    if selection.suite is None:
        return
    if selection.every:
        raise InputError(
            "`--all` cannot be combined with `--suite`", hint="leave out `--all` to measure all cases of the suite"
        )
    options = {
        "--input": selection.inputs,
        "--shapes": selection.rows,
        "--attribute": selection.attributes,
        "--size": selection.sizes,
        "--random": selection.random,
    }
    idle = [option for option, value in options.items() if value]
    if idle:
        raise InputError(
            f"`{idle[0]}` cannot be used with `--suite`, whose cases have their own inputs",
            hint=f"leave `{idle[0]}` out, or measure operators without the suite",
        )


def forward_unless_said(selection: Selection) -> Selection:
    """Return the selection with the direction of comparisons: forward, where nothing in it says any."""
    if selection.directions or selection.benchmarks_alone:
        return selection
    if selection.whole_suite is None:
        return replace(selection, directions=("forward",))
    cases = (replace(entry, directions=entry.directions or ("forward",)) for entry in selection.suite_cases)
    return replace(selection, suite=replace(selection.whole_suite, name=suite_name(selection), cases=tuple(cases)))


def entries(
    selection: Selection, framework: str, names: Mapping[str, Sequence[str | Code | None]] | None
) -> Iterator[tuple[int, SuiteCase, str | Code | None]]:
    """Yield the cases of the suite for one framework, with their places and the implementations they are measured in.

    `names` are the operators that are chosen, each with its implementations, None where all are.
    """
    for place, entry in enumerate(selection.suite_cases):
        name = entry.case.operator
        owner = split_implementation(name)[0]
        if owner is not None and not runs_on(framework, owner):
            continue
        if any(fnmatchcase(name, pattern) for pattern in selection.skip):
            continue
        for implementation in (None,) if names is None else names.get(name, ()):
            yield place, entry, implementation


def merge(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials of a suite, equal ones as one that occurs as often as all of them."""
    alike: dict[tuple[object, ...], list[Trial]] = {}
    for trial in trials:
        alike.setdefault(trial.key, []).append(trial)
    return [
        replace(several[0], count=sum(trial.count for trial in several), origin=_origins(several))
        for several in alike.values()
    ]


def _origins(trials: Sequence[Trial]) -> str:
    """Return where equal cases come from, the first few places by name."""
    places = list(dict.fromkeys(trial.origin for trial in trials))
    more = [f"{len(places) - MOST_ORIGINS} more"] if len(places) > MOST_ORIGINS else []
    return ", ".join([*places[:MOST_ORIGINS], *more])


def not_in_suite(selection: Selection, name: str) -> InputError:
    """Say that a suite has no case of an operator that was named to choose from it."""
    operators = list(dict.fromkeys(entry.case.operator for entry in selection.suite_cases))
    candidates = [
        other for other in operators if name in (base_name(other), other.rpartition(".")[2].rpartition(":")[2])
    ]
    likely = dict.fromkeys([*candidates, *near(name, operators), *operators])
    names = ", ".join(f"`{other}`" for other in list(likely)[:MOST_NAMED])
    more = f" and {len(operators) - MOST_NAMED} more" if len(operators) > MOST_NAMED else ""
    return InputError(
        f"no case of `{name}` in {suite_name(selection)}: with `--suite`, operators select from its cases",
        hint=f"it has {names}{more}" if operators else "it has no cases",
        slug="not_in_suite",
    )


def unmeasured(selection: Selection, frameworks: Collection[str]) -> list[str]:
    """Return a note for each framework that is not measured although a suite has its own operators.

    A library of layers is noted where none of its frameworks is measured.
    """
    owners = Counter(split_implementation(entry.case.operator)[0] for entry in selection.suite_cases)
    whole = f"{len(selection.suite_cases)} cases of {suite_name(selection)}"
    return [
        f"{count} of {whole} are {owner}'s own operators, and are measured with "
        f"{' or '.join(f'`--framework {host}`' for host in hosts_of(owner))} only"
        for owner, count in owners.items()
        if owner is not None and not set(hosts_of(owner)) & set(frameworks)
    ]


def suite_name(selection: Selection) -> str:
    """Return how a message names the suite."""
    return selection.suite.name if isinstance(selection.suite, Suite) else str(selection.suite)
