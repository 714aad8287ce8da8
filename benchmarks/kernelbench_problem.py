"""Run in PyTorch's environment: problems of KernelBench, each opened and answered by a copy of its own reference.

python kernelbench_problem.py BUDGET OUTPUT FILE...

Each file has a process of its own, forked from one that has imported PyTorch, with limits of time and memory. The
candidate is what a process of its own would load: a file that calls the reference's class `ModelNew`, by a `Standing`
that went through JSON. Values are drawn by opperf, or by the problem where its case does not say how.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from opperf.child import backends
from opperf.child.judging.problems import open_problem
from opperf.child.judging.problems.functions import load_candidate, load_weights
from opperf.child.judging.problems.problem import Problem
from opperf.child.worker import inputs
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode
from opperf.domain.plan import Side
from opperf.domain.problem import Standing

#: Seconds of CPU time, seconds in all and bytes that a problem may take.
SECONDS, DEADLINE, BYTES = 60, 900, 8 << 30
#: How far a float32 result may be from that in float64, of its largest element: this looks for blunders, not at errors.
FAR = 1e-2


def drawn(problem: Problem, case: Case, backend: Backend, seed: int) -> Sequence[Any]:
    """Return tensors for a case, the same for the same seed."""
    own = problem.draw(case, seed)
    if own is not None:
        return own
    return [inputs.tensor(backend, spec, f"{seed}.{i}") for i, spec in enumerate(case.tensors())]


def called(function: Any, problem: Problem, case: Case, backend: Backend) -> list[torch.Tensor]:
    """Return the tensors of a result for fresh copies of the same inputs; raises `ValueError` where it changes one."""
    tensors = drawn(problem, case, backend, 1)
    before = [backend.digest(tensor) for tensor in tensors]
    with torch.no_grad():
        results = list(backend.leaves(function(*tensors)))
    if before != [backend.digest(tensor) for tensor in tensors]:
        raise ValueError("a call changes its inputs")
    return results


def equal(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> bool:
    """Whether two results are the same to the bit."""
    return len(left) == len(right) and all(
        a.shape == b.shape and a.dtype == b.dtype and bool(((a == b) | ((a != a) & (b != b))).all())
        for a, b in zip(left, right)
    )


def judge(path: Path, budget: int) -> dict[str, Any]:
    """Return how a problem's own reference does as its candidate."""
    backend = backends.start(Side("torch"))
    start = time.monotonic()
    problem = open_problem(ProblemCode("kernelbench", str(path)), Path.cwd(), backend, budget)
    seconds = time.monotonic() - start
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "candidate.py")
        file.write_text(path.read_text() + "\n\nclass ModelNew(Model):\n    pass\n")
        cases = (problem.cases()[0], *problem.hidden()[:1])
        reasons = [reason for case in cases if (reason := differs(problem, case, file, backend))]
    return {
        "reason": reasons[0] if reasons else "",
        "float64": wide(problem, problem.cases()[0], backend),
        "scaled": any(note.startswith("scaled") for note in problem.notes),
        "over_budget": any("over the budget" in note for note in problem.notes),
        "fits": problem.cases()[0].input_bytes <= budget,
        "hidden": len(problem.hidden()),
        "drawn_by_itself": problem.draw(problem.cases()[0], 0) is not None,
        "open_seconds": seconds,
        "seconds": time.monotonic() - start,
    }


def differs(problem: Problem, case: Case, file: Path, backend: Backend) -> str:
    """Return why the candidate does not give what the reference gives; empty where it does."""
    standing = Standing.from_json(json.loads(json.dumps(problem.standing(case).to_json())))
    case = Case.from_json(json.loads(json.dumps(case.to_json())))
    candidate = load_candidate(standing, Code(f"{file}:ModelNew"), Path("/"), backend)
    load_weights(candidate, problem.weights(case), backend)
    results = called(candidate, problem, case, backend)
    expected = called(problem.reference(case), problem, case, backend)
    if equal(results, expected):
        return ""
    again = called(problem.reference(case), problem, case, backend)
    return "its reference gives another result each time" if not equal(again, expected) else "another result"


def wide(problem: Problem, case: Case, backend: Backend) -> str:
    """Return what becomes of the reference in float64: empty where it agrees."""
    same = called(problem.reference(case), problem, case, backend)
    own = case.with_dtype("float64")
    values = [tensor.double() if tensor.is_floating_point() else tensor for tensor in drawn(problem, case, backend, 1)]
    try:
        with torch.no_grad():
            exact = backend.leaves(problem.reference(own)(*values))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    for a, b in zip(same, exact):
        if a.is_floating_point() and a.numel():
            scale = float(b.abs().nan_to_num().max()) or 1.0
            if float((a.double() - b).abs().nan_to_num().max()) > FAR * scale:
                return "far from that in float32"
    return ""


def in_a_fork(path: Path, budget: int) -> dict[str, Any]:
    """Return what becomes of a problem in a process of its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        signal.alarm(DEADLINE)  # its own end is the default
        try:
            result = judge(path, budget)
        except BaseException as error:
            result = {"reason": f"{type(error).__name__}: {error}"[:300], "traceback": traceback.format_exc()[-1500:]}
        os.write(write, json.dumps(result).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        late = name in ("SIGALRM", "SIGXCPU", "SIGKILL")
        return {"reason": f"took longer than {SECONDS} s" if late else f"ended by {name}"}
    answer: dict[str, Any] = json.loads(text)
    return answer


def main() -> None:
    """Write a line for each file."""
    torch.set_num_threads(1)
    shape = torch.empty(1, device="meta")
    shape.add(shape)  # imports what each process would import anew
    with open(sys.argv[2], "w", encoding="utf-8") as output:
        for file in map(Path, sys.argv[3:]):
            result = {"file": f"{file.parent.name}/{file.name}", **in_a_fork(file, int(sys.argv[1]))}
            output.write(json.dumps(result) + "\n")
            output.flush()


if __name__ == "__main__":
    main()
