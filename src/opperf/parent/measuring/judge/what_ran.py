"""What ran in a call of a candidate, as its framework's profiler says in a process of its own, after the verdict.

Nothing rests on it: the process is the candidate's, and may say what it likes. It is in a room as any other, and what
it says is cut to what people read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opperf.domain.errors import OpperfError
from opperf.domain.explanation import Event, Explanation, together
from opperf.domain.message.requests import Explain
from opperf.domain.plan import Trial
from opperf.parent.measuring.judge.stands import Stands

#: Names that are reported, those with most time first, and the characters of each.
MOST_NAMES, LONGEST_NAME = 30, 200
NOTHING = "not recorded: no call of its framework was seen"


def what_ran(stands: Stands, trial: Trial, seed: int) -> Explanation:
    """Return the explanation of one call of a trial, or notes of why there is none."""
    try:
        seat = stands.take(trial.side)
        try:
            explanation = seat.explain(Explain(trial, seed))
        finally:
            stands.end(seat)
    except OpperfError as error:
        return Explanation((), (f"not recorded: {error.message}".partition("\n")[0],))
    return shortened(explanation)


def shortened(explanation: Explanation) -> Explanation:
    """Shorten an explanation for a report: each name once, and of many those with most time.

    >>> shortened(Explanation((), ("BLAS scipy-openblas",))).notes
    ('not recorded: no call of its framework was seen', 'BLAS scipy-openblas')
    """
    names = together(map(_short, explanation.events))
    few = sorted(names, key=lambda one: -(one.seconds or 0.0))[:MOST_NAMES]
    notes = [note[:LONGEST_NAME] for note in explanation.notes[:MOST_NAMES]]
    more = len(names) - len(few)
    first: Sequence[str] = [NOTHING] if not names else [f"{more} more names ran"] if more else []
    return Explanation(tuple(one for one in names if one in few), (*first, *notes))


def _short(event: Event) -> Event:
    by = None if event.by is None else event.by[:LONGEST_NAME]
    return replace(event, name=event.name[:LONGEST_NAME], kind=event.kind[:LONGEST_NAME], by=by)
