"""What other programs do to a ratio of code that is bound by memory.

Programs that stream memory take bandwidth and room in a shared cache from both sides, and more from the side that needs
more of them. So a change comes out larger than it is, while its verdict stays right. Nothing tells from within a
process whether the others stream or compute, so this is said wherever they took much of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from opperf.catalog import catalog
from opperf.domain.errors import InputError
from opperf.domain.peaks import BYTE_RATE, Peaks, Rate
from opperf.domain.reason import Warning
from opperf.parent.documents.comparison import CHANGES, Comparison
from opperf.parent.documents.load import Load

#: So many times as far from 1 did ratios of such code come out at most, beside three streams on two CPUs.
FACTOR = 2
#: The share of that rate from which on a call is taken to be bound by memory.
NEAR = 0.25
HINT = "compare again on an idle machine before you rely on its size; `opperf doctor` names what is busy"


def crowd_warnings(
    comparison: Comparison, load: Load | None, cache_bytes: int, rates: Sequence[Rate]
) -> tuple[Warning, ...]:
    """Return a warning where a change of code bound by memory was measured on a crowded machine.

    `cache_bytes` is the largest cache that a core has for itself: what fits there needs nothing of the neighbours.
    """
    if load is None or not load.is_crowded or comparison.verdict.verdict not in CHANGES:
        return ()
    if comparison.clock not in ("wall", "cpu") or comparison.base.device != "cpu" or comparison.new.device != "cpu":
        return ()
    nbytes, seconds = _bytes(comparison), comparison.base_time
    if nbytes <= cache_bytes or not seconds:
        return ()
    bandwidth = Peaks.of(rates, "cpu", comparison.base.threads).bandwidth(nbytes) or BYTE_RATE
    if nbytes / seconds < NEAR * bandwidth:
        return ()
    text = f"the load average was {load}: the change may be {FACTOR} times smaller, as the code seems bound by memory"
    return (Warning("beside_streams", text, HINT),)


def _bytes(comparison: Comparison) -> float:
    """Return the bytes that a call goes over at least: by its formula, or its inputs and what it allocates."""
    allocated = comparison.case.input_bytes + max(comparison.memory.get("peak", (0.0,)))
    definition = catalog().get(comparison.case.operator)
    try:
        return max(allocated, (definition and definition.byte_count(comparison.case, comparison.direction)) or 0)
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError):  # the formula does not fit the case
        return allocated
