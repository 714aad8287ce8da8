"""NVIDIA's tools that look at kernels: where they are, how they are started, and what their reports are.

Nsight Compute (`ncu`) reads counters of the kernels that its filter lets through; Nsight Systems (`nsys`) records when
every kernel ran. Both write what a program can read: a CSV page, an SQLite export.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opperf import __version__
from opperf.compat.param.command.kernels import FILTER, Launches, from_ncu, from_nsys
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.parent.workers.vendor_tools import TOOLS, locate

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
        flag(f"--{tool}", action="store_true", help=f"also profile the kernels with {name}, in batches")
        flag(f"--{tool}-bin", metavar="PATH", help=f"path of the program (default: `{tool}` on PATH)")
        flag(f"--{tool}-args-file", metavar="FILE", help=f"read more arguments for {tool} from this file")
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
    flag("--batch-cmd", metavar="COMMAND",
         help="command for the tool to run, followed by the batch file (default: opperf's own)")  # fmt: skip
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
         help="accepted, and always on: counters are read for each kernel and for the whole call")  # fmt: skip
    flag("-l", "--log-level", default="INFO", metavar="L", help="log level; WARNING and above hide progress and notes")
    flag(
        "-e",
        "--environment",
        action="append",
        metavar="E",
        help="environment to run in, such as `fbgemm` (opperf only)",
    )
    flag("--jobs", default="1", metavar="N|auto",
         help="number of cases to measure side by side, each on its own CPUs (opperf only)")  # fmt: skip
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


#: The tools that PARAM starts.
NAMES = ("ncu", "nsys")
#: PyTorch's own observer is no program: the batch records itself.
OBSERVER = "et"
#: What `--cupti-profiler-metrics` may name in place of counters: Kineto's names for several
#: (https://github.com/pytorch/kineto/blob/662eb21b46c78626bfb80f0bbdbcab495a03b3a1/libkineto/src/CuptiRangeProfiler.cpp).
COUNTERS = {
    "kineto__cuda_core_flops": tuple(
        f"smsp__sass_thread_inst_executed_op_{kind}{operation}_pred_on.sum"
        for kind in "dhf"
        for operation in ("add", "fma", "mul")
    ),
    "kineto__tensor_core_insts": ("sm__inst_executed_pipe_tensor.sum",),
}


@dataclass(frozen=True)
class Tool:
    """A tool of a command line: its program, its further options, and how many calls it measures."""

    name: str
    program: str
    arguments: tuple[str, ...]
    warmup: int
    iterations: int

    def report(self, stem: Path) -> Path:
        """Return the file that is read, for a report whose name begins so."""
        return stem.with_name(stem.name + {"ncu": ".csv", "nsys": ".sqlite", OBSERVER: ".json"}[self.name])

    def command(self, stem: Path, behind: Sequence[str]) -> list[str]:
        """Return the words that start the tool on another command."""
        if self.name == OBSERVER:
            return list(behind)
        if self.name == "ncu":
            options = [
                *("--csv", "--page", "raw", "--print-units", "base", "--log-file", str(self.report(stem))),
                *("--nvtx", "--nvtx-include", FILTER, "--target-processes", "all"),
            ]
        else:
            options = ["profile", "--trace=cuda,nvtx", "--export=sqlite", "--force-overwrite=true", f"--output={stem}"]
        return [self.program, *options, *self.arguments, *behind]

    def complaints(self, stem: Path) -> list[str]:
        """Return the errors in the tool's own log, which ncu's report is as well."""
        report = self.report(stem)
        if self.name != "ncu" or not report.is_file():
            return []
        lines = report.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]

    @property
    def read(self) -> Callable[[Path], Launches]:
        """What reads a report."""
        if self.name == OBSERVER:
            return lambda report: {}
        return from_ncu if self.name == "ncu" else from_nsys


def choose_tools(options: argparse.Namespace) -> list[Tool]:
    """Return the tools that flags ask for; raises `InputError` for one that is not there.

    PARAM has PyTorch's profiler read counters, which it does on no CUDA above 12.6
    (https://github.com/pytorch/kineto/pull/1437): ncu reads the same ones, by the same names.
    """
    tools = [_tool(name, options, f"--{name}") for name in NAMES if getattr(options, name)]
    if reads_counters(options):
        counters = ("--metrics", ",".join(_counters(options.cupti_profiler_metrics)))
        tool = _tool("ncu", options, "--cupti-profiler")
        tools.append(replace(tool, arguments=(*counters, *tool.arguments)))
    return [*tools, *([Tool(OBSERVER, "", (), options.warmup, 1)] if options.et else [])]


def _counters(names: str) -> Iterator[str]:
    """Yield the counters of a list, separated by commas, of names of counters or of several.

    >>> list(_counters("kineto__tensor_core_insts,dram__bytes.sum"))
    ['sm__inst_executed_pipe_tensor.sum', 'dram__bytes.sum']
    """
    for name in filter(None, map(str.strip, names.split(","))):
        yield from COUNTERS.get(name, (name,))


def _tool(name: str, options: argparse.Namespace, option: str) -> Tool:
    program = locate(
        getattr(options, f"{name}_bin") or name,
        option=option,
        package=TOOLS[name].package,
        hint=f"it comes with NVIDIA's CUDA toolkit, and alone; say where it is with `--{name}-bin PATH`",
    )
    file = getattr(options, f"{name}_args_file")
    arguments = () if file is None else _words(Path(file), f"--{name}-args-file")
    iterations, warmup = getattr(options, f"{name}_iteration"), getattr(options, f"{name}_warmup")
    return Tool(name, program, arguments, warmup, iterations)


def _words(file: Path, flag: str) -> tuple[str, ...]:
    """Return the words of a file as a shell would split them."""
    try:
        return tuple(shlex.split(file.read_text(encoding="utf-8"), comments=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read `{file}` of `{flag}`: {error}", slug="input") from error
