"""A live comparison, as `compare` and `gate` run it: whatever stops it, what is decided is kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opperf.analysis.verdict import Rule
    from opperf.comparison import ComparisonRun
    from opperf.plan import Settings
    from opperf.planning.selection import Selection
    from opperf.planning.side_text import SideText


def compare_live(
    selection: Selection,
    base: SideText,
    new: Sequence[SideText],
    settings: Settings,
    rule: Rule,
    labels: Mapping[str, str],
    *,
    explain: bool = False,
) -> tuple[ComparisonRun, BaseException | None]:
    """Return the document of a comparison, and what to raise for what stopped it, None when nothing did.

    `explain` asks what ran on each side of what is slower or faster.
    """
    from opperf import explaining
    from opperf.cli.progress import Bar, planning
    from opperf.comparing import Comparing, report
    from opperf.errors import InputError, way_out
    from opperf.session import stored_floors

    bar = Bar()
    comparing = Comparing(settings, rule, bar.note, floors=stored_floors())
    with planning(bar):
        contests = comparing.contests(selection, base, new)
    stopped: BaseException | None = None
    try:
        comparing.run(contests)
        if explain:
            explaining.explain(contests, settings, bar.note, spent=comparing.spent)
    except InputError:
        raise
    except BaseException as stop:  # a fault of opperf's own among them: hours of measuring may lie behind
        stopped = way_out(stop)
    return report(contests, comparing, labels=labels, command=("opperf", *sys.argv[1:])), stopped
