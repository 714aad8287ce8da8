"""What runs on a node: it tells what machine it is, and carries out the pieces that it is given, one after another.

It measures as opperf does anywhere: the same children, the same rules, environments built here once, noise floors that
`opperf noise` found here. Its children die with it, and stay from piece to piece as long as the side is the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

from opperf.domain.codec import encode
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.floor import Floor, floor_key
from opperf.parent.measuring.calibration import stored_floors
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import outcome
from opperf.parent.measuring.explain import explain
from opperf.parent.measuring.fleet.engine import Answer, Order
from opperf.parent.measuring.fleet.judging import judge
from opperf.parent.measuring.fleet.suites import Shelf
from opperf.parent.measuring.processes import in_processes, one_by_one, out_of_time
from opperf.parent.workers.claims import claim
from opperf.parent.workers.machine import facts
from opperf.parent.workers.machine_noise import noise
from opperf.parent.workers.pool import Pool


class Hands:
    """Carries out orders on this machine."""

    def __init__(self, note: Callable[[str], None] = lambda text: None) -> None:
        self._note = note
        self._shelf = Shelf()
        self._pool: Pool | None = None
        self._settings: Settings | None = None
        self._floors: dict[tuple[object, ...], Floor] | None = None

    def introduce(self) -> str:
        """Return the facts of this machine, and the reasons why it is noisy."""
        return json.dumps({"machine": facts(), "noise": encode(noise())})

    def carry_out(self, text: str) -> str:
        """Return the answer to an order."""
        order = self._shelf.order(Order.from_json(json.loads(text)))
        if order.judging is not None:
            self.close()  # a child that waits is no neighbour
            answer = judge(order, order.judging, self._note)
        else:
            answer = self._measure(order) if order.rule is None else self._compare(order, order.rule)
        return json.dumps(answer.to_json(), separators=(",", ":"))

    def close(self) -> None:
        """End the child."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _measure(self, order: Order) -> Answer:
        """Measure all trials in one process, then all in the next; only a single one may be there before."""
        pool, settings, began = self._warm(order.settings), order.settings, time.monotonic()
        if settings.processes > 1:
            pool.close()

        def measure(pool: Pool, trial: Trial, process: int) -> Outcome:
            if settings.budget is not None and time.monotonic() - began > settings.budget:
                return out_of_time(trial, process, "the command")
            return self._with_floor(pool.measure(trial, process))

        claim((trial.side for trial in order.trials), shared=settings.share_device, note=self._note)
        outcomes = [*one_by_one(in_processes(order.trials, settings), pool, measure)]
        builds = [
            {"framework": one.framework, "environment": one.environment, "python": one.python, **one.build}
            for one in pool.facts.values()
        ]
        return Answer(tuple(outcomes), frameworks=tuple(builds))

    def _warm(self, settings: Settings) -> Pool:
        """Return the pool of the last piece, unless it measured by other settings; the budget is the piece's own."""
        settings_without_budget = replace(settings, budget=None)
        if self._pool is None or self._settings != settings_without_budget:
            self.close()
            self._pool, self._settings = Pool(settings_without_budget, self._note), settings_without_budget
        return self._pool

    def _with_floor(self, outcome: Outcome) -> Outcome:
        """Return the outcome with the noise floor that is known of it here."""
        floor = self._known_floors().get(floor_key(outcome.trial))
        if outcome.measurement is None or floor is None:
            return outcome
        facts = {**outcome.measurement.facts, "noise_floor": floor.between}
        return replace(outcome, measurement=replace(outcome.measurement, facts=facts))

    def _known_floors(self) -> dict[tuple[object, ...], Floor]:
        if self._floors is None:
            self._floors = stored_floors()
        return self._floors

    def _compare(self, order: Order, rule: Rule) -> Answer:
        self.close()  # a child that waits is no neighbour for a comparison
        comparing = Comparing(order.settings, rule, self._note, floors=self._known_floors())
        contests = [comparing.contest(bout.base, bout.new, bout.key) for bout in order.bouts]
        comparing.run(contests)
        if order.explain:
            explain(contests, order.settings, self._note, spent=comparing.spent)
        return Answer(comparisons=tuple(map(outcome, contests)), sides=comparing.facts)
