"""Traces of FlashInfer-Bench and SOL-ExecBench: what became of a solution on one workload.

https://github.com/flashinfer-ai/flashinfer-bench, `flashinfer_bench/data/trace.py`
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import check_known

MILLI = 1e3
PASSED, NUMERICAL = "PASSED", "INCORRECT_NUMERICAL"
#: Verdicts on candidates that are right. The format has no word for which one was the faster.
RIGHT = ("faster", "same", "slower", "inconclusive")
VERDICTS = (*RIGHT, "wrong", "cheats", "impossible", "void")
#: The status of a candidate that is wrong, by what was wrong.
STATUSES = {
    "shape": "INCORRECT_SHAPE",
    "dtype": "INCORRECT_DTYPE",
    "values": NUMERICAL,
    "load": "COMPILE_ERROR",
    "timeout": "TIMEOUT",
    "crash": "RUNTIME_ERROR",
    "raised": "RUNTIME_ERROR",
}


@dataclass(frozen=True)
class Judged:
    """A verdict on one workload: of a wrong candidate its `cause`, one of `STATUSES`, and times in seconds."""

    verdict: str
    cause: str | None = None
    time: float | None = None
    reference_time: float | None = None
    speedup: float | None = None
    absolute_error: float = 0.0
    relative_error: float = 0.0
    hardware: str = "cpu"
    libraries: Mapping[str, str] | None = None
    timestamp: str = ""
    log: str = ""


def status(judged: Judged) -> str:
    """Return the format's word; raises `InputError` for a verdict or a cause that is none.

    >>> status(Judged("same")), status(Judged("wrong", "shape")), status(Judged("impossible"))
    ('PASSED', 'INCORRECT_SHAPE', 'REWARD_HACK')
    """
    check_known("verdict", judged.verdict, VERDICTS)
    if judged.verdict in RIGHT:
        return PASSED
    if judged.verdict == "wrong":
        check_known("cause", judged.cause or "", STATUSES)
        return STATUSES[judged.cause or ""]
    return "INVALID_REFERENCE" if judged.verdict == "void" else "REWARD_HACK"


def trace(definition: str, solution: str, workload: Mapping[str, object], judged: Judged) -> dict[str, object]:
    """Return a trace: `correctness` stands where results were compared, `performance` where they were right.

    `workload` is as its file has it. Times become milliseconds; without a speedup it is the quotient of the times.
    """
    word = status(judged)
    errors = {"max_relative_error": judged.relative_error, "max_absolute_error": judged.absolute_error}
    return {
        "definition": definition,
        "solution": solution,
        "workload": dict(workload),
        "evaluation": {
            "status": word,
            "environment": {"hardware": judged.hardware, "libs": dict(judged.libraries or {})},
            "timestamp": judged.timestamp,
            "log": judged.log,
            "correctness": errors if word in (PASSED, NUMERICAL) else None,
            "performance": _performance(judged) if word == PASSED else None,
        },
    }


def _performance(judged: Judged) -> dict[str, float]:
    time, before = judged.time or 0.0, judged.reference_time or 0.0
    speedup = judged.speedup if judged.speedup is not None else (before / time if time else 0.0)
    return {"latency_ms": time * MILLI, "reference_latency_ms": before * MILLI, "speedup_factor": speedup}
