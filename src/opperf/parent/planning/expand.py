"""From a selection to the plan: names looked up, cases made, and one trial for each side and direction.

Neutral names are looked up in the catalog. A framework's own names are known only to the framework, so its child is
asked through `ChildAnswers`, which the session provides. So are its registered operators, which opperf has no
definition of, and example cases of those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TypeAlias

from opperf.catalog import DIRECTIONS, INT64, SIZES, Operator, catalog, operator
from opperf.catalog.groups import GROUPS, check_categories
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError, OpperfError, check_known, unknown
from opperf.domain.plan import Plan, Settings, Side, Trial, check_most
from opperf.domain.registry import MADE_BY, full_name, hosts_of, runs_on, split_implementation
from opperf.domain.tensor import parse_dtype
from opperf.parent.planning.benchmarks import Note, benchmark_trials, check_select, quietly
from opperf.parent.planning.cases import ChildAnswers, OperatorChoice, cases, vary
from opperf.parent.planning.implementations import as_implemented, means_itself, own_meaning
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.suites import check_suite, entries, merge, not_in_suite, suite_name
from opperf.parent.planning.values import check_inputs, choices

#: Called with a framework, how many of its own operators have been asked for their cases, and their number.
Progress: TypeAlias = Callable[[str, int, int], None]
#: The directions of a command that names none.
DEFAULT_DIRECTIONS = ("forward", "backward")


def expand(
    selection: Selection,
    settings: Settings,
    sides: Sequence[Side],
    answers: ChildAnswers,
    *,
    registered: bool = True,
    progress: Progress = quietly,
    note: Note = quietly,
) -> Plan:
    """Return the plan; raises `InputError` for unknown names and for an empty selection.

    A selection of all takes each framework's own registered operators too, but for `registered=False`; `progress` is
    called with how many of them have been asked for their cases, which takes the child a while. `note` takes a line on
    files of benchmarks that cannot be loaded.
    """
    _check(selection)
    check_suite(selection)
    trials: list[Trial] = []
    beside = set(selection.operators if selection.suite is not None else ()) & set(_names(selection))
    missing = set(map(_text, beside))
    for side in sides:
        if selection.suite is not None:
            by_name = _choose(selection, side, answers)
            own = _suite_operators(selection)
            missing -= {name for name, one in by_name.items() if one.name in own}
            trials += merge(_suite_trials(selection, side, by_name))
        trials += {trial.key: trial for trial in _config_trials(selection, side, answers, settings.seed)}.values()
        trials += benchmark_trials(selection, side, answers, note)
        several = [*_choices(selection, side, answers)] if selection.suite is None else []
        for choice, part in _with_own_attributes(selection, several, side, answers):
            trials += _trials(part, choice, side, answers, settings.seed)
        if selection.every and registered:
            progress(side.framework, 0, 0)
            registered_choices = list(_registered(selection, side, answers))
            for count, choice in enumerate(registered_choices, 1):
                trials += _trials(selection, choice, side, answers, settings.seed)
                progress(side.framework, count, len(registered_choices))
    if missing:
        raise not_in_suite(selection, min(missing))
    if not trials:
        raise _nothing(selection, sides)
    check_inputs(selection.values, (trial.case for trial in trials))
    return Plan(tuple({trial.key: trial for trial in trials}.values()), settings, tuple(trials))


def _nothing(selection: Selection, sides: Sequence[Side]) -> InputError:
    """Say why a plan is empty: nothing was named, or none of the named operators runs on these sides."""
    selectors = [f"`{_text(name)}`" for name in (*selection.operators, *selection.categories)]
    selectors += ["`--all`"] if selection.every else []
    selectors += ["the suite"] if selection.suite_cases else []
    if not selectors:
        hint = "name operators, or give `--category`, `--all`, `--suite` or `--config`"
        return InputError("nothing to measure", hint=hint, slug="empty_plan")
    operators = [name for name in selection.operators if isinstance(name, str)]
    operators += [member for name in selection.categories for member in GROUPS.get(name, ())]
    operators += [entry.case.operator for entry in selection.suite_cases]
    owners = {split_implementation(name)[0] for name in operators} - {None, *(side.framework for side in sides)}
    hints = [_framework_hint(str(owner)) for owner in sorted(map(str, owners))]
    hints += ["`--skip` leaves them out"] if selection.skip else []
    return InputError(
        f"nothing to measure for {',  '.join(selectors)}", hint=", or ".join(hints) or None, slug="empty_plan"
    )


def _framework_hint(owner: str) -> str:
    """Say which framework to name for what belongs to an owner."""
    hosts = hosts_of(owner)
    if hosts == (owner,):
        return f"they are operators of {owner}: `--framework {owner}`"
    return f"{owner} runs on {', '.join(hosts)}: `--framework {hosts[0]}`"


def _check(selection: Selection) -> None:
    """Raise `InputError` for an unknown word of the selection, before a child starts."""
    check_categories(selection.categories)
    for name in selection.sizes:
        check_known("size", name, (*SIZES, INT64))
    for name in selection.directions:
        check_known("direction", name, DIRECTIONS)
    for name in selection.dtypes:
        parse_dtype(name)
    if selection.random is not None and selection.random < 1:
        raise InputError(f"`--random` is {selection.random}, expected a whole number >= 1")
    check_most("--random", selection.random or 0, "random")
    if selection.random is not None and (selection.user_rows or selection.sizes):
        hint = "leave out either `--random`, or `--input`, `--shapes`, `--attribute` and `--size`"
        raise InputError("`--random` draws the inputs", hint=hint)
    if selection.inputs and selection.rows:
        raise InputError(
            "`--input` and `--shapes` cannot be used together", hint="put all shapes into the file, or leave it out"
        )
    check_select(selection)
    choices(selection.values)
    for name in (name for name in selection.operators if isinstance(name, str)):
        if split_implementation(name)[0] is None:
            operator(name)


def _names(selection: Selection) -> tuple[str | Code, ...]:
    """Return the names that the selection means, and code, in its order, skips left out."""
    names = list(selection.operators)
    names += [
        name for name, operator in catalog().items() if selection.every or operator.category in selection.categories
    ]
    names += [member for group in selection.categories for member in GROUPS.get(group, ())]
    return tuple(name for name in dict.fromkeys(names) if not _skip(name, selection))


def _skip(name: str | Code, selection: Selection) -> bool:
    return any(fnmatchcase(_text(name), pattern) for pattern in selection.skip)


def _text(name: str | Code) -> str:
    return name.name if isinstance(name, Code) else name


def _choices(selection: Selection, side: Side, answers: ChildAnswers) -> Iterator[OperatorChoice]:
    """Yield what the selection asks of one side, each once, however many names mean it."""
    keys = set()
    for choice in (_choice(name, selection, side, answers) for name in _names(selection)):
        if choice is not None and (choice.name, choice.path) not in keys:
            keys.add((choice.name, choice.path))
            yield choice


def _choice(name: str | Code, selection: Selection, side: Side, answers: ChildAnswers) -> OperatorChoice | None:
    """Look a name up on a side; None for an operator of another framework's own."""
    if isinstance(name, Code):
        return _code(name, side, answers) if name.framework in (None, side.framework) else None
    prefix, rest = split_implementation(name)
    if prefix is None:
        definition = operator(rest)
        return OperatorChoice(definition.name, definition)
    return _choice_by_name(rest, selection, side, answers) if runs_on(side.framework, prefix) else None


def _with_own_attributes(
    selection: Selection, choices: Sequence[OperatorChoice], side: Side, answers: ChildAnswers
) -> Iterator[tuple[OperatorChoice, Selection]]:
    """Yield each operator with the selection for it, without attributes that only others of the selection take.

    What none takes is left to each, which says so.
    """
    if len(choices) < 2 or not selection.attributes:
        yield from ((choice, selection) for choice in choices)
        return
    takes = [_takes(choice, side, answers) for choice in choices]
    every = {name for names in takes if names is not None for name in names}
    for choice, own in zip(choices, takes):
        others = every - own if own is not None else set()
        attributes = {name: value for name, value in selection.attributes.items() if name not in others}
        yield choice, replace(selection, attributes=attributes)


def _takes(choice: OperatorChoice, side: Side, answers: ChildAnswers) -> set[str] | None:
    """Return the names of all arguments that an operator takes; None where nobody tells them."""
    definition = choice.definition
    if definition is None:
        return None if choice.takes is None else {*choice.takes, *choice.builds}
    own = answers.describe(side, choice.path or definition.name)
    return {*definition.inputs, *definition.attributes, *own.arguments}


def _registered(selection: Selection, side: Side, answers: ChildAnswers) -> Iterator[OperatorChoice]:
    """Yield the operators of a framework's registry that the catalog does not measure."""
    try:
        paths = answers.discover(side, None, "common").paths
    except OpperfError:  # a framework that does not start says so in the record of each of its trials
        return
    for path in paths:
        name = full_name(side.framework, path)
        if not any(fnmatchcase(name, pattern) for pattern in selection.skip):
            yield OperatorChoice(name, None, side.framework, path)


def _choice_by_name(path: str, selection: Selection, side: Side, answers: ChildAnswers) -> OperatorChoice:
    """Look a framework's own name up."""
    name = full_name(side.framework, path)
    meaning = answers.describe(side, path)
    if meaning.path is None and meaning.operator is None:
        if meaning.reason is not None:
            raise InputError(f"`{name}`: {meaning.reason}", hint=meaning.hint, slug="unknown_operator")
        close = [full_name(side.framework, other) for other in meaning.near]
        hint = f"did you mean {', '.join(f'`{other}`' for other in close)}?" if close else None
        raise InputError(f"no operator `{name}`", hint=hint, slug="unknown_operator")
    definition = None if meaning.operator is None else operator(meaning.operator)
    if definition is None:
        return OperatorChoice(name, None, side.framework, meaning.path, meaning.takes, meaning.builds)
    if selection.as_named or means_itself(selection.user_rows, selection.attributes, definition, meaning):
        return OperatorChoice(name, None, side.framework, path, meaning.takes)
    return OperatorChoice(definition.name, definition, side.framework, meaning.path)


def _code(code: Code, side: Side, answers: ChildAnswers) -> OperatorChoice:
    """Describe the user's own code; raises `InputError` for code that cannot be loaded."""
    meaning = own_meaning(code, side, answers.describe)
    if meaning.operator is None:
        return OperatorChoice(code.name, None, side.framework, code, meaning.takes, by_default=meaning.by_default)
    definition = operator(meaning.operator)
    return OperatorChoice(definition.name, definition, side.framework, code)


def _trials(
    selection: Selection, choice: OperatorChoice, side: Side, answers: ChildAnswers, seed: int
) -> Iterator[Trial]:
    here = replace(side, implementation=choice.path)
    for case, origin in cases(selection, choice, side, answers, seed):
        attempt = origin.startswith("registry:")
        for direction in _directions(selection, choice.definition, case, attempt=attempt, layer=bool(choice.builds)):
            yield Trial(case, here, direction, origin)


def _directions(
    selection: Selection, definition: Operator | None, case: Case, *, attempt: bool, layer: bool = False
) -> tuple[str, ...]:
    """Return the directions to measure: those asked for, else the default ones that the operator has.

    Only a run shows whether a framework's own operator has a gradient, and so sets `attempt`; without
    floating inputs it has none. A `layer` has weights of its own.
    """
    if selection.directions:
        return tuple(dict.fromkeys(selection.directions))
    if definition is not None:
        return tuple(direction for direction in DEFAULT_DIRECTIONS if direction in definition.directions)
    if layer:
        return DEFAULT_DIRECTIONS
    if attempt and any(tensor.is_float and tensor.requires_grad is not False for tensor in case.tensors()):
        return DEFAULT_DIRECTIONS
    return ("forward",)


def _suite_operators(selection: Selection) -> set[str]:
    return {entry.case.operator for entry in selection.suite_cases}


def _is_of(name: str | Code, own: set[str]) -> bool:
    """Whether a suite has cases of a framework's own name, which then needs no child to resolve it."""
    return isinstance(name, str) and name in own and name not in catalog()


def _choose(selection: Selection, side: Side, answers: ChildAnswers) -> dict[str, OperatorChoice]:
    """Return the operators that are named in addition to a suite, by name."""
    own = _suite_operators(selection)
    meanings = {
        _text(name): OperatorChoice(_text(name), None) if _is_of(name, own) else _choice(name, selection, side, answers)
        for name in _names(selection)
    }
    return {name: choice for name, choice in meanings.items() if choice is not None}


def _suite_trials(selection: Selection, side: Side, by_name: Mapping[str, OperatorChoice]) -> Iterator[Trial]:
    """Yield the trials of a suite's cases, those of the chosen operators where any are named."""
    names: dict[str, list[str | Code | None]] = {}
    for choice in by_name.values():
        names.setdefault(choice.name, []).append(choice.path)
    operators = names if selection.operators or selection.categories else None
    for place, entry, path in entries(selection, side.framework, operators):
        prefix, rest = split_implementation(entry.case.operator)
        code = selection.code(entry.case.operator)
        if code is None and prefix is None and rest not in catalog():
            raise unknown("operator", rest, catalog(), hint=f"in {suite_name(selection)}: cases[{place}]")
        definition = catalog().get(rest) if prefix is None else None
        here = replace(side, implementation=code or (path if prefix is None else rest))
        own = _directions(selection, definition, entry.case, attempt=True)
        for case in vary(selection, entry.case):
            for direction in own if selection.directions else entry.directions or own:
                yield Trial(case, here, direction, entry.origin, entry.count)


def _config_trials(selection: Selection, side: Side, answers: ChildAnswers, seed: int) -> Iterator[Trial]:
    """Yield the trials of PARAM's configs; the origin of each is its run id."""
    if not selection.configs:
        return
    from opperf.parent.planning.configs import ORIGIN, config_cases

    questions = partial(answers.describe, side), partial(answers.workload, side)
    for row in config_cases(selection.configs, side.framework, seed, *questions):
        code = row.meaning.code
        complete = row.case if code is None else as_implemented(row.case, own_meaning(code, side, answers.describe))
        definition = catalog().get(complete.operator)
        path = code or row.meaning.implementation
        here = side if path is None else replace(side, implementation=path)
        # A user's data generator chooses the element type itself.
        for case in [complete] if MADE_BY in complete.attributes else vary(selection, complete):
            for direction in _directions(selection, definition, case, attempt=False):
                yield Trial(case, here, direction, f"{ORIGIN}{row.run_id}")
