"""Which framework has which operator, in which directions, and why not: what the bindings say, asked of each child."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opperf.catalog import Operator
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Settings, Side
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.interpreters import settled_side
from opperf.parent.workers.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Support:
    """What one framework makes of one operator.

    `path` is None where it has none, and `reasons` say why, or by direction why not in that one.
    """

    path: str | None
    directions: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None

    def text(self) -> str:
        """Return the cell of a table."""
        if self.path is None:
            return "missing: " + " ".join(self.reasons.values())
        without = [f"no {direction}: {reason}" for direction, reason in self.reasons.items()]
        return "; ".join([", ".join(self.directions), *without])


def support(
    operators: Sequence[Operator], frameworks: Sequence[str], note: Callable[[str], None]
) -> dict[tuple[str, str], Support]:
    """Return what each framework makes of each operator, by the names of both; a framework is started once."""
    result = {}
    with Pool(Settings(), note) as pool:
        for framework in frameworks:
            side = settled_side(Side(framework))
            for operator in operators:
                result[operator.name, framework] = _support(operator, framework, pool.describe(side, operator.name))
    return result


#: The directions that are told; forward and backward in one go follows from both.
TOLD = ("forward", "backward")


def _support(operator: Operator, framework: str, meaning: Meaning) -> Support:
    if meaning.path is None:
        return Support(None, reasons={"": meaning.reason or "there is no binding for it"})
    directions = TOLD if FRAMEWORKS[framework].gradients else TOLD[:1]
    declared = [direction for direction in directions if direction in operator.directions]
    return Support(
        meaning.path,
        tuple(direction for direction in declared if direction not in meaning.unsupported),
        {direction: reason for direction, reason in meaning.unsupported.items() if direction in declared},
        meaning.note,
    )
