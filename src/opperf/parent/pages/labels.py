"""What rows of charts are called: what varies stands first, since the end is what a narrow chart leaves out."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

from opperf.domain.case import Case
from opperf.parent.reports.text import common_attributes, short_text


def labels(names: Sequence[Sequence[str]]) -> tuple[list[tuple[str, str]], str]:
    """Return label and detail of each row, and what all rows have alike, of the words that name them.

    >>> labels([("add", "4x4", "torch"), ("add", "8x8", "torch")])
    ([('4x4', ''), ('8x8', '')], 'add torch')
    >>> labels([("add", "4x4", "a"), ("add", "4x4", "b"), ("exp", "4", "a")])[0]
    [('add', 'a 4x4'), ('add', 'b 4x4'), ('exp', 'a 4')]
    """
    columns = [*zip(*names)]
    varying = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    if not varying:
        return [(name[0], " ".join(filter(None, name[1:]))) for name in names], ""
    first, *others = varying
    rows: dict[str, list[Sequence[str]]] = defaultdict(list)
    for name in names:
        rows[name[first]].append(name)
    # What tells rows of one label apart comes before what only goes with it.
    others.sort(key=lambda place: all(len({name[place] for name in alike}) == 1 for alike in rows.values()))
    common = " ".join(column[0] for place, column in enumerate(columns) if place not in varying and column[0])
    return [(name[first], " ".join(filter(None, (name[place] for place in others)))) for name in names], common


def case_words(cases: Sequence[Case]) -> list[str]:
    """Write cases in few words: first those in which cases of an operator differ, common attributes left out.

    >>> from opperf.domain.tensor import TensorSpec
    >>> case_words([Case("sum", {"data": TensorSpec((4, 8))}, {"axis": axis, "keepdims": True}) for axis in (0, 1)])
    ['axis=0 4x8', 'axis=1 4x8']
    """
    return [" ".join([*different, *alike]) for different, alike in _sorted_words(cases)]


def differences(cases: Sequence[Case]) -> list[str]:
    """Write as few words as tell cases of an operator apart: none of one that is the only case of its operator.

    >>> from opperf.domain.tensor import TensorSpec
    >>> cases = [Case("sum", {"data": TensorSpec((4, 8))}, {"axis": axis}) for axis in (0, 1)]
    >>> differences([*cases, Case("exp", {"data": TensorSpec((4, 8))})])
    ['axis=0', 'axis=1', '']
    """
    words = [different for different, _ in _sorted_words(cases)]
    by_operator: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for case, different in zip(cases, words, strict=True):
        by_operator[case.operator].add(tuple(different))
    counts = {
        name: next(count for count in itertools.count() if len({text[:count] for text in texts}) == len(texts))
        for name, texts in by_operator.items()
    }
    return [" ".join(different[: counts[case.operator]]) for case, different in zip(cases, words, strict=True)]


def _sorted_words(cases: Sequence[Case]) -> list[tuple[list[str], list[str]]]:
    """Return the words of each case: those in which cases of its operator differ, and the others."""
    common = common_attributes(cases)
    words = [{_name(*place): place[1] for place in enumerate(short_text(case, common).split(" "))} for case in cases]
    counts = Counter((case.operator, *item) for case, parts in zip(cases, words) for item in parts.items())
    numbers = Counter(case.operator for case in cases)
    result = []
    for case, parts in zip(cases, words, strict=True):
        is_alike = {name: counts[case.operator, name, word] == numbers[case.operator] for name, word in parts.items()}
        different = [word for name, word in parts.items() if not is_alike[name]]
        result.append((different, [word for name, word in parts.items() if is_alike[name]]))
    return result


def _name(place: int, word: str) -> str:
    """Name a word of a case: by what stands before its `=`, or by its place."""
    name, equals, _ = word.partition("=")
    return name if equals else str(place)
