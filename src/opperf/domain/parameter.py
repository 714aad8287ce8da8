"""A parameter of a benchmark that another tool writes as text, spelt alike whichever tool measured it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from opperf.domain.case import Argument, Case

#: The texts of parameters that are numbers: as many digits as a column takes, and no infinity; and of strings.
WHOLE, FRACTION = r"-?\d{1,18}", r"-?\d{1,18}(\.\d{0,18})?(e[+-]?\d{1,2})?"
QUOTED = r"""(['"])([^'"\\]*)\1"""
WORDS: Mapping[str, Argument] = {"True": True, "False": False, "None": None}


def argument(text: str) -> Argument:
    """Return a parameter that a tool writes as text: a number, a string in quotes, or else the text as it stands.

    Nothing is evaluated.

    >>> [argument(text) for text in ("100", "1e-3", "'list'", "True", "None", "(1, 2)", "add")]
    [100, 0.001, 'list', True, None, '(1, 2)', 'add']
    """
    if text in WORDS:
        return WORDS[text]
    if re.fullmatch(WHOLE, text):
        return int(text)
    if re.fullmatch(FRACTION, text):
        return float(text)
    quoted = re.fullmatch(QUOTED, text)
    return text if quoted is None else quoted[2]


def parameter_names(names: Sequence[str], choices: Sequence[Sequence[str]]) -> Sequence[str]:
    """Name the parameters of a benchmark: by their places where its own names are not one for each."""
    return names if len(set(names)) == len(choices) else [f"param{i}" for i in range(1, len(choices) + 1)]


#: The attribute that a benchmark has whose author gave it a version: another version is another case.
VERSION = "version"
#: What asv takes for a version where the author gave none: a hash of the source, or what an object says of itself that
#: the file imports by this name, such as a module and where it lies.
NO_VERSION = "[0-9a-f]{64}|<.*>"


def own_version(version: object) -> str | None:
    """Return the version that an author gave a benchmark; None for what asv takes otherwise.

    >>> own_version("2"), own_version("a" * 64), own_version("<module 'packaging.version' from '/x/version.py'>")
    ('2', None, None)
    """
    return version if isinstance(version, str) and version and not re.fullmatch(NO_VERSION, version) else None


def combinations(
    names: Sequence[str], choices: Sequence[Sequence[str]], version: str | None = None
) -> Iterator[dict[str, Argument]]:
    """Yield the parameters of each case, given the texts of all choices, in the tool's order, with its own version.

    They are spelt as imported results have them, where those can be told apart.

    >>> list(combinations(["n"], [["1", "'a'"]]))
    [{'n': 1}, {'n': 'a'}]
    """
    spelt = ((list(map(argument, texts)), texts) for texts in choices)
    values = (words if len(set(map(repr, words))) == len(words) else texts for words, texts in spelt)
    for combination in product(*values):
        text = own_version(version)
        more = {} if text is None else {VERSION: argument(text)}
        yield {**more, **dict(zip(parameter_names(names, choices), combination))}


def full_names(case: Case) -> tuple[str, ...]:
    """Return a benchmark with its parameters: as tables show them, with strings in quotes as asv does, as pytest does.

    >>> full_names(Case("bench.time_sort", attributes={"n": 100, "kind": "quick"}))
    ('bench.time_sort(100, quick)', "bench.time_sort(100, 'quick')", 'bench.time_sort[100-quick]')
    >>> full_names(Case("bench.time_sort", attributes={"kind": "quick", "of": "('random', 1)"}))[1]
    "bench.time_sort('quick', ('random', 1))"
    """
    if not case.attributes:
        return (case.operator,)
    values = case.attributes.values()
    names = (f"{case.operator}({', '.join(map(spelling, values))})" for spelling in (str, _quoted))
    return (*names, f"{case.operator}[{'-'.join(map(str, values))}]")


def _quoted(value: Argument) -> str:
    """Return a parameter as asv writes it: in quotes where it is a string, and not what an object says of itself."""
    return value if isinstance(value, str) and value.startswith(("(", "[", "{", "<")) else repr(value)
