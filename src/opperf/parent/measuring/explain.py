"""Explain slower and faster comparisons: ask separate children what ran on both sides.

The compared children are not used for this: a profiler, or a library that prints what it runs, would
have slowed them. If a side cannot be explained, the comparison stays as it is and says why.
Differences are written as sentences, largest time first; what ran the same is only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OperatorFailure, OpperfError
from opperf.domain.explanation import Event, Explanation, together
from opperf.domain.message.requests import Explain
from opperf.domain.plan import VARIABLE, Settings, Trial
from opperf.domain.units import format_seconds
from opperf.parent.documents.comparison import CHANGES, Explanations
from opperf.parent.measuring.contest import Contest
from opperf.parent.workers.pool import Pool

#: Variables that make libraries print what they run, read once at first use: oneDNN in two generations.
VARIABLES = {f"{VARIABLE}{name}": "1" for name in ("DNNL_VERBOSE", "MKLDNN_VERBOSE")}


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
    open_contests = [one for one in contests if one.verdict is not None and one.verdict.verdict in CHANGES]
    trials = {trial.key: trial for one in open_contests for trial in (one.base, one.new)}
    explanations: dict[tuple[object, ...], Explanation | str] = {}
    with pool(settings, note, plugins) as children:
        # One side after the other: trials of the same side share a child.
        for trial in sorted(trials.values(), key=lambda trial: repr(trial.side.process)):
            note(f"explaining {len(explanations) + 1} of {len(trials)}")
            explanations[trial.key] = "the budget ran out" if spent() else _explain(children, trial, settings)
    for contest in open_contests:
        contest.explanation = explanation(explanations[contest.base.key], explanations[contest.new.key])


def explanation(base: Explanation | str, new: Explanation | str) -> Explanations:
    """Return the JSON form of two explanations; a text says why a side could not be explained."""
    sides = {"base": base, "new": new}
    explanations = {name: side for name, side in sides.items() if isinstance(side, Explanation)}
    failures = {name: side for name, side in sides.items() if isinstance(side, str)}
    unlike = difference(explanations["base"], explanations["new"]) if not failures else None
    return {
        "base": [event.to_json() for event in explanations["base"].events] if "base" in explanations else [],
        "new": [event.to_json() for event in explanations["new"].events] if "new" in explanations else [],
        "difference": [] if unlike is None else list(unlike.lines),
        "alike": 0 if unlike is None else unlike.alike,
        "notes": {name: list(side.notes) for name, side in explanations.items()},
        "failures": failures,
    }


def _explain(children: Pool, trial: Trial, settings: Settings) -> Explanation | str:
    """Return a child's explanation of a trial, or why there is none."""
    # Its libraries print what they run; the user's own settings win.
    side = replace(trial.side, settings={**VARIABLES, **trial.side.settings})
    try:
        return children.worker(side).ask(Explain(trial, settings.seed), settings.timeout)
    except OperatorFailure as failed:
        return str(failed).partition("\n")[0]
    except OpperfError as error:
        return error.message


#: Times under a profiler are rough: a name whose time changed by less than this factor counts as the same.
LEAST_CHANGE = 1.25
#: So does a name whose time changed by less than this share of everything on the slower side.
SHARE = 0.02


@dataclass(frozen=True)
class Difference:
    """The differences, a sentence for each name, and how many names ran the same."""

    lines: tuple[str, ...]
    alike: int


@dataclass(frozen=True)
class Pairing:
    """One name on both sides: the implementations that ran under it, none where it did not run."""

    name: str
    base: tuple[Event, ...]
    new: tuple[Event, ...]

    @property
    def change(self) -> float:
        """The seconds by which a call's time moved, either way."""
        return abs((_seconds(self.new) or 0.0) - (_seconds(self.base) or 0.0))

    @property
    def other(self) -> bool:
        """Whether other implementations ran, or the same ones another number of times."""
        return _made_of(self.base) != _made_of(self.new)

    def is_slower(self, total: float) -> bool:
        """Whether the time moved by more than profilers do; `total` is what all took on the slower side."""
        before, after = _seconds(self.base), _seconds(self.new)
        if before is None or after is None or self.change <= SHARE * total:
            return False
        return max(before, after) > LEAST_CHANGE * min(before, after)

    def sentence(self) -> str:
        """Say what differs."""
        if not self.base or not self.new:
            side, ran = ("base", self.base) if self.base else ("new", self.new)
            return f"only {side} ran {self.name}{_origin(ran)}{_figures(ran)}"
        if {event.by for event in self.base} != {event.by for event in self.new}:
            return f"{self.name}: base ran {_ways(self.base)}, new ran {_ways(self.new)}"
        return f"{self.name}{_origin(self.base)}: base {_numbers(self.base)}, new {_numbers(self.new)}"


def difference(base: Explanation, new: Explanation) -> Difference:
    """Return the differences between two explanations.

    >>> ran = lambda by, seconds: Explanation((Event("convolution", "primitive", 1, seconds, by),))
    >>> difference(ran("brgconv:avx512_core", 1e-4), ran("ref:any", 9e-3)).lines
    ('convolution: base ran brgconv:avx512_core (100 us), new ran ref:any (9.00 ms)',)
    """
    pairings = _pairings(together(base.events), together(new.events))
    total = max((_seconds(side.events) or 0.0) for side in (base, new))
    unlike = [one for one in pairings if one.other or one.is_slower(total)]
    lines = [one.sentence() for one in sorted(unlike, key=lambda one: -one.change)]
    lines += [f"only base: {note}" for note in base.notes if note not in new.notes]
    lines += [f"only new: {note}" for note in new.notes if note not in base.notes]
    return Difference(tuple(lines), len(pairings) - len(unlike))


def _pairings(base: Sequence[Event], new: Sequence[Event]) -> list[Pairing]:
    names = dict.fromkeys((event.kind, event.name) for event in (*base, *new))

    def select(events: Sequence[Event], kind: str, name: str) -> tuple[Event, ...]:
        return tuple(event for event in events if (event.kind, event.name) == (kind, name))

    return [Pairing(name, select(base, kind, name), select(new, kind, name)) for kind, name in names]


def _made_of(events: Iterable[Event]) -> set[tuple[str | None, float]]:
    return {(event.by, event.calls) for event in events}


def _seconds(events: Iterable[Event]) -> float | None:
    """Return the time of all that have one, None when none has."""
    numbers = [event.seconds for event in events if event.seconds is not None]
    return sum(numbers) if numbers else None


def _origin(events: Sequence[Event]) -> str:
    ways = " and ".join(event.by for event in events if event.by is not None)
    return f" by {ways}" if ways else ""


def _ways(events: Sequence[Event]) -> str:
    return " and ".join(f"{event.by or 'no named implementation'}{_figures((event,))}" for event in events)


def _figures(events: Sequence[Event]) -> str:
    """Write calls and time after a name: ` (12.3 us)`, ` (2 times, 12.3 us)`, or nothing."""
    has_numbers = _seconds(events) is not None or _calls(events) != 1
    return f" ({_numbers(events)})" if has_numbers else ""


def _numbers(events: Sequence[Event]) -> str:
    """Write calls and time: `12.3 us`, `2 times, 12.3 us`, `once`."""
    calls, seconds = _calls(events), _seconds(events)
    times = "once" if calls == 1 else f"{calls:.3g} times"
    if seconds is None:
        return times
    return format_seconds(seconds) if calls == 1 else f"{times}, {format_seconds(seconds)}"


def _calls(events: Sequence[Event]) -> float:
    return sum(event.calls for event in events)
