"""Run the scheduler of a fleet against simulated nodes and a simulated clock, at sizes that nobody has at hand.

    python benchmarks/fleet_simulation.py [--nodes 1,10,100,1000,10000] [--trials 1000000] [--failing 0.02]

The scheduler is the real one; the engine is a heap of events. Trials take 0.4 s on average (lognormal), and are said to
take as long as `run` says of them; a node starts a child when the side changes, for 4 s; one message takes 5 ms. Of the
nodes `--failing` die once, at a random moment of the ideal run, half of them to come back a minute later; one in a
hundred is ten times slower than it should be.

A row says how long the run was, of that how much the nodes that lived were busy with trials (`busy`) or with anything
(`held`), how many seconds of CPU the head spent on a trial, and what was lost or doubled: both must be 0.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report import publish

from opperf.domain.node import Node
from opperf.parent.measuring.fleet.engine import Done, Event, Joined, Left
from opperf.parent.measuring.fleet.scheduler import Scheduler, Task

TRIAL, SPREAD, CHILD_START, MESSAGE, BACK_AFTER = 0.4, 0.6, 4.0, 0.005, 60.0
SIDES = ("numpy", "torch", "jax")
SLOW_SHARE, SLOWNESS = 0.01, 10.0


@dataclass
class Machine:
    """A simulated node: `up` counts its lives, so that what an earlier one was to finish is not told of a later."""

    speed: float
    joined: float | None
    group: object = None
    up: int = 0
    busy: float = 0.0
    held: float = 0.0
    lived: float = 0.0
    piece: tuple[float, float, float] | None = None

    def count(self, now: float) -> None:
        """Add what was done of the piece by now."""
        if self.piece is not None:
            began, ready, end = self.piece
            self.held += max(0.0, min(end, now) - began)
            self.busy += max(0.0, min(end, now) - ready)
            self.piece = None


class Simulation:
    """An engine whose nodes are numbers, and whose clock goes from event to event."""

    def __init__(self, count: int, durations: array[float], tasks: Sequence[Task], failing: float, seed: int) -> None:
        generator = random.Random(seed)
        self.now = 0.0
        self._durations, self._tasks = durations, tasks
        self._heap: list[tuple[float, int, Event | None, str, int]] = []
        self._sequence = 0
        self.machines = {
            f"n{place}": Machine(SLOWNESS if generator.random() < SLOW_SHARE and place else 1.0, 0.0)
            for place in range(count)
        }
        ideal = sum(durations) / count
        self.failures = round(failing * count)
        for place in generator.sample(range(count), self.failures):
            name, when = f"n{place}", generator.uniform(0, ideal)
            self._push(when, Left(name, "killed"), name, 0)
            if generator.random() < 0.5:
                self._push(when + BACK_AFTER, self._join(name), name, 1)

    def clock(self) -> float:
        """Return the simulated time."""
        return self.now

    def _push(self, when: float, event: Event, name: str, life: int) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (when, self._sequence, event, name, life))

    @staticmethod
    def _join(name: str) -> Joined:
        return Joined(Node(name, "simulated"))

    def start(self) -> Sequence[Joined]:
        """Return all nodes."""
        return [self._join(name) for name in self.machines]

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Let a node carry out a piece."""
        machine = self.machines[node]
        places = json.loads(order)
        seconds = machine.speed * sum(self._durations[place] for place in places)
        start = 0.0
        group = self._tasks[places[0]].group
        if group != machine.group:
            machine.group, start = group, CHILD_START
        end = self.now + 2 * MESSAGE + start + seconds
        machine.piece = (self.now + MESSAGE, self.now + MESSAGE + start, end - MESSAGE)
        self._push(end, Done(ticket, order), node, machine.up)

    def events(self, seconds: float) -> Sequence[Event]:
        """Return the next event, if it comes in time."""
        until = self.now + max(0.0, seconds)
        while self._heap and self._heap[0][0] <= until:
            when, _, event, name, life = heapq.heappop(self._heap)
            self.now = when
            machine = self.machines[name]
            if life == machine.up:
                machine.count(when)
            if isinstance(event, Left):
                machine.lived += when - (machine.joined or 0.0)
                machine.joined, machine.up, machine.group = None, machine.up + 1, None
            elif isinstance(event, Joined):
                machine.joined = when
            elif life != machine.up:
                continue  # it died over it
            return [event] if event is not None else []
        self.now = until
        return ()

    def close(self) -> None:
        """End nothing."""

    def lived(self) -> float:
        """Return how long the nodes lived in all."""
        return sum(
            one.lived + (self.now - one.joined if one.joined is not None else 0) for one in self.machines.values()
        )


def simulate(nodes: int, trials: int, failing: float, seed: int) -> dict[str, Any]:
    """Return what becomes of a run."""
    generator = random.Random(seed)
    level = TRIAL / (2.718281828459045 ** (SPREAD**2 / 2))
    durations = array("d", (level * generator.lognormvariate(0, SPREAD) for _ in range(trials)))
    tasks = [Task(TRIAL, SIDES[place * len(SIDES) // trials]) for place in range(trials)]
    engine = Simulation(nodes, durations, tasks, failing, seed)
    scheduler = Scheduler(engine, engine.clock, lambda places, text: text)
    counts = bytearray(trials)
    pieces = 0
    began = time.process_time()
    useful = 0.0
    for result in scheduler.run(tasks, json.dumps):
        pieces += 1
        for place in result.tasks:
            counts[place] = min(255, counts[place] + 1)
            useful += durations[place]
    spent = time.process_time() - began
    for machine in engine.machines.values():
        machine.count(engine.now)
    return {
        "nodes": nodes,
        "trials": trials,
        "died": engine.failures,
        "pieces": pieces,
        "hours": engine.now / 3600,
        "trials/s": trials / engine.now,
        "busy": sum(one.busy for one in engine.machines.values()) / engine.lived(),
        "held": sum(one.held for one in engine.machines.values()) / engine.lived(),
        "useful": useful / engine.lived(),
        "us/trial": spent / trials * 1e6,
        "us/piece": spent / pieces * 1e6,
        "lost": counts.count(0),
        "doubled": trials - counts.count(0) - counts.count(1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", default="1,10,100,1000,10000", help="Numbers of nodes, separated by commas.")
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--failing", type=float, default=0.02, help="Share of the nodes that die.")
    parser.add_argument("--seed", type=int, default=19)
    options = parser.parse_args()
    rows = [simulate(int(count), options.trials, options.failing, options.seed) for count in options.nodes.split(",")]
    figures = {
        "trials lost": (sum(row["lost"] for row in rows), 0, "trials"),
        "trials doubled": (sum(row["doubled"] for row in rows), 0, "trials"),
        "most of the head's CPU time on a piece": (max(row["us/piece"] for row in rows), 1000, "us"),
    }
    for row in rows:
        if row["nodes"] == 1000:
            figures["idle at 1,000 nodes"] = (100 * (1 - row["busy"]), 5, "%")
    publish("fleet_simulation", "a fleet, simulated", rows, figures)


if __name__ == "__main__":
    main()
