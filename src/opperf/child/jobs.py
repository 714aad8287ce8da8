"""What a child can be asked, verb by verb. Trials that are prepared stay under a handle until they are released."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.backend import Unsupported, Work
from opperf.backends.call import Call, Missing
from opperf.case import Case
from opperf.child import arguments
from opperf.child.directions import call_once, ready
from opperf.explanation import typical
from opperf.measure.block import Block
from opperf.measure.doubts import thread_doubts
from opperf.measure.engine import Engine
from opperf.message import Request
from opperf.operators import Operator, catalog
from opperf.plan import Settings, Trial
from opperf.tensor import TensorSpec

if TYPE_CHECKING:
    from opperf.backend import Backend
    from opperf.measure.disturbance import Counters

#: How the fixed cost of a backward is found: the best of so many blocks of so many calls.
FIXED_ROUNDS, FIXED_CALLS = 5, 50
#: What a trial runs is looked at in so many calls, so that one which the machine disturbed is outvoted.
EXPLAINED_CALLS = 7


@dataclass
class Prepared:
    """A trial whose tensors are made and whose call has run once."""

    work: Work
    output_bytes: int
    facts: Mapping[str, Any]
    input_seconds: float
    ballast: bytearray = field(default_factory=bytearray)
    block: Block | None = None


class Jobs:
    """Answers requests with one backend."""

    def __init__(self, backend: Backend, counters: Counters) -> None:
        self._backend = backend
        self._engine = Engine(backend, counters)
        self._prepared: dict[int, Prepared] = {}
        self._handles = 0
        self._backward_seconds: float | None = None
        self._thread_doubts = thread_doubts(backend.side.threads, backend.threads_seen)

    def answer(self, request: Request) -> dict[str, Any]:
        """Return the result of a request; raises what the framework raises."""
        given = request.arguments
        if request.verb == "prepare":
            return self._prepare(Trial.from_json(given["trial"]), given["seed"], given.get("offset", 0))
        if request.verb == "measure":
            return self._measure(given["handle"], Settings.from_json(given["settings"]))
        if request.verb == "sample":
            return self._sample(given["handle"], given["calls"])
        if request.verb == "turn":
            return self._turn(given["handle"], given["samples"], given.get("calls"))
        if request.verb == "release":
            self._prepared.pop(given["handle"], None)
            return {}
        if request.verb == "describe":
            return self._describe(given["name"])
        if request.verb == "explain":
            return self._explain(Trial.from_json(given["trial"]), given["seed"])
        if request.verb == "discover":
            return self._discover(given.get("path"), given.get("size", "common"))
        if request.verb == "evaluate":
            return self._evaluate(Trial.from_json(given["trial"]), given["seed"], Path(given["folder"]))
        raise ValueError(f"no verb {request.verb!r}")

    def _prepare(self, trial: Trial, seed: int, offset: int) -> dict[str, Any]:
        ballast = bytearray(offset)  # what is allocated from here on lies elsewhere in memory
        prepared = replace(self._ready(trial, seed), ballast=ballast)
        self._handles += 1
        self._prepared[self._handles] = prepared
        return {"handle": self._handles, "facts": dict(prepared.facts), "spent": {"inputs": prepared.input_seconds}}

    def _ready(self, trial: Trial, seed: int) -> Prepared:
        definition = catalog().get(trial.case.operator)
        call = self._call(trial, definition)
        if trial.direction in call.unsupported:
            raise Unsupported(call.unsupported[trial.direction], slug="no_such_direction")
        start = time.perf_counter()
        bound = arguments.bind(trial.case, call, definition, self._backend, seed)
        input_seconds = time.perf_counter() - start
        sound = ready(self._backend, bound, trial.direction, definition, f"{seed}/{trial.case.id}")
        facts: dict[str, Any] = {"implementation": f"{self._backend.name}:{call.path}"}
        if call.note is not None:
            facts["note"] = call.note
        if trial.direction == "backward":
            facts["backward_fixed_seconds"] = self._backward_cost()
        return Prepared(sound.work, sound.output_bytes, facts, input_seconds)

    def _backward_cost(self) -> float | None:
        """Return what a backward costs that computes nothing, in seconds: one element, negated. Not subtracted."""
        if self._backward_seconds is None:
            tiny = Case("negative", {"data": TensorSpec((1,))})
            definition = catalog()["negative"]
            trial = Trial(tiny, self._backend.side, "backward")
            bound = arguments.bind(tiny, self._call(trial, definition), definition, self._backend, 0)
            block = self._engine.block(ready(self._backend, bound, "backward", definition, "fixed").work)
            with block.scope():
                least = min(block.run(FIXED_CALLS) for _ in range(FIXED_ROUNDS)) / FIXED_CALLS
            self._backward_seconds = max(0.0, least - block.overhead_ns) / 1e9
        return self._backward_seconds

    def _call(self, trial: Trial, definition: Operator | None) -> Call:
        """Return how to call the operator of a trial: by its binding, or by the path that the user named."""
        bindings = self._backend.bindings()
        path = trial.side.implementation
        binding = bindings.get(trial.case.operator)
        if path is not None:
            named = binding.at(path) if isinstance(binding, Call) else None
            return named or arguments.call_of(trial.case, path)
        if isinstance(binding, Call):
            return binding
        why = binding.reason if isinstance(binding, Missing) else "there is no binding for it"
        raise Unsupported(f"{self._backend.name} has no `{trial.case.operator}`: {why}", slug="no_such_operator")

    def _measure(self, handle: int, settings: Settings) -> dict[str, Any]:
        prepared = self._prepared[handle]
        measured = self._engine.measure(prepared.work, settings, output_bytes=prepared.output_bytes)
        found = measured.to_json()
        found["facts"] = {**prepared.facts, **found["facts"]}
        found["warnings"] += [doubt.to_json() for doubt in self._thread_doubts]
        return found

    def _sample(self, handle: int, calls: int) -> dict[str, Any]:
        block = self._block(self._prepared[handle])
        with block.scope():
            sample = block.sample(calls)
        return {**vars(sample), "overhead_ns": block.overhead_ns}

    def _turn(self, handle: int, samples: int, calls: int | None) -> dict[str, Any]:
        """Settle after a switch of sides, then take samples; without `calls` the first turn finds its block length."""
        prepared = self._prepared[handle]
        block = self._block(prepared)
        block.calls = calls or block.calls
        return self._engine.turn(block, samples, output_bytes=prepared.output_bytes).to_json()

    def _block(self, prepared: Prepared) -> Block:
        if prepared.block is None:
            prepared.block = self._engine.block(prepared.work)
        return prepared.block

    def _describe(self, name: str) -> dict[str, Any]:
        """Say what a name means here: a neutral operator's binding, a bound path, or any function that is there."""
        bindings = self._backend.bindings()
        if name in bindings:
            binding = bindings[name]
            if isinstance(binding, Missing):
                return {"path": None, "operator": name, "arguments": {}, "reason": binding.reason}
            return _meaning(name, binding, binding.path)
        try:
            function = self._backend.resolve(name)
        except (LookupError, Unsupported):
            return {"path": None, "operator": None, "arguments": {}, "near": self._near(name)}
        return self._bound_at(function) or {"path": name, "operator": None, "arguments": {}}

    def _bound_at(self, function: Callable[..., Any]) -> dict[str, Any] | None:
        """Return the operator that a function is bound to; one function has several paths (`np.add`, `numpy.add`).

        A function that constants make several operators of (`nd.Activation`) is none of them by itself.
        """
        calls = {name: known for name, known in self._backend.bindings().items() if isinstance(known, Call)}
        own = [name for name, known in calls.items() if known.function is None and self._is_at(function, known.path)]
        plain = [name for name in own if not calls[name].fixed] or (own if len(own) == 1 else [])
        if plain:
            return _meaning(plain[0], calls[plain[0]], calls[plain[0]].path)
        for name, known in calls.items():
            for path in known.also:
                if self._is_at(function, path):
                    return _meaning(name, known, path)
        return None

    def _is_at(self, function: Callable[..., Any], path: str) -> bool:
        try:
            return self._backend.resolve(path) is function
        except (LookupError, Unsupported):  # an older version of the framework may lack what a binding names
            return False

    def _discover(self, path: str | None, size: str) -> dict[str, Any]:
        """Say which operators the framework has registered that no binding names, or give example cases of one."""
        if path is not None:
            return {"cases": [case.to_json() for case in self._backend.examples(path, size)]}
        calls = [known for known in self._backend.bindings().values() if isinstance(known, Call)]
        named = {name for known in calls if known.function is None for name in (known.path, *known.also)}
        bound = [self._function(name) for name in sorted(named)]
        known = {id(function) for function in bound if function is not None}
        return {"paths": [name for name in self._backend.registered() if id(self._function(name)) not in known]}

    def _function(self, path: str) -> Callable[..., Any] | None:
        try:
            return self._backend.resolve(path)
        except (LookupError, Unsupported):  # what an older version lacks, or what is refused: its trial says why
            return None

    def _near(self, name: str) -> list[str]:
        """Return paths that resemble a name: those that end alike first."""
        bound = [known.path for known in self._backend.bindings().values() if isinstance(known, Call)]
        known = [*self._backend.names(), *bound]
        last = name.rpartition(".")[2]
        alike = [path for path in known if path.rpartition(".")[2] == last]
        return list(dict.fromkeys([*alike, *get_close_matches(name, known, n=5, cutoff=0.6)]))[:5]

    def _explain(self, trial: Trial, seed: int) -> dict[str, Any]:
        """Say what one call of a trial runs."""
        work = self._ready(trial, seed).work
        return typical(self._backend.explain(work, EXPLAINED_CALLS)).to_json()

    def _evaluate(self, trial: Trial, seed: int, folder: Path) -> dict[str, Any]:
        """Run a trial once and write each tensor of its result to a file of raw elements."""
        prepared = self._ready(trial, seed)
        written = []
        for i, tensor in enumerate(self._backend.leaves(call_once(self._backend, prepared.work))):
            raw, shape, dtype = self._backend.to_host(tensor)
            path = folder / f"output_{i}.bin"
            path.write_bytes(raw)
            written.append({"file": str(path), "shape": list(shape), "dtype": dtype})
        return {"outputs": written}


def _meaning(name: str, call: Call, path: str) -> dict[str, Any]:
    """Return what `describe` says of a bound path; only what the operator takes can be given by its own name."""
    definition = catalog()[name]
    taken = (*definition.inputs, *definition.attributes)
    own = {own: neutral for own, neutral in call.own_names.items() if neutral in taken}
    return {"path": path, "operator": name, "arguments": own}


def failure(error: BaseException) -> dict[str, Any]:
    """Return what is said of a request that raised: a skip for `Unsupported`, a failure for the rest."""
    if isinstance(error, Unsupported):
        return {"slug": error.slug, "message": str(error), "hint": error.hint, "skipped": True}
    text = str(error).strip() or type(error).__name__
    slug = "out_of_memory" if _is_out_of_memory(error, text) else "operator_error"
    return {
        "slug": slug,
        "message": _headline(text)[:500],
        "hint": None,
        "exception": type(error).__name__,
        "traceback": "".join(traceback.format_exception(error))[-8000:],
    }


def _headline(text: str) -> str:
    """Return the line that says what went wrong; MXNet's messages begin with a traceback of C++."""
    lines = text.splitlines()
    telling = (line.strip() for line in lines if not line.startswith((" ", "\t", "Traceback")) and line.strip())
    return next(telling, lines[0].strip())


def _is_out_of_memory(error: BaseException, text: str) -> bool:
    words = ("out of memory", "cannot allocate memory", "can't allocate memory", "resource_exhausted", "bad_alloc")
    return isinstance(error, MemoryError) or any(word in text.lower() for word in words)
