"""Whether a judge's times are those of `opperf run`: honest functions of 1 us to 10 ms, by turns in the same minutes.

A pair of stands is timed as for a verdict, the function against itself, and `run` measures it in a fresh process just
before or after; what counts is the ratio of the two in each turn. `run` makes one call again and again on the same
inputs, as a judge's hot turns do, so the hot time is held against it: against the mean, since the parent's clock sees
whole turns. Of calls that are timed one by one, `run` reports the median, which lies below the mean where few calls
take much longer. That ratio is for the reader, and so is the ring's, whose calls have inputs of their own.

    python benchmarks/judge_times.py [--framework NAME ...] [--turns N] [--calls CALL ...]

Six turns of all take about five minutes on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from report import publish

import opperf
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.registry import FRAMEWORKS
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import paired_test
from opperf.parent.documents.comparison import PairValue
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.measuring.judge.bench import FEW_SLOTS, Bench
from opperf.parent.measuring.judge.match import Log, Match
from opperf.parent.workers.interpreters import choose_environment
from opperf.parent.workers.pair_cpus import shared_cpus

#: How often both are timed, and how many of these have to be undisturbed.
TURNS, LEAST_TURNS = 6, 2
#: Elements of a vector whose exponential takes about so long in one thread, by framework.
LENGTHS: Mapping[str, Mapping[str, int]] = {
    "numpy": {"1 us": 1_500, "20 us": 42_000, "100 us": 210_000, "1 ms": 2_100_000, "10 ms": 16_000_000},
    "torch": {"1 us": 64, "20 us": 22_000, "100 us": 115_000, "1 ms": 1_150_000, "10 ms": 11_500_000},
}
FUNCTIONS = {
    "numpy": "import numpy\ndef f(x):\n    return numpy.exp(x)\n",
    "torch": "import torch\ndef f(x):\n    return torch.exp(x)\n",
}
#: By how much times may differ, in per cent: of a call of a microsecond, and of any longer one.
MOST_SHORT, MOST = 10.0, 2.0


@dataclass(frozen=True)
class Seconds:
    """What a call takes in one turn: hot and in the ring of a pair, and by `run` on average and in the middle."""

    hot: float
    ring: float
    run: float
    middle: float


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--framework", action="append", choices=[*FUNCTIONS])
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--calls", nargs="+", choices=[*LENGTHS["numpy"]], default=[*LENGTHS["numpy"]])
    words = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for framework in words.framework or [*FUNCTIONS]:
            file = Path(folder, f"{framework}_function.py")
            file.write_text(FUNCTIONS[framework])
            for call in words.calls:
                turns = [*take_turns(f"{file}:f", framework, LENGTHS[framework][call], words.turns)]
                if len(turns) < LEAST_TURNS:  # the others tell something all the same
                    print(f"{call} in {framework}: too few clean turns; the machine is busy", file=sys.stderr)
                    continue
                rows.append(row(framework, call, turns))
    publish("judge_times", "what calls take in a judge, over what they take in `run`", rows, figures(rows))


def take_turns(function: str, framework: str, length: int, turns: int) -> Iterator[Seconds]:
    """Time a function as a judge does, and by `run`, in random order; turns without clean times are left out."""
    environment = choose_environment(EnvironmentSpec.parse("current"), framework).text
    side = Side(framework, environment=environment, mode=FRAMEWORKS[framework].mode, implementation=Code(function))
    trial = Trial(Case(function, {"x": TensorSpec((length,))}), side, "forward")
    with closing(Bench(trial, Settings(), lambda _: None, cpus=shared_cpus(side, side))) as bench:
        for _ in range(turns):
            pair: tuple[float, ...] = ()
            run: tuple[float, float] | None = None
            for first in random.sample((True, False), 2):
                if first:
                    pair = pair_of(bench, trial)
                else:
                    run = run_seconds(function, framework, length)
            if len(pair) == 2 and run is not None:
                yield Seconds(*pair, *run)


def pair_of(bench: Bench, trial: Trial) -> tuple[float, ...]:
    """Return what a call takes, hot and in the ring, of a pair of stands of one function; nothing if disturbed."""
    log = Log()
    bench.lay(trial.case, FEW_SLOTS)
    with closing(Match(bench, log, trial.side, trial.side, random.Random())) as match:
        ring = match.compare(trial, trial)
    levels = [level for value in (*log.hot, ring) if (level := level_of(value)) is not None]
    return tuple(levels)


def level_of(value: PairValue) -> float | None:
    """Return what a call takes in the middle of both stands."""
    return math.sqrt(value.base["turn"] * value.new["turn"]) if value.base and value.new else None


def run_seconds(function: str, framework: str, length: int) -> tuple[float, float] | None:
    """Return what a call takes by `run` in one fresh process, on average and in the middle."""
    inputs = {"x": (length,)}
    (record,) = opperf.run(function, framework=framework, inputs=inputs, processes=1, latency=False, memory=False)
    if record.status == "failed":
        raise SystemExit(f"run failed: {record.reason}")
    time = record.time
    return None if time is None or time.mean is None or time.median is None else (time.mean, time.median)


def row(framework: str, call: str, turns: Sequence[Seconds]) -> dict[str, Any]:
    """Return the ratios of one function, with intervals that hold 95 in 100."""
    result: dict[str, Any] = {"framework": framework, "call": call, "turns": len(turns)}
    result["run, us"] = 1e6 * geometric([one.run for one in turns])
    ratios = {
        "hot / run": [one.hot / one.run for one in turns],
        "hot / median": [one.hot / one.middle for one in turns],
        "ring / run": [one.ring / one.run for one in turns],
    }
    for name, values in ratios.items():
        test = paired_test([math.log(value) for value in values])
        low, high = test.interval(0.95)
        result |= {name: math.exp(test.mean), f"{name} from": math.exp(low), f"{name} to": math.exp(high)}
    return result


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float, str]]:
    """Return by how much hot times differ from those of `run`."""
    return {
        f"hot time of {row['call']} in {row['framework']} off that of `run`": (
            100 * abs(row["hot / run"] - 1),
            MOST_SHORT if row["call"] == "1 us" else MOST,
            "%",
        )
        for row in rows
    }


if __name__ == "__main__":
    main()
