"""The flags of PyTorch's runner, and which of them opperf refuses."""

from __future__ import annotations

import argparse
import re

from opperf import __version__
from opperf.compat.param.command.tools import Parser
from opperf.domain.errors import InputError

#: Words that PyTorch's runner takes for no.
NO = ("no", "false", "f", "n", "0")
YES = ("yes", "true", "t", "y", "1")
#: Flags of PyTorch's runner, today's and earlier ones, that opperf refuses when they are given, and why.
REFUSED = {
    "use_jit": "opperf does not script operators: TorchScript is deprecated; measure them eagerly, or `--use-compile`",
    "wipe_cache": "opperf does not empty a CPU's caches between calls; `opperf run op_bench:... --cache cold` does",
    "ai_pep_format": "its format is none that is documented; there is `--report-aibench`",
}
#: What is taken of a test without `--tag-filter`.
USUAL_TAG = "short"


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = Parser(
        prog="python -m opperf.compat.operator_benchmark",
        description="Run PyTorch's operator benchmarks with the flags and the output of their own runner, measured by "
        "opperf.",
    )
    flag = parser.add_argument
    flag("paths", nargs="*", metavar="PATH", help="a benchmark file (pt/add_test.py), or a folder of *_test.py (pt/)")
    flag("--tag-filter", metavar="TAG", help="tests with this tag, or all (default: short; of a list, all)")
    flag("--operators", metavar="LIST", help="tests of these operators, separated by commas")
    flag("--operator-range", metavar="RANGE", help="tests of operators whose names begin so, such as a-c or b,d-f")
    flag("--test-name", metavar="NAME", help="the tests of this name, whatever their tag")
    flag("--list-ops", action="store_true", help="list operators instead of measuring")
    flag("--list-tests", action="store_true", help="list tests instead of measuring")
    flag("--iterations", type=int, metavar="N", help="number of samples of a run (default: as many as it needs)")
    flag("--num-runs", type=int, default=1, metavar="N", help="number of runs of each test, each in a fresh process")
    flag("--min-time-per-test", type=int, default=0, metavar="SECONDS", help="sample each test for this long")
    flag("--warmup-iterations", type=int, default=-1, metavar="N",
         help="calls before the first sample (default: until the time is steady)")  # fmt: skip
    flag("--omp-num-threads", type=int, metavar="N", help="threads of PyTorch (default: all CPUs)")
    flag("--mkl-num-threads", type=int, metavar="N", help="the same; another number than that of OpenMP is refused")
    _switch(parser, "--report-aibench", "print a line of JSON for each run")
    _switch(parser, "--use-jit", "refused: opperf does not script operators")
    _switch(parser, "--use-compile", "compile each test with torch.compile")
    _switch(parser, "--forward-only", "leave out tests of gradients")
    flag("--framework", default="PyTorch", metavar="LIST", help="only PyTorch is measured")
    flag("--device", default="None", metavar="D", help="cpu, cuda (default: a GPU where there is one)")
    flag(
        "--benchmark-name", default="PyTorch operator benchmark", metavar="NAME", help="name in the JSON for dashboards"
    )
    flag("--output-csv", default="benchmark_logs", metavar="FILE", help="CSV file to add the results to")
    flag("--output-json", metavar="FILE", help="JSON file of the results")
    flag("--output-json-for-dashboard", default="benchmark-results.json", metavar="FILE",
         help="JSON file of the results in the format of PyTorch's dashboard")  # fmt: skip
    for name in ("--wipe-cache", "--ai-pep-format"):
        _switch(parser, name, argparse.SUPPRESS)
    flag("-e", "--environment", metavar="E", help="environment to measure in, such as torch==2.13.0 (opperf only)")
    flag("--version", action="version", version=f"opperf {__version__}")
    return parser


def _switch(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    parser.add_argument(name, type=_truth, nargs="?", const=True, default=False, metavar="BOOL", help=text)


def _truth(text: str) -> bool:
    if text.lower() in YES + NO:
        return text.lower() in YES
    raise argparse.ArgumentTypeError(f"found {text!r}, expected true or false")


def check(options: argparse.Namespace) -> None:
    """Raise `InputError` for flags that cannot be obeyed, before anything runs."""
    if not options.paths:
        raise InputError("no benchmarks", hint="name files or folders: `pt/add_test.py pt/`", slug="input")
    for name, why in REFUSED.items():
        if getattr(options, name):
            raise InputError(f"`--{name.replace('_', '-')}` is refused: {why}", slug="input")
    if "PyTorch" not in options.framework:
        raise InputError(f"`--framework {options.framework}` is refused: only PyTorch is measured", slug="input")
    omp, mkl = options.omp_num_threads, options.mkl_num_threads
    if omp and mkl and omp != mkl:
        message = f"`--omp-num-threads {omp}` and `--mkl-num-threads {mkl}`: opperf gives both one number of threads"
        raise InputError(message, hint="give the same number to both", slug="input")
    if options.iterations and options.min_time_per_test:
        hint = "leave one of them out"
        raise InputError("`--iterations` and `--min-time-per-test` both say how long to sample", hint=hint)
    for name, least in (("iterations", -1), ("num_runs", 1), ("min_time_per_test", 0), ("warmup_iterations", -1)):
        value = getattr(options, name)
        if value is not None and value < least:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"`{flag}` is {value}, expected a whole number >= {max(0, least)}")
    first_letters(options.operator_range)


def first_letters(text: str | None) -> frozenset[str] | None:
    """Return the letters that names of operators begin with; None for any. Raises `InputError` for what is no range.

    >>> sorted(first_letters("a-c,X"))
    ['a', 'b', 'c', 'x']
    """
    if text is None:
        return None
    letters: set[str] = set()
    for part in text.lower().split(","):
        match = re.fullmatch(r"\s*(\w)(?:-(\w))?\s*", part)
        if match is None:
            raise InputError(f"`--operator-range` is `{text}`, expected letters and ranges of them, as in `b,d-f`")
        letters.update(map(chr, range(ord(match[1]), ord(match[2] or match[1]) + 1)))
    return frozenset(letters)


def names(text: str | None) -> frozenset[str] | None:
    """Return the names in a list that commas separate; None for any.

    >>> names("add, mul") == {"add", "mul"}, names(None)
    (True, None)
    """
    return None if text in (None, "None") else frozenset(filter(None, map(str.strip, str(text).split(","))))
