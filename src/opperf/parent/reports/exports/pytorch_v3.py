"""Records of PyTorch's benchmark database, version 3: a list of them, one for each metric of a record, or ratio.

`extra_info` maps text to text. There is no column for units, so they go there. What failed is left out, since that
database knows numbers alone. The upload's own fields come from the run's labels, as `--label repo=...` gives them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opperf.domain.case import Argument, Case
from opperf.domain.metric import METRICS
from opperf.domain.moment import parse_moment
from opperf.domain.plan import Side
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, ComparisonRun

#: The fields that an upload must have, with their defaults.
UPLOAD: Mapping[str, str | int] = {
    "repo": "",
    "head_branch": "",
    "head_sha": "",
    "workflow_id": 0,
    "run_attempt": 1,
    "job_id": 0,
}


def records(document: Run | ComparisonRun) -> Iterator[dict[str, object]]:
    """Yield the records of a run."""
    run = document if isinstance(document, Run) else document.run
    upload = _upload(run)
    for record in run.records:
        for metric, value in record.metrics.items():
            info = {"unit": METRICS[metric].unit.symbol}
            if isinstance(value, Statistics):
                info |= {"samples": str(value.samples), "processes": str(value.processes)}
                if value.interval is not None:
                    info |= {"low": repr(value.interval[0]), "high": repr(value.interval[1])}
            yield {**upload, **_of_record(record, run), **_metric(metric, value.value, info)}
    for comparison in () if isinstance(document, Run) else document.comparisons:
        if comparison.verdict.ratio is not None:
            low, high = comparison.verdict.interval or ("", "")
            info = {
                "verdict": comparison.verdict.verdict,
                "low": str(low),
                "high": str(high),
                "base": _build(comparison, "base"),
            }
            trial = _trial(comparison.case, comparison.direction, comparison.new, comparison.new_version, run)
            yield {**upload, **trial, **_metric(comparison.ratio_name, comparison.verdict.ratio, info)}


def _upload(run: Run) -> dict[str, object]:
    labels = {
        name: int(run.labels[name]) if isinstance(default, int) and run.labels[name].isdecimal() else run.labels[name]
        for name, default in UPLOAD.items()
        if name in run.labels
    }
    timestamp = int(parse_moment(run.started).timestamp())
    return {"timestamp": timestamp, "schema_version": "v3", "name": "opperf", **UPLOAD, **labels}


def _of_record(record: Record, run: Run) -> dict[str, object]:
    trial = record.trial
    return _trial(trial.case, trial.direction, trial.side, record.details.version, run)


def _trial(case: Case, direction: str, side: Side, version: str | None, run: Run) -> dict[str, object]:
    tensors = {name: value for name, value in case.inputs.items() if isinstance(value, TensorSpec)}
    facts = run.machine
    gpus = facts.get("gpus")
    gpus = gpus if isinstance(gpus, list) else []
    place = {"device": side.device, "mode": side.mode, "threads": str(side.threads)}
    return {
        "benchmark": {
            "name": "opperf",
            "mode": direction,
            "dtype": next((tensor.dtype for tensor in tensors.values()), ""),
            "extra_info": {"run": run.id, "case": case.id, **place, **_texts(case.attributes)},
        },
        "model": {
            "name": case.operator,
            "type": "operator",
            "backend": side.spelling or side.framework,
            "origins": ["opperf"],
            "extra_info": {},
        },
        "inputs": {name: _input(value) for name, value in case.inputs.items()},
        "runners": [
            {
                "name": "",
                "type": str(facts.get("architecture") or ""),
                "cpu_info": str(facts.get("cpu") or ""),
                "cpu_count": facts.get("cores_logical") or 0,
                "mem_info": "",
                "avail_mem_in_gb": _gigabytes(facts.get("memory_total")),
                "gpu_info": ", ".join(str(gpu.get("name") if isinstance(gpu, dict) else gpu) for gpu in gpus),
                "gpu_count": len(gpus),
                "gpu_mem_info": "",
                "avail_gpu_mem_in_gb": 0,
                "extra_info": {},
            }
        ],
        "dependencies": {
            side.framework: {"repo": "", "branch": "", "sha": "", "version": version or "", "extra_info": {}}
        },
    }


def _input(value: Argument) -> dict[str, object]:
    if isinstance(value, TensorSpec):
        return {"dtype": value.dtype, "extra_info": {"shape": str(list(value.shape))}}
    return {"dtype": "", "extra_info": {"value": str(value)}}


def _metric(name: str, value: float, info: Mapping[str, str]) -> dict[str, object]:
    return {"metric": {"name": name, "benchmark_values": [value], "target_value": 0.0, "extra_info": dict(info)}}


def _build(one: Comparison, place: str) -> str:
    side, version = (one.base, one.base_version) if place == "base" else (one.new, one.new_version)
    return f"{side.framework} {version or ''}".strip()


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def _gigabytes(size: object) -> int:
    return int(size / 2**30) if isinstance(size, (int, float)) else 0
