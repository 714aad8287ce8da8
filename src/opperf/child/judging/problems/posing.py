"""A problem as it is posed: what a stand is told of a case, its weights in shared memory, and how both sides call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opperf.child import backends
from opperf.child.backends.binding import Call, Parameter
from opperf.child.judging.problems import functions, load_reference
from opperf.child.judging.problems.functions import Function
from opperf.child.judging.problems.problem import Problem
from opperf.child.judging.slots import mapping
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode
from opperf.domain.errors import InputError
from opperf.domain.message import requests
from opperf.domain.plan import Trial
from opperf.domain.problem import Standing, weight_places


class Posed:
    """A problem of which an examiner knows the answers."""

    def __init__(self, problem: Problem, backend: Backend) -> None:
        self._problem, self._backend = problem, backend

    def standing(self, case: Case, memory: memoryview) -> Standing:
        """Return a case as a stand is told of it, and write its weights; raises `InputError` where they do not fit."""
        weights = self._problem.weights(case)
        specs = {name: backends.problem_tools(self._backend.name).shape_of(value) for name, value in weights.items()}
        places, size = weight_places(specs)
        if size > len(memory):
            raise InputError(f"weights take {size} bytes, of which {len(memory)} can be posed", slug="bad_problem")
        for name, value in weights.items():
            raw, _, _ = self._backend.to_host(value)
            memory[places[name] : places[name] + len(raw)] = raw
        return replace(self._problem.standing(case), weights=specs)

    def call(self, trial: Trial) -> Call:
        """Return how the reference is called on a case."""
        case = trial.case
        return _call(case, self._problem.reference(case), self._problem.mutates(case))

    def draw(self, case: Case, seed: int) -> Sequence[bytes] | None:
        """Return fresh values of each input, where the problem makes them by itself."""
        tensors = self._problem.draw(case, seed)
        return None if tensors is None else [self._backend.to_host(tensor)[0] for tensor in tensors]


class Told:
    """What stands before a problem, and was told no more than a standing says: a candidate, or the reference."""

    def __init__(self, backend: Backend, folder: Path, request: requests.Stand) -> None:
        """Load it, build it, and give it the weights; raises `InputError` where it does not take them."""
        standing, implementation = request.standing, request.trial.side.implementation
        if standing is None or not isinstance(implementation, (Code, ProblemCode)):
            raise ValueError("nothing was told of a problem")
        self._standing = standing
        self._function = _loaded(standing, implementation, folder, backend)
        if standing.weights and request.weights is not None:
            memory, (places, _) = mapping(request.weights), weight_places(standing.weights)
            weights = {
                name: backend.share(memory[places[name] : places[name] + spec.nbytes], spec)
                for name, spec in standing.weights.items()
            }
            functions.load_weights(self._function, weights, backend)
        else:
            functions.load_weights(self._function, {}, backend)

    def call(self, trial: Trial) -> Call:
        """Return how it is called."""
        return _call(trial.case, self._function, self._standing.mutates)


def _loaded(standing: Standing, implementation: Code | ProblemCode, folder: Path, backend: Backend) -> Function:
    if isinstance(implementation, Code):
        return functions.load_candidate(standing, implementation, folder, backend)
    reference: Callable[..., Any] = load_reference(implementation, folder, standing, backend)
    return functions.bind_candidate(standing, reference, backend)


def _call(case: Case, function: Function, mutates: Sequence[str]) -> Call:
    """Return a call with the tensors of a case as they come; what is no tensor the function has already."""
    inputs = tuple(Parameter(name, neutral=name) for name in case.inputs)
    return Call(case.operator, inputs, function=function.call, mutates=tuple(mutates))
