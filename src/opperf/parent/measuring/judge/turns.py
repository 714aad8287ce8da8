"""What turns of a pair of stands say: how long their calls took, who is far slower, how many CPUs a stand has used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OpperfError
from opperf.domain.measurement import Sample, Samples
from opperf.domain.stats.order import centre, median_interval
from opperf.parent.analysis.verdict import LEAST_PAIRS, paired_test
from opperf.parent.documents.candidates import Speed
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.contest import log_ratios
from opperf.parent.measuring.judge.seat import Turned
from opperf.parent.workers.rounds import Patience, Round, is_narrow

#: Rounds of a pair, at least and at most, and the seconds that they may take.
LEAST_ROUNDS, MOST_ROUNDS, PAIR_SECONDS = 8, 24, 1.5
#: Calls that take longer are not timed hot too, in seconds: for them it is the same.
LONG_CALL = 0.02
#: Pairs that are timed hot too, and their rounds, by the clock and by CPU time, of which all count: hot turns are long,
#: and no verdict comes from them.
HOT_PAIRS, HOT_ROUNDS, HOT_CPU_ROUNDS = 5, 8, 5
#: A candidate that takes this many times as long as the reference in each of the first rounds is slower, whatever other
#: pairs would show.
HOPELESS = 3.0
#: How long a turn may be awake after its word, in times what is usual, for its CPU time to be that of its calls.
MOST_REST = 2.0
#: The CPU time that freezing a process tree costs, in nanoseconds.
FREEZING = 50_000
#: How long a turn of few calls may stand in the run queue, in nanoseconds: as long as a long one may, since who was let
#: go stands there for some microseconds anyway.
MOST_QUEUED = 45_000


class Hopeless(OpperfError):
    """A quick look is enough: the candidate is far slower in each of the first rounds."""


@dataclass(frozen=True)
class Empty:
    """What a turn takes that computes nothing, by the judge's clock and by the kernel's, in nanoseconds."""

    wall_ns: int
    cpu_ns: int

    @staticmethod
    def of(samples: Sequence[Sample]) -> Empty:
        """Sum up turns: the clock counts in those that nothing disturbed, or in the shortest."""
        clean = [sample.wall_ns for sample in samples if sample.clean]
        wall = median(clean) if clean else min(sample.wall_ns for sample in samples)
        return Empty(int(wall), int(median(sample.cpu_ns for sample in samples)))

    def log_ratio(self, base: float, new: float, *, on_cpu: bool) -> float:
        """Return the log-ratio of two costs of a turn without this."""
        base, new = (max(1.0, one - (self.cpu_ns if on_cpu else self.wall_ns)) for one in (base, new))
        return math.log(new / base)


#: A turn that is taken as it is.
NOTHING = Empty(0, 0)


def cost(samples: Sequence[Sample], *, on_cpu: bool) -> float | None:
    """Return the time of a turn that both sides share: CPU time, on a device that of turns left alone, if any."""
    if on_cpu:
        return max(1.0, median(sample.cpu_ns for sample in samples))
    clean = [sample.wall_ns for sample in samples if sample.clean]
    return max(1.0, median(clean)) if clean else None


def goes_on(rounds: Sequence[Round], seconds: float, patience: Patience) -> bool:
    """Return whether a pair needs another round after these seconds: until its ratio is known as well as it has to be.

    Rounds say that by how far they differ, whichever side is slower. Pairs differ more than that, so that the next one
    tells more than further rounds do.
    """
    if len(rounds) < LEAST_ROUNDS:
        return True
    return len(rounds) < MOST_ROUNDS and seconds < PAIR_SECONDS and not is_narrow(rounds, patience.width)


def hot_rounds(seconds: float, earlier: Sequence[PairValue], *, by_cpu: bool) -> int:
    """Return how many rounds of a pair are timed hot too, whose calls take so long: none after enough pairs.

    >>> hot_rounds(1e-5, [], by_cpu=True), hot_rounds(1e-5, [PairValue(0.1, None, None, 5)] * 5, by_cpu=True)
    (5, 0)
    """
    if seconds >= LONG_CALL or len(log_ratios(earlier)) >= HOT_PAIRS:
        return 0
    return HOT_CPU_ROUNDS if by_cpu else HOT_ROUNDS


def cpus(turns: Sequence[Turned]) -> float:
    """Return how many CPUs a stand has used in some turns.

    Those count in which it was frozen as soon after its word as usual. Where a hypervisor gives the CPU away in
    between, the kernel may count that as CPU time, as much as of many calls.
    """
    rests = [turned.awake_ns - turned.sample.wall_ns for turned in turns]
    usual = [turned.sample for turned, rest in zip(turns, rests) if rest <= MOST_REST * median(rests)]
    return sum(sample.cpu_ns for sample in usual) / max(1, sum(sample.wall_ns for sample in usual))


def late_share(turns: Sequence[tuple[Turned, Turned]]) -> float:
    """Return a candidate's share of CPU time after its word: by the time it is frozen, such results may be right."""
    base, new = (median(turned.late_ns for turned in several) for several in zip(*turns))
    late = new - base - FREEZING
    return float(max(0.0, late / max(1.0, median(turned.sample.cpu_ns for _, turned in turns))))


def saved(short: Round, long: Round, *, by_cpu: bool = False) -> int:
    """Return by how many nanoseconds less the candidate takes for what long turns have more than short ones.

    `by_cpu` counts CPU time, which neighbours hardly change.

    >>> def turns(base, new): return Samples((Sample(1, base, 0),)), Samples((Sample(1, new, 0),))
    >>> saved(turns(60_000, 50_000), turns(80_000, 60_000))
    10000
    """
    base, new = (_time(long[place], by_cpu) - _time(short[place], by_cpu) for place in (0, 1))
    return base - new


@dataclass(frozen=True)
class Savings:
    """By how many nanoseconds less a candidate takes for one more call, in one pair.

    The `centre` of its rounds, and the `upper` end of the interval of their median.
    """

    centre: float
    upper: float


def savings(rounds: Sequence[tuple[Round, Round]], *, by_cpu: bool = False) -> Savings:
    """Sum up rounds of a short and a long turn: those that nothing disturbed, where they are enough.

    Where they are not, all count, and differ by as much as they were disturbed.
    """
    quiet = [turns for turns in rounds if all(map(_is_quiet, turns))]
    every = [saved(*turns, by_cpu=by_cpu) for turns in (quiet if len(quiet) >= LEAST_ROUNDS else rounds)]
    interval = median_interval(every)
    return Savings(centre(every), math.inf if interval is None else interval[1])


def _is_quiet(turns: Round) -> bool:
    return all((sample.waiting_ns or 0) <= MOST_QUEUED for turn in turns for sample in turn.samples)


def saves_little(pairs: Sequence[Savings], expected: float) -> bool:
    """Whether a candidate surely saves less than this, by three pairs or more, as a verdict is sure.

    The interval over the pairs says so, and rounds tell as much: what a busy machine makes of them is no doubt. A pair
    in which it takes far longer tells no more than one in which it takes longer, or a few such would excuse all others.
    """
    if len(pairs) < LEAST_PAIRS:
        return False
    test = paired_test([max(-expected, pair.centre) for pair in pairs])
    return not tells_little(pairs, expected) and test.interval()[1] < expected


def surely_above(log_ratios: Sequence[float], least: float) -> bool:
    """Whether log-ratios of three pairs or more say as surely as a verdict that the ratio is above this.

    >>> surely_above([0.0, 0.01, -0.01], -0.05), surely_above([0.0, 0.1, -0.1], -0.05), surely_above([0.0], -0.05)
    (True, False, False)
    """
    return len(log_ratios) >= LEAST_PAIRS and paired_test(log_ratios).interval()[0] > least


def tells_little(pairs: Sequence[Savings], expected: float) -> bool:
    """Whether rounds are too disturbed to tell a saving of this from none.

    >>> [tells_little([Savings(3_000.0, upper)] * 4, 1_000.0) for upper in (3_500.0, 9_000.0)]
    [False, True]
    """
    unknown = [max(0.0, pair.upper - pair.centre) for pair in pairs]
    return bool(pairs) and median(unknown) / math.sqrt(len(pairs)) >= expected


def _time(turn: Samples, by_cpu: bool) -> int:
    (sample,) = turn.samples
    return sample.cpu_ns if by_cpu else sample.wall_ns


def hopeless(rounds: Sequence[Round]) -> Speed | None:
    """Return how fast a candidate is that is far slower in each of some rounds; None for any other.

    On a busy machine no round may be undisturbed: then it is far slower in each by its CPU time, which neighbours
    hardly change, and in the typical one by the clock. The interval spans the rounds: there is no other pair yet.
    """
    walls = [(min(base.seconds(clean_only=False)), min(new.seconds(clean_only=False))) for base, new in rounds]
    cpus = [(min(base.cpu_seconds(clean_only=False)), min(new.cpu_seconds(clean_only=False))) for base, new in rounds]
    typical = median([base / new for base, new in walls])
    for times in (walls, cpus):
        speedups = [base / new for base, new in times]
        if max(*speedups, typical) * HOPELESS < 1:
            candidate, reference = (median([one[place] for one in times]) for place in (1, 0))
            return Speed(candidate, reference, median(speedups), (min(speedups), max(speedups)))
    return None


def beyond(long: Sample, short: Sample) -> Sample:
    """Return the difference of a long turn and a short one: a sample of the further calls, clean where both are.

    Where the short one was disturbed, that may seem to be less than its CPU time: what it really is nobody knows.

    >>> one = beyond(Sample(12, 900, 800, faults=3), Sample(2, 300, 350, faults=2))
    >>> one.calls, one.wall_ns, one.cpu_ns, one.faults, one.clean
    (10, 600, 450, 1, True)
    >>> one = beyond(Sample(12, 900, 800), Sample(2, 700, 300, clean=False))
    >>> one.wall_ns, one.cpu_ns, one.clean
    (500, 500, False)
    """
    clean, cpu = long.clean and short.clean, max(1, long.cpu_ns - short.cpu_ns)
    return replace(
        long,
        calls=long.calls - short.calls,
        wall_ns=max(1 if clean else cpu, long.wall_ns - short.wall_ns),
        cpu_ns=cpu,
        faults=max(0, long.faults - short.faults),
        waiting_ns=max(0, (long.waiting_ns or 0) - (short.waiting_ns or 0)),
        clean=clean,
    )


def round_of(turns: tuple[Turned, Turned], empty: Empty, threads: int | None = None) -> Round:
    """Return a round without what the words cost that start and end a turn, by either clock.

    On as many CPUs as sides have `threads`, calls take no less than their CPU time: where they seem to, some of it came
    after the word. None says that CPU time tells nothing of them.
    """
    base, new = (Samples((_less(turned.sample, empty, threads),)) for turned in turns)
    return base, new


def _less(sample: Sample, empty: Empty, threads: int | None) -> Sample:
    wall, cpu = max(1, sample.wall_ns - empty.wall_ns), max(1, sample.cpu_ns - empty.cpu_ns)
    return replace(sample, wall_ns=wall if threads is None else max(wall, cpu // threads), cpu_ns=cpu)


def typical(rounds: Sequence[Round]) -> float:
    """Return the log-ratio of candidate and reference by the clock in the typical round, disturbed or not.

    Which turns are disturbed is partly a candidate's own doing, and so is which ones count.
    """
    walls = [[min(turn.seconds(clean_only=False)) for turn in turns] for turns in rounds]
    return median(math.log(new / base) for base, new in walls)
