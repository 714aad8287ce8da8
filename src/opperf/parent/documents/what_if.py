"""A step with one of its operators replaced: what was predicted for it, and the measurements behind that."""

from __future__ import annotations

from typing import Annotated

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.domain.type_hint import OneOf
from opperf.parent.documents.comparison import ComparisonRun


@dataclass(frozen=True)
class WhatIf(Fields):
    """A step with one operator replaced; times are seconds.

    `step` is what it takes: as it was `captured`, or if nobody timed it the `sum` of its operators, `operators`.
    `before` and `after` are all calls of the operator and of its replacement. `predicted` is the step with the
    replacement, and `interval` where that lies if the error of the pairs is all; `bound` is the step if the operator
    took no time, by Amdahl's law. `backward` are operators of its gradient that are replaced with it, `gradients` those
    that stay as they are.
    """

    operator: str
    replacement: str
    calls: int
    of: int
    step: float
    source: Annotated[str, OneOf(("captured", "sum"))]
    operators: float
    before: float
    after: float
    share: float
    predicted: float
    interval: tuple[float, float] | None
    bound: float
    gradients: tuple[str, ...] = ()
    backward: tuple[str, ...] = ()

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


@dataclass(frozen=True)
class WhatIfRun:
    """A suite that was measured, its operator beside what replaces it, and the prediction, None where there is none."""

    run: Run
    comparison: ComparisonRun
    what_if: WhatIf | None

    @classmethod
    def from_json(cls, data: object, where: str = "file") -> WhatIfRun:
        """Read the document; raises `InputError` that names the place."""
        run = Run.from_json(data, where)
        parts = data if isinstance(data, dict) else {}
        comparison = ComparisonRun.from_json(parts.get("comparison") or {}, f"{where}: comparison")
        what_if = parts.get("what_if")
        return cls(run, comparison, None if what_if is None else read_as(WhatIf, what_if, f"{where}: what_if"))

    def to_json(self) -> dict[str, object]:
        """Return the document: the run, and beside it the comparison and the prediction."""
        what_if = None if self.what_if is None else self.what_if.to_json()
        return {**self.run.to_json(), "comparison": self.comparison.to_json(), "what_if": what_if}
