"""The JSON of the operator benchmarks that opperf succeeds, MXNet's opperf and PARAM's lines; times in milliseconds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from opperf.domain.case import Argument, ListOf
from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.domain.type_hint import Amount, Unread
from opperf.parent.store.imports.absolute_times import Spread, Timing, absolute_run

MILLI = 1e-3
DIRECTIONS = ("forward", "backward")


def is_mxnet(data: object) -> bool:
    """Whether this is a file of MXNet's opperf: rows with inputs for each operator, and nothing else."""
    return (
        isinstance(data, dict)
        and bool(data)
        and all(isinstance(rows, list) for rows in data.values())
        and any(isinstance(row, dict) and "inputs" in row for rows in data.values() for row in rows)
    )


def mxnet_run(data: object, where: str, *, version: str, started: datetime) -> Run:
    """Read what MXNet's `opperf.py` wrote; with its Python profiler, forward and backward are one time."""
    timings: list[Timing] = []
    operators = read_as(Mapping[str, tuple[Mapping[str, Unread], ...]], data, where)
    for name, rows in operators.items():
        for i, row in enumerate(rows):
            timings += _mxnet_timings(name, row, f"{where}: {name}[{i}]")
    return absolute_run("mxnet-opperf", timings, framework="mxnet", version=version, started=started, machine={})


def _mxnet_timings(name: str, row: Mapping[str, object], where: str) -> Iterator[Timing]:
    inputs = read_as(Mapping[str, Unread], row.get("inputs") or {}, f"{where}.inputs")
    arguments = {key: _argument(value) for key, value in inputs.items()}
    keys = {direction: f"avg_time_{direction}_{name}" for direction in DIRECTIONS}
    keys["forward_backward"] = f"avg_time_{name}"
    for direction, key in keys.items():
        if key in row:
            parts = {part: row.get(f"{part}_time_{name}") for part in ("p50", "p90", "p99")}
            p50, p90, p99 = (None if part is None else _milli(part, where) for part in parts.values())
            mean = _milli(row[key], f"{where}.{key}")
            yield Timing(f"mxnet:{name}", Spread(p50 or mean, mean, p90=p90, p99=p99), arguments, direction)


def _milli(value: object, where: str) -> float:
    return float(read_as(Amount, value, where)) * MILLI


@dataclass(frozen=True)
class _Line(Fields):
    op_name: str
    metric: Mapping[str, Mapping[str, Unread]]
    config: Mapping[str, Unread] = field(default_factory=dict)
    id: Unread = None


def param_run(lines: Sequence[object], where: str, *, version: str, started: datetime) -> Run:
    """Read the lines that PARAM's `run_benchmark` wrote: the first is of the run, others of operators or files."""
    head = read_as(Mapping[str, Unread], lines[0], f"{where}: line 1")
    begin, device = _start(head.get("start_time")) or started, _device(head.get("run_options"))
    timings = []
    for number, line in enumerate(lines[1:], 2):
        if not (isinstance(line, dict) and "op_name" in line):
            continue
        place = f"{where}: line {number}"
        entry = read_as(_Line, line, place)
        arguments = {key: _argument(value) for key, value in entry.config.items()}
        for direction in DIRECTIONS:
            times = entry.metric.get(direction, {}).get("measure.time")
            if times:
                samples = read_as(tuple[Amount, ...], times, f"{place}: {direction}.measure.time")
                spread = Spread.of([time * MILLI for time in samples])
                timings.append(Timing(f"torch:{entry.op_name}", spread, arguments, direction, device))
    machine = head.get("sys_info")
    facts = machine.get("machine") if isinstance(machine, dict) else None
    return absolute_run(
        "param", timings, framework="torch", version=version, started=begin,
        machine=facts if isinstance(facts, dict) else {},
    )  # fmt: skip


def _start(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def _device(options: object) -> str:
    """Return the device that PARAM ran on, which it may number apart."""
    device = options.get("device") if isinstance(options, dict) else None
    return str(device) if device else "cpu"


def _argument(value: object) -> Argument:
    """Return an argument as it was written: a shape is a list of numbers, since no tensor's element type is known."""
    if isinstance(value, list):
        return ListOf(tuple(map(_argument, value)))
    return value if value is None or isinstance(value, (bool, int, float, str)) else json.dumps(value)
