"""How a trial becomes ready: its call is looked up, its inputs are made and bound, it has run and been checked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.child.backends.naming.paths import Refusal
from opperf.child.measure.engine import Engine
from opperf.child.worker import arguments
from opperf.child.worker.correctness import check, leeway
from opperf.child.worker.counting import Counter
from opperf.child.worker.directions import Ready, call_once, host_values, place_doubts, ready
from opperf.child.worker.exam import Exam, TimedCheck, timed_check
from opperf.child.worker.failures import headline, is_out_of_memory
from opperf.child.worker.fresh import Draw
from opperf.child.worker.names import CheckPair, Names
from opperf.child.worker.ready_trial import PreparedTrial
from opperf.child.worker.room import check_room
from opperf.child.worker.side_work import Overseer
from opperf.child.worker.time_limit import time_limit
from opperf.child.worker.workload import Workload
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Case, DType
from opperf.domain.device import FLOAT32_PRODUCTS, ROUNDED, TF32
from opperf.domain.plan import Trial
from opperf.domain.tensor import TensorSpec

#: How the fixed cost of a backward is measured: the number of blocks, of which the best counts, and of calls in each.
FIXED_ROUNDS, FIXED_CALLS = 5, 50


class Preparer:
    """Makes the trials of one child ready; what it has checked, and what costs the same for all, it remembers."""

    def __init__(self, backend: Backend, names: Names, workload: Workload, engine: Engine) -> None:
        self._backend, self._names, self._workload, self._engine = backend, names, workload, engine
        self._counter = Counter(backend)
        self._overseer = Overseer(backend)
        self._peers: list[CheckPair] = []
        self._timed: tuple[tuple[object, ...], TimedCheck | str] | None = None
        self._backward_seconds: float | None = None

    def ready(
        self,
        trial: Trial,
        seed: int,
        memory_limit: int | None = None,
        timed: TimedCheck | None = None,
        *,
        counted: bool = True,
    ) -> PreparedTrial:
        """Return a trial that has run, what it computes `counted` where its operator has no formula.

        Raises `Unsupported` for what cannot be measured here, and what the framework raises.
        """
        definition = catalog().get(trial.case.operator)
        call = self._names.call(trial)
        if trial.direction in call.unsupported:
            raise Unsupported(call.unsupported[trial.direction], slug="no_such_direction")
        self._look_up(call)
        check_room(self._backend, trial.case, definition, trial.direction, memory_limit)
        try:
            with time_limit(call.timeout):
                sound, input_seconds, exam = self._sound(trial.case, call, trial.direction, seed, timed)
        except Exception as error:
            self._refuse_dtype(error, trial, call, seed)
            raise
        facts: dict[str, object] = {"implementation": f"{self._backend.name}:{call.path}"}
        if call.note is not None:
            facts["note"] = call.note
        if (order := self._names.order_of_equals(call, trial.case)) is not None:
            facts["order_of_equals"] = order
        if definition is None and counted:
            facts |= self._counter.facts(trial, call, sound)
        if trial.direction == "backward":
            facts["backward_fixed_seconds"] = self._backward_cost()
        values: dict[str, Any] = {} if call.metric is None else {call.metric: sound.result}
        if self._backend.float32_products == TF32 and any(one.dtype in ROUNDED for one in trial.case.tensors()):
            facts[FLOAT32_PRODUCTS] = TF32
        warnings = place_doubts(self._backend, sound.result)
        return PreparedTrial(sound, facts, input_seconds, exam=exam, values=values, warnings=warnings, doubt=call.doubt)

    def check(self, trial: Trial, seed: int) -> dict[str, str]:
        """Check the user's own code against what computes the same, once for each; raises `WrongResult`."""
        peers = self._names.peers(trial)
        if peers is None:
            return {}
        if peers not in self._peers:
            mine, other = (self._result(peers.case, call, seed) for call in (peers.own, peers.other))
            self._names.check_seal()
            check(mine, other, peers.against, leeway(replace(trial, case=peers.case)))
            self._peers.append(peers)
        return {"checked": f"against {peers.against}"}

    def check_of_timed(self, trial: Trial, seed: int) -> TimedCheck | str:
        """Return the check of a trial's timed calls, which goes on from turn to turn; or why there is none."""
        key = (*trial.key, trial.side.implementation, seed)
        if self._timed is None or self._timed[0] != key:
            self._timed = key, timed_check(self._backend, self._names, trial, seed, self._overseer)
        return self._timed[1]

    def _look_up(self, call: Call) -> None:
        """Raise `Unsupported` for an operator that the framework does not have, before its inputs are made."""
        if call.function is not None:
            return
        try:
            self._names.resolve(call.path)
        except Refusal as refused:
            raise Unsupported(f"`{call.path}` is not called: {refused.why}", slug="refused_function") from refused
        except LookupError as error:
            raise Unsupported(
                f"{self._backend.name} has no `{call.path}` here",
                slug="no_such_operator",
                hint="register it with `--plugin FILE`, or name an environment that has it",
            ) from error

    def _sound(
        self, case: Case, call: Call, direction: str, seed: int, timed: TimedCheck | None = None
    ) -> tuple[Ready, float, Exam | None]:
        """Return the work of a case after it ran, the seconds that making its inputs took, and its check."""
        seconds, draw, mutable = 0.0, Draw(), set[str]()

        def bind() -> Bound:
            nonlocal seconds, draw
            start = time.perf_counter()
            draw = Draw() if timed is None else timed.supply.draw()
            bound = self._bound(case, call, seed, None if timed is None else timed.supply.make(draw))
            mutable.update(bound.mutated)
            seconds += time.perf_counter() - start
            return bound

        definition = catalog().get(case.operator)
        random = definition is None and self._names.draws(call.path)  # of its own operators the catalog says it
        sound = ready(self._backend, bind, direction, definition, str(seed), random=random)
        exam = None if timed is None else timed.exam(replace(sound, result=None), draw, mutable)
        return sound, seconds, exam

    def _refuse_dtype(self, error: Exception, trial: Trial, call: Call, seed: int) -> None:
        """Raise `Unsupported` in place of an error that the element type makes: in float32 the case runs."""
        text = str(error).strip() or type(error).__name__
        if isinstance(error, Unsupported) or is_out_of_memory(error, text):
            return
        dtypes = (value.name for value in trial.case.attributes.values() if isinstance(value, DType))
        for dtype in {*dtypes, *(tensor.dtype for tensor in trial.case.tensors())} - {"float32"}:
            with suppress(Exception):
                self._sound(trial.case.with_dtype("float32", of=dtype), call, trial.direction, seed)
                message = f"{self._backend.name} has no `{trial.case.operator}` of {dtype}: {headline(text)[:200]}"
                break
        else:
            return
        raise Unsupported(message, slug="no_such_dtype", hint="it runs in float32") from error

    def _result(self, case: Case, call: Call, seed: int) -> list[HostValue]:
        """Return the results of a call of a case."""
        work = ready(self._backend, lambda: self._bound(case, call, seed), "forward", None, "check").work
        return host_values(self._backend, call_once(self._backend, work), call.layout)

    def _bound(self, case: Case, call: Call, seed: int, values: Mapping[str, object] | None = None) -> Bound:
        values = self._workload.arguments(case) if values is None else values
        return arguments.bind(case, call, catalog().get(case.operator), self._backend, seed, values)

    def _backward_cost(self) -> float | None:
        """Return the cost of a backward that computes nothing, in seconds: one element, negated. Not subtracted."""
        if self._backward_seconds is None:
            tiny = Case("negative", {"data": TensorSpec((1,))})
            definition = catalog()["negative"]
            trial = Trial(tiny, self._backend.side, "backward")
            call = self._names.call(trial)
            sound = ready(self._backend, lambda: self._bound(tiny, call, 0), "backward", definition, "fixed")
            block = self._engine.block(sound.work)
            with block.scope():
                least = min(block.run(FIXED_CALLS) for _ in range(FIXED_ROUNDS)) / FIXED_CALLS
            self._backward_seconds = max(0.0, least - block.overhead_ns) / 1e9
        return self._backward_seconds
