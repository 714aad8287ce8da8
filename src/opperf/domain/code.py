"""The user's own code as a distinct type: a child may load code that a user names, never code that a file names.

A suite, a config, a trace, a record hold the names of operators, and a name is a `str`: a framework finds an operator
of its own by it, or nothing. `Code` alone is loaded. It is made of what somebody writes on the command line or gives to
a function of the library (`read_operator`), and of what a plugin declares that they named; a child takes it from its
parent in a field of its own. So a reader of files that forgets about code has made a name of it, whichever way it is
spelled.
"""

from __future__ import annotations

import re
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import FRAMEWORKS, split_implementation

#: The prefix of an implementation that is the user's own code, in records and sides.
MARK = "code:"
_FUNCTION = re.compile(r"([A-Za-z_]\w*(\.[A-Za-z_]\w*)*|[^:]+\.py):[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class Code:
    """A function of the user's own: `module:function`, or `file.py:function`.

    Its text is how records spell it. `framework` is the one that it was named for, where one was.

    >>> str(Code("my_kernels:fast_softmax"))
    'code:my_kernels:fast_softmax'
    """

    name: str
    framework: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{MARK}{self.name}"


def read_operator(text: str) -> str | Code:
    """Return the operator that a user names. Never called for a name from a file.

    >>> read_operator("add"), read_operator("torch:aten::add"), read_operator("mine.py:f")
    ('add', 'torch:aten::add', Code(name='mine.py:f', framework=None))
    >>> read_operator("array_api:dpnp")
    'array_api:dpnp'
    >>> read_operator("torch:code:mine.py:f").framework
    'torch'
    """
    framework, path = split_implementation(text)
    if text in FRAMEWORKS or (framework is not None and not path.startswith(MARK)):
        return text
    name = path.removeprefix(MARK)
    return Code(name, framework) if _FUNCTION.fullmatch(name) else text


def is_code(text: str) -> bool:
    """Whether a name means a function of the user's own.

    >>> is_code("my_kernels:fast_softmax"), is_code("torch:torch.add"), is_code("add")
    (True, False, False)
    """
    return isinstance(read_operator(text), Code)


#: How a problem of each format is named.
PROBLEM_EXAMPLES = {
    "kernelbench": "kernelbench:KernelBench/level1/23_Softmax.py",
    "gpumode": "gpumode:problems/pmpp_v2/sort_py",
    "flashinfer": "flashinfer:examples/rmsnorm/definition.json",
    "backendbench": "backendbench:generated_kernels/add__Tensor",
}
#: The formats of problems that a user can name.
PROBLEM_KINDS = tuple(PROBLEM_EXAMPLES)


@dataclass(frozen=True)
class ProblemCode:
    """A problem in a format of others, whose files are code: `kind` is the format, `path` its file or folder.

    >>> str(ProblemCode("kernelbench", "level1/23_Softmax.py"))
    'kernelbench:level1/23_Softmax.py'
    """

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"


def read_problem(text: str) -> ProblemCode | str | Code:
    """Return the problem that a user names, else the operator. Never called for a name from a file.

    Raises `InputError` for a format without a path.

    >>> read_problem("flashinfer:gemm/definition.json")
    ProblemCode(kind='flashinfer', path='gemm/definition.json')
    >>> read_problem("softmax"), read_problem("mine.py:f")
    ('softmax', Code(name='mine.py:f', framework=None))
    """
    kind, _, path = text.partition(":")
    if kind not in PROBLEM_KINDS:
        return read_operator(text)
    if not path:
        raise InputError(
            f"`{text}` names no problem, expected a path behind `{kind}:`",
            hint=f"write, for example, `{PROBLEM_EXAMPLES[kind]}`",
        )
    return ProblemCode(kind, path)


#: How the benchmark files of each tool are named.
SUITE_EXAMPLES = {
    "asv": "asv:benchmarks/",
    "op_bench": "op_bench:pt/add_test.py",
    "pytest": "pytest:tests/bench",
}


#: What benchmarks of asv tell, by how the last part of their name begins, as asv itself has it; of others the time is
#: measured.
_OWN_METRICS = {
    "tracked": r"Track[A-Z_].+|track_.+",
    "process_peak": r"PeakMem[A-Z_].+|peakmem_.+",
    "object_size": r"Mem[A-Z_].+|mem_.+",
    "time_raw": r"Timeraw[A-Z_].+|timeraw_.+",
}


def own_metric(implementation: object, operator: str) -> str | None:
    """Return the metric that a benchmark tells by itself, None where its time is measured; a record's label will do.

    >>> own_metric("asv:benchmarks", "bench.Fit.track_error"), own_metric("asv:benchmarks", "bench.time_fit")
    ('tracked', None)
    """
    if not str(implementation).startswith("asv:"):
        return None
    last = operator.rpartition(".")[2]
    return next((metric for metric, pattern in _OWN_METRICS.items() if re.match(pattern, last)), None)


@dataclass(frozen=True)
class SuiteCode:
    """Benchmark files of another tool, which are code: `kind` is the tool, `path` its folder, or its file.

    `library` is a folder with the tool's own package, for an environment that lacks it. A `member` is a file of a
    folder that the user named: others go on where it cannot be loaded. `home` is the folder that the path is in, where
    it is not the one that the command was given in. `shared` is a folder of all that the command starts on a machine.

    >>> str(SuiteCode("asv", "benchmarks"))
    'asv:benchmarks'
    """

    kind: str
    path: str
    library: str | None = field(default=None, compare=False)
    member: bool = field(default=False, compare=False)
    home: str | None = field(default=None, compare=False)
    shared: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}"


def read_suite_code(text: str) -> SuiteCode | None:
    """Return the benchmark files that a user names, None for anything else. Never called for a name from a file.

    Raises `InputError` for a tool without a path.

    >>> str(read_suite_code("asv:benchmarks/")), read_suite_code("softmax")
    ('asv:benchmarks/', None)
    """
    kind, _, path = text.partition(":")
    if kind not in SUITE_EXAMPLES:
        return None
    if not path:
        hint = f"write, for example, `{SUITE_EXAMPLES[kind]}`"
        raise InputError(f"`{text}` names no benchmarks, expected a folder behind `{kind}:`", hint=hint)
    return SuiteCode(kind, path)


def is_suite(implementation: object) -> bool:
    """Whether an implementation is files of benchmarks; a record's label will do.

    >>> is_suite("asv:benchmarks"), is_suite("aten::mm"), is_suite(None)
    (True, False, False)
    """
    return str(implementation).partition(":")[0] in SUITE_EXAMPLES


def own_name(implementation: object) -> str | None:
    """Return the name of the user's own function, None for a framework's operator; a record's label will do.

    >>> own_name("code:mine.py:f"), own_name("aten::add")
    ('mine.py:f', None)
    """
    text = str(implementation)
    return text.removeprefix(MARK) if text.startswith(MARK) else None


def refusal(name: str) -> tuple[str, str] | None:
    """Return why the name of an operator in a file is refused, and a hint; None for one that is not spelled as code.

    Without this check the name would just not be found; the error explains why it is refused.
    """
    path = name
    for _ in range(2):  # a reader may have put a framework before a name that has one
        path = split_implementation(path)[1] if path.partition(":")[2] else path
    spelled = path.startswith((MARK, *(f"{kind}:" for kind in SUITE_EXAMPLES))) or _FUNCTION.fullmatch(path)
    if name in FRAMEWORKS or not spelled:
        return None
    message = f"`{name}` is code, and a file does not say which code is run"
    plugin = "" if path.partition(":")[0] in SUITE_EXAMPLES else ", or `--plugin FILE`"
    return message, f"name it yourself: `{path.removeprefix(MARK)}` on the command line{plugin}"


def check_name(name: str, where: str) -> None:
    """Raise `InputError` for the name of an operator in a file that is spelled as code."""
    reason = refusal(name)
    if reason is not None:
        raise InputError(f"{where}: {reason[0]}", hint=reason[1], slug="code_in_file")
