"""Functions of the user's own in a plan: what they are, asked of the child that loads them, and the cases they take."""

from __future__ import annotations

from typing import Protocol

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Side
from opperf.domain.registry import MADE_BY


class Describes(Protocol):
    """What a side's child answers."""

    def describe(self, side: Side, name: str | Code) -> Meaning:
        """Return what a name means there, or the user's own code."""


def own_meaning(code: Code, side: Side, answers: Describes) -> Meaning:
    """Return what the user's own code is.

    Raises `InputError` for code that cannot be loaded.
    """
    meaning = answers.describe(side, code)
    if meaning.wrong is not None:
        raise InputError(f"`{code.name}`: {meaning.wrong}", hint=meaning.hint, slug="user_code")
    return meaning


def as_implemented(case: Case, own: Meaning) -> Case:
    """Return a case of the user's own function as one of the operator that it implements; as it is without one.

    What the case does not say is as in that operator's common case. Raises `InputError` where inputs are missing.
    """
    if own.operator is None:
        return case
    definition = operator(own.operator)
    if MADE_BY in case.attributes:
        raise InputError(
            f"`{case.operator}` implements `{definition.name}`, whose inputs are the same in every framework",
            hint="leave its data generator out",
            slug="user_code",
        )
    words = own.arguments
    given = {words.get(name, name): value for name, value in (*case.inputs.items(), *case.attributes.items())}
    common = definition.case("common")
    lacking = [name for name in common.inputs if name not in given]
    unknown = [name for name in given if name not in (*definition.inputs, *definition.attributes)]
    if lacking or unknown:
        text = f"without `{lacking[0]}`" if lacking else f"with `{unknown[0]}`"
        raise InputError(
            f"`{case.operator}` {text}: it implements `{definition.name}`",
            hint=f"that takes {', '.join((*definition.inputs, *definition.attributes))}",
            slug="user_code",
        )
    return definition.case_of({**common.attributes, **given})
