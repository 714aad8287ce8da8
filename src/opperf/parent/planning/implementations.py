"""Implementations in a plan: what functions of the user's own are, and what sides have in common when compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from opperf.catalog import Operator, operator
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import LAYER_LIBRARIES, MADE_BY, SPREAD, full_name, split_implementation
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText
from opperf.parent.sources.shapes_file import Row
from opperf.parent.sources.user_inputs import with_attributes

#: Has a side's child say what a name means there, or the user's own code.
Describe: TypeAlias = Callable[[Side, "str | Code"], Meaning]


def own_meaning(code: Code, side: Side, describe: Describe) -> Meaning:
    """Describe the user's own code.

    Raises `InputError` for code that cannot be loaded.
    """
    meaning = describe(side, code)
    if meaning.wrong is not None:
        raise InputError(f"`{code.name}`: {meaning.wrong}", hint=meaning.hint, slug="user_code")
    return meaning


def means_itself(rows: Sequence[Row], attributes: Mapping[str, object], definition: Operator, meaning: Meaning) -> bool:
    """Whether a framework's own name means its function as it is, and not the operator that it is bound to.

    It does where the arguments are given in its own words, and the operator lacks one of them, or would add one that
    the function left alone takes to be something else: NumPy's `sum` is over all axes.
    """
    takes, words = meaning.takes or (), meaning.arguments
    neutral = (*definition.inputs, *definition.attributes)
    for row in rows:
        names = {*row.values, *attributes}
        if all(name in neutral for name in names) or not all(name in takes or SPREAD + name in takes for name in names):
            continue
        neutral_names = {words.get(name, name) for name in names}
        has_input = any(name in row.values for name in names if words.get(name, name) not in definition.attributes)
        if has_input and (neutral_names - {*neutral} or {*meaning.unlike} - neutral_names):
            return True
    return False


def as_implemented(case: Case, meaning: Meaning) -> Case:
    """Return a case of the user's own function as one of the operator that it implements; as it is without one.

    What the case does not say is as in that operator's common case. Raises `InputError` where inputs are missing.
    """
    if meaning.operator is None:
        return case
    definition = operator(meaning.operator)
    if MADE_BY in case.attributes:
        raise InputError(
            f"`{case.operator}` implements `{definition.name}`, whose inputs are the same in every framework",
            hint="leave out its data generator",
            slug="user_code",
        )
    words = meaning.arguments
    arguments = {words.get(name, name): value for name, value in (*case.inputs.items(), *case.attributes.items())}
    common = definition.case("common")
    missing = [name for name in common.inputs if name not in arguments]
    unknown = [name for name in arguments if name not in (*definition.inputs, *definition.attributes)]
    if missing or unknown:
        text = f"without `{missing[0]}`" if missing else f"with `{unknown[0]}`"
        raise InputError(
            f"`{case.operator}` {text}: it implements `{definition.name}`",
            hint=f"that takes {', '.join((*definition.inputs, *definition.attributes))}",
            slug="user_code",
        )
    return definition.case_of({**common.attributes, **arguments})


def comparison_selection(selection: Selection, sides: Sequence[SideText], describe: Describe) -> Selection:
    """Return the selection for sides, the base first: with their code, and their operator where it selects nothing.

    Raises `InputError` where the sides do not tell the operator.
    """
    code = [text.side.implementation for text in sides if isinstance(text.side.implementation, Code)]
    selection = replace(selection, declared=(*selection.declared, *code))
    if selection.selects:
        return selection
    subject = _subject(sides, describe)
    return replace(selection, operators=(subject,), as_named=isinstance(subject, str) and ":" in subject)


def _subject(sides: Sequence[SideText], describe: Describe) -> str | Code:
    """Return the neutral operator that a side implements; else the base's implementation, which has cases of its own.

    The latter also where sides implement different operators: then they are compared as they are, each for itself.
    Raises `InputError` where neither is.
    """
    implementations = [text for text in sides if text.side.implementation is not None]
    if not implementations:
        raise InputError("nothing to compare", hint="name operators, or sides that are implementations")
    operators = {_implement(text, describe): None for text in implementations}
    operators.pop(None, None)
    base = sides[0].side
    if len(operators) == 1 or (operators and base.implementation is None):
        return str(next(iter(operators)))
    if base.implementation is None:
        text = implementations[0]
        raise InputError(f"opperf cannot tell which operator `{text.text}` is", hint="name it before `--base`")
    own = base.implementation
    return own if isinstance(own, Code) else full_name(base.framework, str(own))


def _implement(text: SideText, describe: Describe) -> str | None:
    """Return the neutral operator that a side's implementation computes, None if there is none."""
    path, plain = text.side.implementation, replace(text.side, implementation=None)
    if path is None:
        return None
    meaning = own_meaning(path, plain, describe) if isinstance(path, Code) else describe(plain, str(path))
    return meaning.operator


def trial_on(trial: Trial, text: SideText) -> Trial:
    """Return a trial on a side; a dtype and attributes of the side's override the case's. Raises `InputError`."""
    case = trial.case if text.dtype is None else restrict(trial.case.with_dtype(text.dtype))
    case = with_attributes(case, text.side.attributes)
    everywhere = split_implementation(trial.case.operator)[0] in LAYER_LIBRARIES
    shared = everywhere or text.side.framework == trial.side.framework
    implementation = text.side.implementation or (trial.side.implementation if shared else None)
    return replace(trial, case=case, side=replace(text.side, implementation=implementation))
