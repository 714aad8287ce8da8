"""The JSON of the operator benchmarks that opperf succeeds, MXNet's opperf and PARAM's lines; times in milliseconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Optional

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.moment import Moment, parse_moment
from opperf.domain.type_hint import Unread
from opperf.parent.store.imports.absolute_times import (
    Foreign,
    Sheet,
    Spread,
    Timing,
    absolute_run,
    json_argument,
    seconds,
)

MILLI = 1e-3
#: What is said of what MXNet's profiler calls the most memory, which is half of what it rose by, over all calls.
MEMORY = "values of memory, which MXNet's profiler states of all calls together"
DIRECTIONS = ("forward", "backward")


def is_mxnet(data: object) -> bool:
    """Whether this is a file of MXNet's opperf: rows with inputs for each operator, and nothing else."""
    return (
        isinstance(data, dict)
        and bool(data)
        and all(isinstance(rows, list) for rows in data.values())
        and any(isinstance(row, dict) and "inputs" in row for rows in data.values() for row in rows)
    )


def mxnet_run(data: object, where: str, *, version: str, started: datetime | None) -> Foreign:
    """Read what MXNet's `opperf.py` wrote; with its Python profiler, forward and backward are one time."""
    sheet = Sheet(where)
    operators = read_as(Mapping[str, tuple[Mapping[str, Unread], ...]], data, where)
    for name, rows in operators.items():
        for i, row in enumerate(rows):
            timings = _mxnet_timings(name, row, f"{where}: {name}[{i}]")
            for timing in timings:
                sheet.add(timing)
            if not timings:
                sheet.leave_out("rows without a time")
            sheet.leave_out(MEMORY, sum(key.startswith("max_storage_mem_alloc_") for key in row))
    return absolute_run("mxnet-opperf", sheet, where, framework="mxnet", version=version, started=started, machine={})


def _mxnet_timings(name: str, row: Mapping[str, object], where: str) -> list[Timing]:
    """Return the times of a row. What they are called may be another name of the operator than the file's key."""
    inputs = read_as(Mapping[str, Unread], row.get("inputs") or {}, f"{where}.inputs")
    arguments = {key: json_argument(value) for key, value in inputs.items()}
    times: dict[str, dict[str, float]] = {}
    for key, value in row.items():
        parts = re.fullmatch(r"(avg|p50|p90|p99)_time_(?:(forward|backward)_)?.+", key)
        if parts:
            statistic, direction = parts.groups()
            time = seconds(value, f"{where}.{key}", unit=MILLI)
            times.setdefault(direction or "forward_backward", {})[statistic] = time
    return [
        Timing(
            f"mxnet:{name}",
            Spread(statistics.get("p50"), statistics.get("avg"), p90=statistics.get("p90"), p99=statistics.get("p99")),
            arguments,
            direction,
        )
        for direction, statistics in times.items()
        if statistics.keys() & {"p50", "avg"}
    ]


@dataclass(frozen=True)
class _Line(Fields):
    op_name: str
    metric: Mapping[str, Mapping[str, Unread]]
    config: Mapping[str, Unread] = field(default_factory=dict)
    id: Unread = None


def param_run(lines: Sequence[object], where: str, *, version: str, started: datetime | None) -> Foreign:
    """Read the lines that PARAM's `run_benchmark` wrote: the first is of the run, others of operators or files."""
    head = read_as(Mapping[str, Unread], lines[0], f"{where}: line 1")
    start, device = read_as(Optional[Moment], head.get("start_time"), f"{where}: line 1.start_time"), _device(head)
    begin = started if start is None else parse_moment(start)
    sheet = Sheet(where)
    for number, line in enumerate(lines[1:], 2):
        if not (isinstance(line, dict) and "op_name" in line):
            if not (isinstance(line, dict) and "finish_time" in line):
                sheet.leave_out("lines that are not of an operator")
            continue
        place = f"{where}: line {number}"
        entry = read_as(_Line, line, place)
        arguments = {key: json_argument(value) for key, value in entry.config.items()}
        for direction in DIRECTIONS:
            part = f"{place}: {direction}.measure.time"
            times = read_as(tuple[Unread, ...], entry.metric.get(direction, {}).get("measure.time") or [], part)
            if times:
                spread = Spread.of([seconds(time, part, unit=MILLI) for time in times])
                sheet.add(Timing(f"torch:{entry.op_name}", spread, arguments, direction, device))
            elif direction in entry.metric:
                sheet.leave_out("directions without a time")
    machine = head.get("sys_info")
    facts = machine.get("machine") if isinstance(machine, dict) else None
    return absolute_run(
        "param", sheet, where, framework="torch", version=version, started=begin,
        machine=facts if isinstance(facts, dict) else {},
    )  # fmt: skip


def _device(head: Mapping[str, object]) -> str:
    """Return the device that PARAM ran on, which it may number apart."""
    options = head.get("run_options")
    device = options.get("device") if isinstance(options, dict) else None
    return str(device) if device else "cpu"
