"""What rows of charts are called: what varies stands first, since the end is what a narrow chart leaves out."""

from __future__ import annotations

from collections import defaultdict
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
    common = common_attributes(cases)
    words = [[word.partition("=") for word in short_text(case, common).split(" ")] for case in cases]
    values: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case, parts in zip(cases, words, strict=True):
        for name, _, value in parts:
            values[case.operator, name if value else ""].add(value or name)
    return [
        " ".join(
            "".join(part)
            for part in sorted(parts, key=lambda part: len(values[case.operator, part[0] if part[2] else ""]) == 1)
        )
        for case, parts in zip(cases, words, strict=True)
    ]
