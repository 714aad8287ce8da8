"""Say what ran on both sides of comparisons that were called slower or faster, by asking children of their own.

The children that were compared have nothing to do with it: a profiler, or a library that prints what it runs, would
have slowed them. A side that cannot be explained leaves its comparison as it is, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.comparison import Explanations
from opperf.domain.errors import OperatorFailure, OpperfError
from opperf.domain.explanation import Explanation
from opperf.domain.message.requests import Explain
from opperf.domain.plan import VARIABLE, Settings, Trial
from opperf.parent.analysis.difference import difference
from opperf.parent.contest import Contest
from opperf.parent.workers.pool import Pool

#: Libraries that read once, when they are first used, whether to print what they run: oneDNN in two generations.
VARIABLES = {f"{VARIABLE}{name}": "1" for name in ("DNNL_VERBOSE", "MKLDNN_VERBOSE")}
#: The verdicts that there is something to explain about.
EXPLAINED = ("slower", "faster")


def explain(
    contests: Sequence[Contest],
    settings: Settings,
    note: Callable[[str], None],
    *,
    spent: Callable[[], bool] = lambda: False,
    plugins: Sequence[Path] = (),
    pool: Callable[..., Pool] = Pool,
) -> None:
    """Give contests that were called slower or faster their explanation; those after `spent` is true go without."""
    open_contests = [one for one in contests if one.verdict is not None and one.verdict.verdict in EXPLAINED]
    trials = {trial.key: trial for one in open_contests for trial in (one.base, one.new)}
    explanations: dict[tuple[object, ...], Explanation | str] = {}
    with pool(settings, note, plugins) as children:
        # One side after the other: trials of the same side share a child.
        for trial in sorted(trials.values(), key=lambda trial: repr(trial.side.process)):
            note(f"explaining {len(explanations) + 1} of {len(trials)}")
            explanations[trial.key] = "the budget was spent" if spent() else _asked(children, trial, settings)
    for contest in open_contests:
        contest.explanation = explanation(explanations[contest.base.key], explanations[contest.new.key])


def explanation(base: Explanation | str, new: Explanation | str) -> Explanations:
    """Return the JSON form of what is said of two sides; a text is why one could not be explained."""
    sides = {"base": base, "new": new}
    explained = {name: side for name, side in sides.items() if isinstance(side, Explanation)}
    failures = {name: side for name, side in sides.items() if isinstance(side, str)}
    unlike = difference(explained["base"], explained["new"]) if not failures else None
    return {
        "base": [event.to_json() for event in explained["base"].events] if "base" in explained else [],
        "new": [event.to_json() for event in explained["new"].events] if "new" in explained else [],
        "difference": [] if unlike is None else list(unlike.lines),
        "alike": 0 if unlike is None else unlike.alike,
        "notes": {name: list(side.notes) for name, side in explained.items()},
        "failures": failures,
    }


def _asked(children: Pool, trial: Trial, settings: Settings) -> Explanation | str:
    """Return what a child says of a trial, or why it does not."""
    # Its libraries are told to print; what the user set stands.
    side = replace(trial.side, settings={**VARIABLES, **trial.side.settings})
    try:
        return children.worker(side).ask(Explain(trial, settings.seed), settings.timeout)
    except OperatorFailure as failed:
        return str(failed).partition("\n")[0]
    except OpperfError as error:
        return error.message
