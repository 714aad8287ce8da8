"""What the rounds of a pair say, and when there are enough of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import LONG_CALL, Samples
from opperf.domain.stats.order import centre, median, median_interval, quantile
from opperf.domain.units import plural
from opperf.parent.documents.comparison import PairValue

#: Rounds of a pair, each with tensors elsewhere in memory, where identical code takes another time (streaming
#: operators of the size of a cache: by 5-15 %).
ROUNDS = 24
#: Least and most samples of a turn, and the seconds they should fit into: many short rounds, not few long ones.
#: Beside other work on the machine the minima of four left three fifths of the variance of those of two.
TURN_SAMPLES, MOST_SAMPLES = 2, 4
TURN_SECONDS = 0.004
#: Rounds are fewer where they would take longer than this, in seconds, but never fewer than an estimate needs.
PAIR_SECONDS, LEAST_ROUNDS = 0.6, 5
#: From this length on, in seconds, a call is an average over all that a short one may meet, and each costs as much as
#: a start: a turn is one sample, and so few rounds are enough. Whether pairs agree says the rest.
LONG_TURN, FEW_ROUNDS = 0.1, 2
#: Rounds at most of a pair that is given patience: where rounds differ, more of them cost less than another pair.
MOST_ROUNDS = 96

#: A turn of the base and one of the new side.
Round: TypeAlias = tuple[Samples, Samples]


@dataclass(frozen=True)
class Patience:
    """How long a pair goes on beyond its rounds: for `seconds`, or until its log-ratio is known within `width`.

    `rounds` is their number where it was fixed before the pair; they go on while too few of them are clean. With
    `sampling` that many seconds of rounds are the most, and what the pair has if it is not known sooner.
    """

    seconds: float = 0.0
    width: float = math.inf
    rounds: int | None = None
    sampling: float | None = None


def enough(rounds: Sequence[Round], seconds: float, patience: Patience, *, cpu_may_stand_in: bool = False) -> bool:
    """Return whether a pair has enough rounds after these seconds.

    What rounds say decides by how far they differ alone, whichever side is slower: that cannot favour either.
    """
    if patience.rounds is not None and len(rounds) >= patience.rounds and _usable(rounds) >= least_rounds(rounds):
        return True
    if len(rounds) < FEW_ROUNDS:
        return False
    if is_long(rounds):
        stands_in = cpu_may_stand_in and _only_compute(rounds)
        few = len(rounds) > LEAST_ROUNDS or stands_in or _usable(rounds) >= FEW_ROUNDS
        return few and seconds >= (patience.sampling or 0.0)
    if patience.sampling is not None and len(rounds) > LEAST_ROUNDS:
        is_known = len(rounds) >= ROUNDS and is_narrow(rounds, patience.width)
        return is_known or seconds >= patience.sampling
    if len(rounds) <= LEAST_ROUNDS or (len(rounds) < ROUNDS and seconds < PAIR_SECONDS):
        return False
    return len(rounds) >= MOST_ROUNDS or seconds >= patience.seconds or is_narrow(rounds, patience.width)


def is_long(rounds: Sequence[Round]) -> bool:
    """Whether a call of the slower side is so long that a turn is one sample; the first round decides it."""
    return _longest(rounds[0]) >= LONG_TURN


def least_rounds(rounds: Sequence[Round]) -> int:
    """Return how many rounds with clean samples on both sides make a value."""
    return FEW_ROUNDS if rounds and is_long(rounds) else LEAST_ROUNDS


def is_narrow(rounds: Sequence[Round], width: float) -> bool:
    """Whether the interval of the median of the rounds' log-ratios is no wider than this on either side."""
    interval = rounds_interval(rounds)
    return interval is not None and interval[1] - interval[0] <= 2 * width


def rounds_interval(rounds: Sequence[Round]) -> tuple[float, float] | None:
    """Return the interval of the median of the rounds' log-ratios."""
    return median_interval(_log_ratios(rounds))


def _log_ratios(rounds: Sequence[Round]) -> list[float]:
    """Return the log-ratios of the rounds that have clean samples on both sides."""
    every = (_minima((base.seconds(), new.seconds()), ([], [])) for base, new in rounds)
    return [minima[1] - minima[0] for minima in every if minima is not None]


def _usable(rounds: Sequence[Round]) -> int:
    """Return how many rounds have clean samples on both sides."""
    return len(_log_ratios(rounds))


def samples_of_a_turn(turns: Round) -> int:
    """Return how many samples a turn has on either side, given the first turn of each."""
    longest = _longest(turns)
    if longest >= LONG_TURN:
        return 1
    return min(MOST_SAMPLES, max(TURN_SAMPLES, int(TURN_SECONDS / longest) if longest > 0 else MOST_SAMPLES))


def _longest(turns: Round) -> float:
    """Return the seconds of a sample of the slower side."""
    return max(min(sample.wall_ns for sample in turn.samples) for turn in turns) / 1e9


def pair_value(
    rounds: Sequence[Round], *, cpu_may_stand_in: bool = False, least: float = LONG_CALL, by_cpu: bool = False
) -> PairValue:
    """Return the value of a pair: of each round as many clean samples of one side as of the other.

    A round is over in milliseconds, so both of its turns meet a host of the same speed. Its ratio holds what the places
    of the tensors do to either side; the centre of all rounds evens that out, and is hardly moved by those in which the
    speed changed. With minima over the whole pair, identical code spread several times as far.

    A call of one thread that takes over 2 ms, the `least`, hardly escapes a busy neighbour: without enough clean
    rounds, CPU time of all samples stands in, unless the calls of either side wait. `by_cpu`, it does wherever it may:
    for samples whose wall time holds more than their calls.
    """
    few = least_rounds(rounds)
    if by_cpu and _only_compute(rounds):
        value = _by_cpu(rounds, few)
    else:
        value = _value([(one[0].seconds(), one[1].seconds()) for one in rounds], "wall", few)
    if value.log_ratio is None and cpu_may_stand_in and _long(rounds, least):
        if not _only_compute(rounds):
            return replace(
                value, reason=f"{value.reason}, and CPU time cannot replace the wall time of calls that wait"
            )
        value = _by_cpu(rounds, few)
    if value.base is None or value.new is None:
        return value
    base, new = ({"faults": _faults(turns)} for turns in zip(*rounds))
    return replace(value, base={**value.base, **base}, new={**value.new, **new})


def _by_cpu(rounds: Sequence[Round], few: int) -> PairValue:
    every = [(one[0].cpu_seconds(clean_only=False), one[1].cpu_seconds(clean_only=False)) for one in rounds]
    return _value(every, "cpu", few)


def _faults(turns: Sequence[Samples]) -> float:
    """Return the page faults of a call, in the middle of the samples of a side."""
    return median([sample.faults / sample.calls for turn in turns for sample in turn.samples])


def _whole(turns: Iterable[Samples]) -> Samples:
    """Return all samples that one side took in its turns."""
    return Samples(tuple(sample for turn in turns for sample in turn.samples))


def _only_compute(rounds: Sequence[Round]) -> bool:
    """Whether the calls of neither side wait."""
    return all(_whole(turns).only_compute for turns in zip(*rounds))


def _long(rounds: Sequence[Round], least: float) -> bool:
    """Whether each call of both sides takes long."""
    return all(median(turn.seconds(clean_only=False)) >= least for one in rounds for turn in one)


def _value(rounds: Sequence[tuple[list[float], list[float]]], clock: str, least: int) -> PairValue:
    """Return the value of rounds of times, base and new, in seconds; none where fewer than the `least` have one."""
    pairs: tuple[list[float], list[float]] = ([], [])
    minima = [logs for one in rounds if (logs := _minima(one, pairs)) is not None]
    if len(minima) < least:
        reason = f"{plural(len(minima), 'round')} with undisturbed samples of both sides"
        return PairValue(None, None, None, len(minima), reason)
    # The ratio and the level of the rounds each have their centre; the times are those that lie so far apart there.
    ratio, level = centre([new - base for base, new in minima]), centre([(new + base) / 2 for base, new in minima])
    base_values, new_values = (
        {"turn": math.exp(level + half), **_values(sorted(times))}
        for half, times in zip((-ratio / 2, ratio / 2), pairs)
    )
    return PairValue(ratio, base_values, new_values, len(minima), clock=clock)


def _minima(turns: Sequence[list[float]], minima: tuple[list[float], list[float]]) -> tuple[float, float] | None:
    """Return the logs of the minima of a round's turns, and keep the times that they are from."""
    count = min(map(len, turns))
    if count == 0 or min(map(min, turns)) <= 0:
        return None
    for side, times in zip(minima, turns):
        side.extend(times[:count])
    return math.log(min(turns[0][:count])), math.log(min(turns[1][:count]))


def _values(in_order: list[float]) -> dict[str, float]:
    return {"min": in_order[0], "median": quantile(in_order, 0.5), "p90": quantile(in_order, 0.9)}
