"""The flags of PARAM's command line, with dashes or underscores, whole or abbreviated, and what they mean here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from opperf import __version__

MODES = ("discrete", "continuous", "continuous_events")


class Parser(argparse.ArgumentParser):
    """Reads flags with dashes or underscores: PARAM mixes them, and its users remember either."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the words of a command line, each flag with dashes."""
        words = sys.argv[1:] if args is None else args
        return super().parse_known_args([_dash(word) for word in words], namespace)


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = Parser(
        prog="python -m opperf.compat.param",
        description="Run a PARAM benchmark config with PARAM's flags and output, measured by opperf.",
    )
    flag = parser.add_argument
    flag("-c", "--config", type=Path, metavar="FILE", help="the benchmark config")
    flag("-w", "--warmup", type=_whole(0), default=1, metavar="N", help="number of calls before the first sample")
    flag("-i", "--iteration", type=_whole(0), default=1, metavar="N",
         help="number of samples per operator and direction; 0 expands the config without measuring")  # fmt: skip
    flag("-b", "--backward", action="store_true", help="measure backward too")
    flag("-d", "--device", default="cpu", metavar="D", help="cpu, cuda, cuda:1")
    flag("-o", "--output-prefix", default="benchmark_result", metavar="NAME",
         help="prefix of the result file's name; a name that ends in .json is used as it is")  # fmt: skip
    flag("-r", "--resume-id", metavar="ID", help="start at this run id")
    flag("-s", "--stop-id", metavar="ID", help="stop before this run id")
    flag("-a", "--append", action="store_true", help="append to the latest result file with this prefix")
    flag("--cuda-l2-cache", nargs="?", choices=("on", "off"), const="on", default="on",
         help="off: clear the caches before each call")  # fmt: skip
    for tool, name, warmup, iterations in (("ncu", "Nsight Compute", 5, 1), ("nsys", "Nsight Systems", 5, 10)):
        flag(f"--{tool}", action="store_true", help=f"have {name} look at the kernels, in batches, beside the times")
        flag(f"--{tool}-bin", metavar="PATH", help=f"where the program is (default: `{tool}` on PATH)")
        flag(f"--{tool}-args-file", metavar="FILE", help=f"more arguments for {tool}, such as metrics")
        flag(
            f"--{tool}-warmup",
            type=_whole(0),
            default=warmup,
            metavar="N",
            help=f"number of calls before {tool} records",
        )
        flag(f"--{tool}-iteration", type=_whole(1), default=iterations, metavar="N", help="number of calls to record")
    flag("--run-batch-size", type=_whole(1), default=50, metavar="N", help="number of cases per run of a tool")
    flag("--batch-cuda-device", type=_whole(0), metavar="N", help="GPU to run the batches on (default: the one of -d)")
    flag(
        "--batch-cmd", metavar="COMMAND", help="what a tool starts, with the batch's file behind it; else opperf's own"
    )
    flag("--exec-mode", nargs="?", choices=MODES, const=MODES[0], default=MODES[0],
         help="discrete: wait after each call; others: time blocks of calls with one wait")  # fmt: skip
    flag("-p", "--profile", action="store_true", help="write a Chrome trace of the samples beside the results")
    flag("--et", action="store_true", help="record an execution trace of one call of each case, beside the results")
    flag("--pt2-model", action="store_true", help="compile each operator with `torch.compile`")
    flag("--cuda-graph", action="store_true", help="capture each call in a CUDA graph and measure its replay; on a GPU")
    flag("--cupti-profiler", action="store_true", help="read the GPU's counters, with Nsight Compute")
    flag("--cupti-profiler-metrics", metavar="LIST", default="kineto__cuda_core_flops",
         help="counters to read, separated by commas")  # fmt: skip
    flag("--cupti-profiler-measure-per-kernel", action="store_true",
         help="read them for each kernel; they are always, and for the whole call too")  # fmt: skip
    flag("-l", "--log-level", default="INFO", metavar="L", help="from WARNING on, print no progress and no notes")
    flag(
        "-e",
        "--environment",
        action="append",
        metavar="E",
        help="environment of opperf, such as `fbgemm`; not a flag of PARAM",
    )
    flag("--version", action="version", version=f"opperf {__version__}")
    return parser


def warnings(options: argparse.Namespace) -> list[str]:
    """Say which of the flags that were given are without effect, and what does what they ask for."""
    texts = []
    on_cuda = "cuda" in options.device
    if options.cuda_graph and not on_cuda:
        texts.append("`--cuda-graph` is disabled: the device is no CUDA device")
    elif options.cuda_graph and options.pt2_model:
        texts.append("`--pt2-model` is disabled: `--cuda-graph` captures operators as they are, not compiled")
    if options.cupti_profiler and not on_cuda:
        texts.append("`--cupti-profiler` is disabled: the device is no CUDA device")
    elif options.cupti_profiler and not reads_counters(options):
        texts.append("`--cupti-profiler` is disabled: `--ncu` or `--nsys` already examines the kernels")
    return texts


def reads_counters(options: argparse.Namespace) -> bool:
    """Whether `--cupti-profiler` has an effect: on a GPU, which one tool watches at a time."""
    return bool(options.cupti_profiler) and "cuda" in options.device and not (options.ncu or options.nsys)


def quiet(options: argparse.Namespace) -> bool:
    """Whether to print results only."""
    return str(options.log_level).upper() in ("WARNING", "WARN", "ERROR", "CRITICAL", "30", "40", "50")


def _dash(word: str) -> str:
    """Return a flag with dashes, and any other word, or what is given to the flag, as it is.

    >>> _dash("--stop_id=a_b"), _dash("a_b")
    ('--stop-id=a_b', 'a_b')
    """
    name, equals, value = word.partition("=")
    return f"{name.replace('_', '-')}{equals}{value}" if name.startswith("--") else word


def _whole(least: int) -> Any:
    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"found {number}, expected a whole number >= {least}")
        return number

    read.__name__ = "whole number"
    return read
