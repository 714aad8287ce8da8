"""Which modules of two suites are the same: by their place in the model, and where frameworks differ by their order.

Keras counts its layers through the whole process, so one model has other numbers in another framework. And
some frameworks name what a layer calls below it (`dense.matmul`). Layers that run the same are one row: `layers.*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from opperf.domain.registry import split_implementation
from opperf.domain.suite import Suite

#: What a module is called in a row, by each place of a suite.
Labels: TypeAlias = Mapping[str, str]
#: A number that a container gives its layers, and one that Keras gives its own.
_INDEX = re.compile(r"(?<=\.)(\d+)(?![^. ])")
_COUNTED = re.compile(r"(.*?)_(\d+)")


def shares(origin: str, count: int) -> Iterator[tuple[str, int]]:
    """Yield the places of equal calls with what each has of them; a suite says where they are, not how many where.

    >>> [*shares("Net.a, Net.b", 5)]
    [('Net.a', 3), ('Net.b', 2)]
    """
    places = origin.split(", ")
    each, left = divmod(count, len(places))
    for number, place in enumerate(places):
        if calls := each + (number < left):
            yield place, calls


def labels(before: Suite, after: Suite) -> tuple[Labels, Labels]:
    """Return the names of rows by the places of either suite."""
    operators = _operators(before), _operators(after)
    first, second = ({place: place for place in places} for places in operators)
    if not _owners(before) & _owners(after):
        first, second = ({place: _renumbered(place, places) for place in places} for places in operators)
        first, second = _raised(first, {*second.values()}), _raised(second, {*first.values()})
    contents: dict[str, tuple[set[str], set[str]]] = {}
    for side, names in enumerate((first, second)):
        for place, name in names.items():
            contents.setdefault(name, (set(), set()))[side].update(operators[side][place])
    rows = _folded({name: (frozenset(old), frozenset(new)) for name, (old, new) in contents.items()})
    return {place: rows[name] for place, name in first.items()}, {place: rows[name] for place, name in second.items()}


def _operators(suite: Suite) -> dict[str, set[str]]:
    """Return the operators that run at each place."""
    operators: dict[str, set[str]] = {}
    for entry in suite.cases:
        for place in entry.origin.split(", "):
            operators.setdefault(place, set()).add(entry.case.operator)
    return operators


def _owners(suite: Suite) -> set[str | None]:
    return {split_implementation(entry.case.operator)[0] for entry in suite.cases}


def _renumbered(place: str, places: Iterable[str]) -> str:
    """Count layers of a kind from the first one of their parent on.

    >>> _renumbered("net_1.dense_4", ["net_1.dense_3", "net_1.dense_4.matmul"])
    'net.dense_1'
    """
    path, space, way = place.partition(" ")
    words, names = path.split("."), []
    for depth, word in enumerate(words):
        siblings = {
            other[depth]
            for other in (one.partition(" ")[0].split(".") for one in places)
            if len(other) > depth and other[:depth] == words[:depth]
        }
        stem, _ = _count(word)
        numbers = sorted({number for name, number in map(_count, siblings | {word}) if name == stem})
        rank = numbers.index(_count(word)[1])
        names.append(f"{stem}_{rank}" if rank else stem)
    return f"{'.'.join(names)}{space}{way}"


def _count(word: str) -> tuple[str, int]:
    match = _COUNTED.fullmatch(word)
    return (word, 0) if match is None else (match[1], int(match[2]))


def _raised(names: Labels, others: set[str]) -> dict[str, str]:
    """Name what only one suite has after the module around it, where the other suite has that."""
    raised = {}
    for place, name in names.items():
        path, space, way = name.partition(" ")
        words = path.split(".")
        around = (".".join(words[:depth]) + space + way for depth in range(len(words), 1, -1))
        raised[place] = next((module for module in around if module in others), name)
    return raised


def _folded(contents: Mapping[str, object]) -> dict[str, str]:
    """Give layers of a container one name where the same runs in them.

    >>> _folded({"Net.0.a": 1, "Net.1.a": 1, "Net.2.a": 2})
    {'Net.0.a': 'Net.{0,1}.a', 'Net.1.a': 'Net.{0,1}.a', 'Net.2.a': 'Net.2.a'}
    >>> _folded({"Net.0.b": 3, "Net.1.b": 3})
    {'Net.0.b': 'Net.*.b', 'Net.1.b': 'Net.*.b'}
    """
    words = {name: _INDEX.split(name) for name in contents}
    for place in range(1, max(map(len, words.values()), default=0), 2):
        alike: dict[tuple[object, ...], dict[object, list[str]]] = {}
        for name, parts in words.items():
            if place < len(parts):
                rest = (*parts[:place], None, *parts[place + 1 :])
                alike.setdefault(rest, {}).setdefault(contents[name], []).append(name)
        for kinds in alike.values():
            for names in kinds.values():
                numbers = sorted({words[name][place] for name in names}, key=lambda text: (len(text), text))
                label = "*" if len(kinds) == 1 else f"{{{','.join(numbers)}}}"
                for name in names if len(numbers) > 1 else ():
                    words[name][place] = label
    return {name: "".join(parts) for name, parts in words.items()}
