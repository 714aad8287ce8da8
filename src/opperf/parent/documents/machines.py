"""Merge comparisons of several machines; absolute times of different kinds are never averaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from opperf.domain.case import Case
from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Side
from opperf.domain.stats.random_effects import merge
from opperf.domain.stats.significance import PairedTest

if TYPE_CHECKING:
    from opperf.parent.documents.comparison import Comparison


@dataclass(frozen=True)
class Kind(Fields):
    """What the machines of one kind say: their verdicts, and the geometric mean of their ratios."""

    kind: str
    verdicts: tuple[str, ...]
    ratio: float | None


@dataclass(frozen=True)
class Across(Fields):
    """A comparison on several machines, merged by random effects.

    `ratio` is the overall ratio with its 95 % interval; `heterogeneity` is the share of what machines differ by that
    their own errors do not explain; `finding` says what follows. Without two machines that have a ratio, all but the
    finding are None.
    """

    case: Case
    direction: str
    base: Side
    new: Side
    machines: int
    kinds: tuple[Kind, ...]
    finding: str
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    between: float | None = None
    heterogeneity: float | None = None


def across(comparisons: Sequence[Comparison]) -> tuple[Across, ...]:
    """Merge comparisons of the same case and sides that several machines have made."""
    groups: dict[tuple[object, ...], list[Comparison]] = {}
    for one in comparisons:
        if one.node is not None:
            groups.setdefault((one.case.id, one.direction, one.base.key, one.new.key), []).append(one)
    return tuple(_merge(several) for several in groups.values() if len({one.node for one in several}) > 1)


def _merge(comparisons: Sequence[Comparison]) -> Across:
    first = comparisons[0]
    kinds = tuple(_kind(kind, comparisons) for kind in dict.fromkeys(one.node.kind for one in comparisons if one.node))
    tests = [test for one in comparisons if (test := _test(one)) is not None]
    plain = Across(first.case, first.direction, first.base, first.new, len(comparisons), kinds, _finding(kinds))
    if len(tests) < 2:
        return plain
    merger = merge([test.mean for test in tests], [test.error for test in tests])
    return Across(
        *(first.case, first.direction, first.base, first.new, len(comparisons), kinds, _finding(kinds)),
        ratio=math.exp(merger.mean),
        interval=(math.exp(merger.interval[0]), math.exp(merger.interval[1])),
        between=merger.between,
        heterogeneity=merger.heterogeneity,
    )


def _test(comparison: Comparison) -> PairedTest | None:
    """Return the ratio of a machine with its error, from the stage behind its verdict."""
    ratio = comparison.verdict.ratio
    stages = [stage for stage in comparison.log_ratios if len(stage) >= 2]
    if ratio is None or not stages:
        return None
    # The trimmed mean is near the mean of its stage, not equal to it.
    stage = min(stages, key=lambda stage: abs(fmean(stage) - math.log(ratio)))
    return PairedTest(math.log(ratio), PairedTest.of(stage).error, len(stage) - 1)


def _kind(kind: str, several: Sequence[Comparison]) -> Kind:
    comparisons = [one for one in several if one.node is not None and one.node.kind == kind]
    ratios = [one.verdict.ratio for one in comparisons if one.verdict.ratio is not None]
    return Kind(
        kind,
        tuple(one.verdict.verdict for one in comparisons),
        math.exp(fmean(map(math.log, ratios))) if ratios else None,
    )


def _finding(kinds: Sequence[Kind]) -> str:
    """Say which verdict holds on which machines; the machines of a kind may disagree."""
    words = {word for kind in kinds for word in kind.verdicts}
    if len(words) == 1:
        return f"{next(iter(words))} on all machines"
    findings = []
    for word in ("slower", "faster"):
        agreeing = [kind for kind in kinds if set(kind.verdicts) == {word}]
        some = [kind for kind in kinds if word in kind.verdicts and set(kind.verdicts) != {word}]
        if agreeing:
            findings.append(f"{word} on {_names(agreeing)} only")
        findings += [f"{word} on {kind.verdicts.count(word)} of {len(kind.verdicts)} {kind.kind}" for kind in some]
    return "; ".join(findings) or "no change on any machine, and not all of them sure"


def _names(kinds: Sequence[Kind]) -> str:
    return " and ".join(kind.kind for kind in kinds)
