"""The document of the command line: `{operator: [row, ...]}` as JSON, or the same rows as Markdown or CSV.

JSON has exactly the original's shape. Markdown begins with the original's columns.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from opperf.compat.mxnet_opperf import rows
from opperf.compat.mxnet_opperf.command.plan import LUMP_ORDER, RowPlan
from opperf.domain.codec import read_as
from opperf.domain.measurement import CountedTimes, Quantity, Samples
from opperf.domain.record import Record, Run
from opperf.parent.reports.text import first_line, for_csv, for_markdown, for_markdown_line

Rows: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]

FORMATS = ("json", "md", "csv")
MEMORY = "max_storage_mem_alloc"
#: What a cell without a reading shows.
NOTHING = "---"
#: Columns with their keys: the original's first.
APART_COLUMNS = {
    "Operator": "operator",
    "Inputs": "inputs",
    "Max Mem Usage (Storage) (kB)": MEMORY,
    "Avg Forward Time (ms)": "avg_time_forward",
    "Avg. Backward Time (ms)": "avg_time_backward",
    **{
        f"{figure.upper()} {direction.title()} Time (ms)": f"{figure}_time_{direction}"
        for direction in ("forward", "backward")
        for figure in ("p50", "p90", "p99")
    },
}
LUMPED_COLUMNS = {
    "Operator": "operator",
    "Avg Time (ms)": "avg_time",
    "P50 Time (ms)": "p50_time",
    "P90 Time (ms)": "p90_time",
    "P99 Time (ms)": "p99_time",
    "Inputs": "inputs",
}


def collect(plans: Sequence[RowPlan], run: Run, *, together: bool) -> dict[str, list[dict[str, Any]]]:
    """Return the rows by operator, in the order of their names; rows that were not reached are left out."""
    records = {record.trial.key: record for record in run}
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in plans:
        records_of_row = [records[trial.key] for trial in row.trials if trial.key in records]
        if records_of_row:
            cells = _lump(row.operator, records_of_row) if together else _split(row.operator, records_of_row)
            rows.setdefault(row.operator, []).append({"inputs": dict(row.inputs), **cells})
    return dict(sorted(rows.items()))


def _split(operator: str, records: Sequence[Record]) -> dict[str, Any]:
    """Return the values of the profiler `native`: forward, backward and memory."""
    row: dict[str, Any] = {}
    for record in records:
        direction = record.trial.direction
        if record.time is not None:
            row |= rows.times(_seconds(record), operator, direction)
        elif "error" not in row:  # what fails forward needs no second reason
            row["error" if direction == "forward" else "no_backward"] = _reason(record)
    peaks = [record.metrics.get("memory_peak") for record in records]
    sizes = [int(peak.value) for peak in peaks if isinstance(peak, Quantity)]
    return {**row, **(rows.memory(max(sizes), _device(records[0].trial.side.device)) if sizes else {})}


def _lump(operator: str, records: Sequence[Record]) -> dict[str, Any]:
    """Return the values of the profiler `python`: forward and backward together, or forward alone."""
    by_direction = sorted(records, key=lambda record: LUMP_ORDER.index(record.trial.direction))
    first = next((record for record in by_direction if record.time is not None), None)
    if first is None:
        return {"error": _reason(by_direction[-1])}
    more = {} if first is by_direction[0] else {"no_backward": _reason(by_direction[0])}
    return {**rows.times(_seconds(first), operator), **more}


def _seconds(record: Record) -> list[float]:
    """Return the samples that count, as the summary of the record has them."""
    samples = [Samples.from_json(process) for process in record.samples["time"]]
    return sorted(CountedTimes.of(samples, record.trial.side).pooled)


def _device(device: str) -> str:
    """Return how MXNet's profiler calls a device.

    >>> _device("cpu"), _device("cuda:1")
    ('cpu/0', 'gpu/1')
    """
    kind, _, index = device.partition(":")
    return f"{'cpu' if kind == 'cpu' else 'gpu'}/{index or 0}"


def _reason(record: Record) -> str:
    return record.status if record.reason is None else first_line(record.reason.message)


def render(rows: Rows, run: Run, format: str, *, together: bool) -> str:
    """Return the document in one of `FORMATS`, with a line break at the end."""
    if format == "json":
        return json.dumps(rows, indent=4) + "\n"
    return _csv(rows) if format == "csv" else _markdown(rows, run, together=together)


def _plain(rows: Rows) -> list[dict[str, Any]]:
    """Return every row with keys that all operators share: without the operator's name, which gets a key."""
    plain = []
    for operator, several in rows.items():
        for row in several:
            shared = {key.removesuffix(f"_{operator}"): value for key, value in row.items()}
            plain.append({"operator": operator, **shared, "inputs": json.dumps(row["inputs"])})
    return plain


def _csv(rows: Rows) -> str:
    plain = _plain(rows)
    columns = dict.fromkeys(["operator", "inputs", *sorted({key for row in plain for key in row})])
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: for_csv(value) for key, value in row.items()} for row in plain)
    return text.getvalue()


def _markdown(rows: Rows, run: Run, *, together: bool) -> str:
    columns = LUMPED_COLUMNS if together else APART_COLUMNS
    plain = _plain(rows)
    lines = [
        "# Runtime Features",
        *(f"{i}. {for_markdown_line(feature)}" for i, feature in enumerate(_features(run), 1)),
        "",
    ]
    lines += ["# Benchmark Results", "| " + " | ".join(columns) + " |", "|" + " :---: |" * len(columns)]
    lines += ["| " + " | ".join(_cell(row, key) for key in columns.values()) + " |" for row in plain]
    failures = [f"{row['operator']} {row['inputs']}: {row['error']}" for row in plain if "error" in row]
    missing = [f"* {for_markdown_line(why)}" for why in failures]
    return "\n".join([*lines, *(["", "# Not measured", *missing] if missing else []), ""])


def _features(run: Run) -> list[str]:
    """Return the facts of MXNet and of the machine."""
    features = [str(run.machine["cpu"])] if run.machine.get("cpu") else []
    for facts in run.frameworks:
        build = read_as(tuple[str, ...], facts.get("build", []), "build")
        features += [f"{facts.get('framework')} {facts.get('version')}", *build]
    return features


def _cell(row: Mapping[str, Any], key: str) -> str:
    """Return a value as text; the key of the memory goes on with the device."""
    value = next((row[own] for own in row if own == key or (key == MEMORY and own.startswith(key))), NOTHING)
    return for_markdown(str(value))
