"""What a step would take if one of its operators were another one: from the sum of its cases, and of what they save.

The operator's calls and its replacement are measured in pairs of processes, as `compare` does, so that the ratio of
their times is sure where the times are not. A step that takes less than its operators do by themselves runs some of
them beside each other, or fused: then they save no more than their share of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.suite import Suite
from opperf.parent.documents.comparison import Comparison
from opperf.parent.documents.wholes import whole_of

#: What of a name says how an operator is made, not what it computes.
_PREFIXES = ("native_", "fused_")


@dataclass(frozen=True)
class WhatIf(Fields):
    """A step with one operator replaced; times are seconds.

    `step` is what it takes: as it was `captured`, or if nobody timed it the `sum` of its operators, `operators`.
    `before` and `after` are all calls of the operator and of its replacement. `predicted` is the step with the
    replacement, and `interval` where that lies if the error of `ratio` is all; `bound` is the step if the operator took
    no time, by Amdahl's law. `gradients` are operators of its backward, which stay as they are.
    """

    operator: str
    replacement: str
    calls: int
    of: int
    step: float
    source: Literal["captured", "sum"]
    operators: float
    before: float
    after: float
    share: float
    predicted: float
    interval: tuple[float, float] | None
    bound: float
    gradients: tuple[str, ...] = ()

    beside = ("ratio", "saved", "speedup", "outside")

    @property
    def ratio(self) -> float:
        """The replacement's time over the operator's."""
        return self.after / self.before

    @property
    def saved(self) -> float:
        """How much shorter the step would be."""
        return self.step - self.predicted

    @property
    def speedup(self) -> float:
        """How many times as fast the step would be."""
        return self.step / self.predicted

    @property
    def outside(self) -> float:
        """What of the step no operator of the suite explains; below zero where operators overlap."""
        return self.step - self.operators


def core(name: str) -> str:
    """Return the name of the computation, from any spelling of an operator's name.

    >>> core("torch:aten::native_layer_norm.out"), core("rms_norm"), core("torch:aten::_fused_rms_norm")
    ('layer_norm', 'rms_norm', 'rms_norm')
    """
    overloaded = name.rpartition("::")[2].partition(".")[0]
    last = (overloaded if "::" in name else name.rpartition(":")[2].rpartition(".")[2]).strip("_")
    for prefix in _PREFIXES:
        last = last.removeprefix(prefix)
    return last


def select(suite: Suite, name: str) -> Suite:
    """Return the part of a suite that a name means: the operator as it is spelled there, or by what it computes."""
    exact = [entry for entry in suite.cases if entry.case.operator in (name, f"torch:aten::{name}")]
    entries = exact or [entry for entry in suite.cases if core(entry.case.operator) == core(name)]
    return Suite(suite.name, suite.source, tuple(entries))


def gradients(suite: Suite, name: str) -> tuple[str, ...]:
    """Return the operators of a suite that compute gradients of the one that is named."""
    names = dict.fromkeys(entry.case.operator for entry in suite.cases)
    return tuple(one for one in names if core(one).startswith(f"{core(name)}_backward"))


def predict(
    suite: Suite, name: str, replacement: str, operators: float, comparisons: Sequence[Comparison]
) -> WhatIf | None:
    """Return the prediction for the step; None where no case of the operator has a ratio.

    `operators` is the sum of all calls of the suite, in seconds, as they were measured.
    """
    sums = whole_of(comparisons)
    if sums is None:
        return None
    captured = None if suite.program is None else suite.program.time
    step = captured or operators
    # The part of an operator's time by itself that is on the way of the step.
    weight = min(1.0, step / operators) if operators else 1.0
    before = sums.base_time * weight
    low, high = sums.interval or (sums.ratio, sums.ratio)
    return WhatIf(
        operator=name,
        replacement=replacement,
        calls=sums.calls,
        of=suite.calls,
        step=step,
        source="captured" if captured else "sum",
        operators=operators,
        before=sums.base_time,
        after=sums.new_time,
        share=before / step,
        predicted=step - before * (1 - sums.ratio),
        interval=None if sums.interval is None else (step - before * (1 - low), step - before * (1 - high)),
        bound=max(0.0, step - before),
        gradients=gradients(suite, name),
    )
