"""The cases of one operator of a selection: the user's own inputs, random ones, or the default ones of each size.

Questions that only a framework can answer go to its child through `ChildAnswers`, which the session provides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from opperf.catalog import INT64, Operator
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.code import Code, SuiteCode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place, unknown
from opperf.domain.message.replies import Discovery, Meaning
from opperf.domain.message.requests import R, Request
from opperf.domain.plan import Side
from opperf.domain.registry import BUILD_PREFIX, SPREAD
from opperf.domain.tensor import parse_dtype
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.values import choices
from opperf.parent.sources.argument_text import argument_text
from opperf.parent.sources.random_cases import large_case, random_cases
from opperf.parent.sources.shapes_file import Row
from opperf.parent.sources.user_inputs import EVERY, case_with, foreign_case, in_one_shape, split_row


class ChildAnswers(Protocol):
    """What a side's child answers."""

    def describe(self, side: Side, name: str | Code) -> Meaning:
        """Describe a name there, or the user's own code."""

    def discover(self, side: Side, path: str | Code | SuiteCode | None, size: str) -> Discovery:
        """Return the paths of registered operators, or examples of the one at a path."""

    def workload(self, side: Side, request: Request[R]) -> R:
        """Return the product of the user's own iterator or data generator."""


@dataclass(frozen=True)
class OperatorChoice:
    """One operator of the selection: its definition where opperf has one, and the implementation where one is named.

    `takes` are the names of its arguments where it is the framework's own, None where those cannot be told; `builds`
    are those of what it is built with, for a layer. `by_default` says that it can be called without arguments.
    """

    name: str
    definition: Operator | None
    framework: str | None = None
    path: str | Code | None = None
    takes: Sequence[str] | None = None
    builds: Sequence[str] = ()
    by_default: bool = False


def cases(
    selection: Selection, choice: OperatorChoice, side: Side, answers: ChildAnswers, seed: int
) -> Iterator[tuple[Case, str]]:
    """Yield the cases of one operator: the user's inputs, random ones, or the default ones of each size."""
    results: list[tuple[Case, str]] = []
    rows = selection.user_rows
    if choice.definition is None:
        if not rows and choice.framework != "null":
            results, why = _examples(selection, choice, side, answers)
            if not results and (choice.takes == () or choice.by_default):
                results = [(_foreign(selection, choice, Row({})), "user")]
            if not results and not selection.every:
                raise InputError(
                    f"opperf has no default inputs for `{choice.name}`" + (f": {why}" if why else ""),
                    hint=_example(choice),
                    slug="no_inputs",
                )
        else:
            results = [(_foreign(selection, choice, row), "user") for row in rows or [Row({})]]
    elif rows:
        words = _own_words(selection, choice.definition, side, answers)
        for row in rows:
            with row.place():
                values = in_one_shape(choice.definition, row.values) | dict(selection.attributes)
                names = _neutral(choice, choice.definition, values, side, answers, words)
                spellings = {names[name]: name for name in values}
                translation = {names[name]: value for name, value in values.items()}
                case = case_with(choice.definition, translation, spellings=spellings)
                _check_formulas(choice, choice.definition, case, spellings)
                results.append((case, "user"))
    elif selection.random is not None:
        several = random_cases(choice.definition, selection.random, seed)
        results = [(case, f"random:{seed}") for case in several]
    else:
        results = list(_size(selection, choice.definition))
    if not rows:
        results = list({case.id: (case, origin) for case, origin in results}.values())
    for case, origin in results:
        yield from ((one, origin) for one in dict.fromkeys(vary(selection, case)))


def _check_formulas(choice: OperatorChoice, definition: Operator, case: Case, spellings: Mapping[str, str]) -> None:
    """Raise `InputError` for a case that the operator's own formulas refuse: no framework could measure it.

    A function of the user's may take more than the operator that it implements.
    """
    if isinstance(choice.path, Code):
        return
    own = {spellings.get(name, name): value for name, value in case.inputs.items()}
    with at_place(" ".join(f"{name}={argument_text(value)}" for name, value in own.items())):
        definition.outputs(case)


def _foreign(selection: Selection, choice: OperatorChoice, row: Row) -> Case:
    """Return the case of a row for a function that opperf has no definition of.

    Inputs by names that a framework's own operator does not have are refused: it would get them by place.
    """
    with row.place():
        inputs, attributes = split_row(row.values) if row.where else _split(row.values)
        if EVERY in inputs:
            takes = f"; it takes {', '.join(choice.takes)}" if choice.takes else ""
            raise InputError(
                f"opperf does not know which arguments of `{choice.name}` are tensors{takes}",
                hint=f"name them, as in `--input {next(iter(choice.takes or ('NAME',)))}=64x64`",
                slug="bad_shape",
            )
        for name in inputs:
            # The user's own function takes by place what it has no name for.
            own_names = (choice.takes if isinstance(choice.path, str) else None) or (SPREAD,)
            if name not in own_names and not name.isdecimal() and not any(own.startswith(SPREAD) for own in own_names):
                raise unknown(f"input of {choice.name}", name, own_names, hint=f"it takes {', '.join(own_names)}")
        by_name = {_place(choice, name): value for name, value in {**attributes, **selection.attributes}.items()}
        return foreign_case(choice.name, inputs, by_name)


def _example(choice: OperatorChoice) -> str:
    """Say how the inputs of a function are given, by its own names where they are known."""
    names = [name for name in choice.takes or () if not name.startswith(SPREAD)]
    words = [f"`--input {name}=64x64`" for name in names[:1] or ["NAME"]]
    words += [f"`--attribute {name}=VALUE`" for name in (names[1:2] if names else ["NAME"])]
    takes = f"it takes {', '.join(choice.takes)}: " if choice.takes else ""
    return f"{takes}give them by the function's own names, as in {' or '.join(words)}"


def _split(values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Part values of Python into inputs and attributes: no number is the shape of a tensor."""
    plain: dict[str, object] = {}
    inputs: dict[str, object] = {}
    for name, value in values.items():
        (plain if value is None or isinstance(value, (int, float)) else inputs)[name] = value
    return inputs, plain


def _place(choice: OperatorChoice, name: str) -> str:
    """Return an attribute by the name that a case has for it: what only a constructor takes begins with `build.`.

    Raises `InputError` for one that neither the call nor the constructor of a layer takes.
    """
    parameter = name.removeprefix(BUILD_PREFIX)
    if parameter in choice.builds and (parameter != name or parameter not in (choice.takes or ())):
        return BUILD_PREFIX + parameter
    if choice.builds and choice.takes is not None and name not in choice.takes and not parameter.isdecimal():
        names = list(dict.fromkeys([*choice.builds, *choice.takes]))
        raise unknown(f"attribute of {choice.name}", name, names, hint=f"it takes {', '.join(names)}")
    return name


def vary(selection: Selection, case: Case) -> Iterator[Case]:
    """Yield a case in every requested element type and distribution of values."""
    for dtype in dict.fromkeys(map(parse_dtype, selection.dtypes or ("float32",))):
        variant = restrict(case.with_dtype(dtype))
        yield from dict.fromkeys(choice.of(variant) for choice in choices(selection.values))


def _size(selection: Selection, definition: Operator) -> Iterator[tuple[Case, str]]:
    """Yield the case of each size; an operator requested by name must have one."""
    for size in selection.sizes or ("common",):
        case = large_case(definition) if size == INT64 else definition.case(size)
        if case is not None:
            yield case, f"catalog:{size}"
        elif definition.name in selection.operators:
            raise InputError(
                f"`{definition.name}` has no case of the size `{size}`",
                hint=f"it has {', '.join(definition.sizes)}",
                slug="no_such_size",
            )


def _examples(
    selection: Selection, choice: OperatorChoice, side: Side, answers: ChildAnswers
) -> tuple[list[tuple[Case, str]], str | None]:
    """Return the cases that the framework's own description of an operator leads to, and a reason for none.

    Where cases are samples of the framework's scaled up, the origin says by how much: `registry:common x64`.
    """
    results: list[tuple[Case, str]] = []
    reason = None
    for size in selection.sizes or ("common",):
        discovery = answers.discover(side, choice.path, size)
        reason = discovery.reason
        for example in discovery.examples:
            source = "declared" if isinstance(choice.path, Code) else "registry"
            scale = f" x{example.scale}" if example.scale != 1 else ""
            results.append((replace(example.case, operator=choice.name), f"{source}:{size}{scale}"))
    return results, reason


def _own_words(selection: Selection, definition: Operator, side: Side, answers: ChildAnswers) -> dict[str, str]:
    """Return how the user's own implementations of an operator, in the same selection, call its arguments."""
    words: dict[str, str] = {}
    for code in (name for name in (*selection.operators, *selection.declared) if isinstance(name, Code)):
        meaning = answers.describe(side, code)
        if meaning.operator == definition.name:
            words |= meaning.arguments
    return words


def _neutral(
    choice: OperatorChoice,
    definition: Operator,
    row: Mapping[str, object],
    side: Side,
    answers: ChildAnswers,
    words: Mapping[str, str],
) -> dict[str, str]:
    """Return the neutral name of each given value.

    The framework's own names are translated, those of the function that the user wrote among them (`self` in ATen), and
    so are the user's `words`.
    """
    names = (*definition.inputs, *definition.attributes)
    spellings_by_name: Mapping[str, str] = {}
    if any(name not in names for name in row):
        spellings_by_name = {**answers.describe(side, definition.name).arguments, **words}
        if isinstance(choice.path, str):
            spellings_by_name = {**answers.describe(side, choice.path).arguments, **spellings_by_name}
    for name in row:
        if name not in names and name not in spellings_by_name:
            spellings = ", ".join(word for word in spellings_by_name if word not in names)
            also = f"; {side.framework} calls them {spellings}" if spellings else ""
            raise unknown(
                f"input of {definition.name}",
                name,
                [*names, *spellings_by_name],
                hint=f"it takes {', '.join(names)}{also}",
            )
    return {name: name if name in names else spellings_by_name[name] for name in row}
