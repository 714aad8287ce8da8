"""`torch.utils.benchmark` for your own script: change the import, keep the rest. Times are taken by opperf's rules.

    from opperf.compat.torch_benchmark import Compare, Fuzzer, Timer

`Timer`, `Measurement` and `Compare` are PyTorch's with opperf's clock, samples and doubts; the other names are
PyTorch's own. It needs PyTorch and nothing else.
"""

from torch.utils.benchmark import (
    CallgrindStats,
    Colorize,
    CopyIfCallgrind,
    FunctionCount,
    FunctionCounts,
    FuzzedParameter,
    FuzzedSparseTensor,
    FuzzedTensor,
    Fuzzer,
    Language,
    ParameterAlias,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    timer,
    trim_sigfig,
    unit_to_english,
)

from opperf.compat.torch_benchmark.counting import InstructionStats
from opperf.compat.torch_benchmark.measurement import Compare, Measurement
from opperf.compat.torch_benchmark.timing import Timer

__all__ = [
    "CallgrindStats",
    "Colorize",
    "Compare",
    "CopyIfCallgrind",
    "FunctionCount",
    "FunctionCounts",
    "FuzzedParameter",
    "FuzzedSparseTensor",
    "FuzzedTensor",
    "Fuzzer",
    "InstructionStats",
    "Language",
    "Measurement",
    "ParameterAlias",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
