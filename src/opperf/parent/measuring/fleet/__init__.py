"""Measure on many machines: the plan, split into pieces for the nodes of a fleet.

* An engine (Ray, or Slurm by submitit) starts a process on each node and carries text to and fro; it is all that
  listens anywhere. `scheduler` decides who gets which piece; it knows neither engines nor the content of pieces.
* A piece stays on one node: all processes of a trial, all pairs of a comparison, or all that the judge does with
  a candidate. Its outcome counts once, whatever dies, and is in the journal here before the next is looked at.
* `node` runs there. It needs Python, and a few small libraries that `bootstrap` gets where they are missing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opperf.parent.measuring.fleet.dispatch import Fleet
    from opperf.parent.measuring.progress import Progress
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.wishes import Wishes


def fleet_of(wish: Wishes | None, selection: Selection, progress: Progress) -> AbstractContextManager[Fleet | None]:
    """Return the requested fleet, None without one: whatever a fleet needs is imported for one alone.

    Raises `InputError` for what is no fleet, and for a selection that none can measure.
    """
    if wish is None:
        return nullcontext()
    from opperf.parent.measuring.fleet.dispatch import measuring_fleet

    return measuring_fleet(wish, selection, progress)


def judging_fleet_of(
    wish: Wishes | None, against: str, *, room: str, plugins: bool, progress: Progress
) -> AbstractContextManager[Fleet | None]:
    """Return the requested fleet to judge on, None without one; raises `InputError` as `fleet_of` does."""
    if wish is None:
        return nullcontext()
    from opperf.parent.measuring.fleet.dispatch import judging_fleet

    return judging_fleet(wish, against, room=room, plugins=plugins, progress=progress)
