"""A match: the reference and one candidate, in fresh processes, by turns; what is timed is inspected.

In a ring turn each call has values of its own, drawn while both stands were asleep, and some calls, chosen when it is
over, are inspected. In a hot turn one call is made again and again, as `run` does it, and the last one is inspected.
The ring decides.

Whoever wakes up finds the caches as others left them: of a ring turn that is part. `run` times none of that, so a hot
time is what a long turn takes beyond a short one: by CPU time where calls only compute, as the clock counts all that
comes between the two turns as time of the calls.

Whoever is asked for many calls has the inputs of all of them from the first one on, and may compute them together. So
a few turns show what a single call takes.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OpperfError
from opperf.domain.measurement import Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.documents.candidates import Evidence, Speed
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.judge.bench import Bench
from opperf.parent.measuring.judge.failing import Failing, check_outlines, check_places, failure_of, inspect, with_slug
from opperf.parent.measuring.judge.seat import Seat, Turned
from opperf.parent.measuring.judge.turns import (
    HOPELESS,
    LEAST_ROUNDS,
    NOTHING,
    Empty,
    Hopeless,
    Savings,
    beyond,
    cost,
    cpus,
    goes_on,
    hopeless,
    hot_rounds,
    late_share,
    round_of,
    savings,
    typical,
)
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.process import Worker
from opperf.parent.workers.rounds import Patience, Round, pair_value

#: What a turn should take, in seconds, so that the word that starts it and the one that ends it are little of it.
TURN_SECONDS = 0.0015
#: Calls of a turn at most: so many slots are drawn for each. Hot calls need one slot.
MOST_CALLS, MOST_HOT = 1024, 8192
#: What a short hot turn takes, in seconds, what a long one takes beyond it, and the calls of a short one at least. A
#: process that was stopped is 3 to 6 % slower for some milliseconds, and a longer turn is disturbed more evenly.
LEAD_SECONDS, HOT_SECONDS, LEAST_LEAD = 0.008, 0.008, 3
#: Bytes of the inputs of a turn, up to which they are all as near to the CPU as those of a hot one.
CACHED = 1 << 19
#: Rounds of a pair that show what a single call takes, after a turn of so many on values that are known.
LONE_ROUNDS, KNOWN_CALLS = 40, 3
#: Calls of a round that are inspected, chosen when it is over.
INSPECTED = 2
#: Rounds before them, which count for nothing.
WARM_ROUNDS = 2
#: Turns of empty calls that show what the words cost, and turns of either stand alone that warm it up.
EMPTY_TURNS, WARM_TURNS = 9, 5
#: Of the slots of a ring, one in so many has values of another kind than the case's own.
ONE_IN, HARDER = 8, ("magnitudes", "spike", "mixed", "positive", "large", "vary")
#: CPU time of a process tree over wall time, from where on it has used more CPUs than its side has threads.
MOST_CPUS = 1.25
#: The share of a turn's CPU time that may come after its word, beyond the reference's and what freezing costs.
#: Threads of a pool wait actively for more work, so that this is asked of a side with one thread.
MOST_LATE = 0.05


@dataclass
class Log:
    """What the matches of one candidate have shown beside the ratios of the ring.

    `slowed`: by how many times the reference took longer beside it than before it was loaded, by pair. `typical` are
    log-ratios of candidate and reference by pair, of all rounds, whichever were disturbed, `alone` those of turns of
    either without the other, and `savings` what a single call saves, in pairs that it seems faster in. `in_cache`, all
    that a turn reads stays near the CPU. `looked` is when the first of them had its first rounds, by `time.monotonic`;
    `hopeless` what they showed of a candidate that no further pair can make any better.
    """

    hot: list[PairValue] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    slowed: list[float] = field(default_factory=list)
    savings: list[Savings] = field(default_factory=list)
    in_cache: bool = False
    typical: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    looked: float | None = None
    hopeless: Speed | None = None


class Match(Pair):
    """A pair of stands, of which 0 is the reference and 1 the candidate.

    Candidates are checked by an examiner, and what one says of its memory is not believed.
    """

    def __init__(
        self, bench: Bench, log: Log, base: Side, new: Side, generator: random.Random, *, band: float = 0.0
    ) -> None:
        """Start both. Whose log-ratio is within half of the `band` in each pair will not be called faster."""
        self._bench, self._log, self._band = bench, log, band
        self._random = random.SystemRandom()  # nobody may foresee an order, whatever the seed of the comparison
        self._sides = base, new
        self._on_cpu, self._is_one_cpu = base.device == "cpu", base.is_one_cpu and new.is_one_cpu
        self._seats: list[Seat] = []
        try:
            self._prepare()
            bench.stands.settle()
            for side in (base, new):
                self._seats.append(bench.stands.take(side))
            self._seats[1].writable = bench.writable
        except BaseException:
            self.close()
            raise

    def _prepare(self, *, anew: bool = False) -> None:
        """Have stands of both sides start in any order, `anew` from another import: memory lies elsewhere then."""
        if anew:
            self._bench.import_anew()
        self._bench.stands.prepare(self._random.sample(self._sides, 2))

    @property
    def workers(self) -> Sequence[Worker]:
        """The children of the reference and the candidate."""
        return [seat.worker for seat in self._seats]

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Time one pair; raises `Failing` for what the candidate does wrong."""
        try:
            ring, hot = self._rounds(base, new, patience or Patience(width=0.0))
        except Hopeless:
            raise
        except OpperfError as error:
            if self.turn == 0:
                raise
            failing = failure_of(error, "timed", self._bench.case)
            failing = with_slug(failing, "first_calls_only", "; it was right when it was checked")
            self._log.evidence.append(failing.evidence)
            raise failing from error
        if hot:
            self._log.hot.append(self._value(hot, by_cpu=self._is_one_cpu))
        self._log.typical.append(typical(ring))
        return self._value(ring)

    def _value(self, rounds: Sequence[Round], *, by_cpu: bool = False) -> PairValue:
        """Return the value of the pair by these rounds.

        A turn is as long as a call that CPU time may stand in for: the kernel counts it for the whole process tree.
        """
        return pair_value(rounds, cpu_may_stand_in=self._is_one_cpu, least=0.0, by_cpu=by_cpu)

    def _rounds(self, base: Trial, new: Trial, patience: Patience) -> tuple[list[Round], list[Round]]:
        bench = self._bench
        if self._log.looked is not None:
            self._prepare(anew=True)  # an import takes as long as all that this one still does
        self._take(0, base, 2)
        seconds = self._seconds_of_a_call(0)
        calls = max(1, min(MOST_CALLS, math.ceil(TURN_SECONDS / seconds)))
        self._take(0, base, max(2, calls))
        calls = min(calls, bench.geometry.slots)
        self._log.in_cache = calls > 1 and calls * bench.input_bytes <= CACHED
        alone = self._warm_up(0, calls)
        self._take(1, new)
        # What the reference has done by now the candidate does too: a fresh heap gives memory that nobody has touched.
        candidate = self._seconds_of_a_call(1)
        if candidate > HOPELESS * seconds and self._log.looked is None:
            self._look_early(max(1, min(calls, math.ceil(TURN_SECONDS / (candidate / HOPELESS)))))
        alone_too = self._warm_up(1, calls)
        empty = self._empty(range(calls))
        if alone is not None and alone_too is not None:
            self._log.alone.append(empty.log_ratio(alone, alone_too, on_cpu=self._on_cpu))
        ring, hot = list[Round](), list[Round]()
        every: list[tuple[Turned, Turned]] = []
        rounds_hot = hot_rounds(seconds, self._log.hot, by_cpu=self._is_one_cpu)
        has_changed = self._warm_up_both(calls, seconds if rounds_hot else None)
        began = time.monotonic()
        while goes_on(ring, time.monotonic() - began, patience):
            slots = self._random.sample(range(bench.geometry.slots), calls)
            turns = self._ring(slots, WARM_ROUNDS + len(ring))
            every.append(turns)
            ring.append(self._round(turns, empty))
            if len(hot) < rounds_hot:
                hot.append(self._hot(slots[0], seconds))
            if self._log.looked is None and len(ring) == LEAST_ROUNDS:
                self._look(ring)
                self._prepare(anew=True)
        self._check_usage(every, new.side.threads)
        if has_changed is not None and has_changed():
            self.turn = 1
            text = "a later call has changed the result of an earlier one"
            raise Failing(Evidence("outputs_share_memory", text, "timed", bench.case))
        # Where pairs show no more than half of what a verdict asks for, nobody asks for the reason of it.
        if calls > 1 and min(typical(ring), self._value(ring).log_ratio or 0.0) < -self._band / 2:
            self._log.savings.append(self._lone())
        beside = cost([turned.sample for turned, _ in every], on_cpu=self._on_cpu)
        if beside is not None and alone is not None:
            self._log.slowed.append(beside / alone)
        return ring, hot

    def _warm_up_both(self, calls: int, seconds: float | None) -> Callable[[], bool] | None:
        """Take rounds that count for nothing, a hot one too where a call takes `seconds`.

        What this returns says whether a result of the first is another by now: nobody may write into it, and both sides
        keep one. What lies in an input changes with that.
        """
        has_changed = None
        for number in range(WARM_ROUNDS):
            slots = self._random.sample(range(self._bench.geometry.slots), calls)
            turns = self._ring(slots, number)
            if number == 0 and self._on_cpu and not any(one.in_input for one in self._bench.outlines):
                place = self._random.randrange(calls)
                _, has_changed = (seat.retain(one, place) for seat, one in zip(self._seats, turns))
        if seconds is not None:
            self._hot(slots[0], seconds)
        return has_changed

    def _lone(self) -> Savings:
        """Time what a single call takes either side, beyond a turn of none."""
        rounds = [{calls: self._round(self._lone_turns(calls)) for calls in self._order()} for _ in range(LONE_ROUNDS)]
        return savings([(one[0], one[1]) for one in rounds], by_cpu=self._is_one_cpu)

    def _lone_turns(self, calls: int) -> tuple[Turned, Turned]:
        """Let both make a call or none, after others that warm them up, on values that are drawn behind those."""
        turns: dict[int, Turned] = {}
        for place in self._order():
            earlier, fresh = self._random.sample(range(self._bench.geometry.slots), 2)
            seat = self._on(place)
            seat.line_up((earlier,) * KNOWN_CALLS)
            self._go(place)
            seat.line_up((fresh,) * calls)
            self._bench.draw((fresh,), ("plain",))  # in either case, so that both find the same caches
            turns[place] = self._go(place)
            if calls and place == 1:
                inspect(self._bench, seat, turns[1], 0, fresh, "timed", calls)
        return turns[0], turns[1]

    def _round(self, turns: tuple[Turned, Turned], empty: Empty = NOTHING) -> Round:
        return round_of(turns, empty, max(side.threads for side in self._sides) if self._on_cpu else None)

    def _look_early(self, calls: int) -> None:
        """Look by turns of few calls at a candidate that seems far slower; raises `Hopeless`.

        As many calls as fill a turn of the reference would take it minutes. Should it turn out faster, nothing of this
        counts: short turns make both look alike.
        """
        self._warm_up(1, calls)
        empty, slots = self._empty(range(calls)), range(self._bench.geometry.slots)
        turns = [self._ring(self._random.sample(slots, calls), n) for n in range(WARM_ROUNDS + LEAST_ROUNDS)]
        self._look([self._round(one, empty) for one in turns[WARM_ROUNDS:]])

    def _look(self, rounds: Sequence[Round]) -> None:
        """Take the quick look; raises `Hopeless`."""
        self._log.looked = time.monotonic()
        self._log.hopeless = hopeless(rounds)
        if self._log.hopeless is not None:
            raise Hopeless(f"it takes over {HOPELESS:g} times as long in each of {len(rounds)} rounds")

    def _take(self, place: int, trial: Trial, slots: int | None = None) -> None:
        """Let a stand load what it calls; with `slots` the case is laid out anew."""
        if slots is not None:
            self._bench.lay(self._bench.trial.case, slots)
        self._on(place).take(trial, self._bench.geometry)
        self._outline(place)

    def _outline(self, place: int) -> None:
        seat = self._on(place)
        seat.line_up((0,))
        seat.go()
        seat.outline()
        check_outlines(self._bench, seat, "timed")

    def _warm_up(self, place: int, calls: int) -> float | None:
        """Return the cost of a turn of one of them alone, in nanoseconds: the reference's is no other's affair."""
        seat = self._on(place)
        samples = []
        for number in range(WARM_TURNS):
            slots = self._random.sample(range(self._bench.geometry.slots), calls)
            seat.line_up(slots)
            self._bench.draw(slots, ["plain"] * calls)
            turned = self._go(place)
            samples.append(turned.sample)
            if place == 1:
                self._inspect_some(turned, slots, number)
        return cost(samples, on_cpu=self._on_cpu)

    def _inspect_some(self, turned: Turned, slots: Sequence[int], number: int) -> None:
        """Inspect a few results of a turn of the candidate, its `number` of such turns."""
        for place in self._random.sample(range(len(slots)), min(INSPECTED, len(slots))):
            inspect(self._bench, self._on(1), turned, place, slots[place], "timed", number * len(slots) + place + 1)
        check_places(self._bench, self._on(1), turned, "timed")

    def _on(self, place: int) -> Seat:
        """Return a stand, as the one whose turn it is."""
        self.turn = place
        return self._seats[place]

    def _go(self, place: int) -> Turned:
        """Let one of them take its turn, beside nothing."""
        with self._bench.stands.standstill():
            return self._on(place).go()

    def _seconds_of_a_call(self, place: int) -> float:
        """Return the time of a call, in seconds."""
        seat, calls = self._on(place), 1
        while True:
            seat.line_up((1,), calls)
            sample = self._go(place).sample
            # Beside other work the judge's clock says more of that than of the call.
            cpu_ns = sample.cpu_ns if self._on_cpu else 0
            seconds = min(sample.wall_ns, cpu_ns or sample.wall_ns) / 1e9
            if seconds > TURN_SECONDS or calls >= MOST_CALLS:
                return seconds / calls
            calls *= 4

    def _empty(self, slots: Sequence[int]) -> Empty:
        """Return the time of a turn of the reference whose calls do nothing."""
        samples = []
        seat = self._on(0)
        for _ in range(EMPTY_TURNS):
            seat.line_up(slots, empty=True)
            samples.append(self._go(0).sample)
        return Empty.of(samples)

    def _order(self) -> list[int]:
        return self._random.sample((0, 1), 2)

    def _ring(self, slots: Sequence[int], number: int) -> tuple[Turned, Turned]:
        """Let both make a call on each slot, and inspect some of the candidate's."""
        kinds = [self._random.choice(HARDER) if self._random.randrange(ONE_IN) == 0 else "plain" for _ in slots]
        turns = self._turn(slots, (slots, kinds))
        self._inspect_some(turns[1], slots, number)
        return turns

    def _turn(
        self, slots: Sequence[int], draws: tuple[Sequence[int], Sequence[str]] = ((), ()), repeat: int = 1
    ) -> tuple[Turned, Turned]:
        """Let both make the same calls, once some slots have values of these kinds."""
        for place in self._order():  # who was awake last finds the caches as it left them
            self._on(place).line_up(slots, repeat)
        if draws[0]:
            self._bench.draw(*draws)
        with self._bench.stands.standstill():
            turns = {place: self._on(place).go() for place in self._order()}
        return turns[0], turns[1]

    def _hot(self, slot: int, seconds: float) -> Round:
        """Return the time of calls, each of which takes so many seconds: that of a long turn beyond a short one.

        The last result of the candidate is inspected: hot calls may not be empty either.
        """
        calls, lead = min(MOST_HOT, math.ceil(HOT_SECONDS / seconds)), math.ceil(LEAD_SECONDS / seconds)
        lead = max(LEAST_LEAD, min(MOST_HOT, lead))
        samples: dict[tuple[int, int], Sample] = {}
        for count in self._random.sample((lead, lead + calls), 2):
            turns = self._turn((slot,), repeat=count)
            samples |= {(place, count): turned.sample for place, turned in enumerate(turns)}
            inspect(self._bench, self._on(1), turns[1], 0, slot, "timed", count)
        base, new = (Samples((beyond(samples[place, lead + calls], samples[place, lead]),)) for place in (0, 1))
        return base, new

    def _check_usage(self, turns: Sequence[tuple[Turned, Turned]], threads: int) -> None:
        if threads == 1 and (share := late_share(turns)) > MOST_LATE:
            self.turn = 1
            text = f"{100 * share:.0f} % of the CPU time of its calls came after they had returned"
            raise Failing(Evidence("works_after_return", text, "timed", self._bench.case, {"late": share}))
        base, new = (cpus(one) for one in zip(*turns))
        if new > threads * MOST_CPUS and new > base * MOST_CPUS:
            self.turn = 1
            text = f"it used {new:.1f} CPUs of {threads}"
            raise Failing(Evidence("extra_cpu", text, "timed", self._bench.case, {"cpus": new, "reference": base}))

    def close(self) -> None:
        """End both, at the same time: each takes a while to give back its memory."""
        for seat in self._seats:
            seat.worker.dismiss()
        for seat in self._seats:
            with suppress(OpperfError, OSError):
                self._bench.stands.end(seat)


def starter(bench: Bench, log: Log, band: float) -> Callable[..., Match]:
    """Return the function that starts the pairs of one candidate, as `Comparing` asks for it."""

    def begin(base: Side, new: Side, settings: Settings, note: object, generator: random.Random) -> Match:
        return Match(bench, log, base, new, generator, band=band)

    return begin
