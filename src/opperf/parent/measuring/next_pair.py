"""The next pair of a comparison, whose children import on other cores: while this one is measured, or with it.

To import a framework is most of the time that a pair takes. Where four cores or more may be used, that time costs
nothing, provided that it moves nothing: as with `--jobs auto`, canaries say which classes of work bear any neighbour.
Elsewhere, a pair whose children come of one import leaves the other core free for the import of the next pair, which
then stands still until its turn: nothing imports beside what is measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from opperf.domain.errors import OpperfError
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.measuring.calibration import effects, stored_effects
from opperf.parent.measuring.parallel import AUTO, Contention
from opperf.parent.workers.canaries import caches
from opperf.parent.workers.contention import peaceful_pairs
from opperf.parent.workers.machine import available_memory, loads
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.pair_cpus import cpus_ahead, starting_cpus
from opperf.parent.workers.source import share_import

#: Below this load the canaries are asked how far an import disturbs what is measured beside it.
IDLE = 0.5
#: The memory that is left must be so many times the inputs of the largest case: a child that starts ahead may take its
#: share of what is left then, which must do for the same cases.
LEAST_MEMORY = 64


class NextPair:
    """Starts the pairs of two sides one after the other: ahead of their turn, where there are CPUs for it.

    `starting` is what the start of the pair that was last taken took, in seconds.
    """

    starting = 0.0

    def __init__(
        self,
        start: Callable[..., Pair],
        cpus: Sequence[tuple[int, ...]] = (),
        beside: Callable[[Side, Side], tuple[int, ...] | None] = lambda *_: None,
    ) -> None:
        """Start none yet; `start` takes both sides, and the CPUs that their children import on `ahead`.

        `cpus` are for a pair that imports while the one before is measured, those `beside` for one that imports with
        it, None where there are none.
        """
        self._start, self._cpus, self._beside = start, cpus, beside
        #: The pair that was started ahead, what it is for, and its part of the seconds that it took with another.
        self._ahead: tuple[tuple[object, ...], Pair, float] | None = None

    def take(self, base: Side, new: Side, *, goes_on: bool = False) -> Pair:
        """Return a pair that can be measured; raises what keeps it from starting. Others follow where it `goes_on`."""
        began, ahead = time.monotonic(), self._ahead
        if ahead is None or ahead[0] != (base.process, new.process):
            self.close()
            return self._start_next(base, new, began, goes_on=goes_on)
        self._ahead = None
        ahead[1].gather()
        self.starting = ahead[2] + time.monotonic() - began
        return ahead[1]

    def _start_next(self, base: Side, new: Side, began: float, *, goes_on: bool) -> Pair:
        """Start a pair, and the one that follows it at the same time where there are CPUs beside."""
        beside = self._beside(base, new) if goes_on and not self._cpus else None
        if beside is None:
            pair = self._start(base, new)
            self.starting = time.monotonic() - began
            return pair
        self._begin(base, new, (beside, beside))
        pair = self._start(base, new)
        try:
            if self._ahead is not None:
                self._ahead[1].gather()
        except OpperfError:  # it has ended, and another is started in its turn
            self._ahead = None
        except BaseException:
            pair.close()
            raise
        self.starting = time.monotonic() - began
        if self._ahead is not None:
            self.starting /= 2
            self._ahead = (*self._ahead[:2], self.starting)
        return pair

    def begin(self, base: Side, new: Side) -> None:
        """Start the pair that follows the one which is about to be measured, where there are CPUs for it."""
        if self._cpus and self._ahead is None:
            self._begin(base, new, self._cpus)

    def _begin(self, base: Side, new: Side, cpus: Sequence[tuple[int, ...]]) -> None:
        with suppress(OpperfError):  # which `take` says, where that fails again
            self._ahead = (base.process, new.process), self._start(base, new, ahead=cpus), 0.0

    def close(self) -> None:
        """End what nobody takes any more."""
        if self._ahead is not None:
            self._ahead[1].close()
            self._ahead = None


def cpus_beside(
    pairs: Sequence[tuple[Trial, Trial]], settings: Settings, base: Side, new: Side
) -> tuple[int, ...] | None:
    """Return the CPUs on which a next pair may import while this one does; None where both import at their turn.

    They are free where a pair imports once, on the CPUs that it is measured on.
    """
    largest = max((trial.case.input_bytes for pair in pairs for trial in pair), default=0)
    if base.framework == "null" or not share_import(base, new) or LEAST_MEMORY * largest > available_memory():
        return None
    return starting_cpus(base, new, settings.cpus)


def importing_cpus(
    pairs: Sequence[tuple[Trial, Trial]], settings: Settings, note: Callable[[str], None]
) -> Sequence[tuple[int, ...]]:
    """Return the CPUs that the children of a next pair import on; none where each pair waits for the one before.

    `pairs` are base and new of all that is compared. Canaries run once for each machine, when it is idle.
    """
    trials = [trial for pair in pairs for trial in pair]
    # A framework counts its CPUs when it is imported, and the null framework imports nothing.
    uniform = len({max(base.side.threads, new.side.threads) for base, new in pairs}) == 1
    elsewhere = settings.jobs != 1 or settings.cpus is not None or any(one.side.device != "cpu" for one in trials)
    if not uniform or elsewhere or all(one.side.framework == "null" for one in trials):
        return ()
    cpus = cpus_ahead([one.side for one in trials])
    if not cpus or LEAST_MEMORY * max(trial.case.input_bytes for trial in trials) > available_memory():
        return ()
    if not stored_effects(len(cpus)) and max(loads() or [math.inf]) >= IDLE:
        return ()
    peaceful = peaceful_pairs(effects(cpus, note), len(cpus), AUTO)
    return cpus[1:] if may_run_beside_all(trials, Contention(cpus, peaceful, caches())) else ()


def may_run_beside_all(trials: Sequence[Trial], contention: Contention) -> bool:
    """Whether none of the trials is slowed by a neighbour of any class: an import is a little of each."""
    kinds = {contention.class_of(trial) for trial in trials}
    return not any(contention.needs_quiet(kind) for kind in kinds)
