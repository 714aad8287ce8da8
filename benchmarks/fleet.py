"""What a fleet costs, and what it loses: Ray with three nodes on this machine.

    python benchmarks/fleet.py [--trials 300] [--kills 200]

First, trials that take 0.4 s each, asleep: the wall time from the moment the nodes are there, over what three nodes
need at least, and the CPU time that the head takes for a trial, with its journal. An outcome is as large as a real one.

Then trials of the null framework, while the processes of nodes are killed (SIGKILL) at random moments, 200 in all: how
many trials have no record, or two, or are given up, and which children are left at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from report import publish

from opperf.domain.case import Case
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.measuring.fleet.bootstrap import prepare
from opperf.parent.measuring.fleet.dispatch import Fleet
from opperf.parent.measuring.fleet.engine import Answer, Joined, Order
from opperf.parent.measuring.fleet.node import Hands
from opperf.parent.measuring.fleet.ray_engine import Actor, RayEngine
from opperf.parent.measuring.progress import Silent
from opperf.parent.planning.wishes import Wishes
from opperf.parent.store.journal import JournalWriter

NODES, SECONDS = 3, 0.4
SLEEPING = Settings(trial_budget=0.5, memory=False)
REAL = Settings(trial_budget=0.2, check="none")
#: By which the children of this benchmark are known.
MARK = {"OPPERF_FLEET_BENCHMARK": str(os.getpid())}
SIDE = Side("null", implementation="steady")


class Sleeper:
    """Sleeps for each trial, and answers with what the null framework said of the first."""

    def __init__(self, needed: Sequence[str]) -> None:
        prepare(needed)
        self._hands = Hands()
        first = Order(REAL, (trials(1)[0],))
        self._outcome = Answer.from_json(json.loads(self._hands.carry_out(json.dumps(first.to_json())))).outcomes[0]
        self._hands.close()

    def introduce(self) -> str:
        """Return what the node says of itself."""
        return self._hands.introduce()

    def carry_out(self, text: str) -> str:
        """Sleep, and return an outcome for each trial."""
        order = Order.from_json(json.loads(text))
        outcomes = []
        for trial in order.trials:
            time.sleep(SECONDS)
            outcomes.append(replace(self._outcome, trial=trial))
        return json.dumps(Answer(tuple(outcomes)).to_json())


class Timed(RayEngine):
    """Knows when its nodes were there."""

    ready = 0.0

    def start(self) -> Sequence[Joined]:
        """Return the nodes."""
        joined = super().start()
        self.ready = time.monotonic()
        return joined


def trials(count: int) -> list[Trial]:
    """Return so many trials, no two alike."""
    return [Trial(Case("steady", {"data": TensorSpec((place + 1,))}), SIDE, "forward") for place in range(count)]


def measure(engine: RayEngine, work: Sequence[Trial], settings: Settings) -> tuple[list[Outcome], float]:
    """Return the outcomes, which were in a journal, and the CPU time that the head took."""
    outcomes: list[Outcome] = []
    run = Run("benchmark", "2026-11-23T00:00:00+00:00", (), settings)
    with tempfile.TemporaryDirectory() as folder, Fleet(engine, Wishes("ray"), Silent()) as fleet:
        journal, began = JournalWriter(Path(folder) / "journal", run), time.process_time()
        for several in fleet.outcomes(work, settings):
            journal.add(*several)
            outcomes += several
        spent = time.process_time() - began
        journal.close()
    return outcomes, spent


def cost(address: str, count: int) -> dict[str, Any]:
    """Return what a run of sleeping trials takes, and what it should."""
    engine = Timed(address, actor=Sleeper)
    work = trials(count)
    outcomes, spent = measure(engine, work, SLEEPING)
    wall, ideal = time.monotonic() - engine.ready, count * SECONDS / NODES
    return {
        "trials": len(outcomes),
        "wall_s": wall,
        "ideal_s": ideal,
        "linear": ideal / wall,
        "ms/trial": 1e3 * spent / count,
    }


class Killer(threading.Thread):
    """Kills processes of nodes until it has killed so many."""

    def __init__(self, kills: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.kills, self.killed, self.over = kills, 0, threading.Event()
        self._random = random.Random(seed)

    def run(self) -> None:
        """Kill one after another."""
        while self.killed < self.kills and not self.over.wait(self._random.uniform(0.05, 1.0)):
            victims = [
                one for one in psutil.process_iter(["name"]) if (one.info["name"] or "").startswith("ray::Actor")
            ]
            if victims:
                self._random.choice(victims).kill()
                self.killed += 1


def own(process: psutil.Process) -> bool:
    """Whether a process is of this benchmark, and alive."""
    with suppress(psutil.Error):  # it has ended meanwhile
        return process.status() != psutil.STATUS_ZOMBIE and MARK.items() <= process.environ().items()
    return False


def children() -> int:
    """Return how many children measure for this benchmark."""
    processes = psutil.process_iter(["cmdline"])
    return sum("opperf.child" in (one.info["cmdline"] or ()) and own(one) for one in processes)


def losses(address: str, kills: int, seed: int) -> dict[str, Any]:
    """Return what was lost, doubled or left behind while nodes were killed."""
    killer = Killer(kills, seed)
    counts: Counter[object] = Counter()
    given_up = rounds = 0
    work = trials(1000)
    killer.start()
    while killer.is_alive():
        rounds += 1
        outcomes, _ = measure(RayEngine(address, actor=Actor), work, REAL)
        counts.update((rounds, one.trial.key) for one in outcomes)
        given_up += sum(one.status != "ok" for one in outcomes)
    killer.over.set()
    time.sleep(5)
    expected = rounds * len(work)
    return {
        "killed": killer.killed,
        "trials": expected,
        "lost": expected - len(counts),
        "doubled": sum(count > 1 for count in counts.values()),
        "given up": given_up,
        "children left": children(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=19)
    options = parser.parse_args()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", **MARK}
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(NODES - 1):
        cluster.add_node(num_cpus=1)
    try:
        asleep = cost(cluster.address, options.trials)
        killed = losses(cluster.address, options.kills, options.seed)
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]  # as Ray has it
    figures = {
        "short of linear": (100 * (1 - asleep["linear"]), 5, "%"),
        "the head's CPU time on a trial": (asleep["ms/trial"], 10, "ms"),
        **{name: (killed[name], 0, "") for name in ("lost", "doubled", "given up", "children left")},
    }
    publish("fleet", "trials that sleep", [asleep], figures, {"while nodes are killed": [killed]})


if __name__ == "__main__":
    main()
