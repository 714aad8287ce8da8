"""Run in PyTorch's environment: small problems of each format, opened and answered; prints what came of it as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from opperf.child import backends
from opperf.child.judging.problems import Problem, load_reference, open_problem
from opperf.child.judging.problems.functions import Function, bind_candidate, load_candidate, load_weights
from opperf.child.worker import inputs
from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.problem import Standing

FOLDER = Path(sys.argv[1])
BACKEND = backends.start(Side("torch"))
BUDGET = 40_000
ENTRIES = {
    "kernelbench": "ModelNew",
    "gpumode": "custom_kernel",
    "flashinfer": "run",
    "backendbench": "add__Tensor_kernel_impl",
}
KERNEL = "kernels/add__Tensor/add__Tensor_implementation_v1.py"


def tensors(problem: Problem, case: Case, seed: int) -> Sequence[Any]:
    own = problem.draw(case, seed)
    return own or [inputs.tensor(BACKEND, spec, f"{seed}.{i}") for i, spec in enumerate(case.tensors())]


def answer(problem: Problem, case: Case, candidate: str) -> Any:
    """Return whether a candidate, told what went through JSON, gives what the reference gives; else what it raises."""
    standing = Standing.from_json(json.loads(json.dumps(problem.standing(case).to_json())))
    try:
        return same(
            problem, case, load_candidate(standing, Code(f"{candidate}:{ENTRIES[standing.kind]}"), FOLDER, BACKEND)
        )
    except InputError as error:
        return error.message.replace(str(FOLDER), "")


def same(problem: Problem, case: Case, function: Function) -> bool:
    load_weights(function, problem.weights(case), BACKEND)
    with torch.no_grad():
        pairs = [BACKEND.leaves(one(*tensors(problem, case, 1))) for one in (function, problem.reference(case))]
    return bool(all(torch.equal(a, b) for a, b in zip(*pairs, strict=True)))


def beside(problem: Problem, case: Case) -> bool:
    """Return whether the reference that is timed beside candidates gives what the examiner's gives."""
    kind, _, path = problem.name.partition(":")
    standing = problem.standing(case)
    loaded = load_reference(ProblemCode(kind, path), FOLDER, standing, BACKEND)
    return same(problem, case, bind_candidate(standing, loaded, BACKEND))


def reopened(problem: Problem) -> bool:
    """Return whether a problem whose sizes are known has the same cases."""
    kind, _, path = problem.name.partition(":")
    other = open_problem(ProblemCode(kind, path), FOLDER, BACKEND, BUDGET, problem.sizes())
    return [*other.cases(), *other.hidden()] == [*problem.cases(), *problem.hidden()]


def look(problem: Problem, *candidates: str) -> dict[str, Any]:
    first = problem.cases()[0]
    wide = first.with_dtype("float64")
    with torch.no_grad():
        exact = problem.reference(wide)(
            *[t.double() if t.is_floating_point() else t for t in tensors(problem, first, 1)]
        )
    return {
        "notes": problem.notes,
        "cases": [case.to_json() for case in problem.cases()],
        "hidden": [[list(spec.shape) for spec in case.tensors()] for case in problem.hidden()],
        "answers": {name: answer(problem, first, name) for name in candidates},
        "answers_hidden": [answer(problem, case, candidates[0]) for case in problem.hidden()],
        "fresh": problem.draw(first, 1) is None
        or not all(torch.equal(a, b) for a, b in zip(problem.draw(first, 1) or (), problem.draw(first, 2) or ())),
        "mutates": problem.mutates(first),
        "beside": [beside(problem, case) for case in (first, *problem.hidden()[:1])],
        "reopened": reopened(problem),
        "workload": dict(problem.workload),
        "wide": sorted({str(tensor.dtype) for tensor in BACKEND.leaves(exact)}),
        "seeds": problem.standing(first).seed,
    }


def message(make: Callable[[], object]) -> str:
    try:
        make()
    except InputError as error:
        return str(error).replace(str(FOLDER), "")
    return "nothing is wrong"


def opened(kind: str, path: str, budget: int = BUDGET) -> Problem:
    return open_problem(ProblemCode(kind, path), FOLDER, BACKEND, budget)


def main() -> None:
    result = {
        "kernelbench": look(
            opened("kernelbench", "level1/1_Rows.py"), "good.py", "unnamed.py", "extra.py", "shaped.py", "plainfn.py"
        ),
        "triangle": look(opened("kernelbench", "level1/2_Triangle.py"), "triangle.py"),
        "gpumode": look(opened("gpumode", "tasks/sums"), "submission.py", "none.py"),
        "flashinfer": look(opened("flashinfer", "rows"), "returning.json", "filling.json", "plain.py", "cuda.json"),
        "custom": look(opened("flashinfer", "custom/definition.json"), "index.py"),
        "backendbench": look(opened("backendbench", "kernels/add__Tensor"), KERNEL),
        "wrong": {
            "parts": message(lambda: opened("kernelbench", "plainfn.py")),
            "raises": message(lambda: opened("kernelbench", "level1/3_Raises.py")),
            "module": message(lambda: opened("kernelbench", "level1/4_Missing.py")),
            "folder": message(lambda: opened("gpumode", "rows")),
            "outside": message(lambda: opened("gpumode", "tasks/outside")),
            "operator": message(lambda: opened("backendbench", "kernels/no_such__Tensor")),
            "workloads": message(lambda: opened("flashinfer", "good.json")),
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
