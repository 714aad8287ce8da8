"""What PyTorch's runner prints and writes of a test, in its words and units: microseconds, and kilobytes of 1,024."""

from __future__ import annotations

import argparse
import csv
import io
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors, write_text
from opperf.domain.measurement import Outcome, Quantity
from opperf.domain.message.replies import BROKEN
from opperf.domain.plan import Settings, Trial
from opperf.domain.record import Statistics
from opperf.parent.analysis.summary import record
from opperf.parent.reports.text import first_line, one_line

FRAMEWORK = "PyTorch"
#: The columns of the CSV file.
COLUMNS = (
    *("Benchmarking Framework", "Benchmarking Module Name", "Case Name", "tag", "run_backward", "Execution Time"),
    *("Peak Memory (KB)", "Memory Bandwidth (GB/s)"),
)
MICRO, MILLI, KILO, GIGA = 1e6, 1e3, 1024, 1e9


@dataclass(frozen=True)
class Test:
    """A test, and what its file says of it; or a file that cannot be loaded."""

    trial: Trial
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name."""
        return self.trial.case.operator

    @property
    def operator(self) -> str:
        """The name of its operator."""
        return self.labels.get("operator", "")

    @property
    def tag(self) -> str:
        """Its tag."""
        return self.labels.get("tag", "")

    @property
    def inputs(self) -> str:
        """Its attributes, as in `M: 1, device: cpu`."""
        return self.labels.get("inputs", "")

    @property
    def is_broken(self) -> bool:
        """Whether it stands for a file that cannot be loaded."""
        return BROKEN in self.labels

    @property
    def is_backward(self) -> bool:
        """Whether it is a test of a gradient."""
        return self.trial.direction == "backward"

    @property
    def pass_name(self) -> str:
        """The name of its direction."""
        return "Backward" if self.is_backward else "Forward"


@dataclass(frozen=True)
class Times:
    """What was measured of a test: microseconds of each run, and of the first one kilobytes and gigabytes a second."""

    runs: Sequence[float]
    peak_memory: float | None
    bandwidth: float | None


def header(tag: str | None) -> str:
    """Return the first lines."""
    line = f"# {'-' * 40}"
    return f"{line}\n# PyTorch/Caffe2 Operator Micro-benchmarks\n{line}\n# Tag : {tag}\n"


class Results:
    """What is printed and written of tests, as each is done."""

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        self._options = options
        self._settings = settings
        self._mode = "Compile" if options.use_compile else "Eager"
        self._csv = Path(options.output_csv) if options.output_csv else None
        self._entries: list[dict[str, Any]] = []

    def check(self) -> None:
        """Raise `InputError` for a CSV file with other columns, before anything is measured."""
        if self._csv is None or not self._csv.is_file():
            return
        with explain_errors(self._csv), self._csv.open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file), [])
        if columns and tuple(columns) != COLUMNS:
            message = f"{self._csv}:1: found the columns {one_line(', '.join(columns))[:200]}, expected those of a test"
            raise InputError(message, hint="name another file with `--output-csv`")

    def add(self, test: Test, outcomes: Sequence[Outcome]) -> str:
        """Keep what was measured of a test, and return its lines."""
        about = f"# Benchmarking {FRAMEWORK}: {test.operator or test.name}\n"
        times = self._times(outcomes)
        if times is None:
            reason = next(outcome.reason for outcome in outcomes if outcome.reason is not None)
            return f"{about}{self._title(test)}# not measured: {one_line(first_line(reason.message))}\n\n"
        self._add_row(test, times)
        self._entries.append(self._entry(test, times))
        if self._options.report_aibench:
            return about + "".join(self._observed(test, time) for time in times.runs)
        return f"{about}{self._title(test)}{self._lines(test, times)}\n"

    def _times(self, outcomes: Sequence[Outcome]) -> Times | None:
        """Return the times of all runs; None where one came to nothing."""
        metrics = [record(outcome.trial, [outcome], self._settings).metrics for outcome in outcomes]
        times = [one.get("time") for one in metrics]
        runs = [time.median * MICRO for time in times if isinstance(time, Statistics) and time.median is not None]
        if len(runs) < len(outcomes):
            return None
        memory, rate = (_value(metrics[0].get(name)) for name in ("memory_peak", "byte_rate"))
        return Times(runs, None if memory is None else memory / KILO, None if rate is None else rate / GIGA)

    def _title(self, test: Test) -> str:
        return f"# Mode: {self._mode}\n# Name: {test.name}\n# Input: {test.inputs}\n"

    def _lines(self, test: Test, times: Times) -> str:
        label = f"{test.pass_name} Execution Time (us)"
        if len(times.runs) > 1:
            return "".join(f"Run: {number}, {label} : {time:.3f}\n" for number, time in enumerate(times.runs))
        lines = f"{label} : {times.runs[0]:.3f}\n"
        if times.peak_memory is not None:
            lines += f"Peak Memory (KB) : {times.peak_memory}\n"
        if times.bandwidth is not None:
            lines += f"Memory Bandwidth (GB/s) : {times.bandwidth:.2f}\n"
        return lines

    def _observed(self, test: Test, time: float) -> str:
        name = f"{FRAMEWORK}_{test.name}_{self._mode}"
        line = {"type": name, "metric": "latency", "unit": "ms", "value": str(time / MILLI)}
        return f"PyTorchObserver {json.dumps(line)}\n"

    def _add_row(self, test: Test, times: Times) -> None:
        """Add a row to the CSV file, which gets its header first."""
        if self._csv is None:
            return
        name = f"{test.name}_BACKWARD" if test.is_backward else test.name
        values = (f"{number:.6f}" if number is not None else "" for number in (times.peak_memory, times.bandwidth))
        row = (FRAMEWORK, test.operator, name, test.tag, test.is_backward, f"{times.runs[0]:.6f}", *values)
        with explain_errors(self._csv), self._csv.open("a", encoding="utf-8", newline="") as file:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([COLUMNS, row] if file.tell() == 0 else [row])
            file.write(text.getvalue())

    def _entry(self, test: Test, times: Times) -> dict[str, Any]:
        """Return a test in the JSON file, its attributes among the results."""
        return {
            "test_name": test.name,
            "input_config": test.inputs,
            "runtime": self._mode,
            "run": test.pass_name,
            "latency": round(times.runs[0], 3),
            "latency unit": "us",
            "peak memory": times.peak_memory,
            "memory unit": "KB",
            "memory bandwidth": times.bandwidth,
            "memory bandwidth unit": "GB/s",
            **attributes(test.inputs),
        }

    def write(self) -> None:
        """Write the JSON files."""
        if self._options.output_json:
            write_text(Path(self._options.output_json), json.dumps(self._entries))
        if self._options.output_json_for_dashboard and self._entries:
            records = [record for entry in self._entries for record in self._dashboard(entry)]
            write_text(Path(self._options.output_json_for_dashboard), json.dumps(records, indent=2))

    def _dashboard(self, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the records of a test in the format of PyTorch's benchmark database, one for each metric."""
        name, device = entry["test_name"], entry.get("device", "unknown")
        operator = name.split("_")[0]
        about = {
            "benchmark": {
                "name": self._options.benchmark_name,
                "mode": "training" if entry["run"] == "Backward" else "inference",
                "dtype": entry.get("dtype", "torch.float").rpartition(".")[2],
                "extra_info": {
                    "input_config": entry["input_config"],
                    "device": device,
                    "arch": platform.processor() if device == "cpu" else "unknown",
                    "use_compile": self._options.use_compile,
                    "operator_name": operator,
                },
            },
            "model": {
                "name": name,
                "type": "micro-benchmark",
                "origins": ["pytorch"],
                "extra_info": {"operator_name": operator},
            },
        }
        metrics = (("latency", "us"), ("peak memory", "KB"), ("memory bandwidth", "GB/s"))
        return [
            {**about, "metric": {"name": key, "unit": unit, "benchmark_values": [entry[key]], "target_value": None}}
            for key, unit in metrics
        ]


def attributes(text: str) -> dict[str, str]:
    """Return the attributes of a test by name, from the text that shows them; what stands in brackets is one value.

    >>> attributes("M: [(32, 16), (64, 32)], dtype: torch.half")
    {'M': '[(32, 16), (64, 32)]', 'dtype': 'torch.half'}
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    pairs = (part.partition(":") for part in parts)
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def _value(metric: object) -> float | None:
    """Return a metric that is one number."""
    return metric.value if isinstance(metric, Quantity) else None
