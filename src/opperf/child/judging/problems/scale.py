"""Sizes of a problem that fit a budget, and others near them that nobody was told.

Sizes are whole numbers by name. What a choice of them costs is asked of `weigh`, which returns None for a choice that
the problem does not run with: channels that groups do not divide, an image smaller than a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.units import format_bytes

Sizes: TypeAlias = Mapping[str, int]
#: Weights are made smaller only by sizes that take off this share of them or more.
LEAST_GAIN = 0.1
#: How many cases of undisclosed sizes there are at most.
MOST_HIDDEN = 6


@dataclass(frozen=True)
class Weight:
    """What a choice of sizes costs, in bytes; `build` and `shapes` tell which ones change the model, or its inputs.

    `results` are 0 where nothing is known of them.
    """

    inputs: int
    weights: int
    build: str
    shapes: str
    results: int = 0

    @property
    def largest(self) -> int:
        """What the budget is for: inputs, or results where they take more."""
        return max(self.inputs, self.results)


Weigh: TypeAlias = Callable[[Sizes], Weight | None]


def scale(sizes: Sizes, weigh: Weigh, budget: int) -> Sizes:
    """Return sizes whose inputs and results fit the budget, and whose weights do where sizes can make them.

    The largest size is halved first, again and again: so all stay in proportion. Sizes that leave the model as it is
    come before those that change it. Where nothing helps any more, the smallest ones are returned.
    """
    weight = weigh(sizes)
    while weight is not None and weight.largest > budget:
        step = next(_smaller(sizes, weight, weigh, _less_data), None)
        if step is None:
            break
        sizes, weight = step
    while weight is not None and weight.weights > budget:
        step = next(_smaller(sizes, weight, weigh, _fewer_weights), None)
        if step is None:
            break
        sizes, weight = step
    return sizes


def _less_data(weight: Weight, other: Weight) -> bool:
    return other.largest < weight.largest and other.inputs <= weight.inputs


def _fewer_weights(weight: Weight, other: Weight) -> bool:
    return other.weights <= weight.weights * (1 - LEAST_GAIN) and other.largest <= weight.largest


def _smaller(
    sizes: Sizes, weight: Weight, weigh: Weigh, helps: Callable[[Weight, Weight], bool]
) -> Iterator[tuple[Sizes, Weight]]:
    """Yield choices with one size halved, best first: those of the same model, by the size."""
    changing = []
    for names in _groups(sizes):
        choice = {**sizes, **{name: sizes[name] // 2 for name in names}}
        smaller = weigh(choice)
        if smaller is None or not helps(weight, smaller):
            continue
        if smaller.build == weight.build:
            yield choice, smaller
        else:
            changing.append((choice, smaller))
    yield from changing


def _groups(sizes: Sizes) -> Iterator[list[str]]:
    """Yield each size alone, the largest first, then those that are the same number: they may have to stay equal."""
    large = sorted((name for name in sizes if sizes[name] > 1), key=lambda name: -sizes[name])
    yield from ([name] for name in large)
    for number in dict.fromkeys(sizes[name] for name in large):
        equal = [name for name in large if sizes[name] == number]
        if len(equal) > 1:
            yield equal


def neighbours(sizes: Sizes, weigh: Weigh, budget: int) -> list[Sizes]:
    """Return undisclosed sizes: one more, one less, and a little over half of each size that inputs have.

    Those that leave the model as it is are taken where there are any. Of several sizes, some choices change one alone,
    and one changes all. No choice takes more than twice the budget.
    """
    weight = weigh(sizes)
    if weight is None:
        return []
    groups = [*_groups(sizes), *([name] for name in sizes if sizes[name] == 1)]
    effects = {tuple(names): _effect(sizes, names, weigh) for names in groups}
    moving = [names for names, other in effects.items() if other is not None and other.shapes != weight.shapes]
    same_model = [names for names in moving if (other := effects[names]) is not None and other.build == weight.build]
    result: list[Sizes] = []
    for choice in _choices(sizes, same_model or moving):
        other = weigh(choice)
        if other is not None and other.largest <= 2 * budget and choice not in result and choice != sizes:
            result.append(choice)
        if len(result) == MOST_HIDDEN:
            break
    return result


#: What becomes of a size: one more, a little over half, one less.
RULES: tuple[Callable[[int], int], ...] = (lambda n: n + 1, lambda n: n // 2 + 1, lambda n: max(n - 1, 1))


def _effect(sizes: Sizes, names: list[str], weigh: Weigh) -> Weight | None:
    """Return the weight of sizes under the first rule that the problem accepts, None where it accepts none."""
    weights = (weigh({**sizes, **{name: rule(sizes[name]) for name in names}}) for rule in RULES)
    return next((weight for weight in weights if weight is not None), None)


def _choices(sizes: Sizes, groups: list[tuple[str, ...]]) -> Iterator[Sizes]:
    names = {name for group in groups for name in group}
    if len(groups) > 1:
        yield {**sizes, **{name: sizes[name] // 2 * 2 + 1 for name in names}}
        yield {**sizes, **{name: max((sizes[name] // 2 - 1) | 1, 1) for name in names}}
    for rule in RULES:
        for group in groups:
            yield {**sizes, **{name: rule(sizes[name]) for name in group}}


def describe(before: Sizes, sizes: Sizes, weights: tuple[Weight | None, Weight | None], budget: int) -> list[str]:
    """Return, in words, which sizes are others than the problem has them, and what still is too large."""
    first, last = weights
    changes = [f"`{name}` from {before[name]} to {sizes[name]}" for name in sizes if sizes[name] != before[name]]
    notes = []
    if changes and first is not None and last is not None:
        notes.append(
            f"scaled {', '.join(changes)}: inputs take {format_bytes(last.inputs)}, as written"
            f" {format_bytes(first.inputs)}; the budget is {format_bytes(budget)}"
        )
    if last is not None and last.largest > budget:
        what = "inputs" if last.inputs >= last.results else "results"
        notes.append(f"{what} take {format_bytes(last.largest)}, over the budget of {format_bytes(budget)}")
    if last is not None and last.weights > budget:
        notes.append(f"weights take {format_bytes(last.weights)}, over the budget of {format_bytes(budget)}")
    return notes
