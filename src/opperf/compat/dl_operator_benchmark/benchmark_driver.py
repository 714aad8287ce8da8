"""`python -m opperf.compat.dl_operator_benchmark.benchmark_driver`: all groups in turn, into one file.

It runs under a Python that has MXNet. The file is rewritten after each operator, so that no result is lost.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

FORMATS = ("json", "md", "csv")
COLUMNS = ("Operator", "Time (s)")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = argparse.ArgumentParser(
        prog="python -m opperf.compat.dl_operator_benchmark.benchmark_driver",
        description="Benchmark MXNet's operators and Gluon's layers: seconds by key.",
    )
    result.add_argument("--ctx", default="cpu", help="cpu, gpu or gpu(0)")
    result.add_argument("--dtype", default="float32", help="element type of all operators")
    result.add_argument("--output-format", default="json", choices=FORMATS)
    result.add_argument("--output-file", type=Path, default=Path("mxnet_operator_benchmarks.json"))
    result.add_argument("--category", action="append", help="a group, such as `arithmetic`; repeatable")
    result.add_argument("--warmup", type=int, default=10, help="number of calls before the first sample")
    result.add_argument("--runs", type=int, default=50, help="number of samples of each operator")
    return result


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; returns its exit code."""
    options = parser().parse_args(words)
    if find_spec("mxnet") is None:
        print("error: this Python has no mxnet\n\nhint: run it with `$(opperf env python mxnet)`", file=sys.stderr)
        return 2
    from opperf.domain.errors import OpperfError

    try:
        return _run(options)
    except KeyboardInterrupt:
        print(f"stopped; {options.output_file} has the results so far", file=sys.stderr)
        return 130
    except OpperfError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def _run(options: argparse.Namespace) -> int:
    import mxnet as mx

    from opperf.compat.dl_operator_benchmark import gluon, nd
    from opperf.compat.dl_operator_benchmark.runners import choose, measure_classes
    from opperf.compat.in_process import in_process
    from opperf.domain.files.destination import prove, write_text
    from opperf.domain.registry import parse_device
    from opperf.domain.tensor import parse_dtype

    file: Path = options.output_file
    prove(file)
    device = parse_device(options.ctx)
    in_process(device)  # raises where it is not here
    kind, _, index = device.partition(":")
    context = mx.cpu() if kind == "cpu" else mx.gpu(int(index))
    classes = choose(options.category, nd.CLASSES, gluon.CLASSES)
    inputs = {"dtype": parse_dtype(options.dtype)}
    times: dict[str, float] = {}
    for results in measure_classes(classes, context, inputs, warmup=options.warmup, runs=options.runs):
        times.update(results)
        write_text(file, render(times, options.output_format))
    if not times:
        print(f"none of {len(classes)} operators was measured, so nothing was written", file=sys.stderr)
        return 3
    print(f"wrote {file}: {len(times)} of {len(classes)} operators", file=sys.stderr)
    return 0


def render(results: Mapping[str, float], format: str) -> str:
    r"""Return results in one of `FORMATS`, with a line break at the end.

    >>> render({"MX_Add_Forward_Time": 0.5}, "csv")
    'Operator,Time (s)\nMX_Add_Forward_Time,0.5\n'
    """
    if format == "json":
        return json.dumps(results, indent=4) + "\n"
    if format == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *results.items()])
        return text.getvalue()
    lines = [COLUMNS, (":---", "---:"), *((key, f"{seconds:.9f}") for key, seconds in results.items())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
