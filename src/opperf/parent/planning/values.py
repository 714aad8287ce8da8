"""Which inputs `--values` applies to: refused where it is none, and said where it is several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import UNIFORM
from opperf.parent.sources.value_choice import ValueChoice

#: The most operators whose inputs a note names.
MOST_NAMED = 3


def choices(words: Iterable[str]) -> tuple[ValueChoice, ...]:
    """Return the choices of the words of `--values`, each once; raises `InputError`."""
    return tuple(ValueChoice.parse(word) for word in dict.fromkeys(words)) or (ValueChoice(),)


def check_inputs(words: Iterable[str], cases: Iterable[Case]) -> None:
    """Raise `InputError` for an input that no case has, or whose type has no such values."""
    distinct = [*dict.fromkeys(cases)]
    for choice in choices(words):
        names = {name for case in distinct for name in choice.inputs(case)}
        for name, values in choice.by_name.items():
            if name not in names:
                have = ", ".join(dict.fromkeys(name for case in distinct for name in case.inputs))
                exists = any(name in case.inputs for case in distinct)
                message = f"`{name}` has no {values} values" if exists else f"there is no input `{name}`"
                raise InputError(f"`--values {choice}`: {message}", hint=f"inputs are {have}", slug="unknown_input")


def notes(words: Iterable[str], cases: Iterable[Case]) -> Iterator[str]:
    """Yield a sentence for each distribution of all inputs that more than one input of an operator has."""
    distinct = [*dict.fromkeys(cases)]
    for choice in choices(words):
        by_operator: dict[str, dict[str, None]] = {}
        for case in distinct if choice.every != UNIFORM else ():
            by_operator.setdefault(case.operator, {}).update(dict.fromkeys(choice.inputs(case)))
        wide = {operator: [*names] for operator, names in by_operator.items() if len(names) > 1}
        if wide:
            texts = [f"{' and '.join(names)} of `{operator}`" for operator, names in [*wide.items()][:MOST_NAMED]]
            more = f", and to those of {len(wide) - MOST_NAMED} more" if len(wide) > MOST_NAMED else ""
            example = f"{next(iter(wide.values()))[-1]}={choice}"
            yield f"`--values {choice}` applies to {', '.join(texts)}{more}; `--values {example}` is for one of them"
