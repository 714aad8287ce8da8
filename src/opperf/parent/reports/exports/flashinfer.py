"""Traces of FlashInfer-Bench and SOL-ExecBench: what became of a solution on one workload, one in each line.

https://github.com/flashinfer-ai/flashinfer-bench, `flashinfer_bench/data/trace.py`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from opperf.domain.record import Run
from opperf.parent.documents.candidates import RIGHT, Judged, JudgedRun

MILLI = 1e3
PASSED, NUMERICAL = "PASSED", "INCORRECT_NUMERICAL"


def lines(runs: Iterable[JudgedRun]) -> Iterator[str]:
    """Yield a line for each judgement on a problem that names its workload; others have no place in the format."""
    for run in runs:
        for judged in run.judgements:
            if judged.workload:
                yield json.dumps(trace(judged, run.run), allow_nan=False) + "\n"


def trace(judged: Judged, run: Run) -> dict[str, object]:
    """Return a trace: `correctness` stands where results were compared, `performance` where they were right.

    Times become milliseconds. Errors are those of the element that was wrong; none are known of a right result.
    """
    word = judged.status
    return {
        "definition": judged.workload["definition"],
        "solution": judged.candidate,
        "workload": judged.workload["workload"],
        "evaluation": {
            "status": word,
            "environment": {"hardware": _hardware(run), "libs": _libraries(run)},
            "timestamp": run.started,
            "log": judged.reason,
            "correctness": _errors(judged) if word in (PASSED, NUMERICAL) else None,
            "performance": _performance(judged) if word == PASSED else None,
        },
    }


def _errors(judged: Judged) -> dict[str, float]:
    details = judged.evidence[0].details if judged.evidence and judged.verdict not in RIGHT else {}
    result, expected = details.get("found"), details.get("expected")
    if not isinstance(result, (int, float)) or not isinstance(expected, (int, float)):
        return {"max_relative_error": 0.0, "max_absolute_error": 0.0}
    error = abs(result - expected)
    return {"max_relative_error": error / abs(expected) if expected else 0.0, "max_absolute_error": error}


def _performance(judged: Judged) -> dict[str, float] | None:
    speed = judged.speed
    if speed is None:
        return None
    return {
        "latency_ms": speed.candidate * MILLI,
        "reference_latency_ms": speed.reference * MILLI,
        "speedup_factor": speed.speedup,
    }


def _hardware(run: Run) -> str:
    machine = run.environment.get("machine")
    cpu = machine.get("cpu") if isinstance(machine, Mapping) else None
    return str(cpu or "cpu")


def _libraries(run: Run) -> dict[str, str]:
    sides = run.environment.get("sides")
    facts = sides.get("reference") if isinstance(sides, Mapping) else None
    return {"torch": str(facts["version"])} if isinstance(facts, Mapping) and "version" in facts else {}
