"""How many rounds a pair has, the quick look at what is far slower, and how many CPUs a stand used."""

from __future__ import annotations

import math
from dataclasses import replace

from opperf.domain.measurement import Sample, Samples
from opperf.parent.measuring.judge.match import MOST_CPUS, MOST_LATE
from opperf.parent.measuring.judge.seat import Turned
from opperf.parent.measuring.judge.turns import (
    LEAST_ROUNDS,
    MOST_ROUNDS,
    NOTHING,
    PAIR_SECONDS,
    Savings,
    cpus,
    goes_on,
    hopeless,
    late_share,
    round_of,
    savings,
    typical,
)
from opperf.parent.workers.rounds import Patience, Round


def turn(wall: float, cpu: float | None = None) -> Samples:
    return Samples((Sample(1, int(wall * 1e9), int((wall if cpu is None else cpu) * 1e9)),))


def rounds(*times: tuple[float, float]) -> list[Round]:
    return [(turn(base), turn(new)) for base, new in times]


def test_a_candidate_that_is_far_slower_in_each_round_is_hopeless() -> None:
    speed = hopeless(rounds((1.0, 5.0), (1.0, 4.0), (1.1, 4.4), (1.0, 10.0)))
    assert speed is not None
    assert (speed.candidate, speed.reference) == (4.7, 1.0)
    assert (round(speed.speedup, 4), speed.interval) == (0.225, (0.1, 0.25))


def test_one_round_that_is_not_leaves_hope() -> None:
    assert hopeless(rounds((1.0, 5.0), (1.0, 5.0), (1.0, 5.0), (2.0, 5.0))) is None


def test_on_a_busy_machine_cpu_time_tells_unless_the_clock_says_otherwise() -> None:
    disturbed = (turn(9.0, 1.0), turn(5.0, 5.0))
    assert hopeless([*rounds((1.0, 5.0), (1.0, 5.0)), disturbed]) is not None
    by_cpu_alone = [(turn(1.0, 0.1), turn(1.0, 0.5))] * 3
    assert hopeless(by_cpu_alone) is None


def test_a_candidate_that_sleeps_is_hopeless_by_the_clock() -> None:
    assert hopeless([(turn(1.0), turn(5.0, 0.1))] * 3) is not None


def turned(wall: float, cpu: float, awake: float) -> Turned:
    return Turned(Sample(1, int(wall * 1e9), int(cpu * 1e9)), (), int(awake * 1e9), 1, 1)


def test_the_cpus_of_a_stand_are_those_of_turns_that_end_as_usual() -> None:
    assert cpus([turned(1.0, 2.0, 1.1), turned(1.0, 4.0, 1.1)]) == 3.0
    usual = [turned(0.0015, 0.0015, 0.0016)] * 7
    given_away = turned(0.0015, 0.0115, 0.0117)  # the hypervisor took the CPU after the last word
    assert cpus([*usual, given_away]) == 1.0 < MOST_CPUS
    assert cpus([turned(0.0015, 0.003, 0.0016)] * 3 + usual) > MOST_CPUS  # a second thread in some turns


def test_a_pair_ends_as_soon_as_its_ratio_is_known_whichever_side_is_slower() -> None:
    alike, apart = [(1.0, 1.001), (1.001, 1.0)] * MOST_ROUNDS, [(1.0, 1.05), (1.05, 1.0)] * MOST_ROUNDS
    patience = Patience(width=0.01)
    for ratio in (0.5, 1.0, 2.0):
        known, doubtful = (rounds(*((base, ratio * new) for base, new in several)) for several in (alike, apart))
        assert goes_on(known[: LEAST_ROUNDS - 1], 0.0, patience)
        assert not goes_on(known[:LEAST_ROUNDS], 0.0, patience)
        assert goes_on(doubtful[:LEAST_ROUNDS], 0.0, patience)
        assert not goes_on(doubtful[:LEAST_ROUNDS], PAIR_SECONDS, patience)
        assert not goes_on(doubtful[:MOST_ROUNDS], 0.0, patience)


def test_work_that_comes_after_the_word_is_seen_though_its_result_is_right() -> None:
    def late(seconds: float) -> Turned:
        return replace(turned(0.002, 0.002, 0.0025), late_ns=int(seconds * 1e9))

    assert late_share([(late(0.0), late(0.00005))] * 3) == 0.0  # what freezing takes
    assert late_share([(late(0.0005), late(0.0005))] * 3) == 0.0  # the reference does so too
    assert round(late_share([(late(0.0), late(0.00105))] * 3), 3) == 0.5 > MOST_LATE
    assert late_share([(late(0.0), late(0.0))] * 3 + [(late(0.0), late(0.0011))] * 2) == 0.0  # not as a rule


def test_calls_count_for_no_less_than_their_cpu_time() -> None:
    turns = turned(1.5, 1.4, 1.6), turned(1.2, 1.5, 1.6)  # what is missing came after the word
    assert [side.seconds() for side in round_of(turns, NOTHING, 1)] == [[1.5], [1.5]]
    assert [side.seconds() for side in round_of(turns, NOTHING, 2)] == [[1.5], [1.2]]
    assert [side.seconds() for side in round_of(turns, NOTHING)] == [[1.5], [1.2]]  # of a device it says nothing


def test_the_typical_round_is_that_of_all_whichever_count() -> None:
    disturbed = Samples((replace(turn(2.0).samples[0], clean=False),))
    assert typical([(turn(1.0), turn(0.5)), *[(turn(1.0), disturbed)] * 2]) == math.log(2.0)


def test_what_one_more_call_saves_is_told_by_undisturbed_rounds_where_they_are_enough() -> None:
    def turns(base: int, new: int, waiting: int = 0) -> Round:
        base_turn, new_turn = (Samples((Sample(1, time, time, waiting_ns=waiting),)) for time in (base, new))
        return base_turn, new_turn

    quiet = [(turns(60_000, 50_000), turns(80_000, 60_000))] * LEAST_ROUNDS
    disturbed = [(turns(60_000, 50_000), turns(80_000, 960_000, 900_000))] * 4 * LEAST_ROUNDS
    assert savings(quiet + disturbed) == Savings(10_000, 10_000)
    assert savings(quiet[1:] + disturbed) == Savings(-890_000, -890_000)
