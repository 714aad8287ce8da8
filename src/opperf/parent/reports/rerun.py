"""The command that repeats one comparison.

A command is given only where it makes exactly the same case: what the command line cannot write, it does not write
nearly. It is there to be pasted, so what comes from a file or a database stands in it as a name or a public version:
never as code, an interpreter, a wheel, a setting or an option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from opperf.catalog import SIZES, catalog, operator
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.code import SuiteCode, refusal
from opperf.domain.errors import InputError
from opperf.domain.parameter import full_names
from opperf.domain.plan import HOW, ReadSide, Side
from opperf.domain.registry import BUILT_IN, FRAMEWORKS, full_name, split_implementation
from opperf.parent.documents.comparison import Comparison
from opperf.parent.documents.environment import GIT, EnvironmentSpec
from opperf.parent.sources.argument_text import argument_words
from opperf.parent.sources.user_inputs import case_with, foreign_case


def compare_command(comparison: Comparison, tolerance: float) -> str | None:
    """Return the `opperf compare` of one comparison, None where a command line cannot write it."""
    base, new = comparison.base, comparison.new
    if isinstance(base.implementation, SuiteCode) and base.spelling == new.spelling:
        sides = [_plain_word(base), _plain_word(new)]
    else:
        sides = [side_word(base), side_word(new)]
    case = _subject(comparison)
    if case is None or None in sides:
        return None
    words = [*case, "--base", str(sides[0]), "--new", str(sides[1]), "--direction", comparison.direction]
    return shlex.join(["opperf", "compare", *words, "--tolerance", f"{tolerance:g}"])


def run_command(comparison: Comparison, processes: int) -> str | None:
    """Return the `opperf run` command of a trial with an expectation, None where there is none."""
    side = comparison.new
    is_benchmark = isinstance(side.implementation, SuiteCode)
    case = _subject(comparison)
    if case is None or side.settings or side.framework not in BUILT_IN or not _may_be_pasted(side):
        return None
    if side.implementation is not None and not is_benchmark and split_implementation(case[0])[0] is None:
        case = [f"{side.framework}:{side.implementation}", *case[1:]]
    words = ["--framework", side.framework]
    if side.environment != "current":
        words += ["--environment", side.environment]
    words += [word for name, value in _unusual(side).items() for word in (f"--{name}", str(value))]
    words += ["--direction", comparison.direction, "--processes", str(processes)]
    return shlex.join(["opperf", "run", *case, *words])


def _subject(comparison: Comparison) -> list[str] | None:
    """Return the words that make exactly this case, None where none do."""
    files = comparison.new.implementation
    return _benchmark(files, comparison.case) if isinstance(files, SuiteCode) else case_words(comparison.case)


def _benchmark(files: SuiteCode, case: Case) -> list[str]:
    r"""Return the words that select exactly one benchmark of files which the user named.

    >>> _benchmark(SuiteCode("asv", "benchmarks"), Case("bench.time_sort", attributes={"n": 100}))
    ['asv:benchmarks', '--select', '^bench\\.time_sort\\(100\\)$']
    """
    return [str(files), "--select", f"^{re.escape(full_names(case)[0])}$"]


def _plain_word(side: Side) -> str | None:
    """Write a side that says nothing of what is measured; None for a commit, whose build another command says."""
    return None if side.environment.startswith(GIT) else side_word(replace(side, implementation=None))


def side_word(side: Side) -> str | None:
    """Write a side as `--base` reads it; None where it cannot be written.

    >>> side_word(Side("torch", "torch==2.12.0", threads=2))
    'torch==2.12.0;threads=2'
    >>> side_word(Side("torch", "torch + keras", implementation="keras.layers.Dense"))
    'torch + keras'
    """
    if side.framework not in BUILT_IN:  # a plugin brought it, of which a side says nothing
        return None
    if not _may_be_pasted(side):
        return None
    is_default = side.environment in ("current", side.framework)
    name = None if side.implementation is None else f"{side.framework}:{side.implementation}"
    if name is not None and full_name(side.framework, str(side.implementation)) != name:
        name = None  # a layer that other frameworks have too: the operator says which
    place = name or (side.framework if is_default else side.environment)
    if name is not None and not is_default:
        return None
    words = [place]
    if place.startswith("python="):
        words.append(f"framework={side.framework}")
    words += [f"{name}={value}" for name, value in _unusual(side).items()]
    words += [f"{key}={value}" for key, value in sorted(side.settings.items())]
    return None if any(";" in word for word in words) else ";".join(words)


def _may_be_pasted(side: Side) -> bool:
    """Whether a side may stand in a command: the user named it, or it is a name or a version, and no more."""
    if not isinstance(side, ReadSide):
        return True
    names = side.spelling is None or refusal(f"{side.framework}:{side.spelling}") is None
    return names and not side.settings and ";" not in side.device and EnvironmentSpec.parse(side.environment).is_public


#: A path inside a framework: whatever else stands in a name of a file stays out of commands.
_PLAIN = re.compile(r"[A-Za-z_][\w.:]*", re.ASCII)
#: The verbs and options of a command that a file may have: whoever pastes it measures, and runs nothing else.
_VERBS = ("run", "compare", "explore")
_OPTIONS = (
    *("--framework", "--environment", "--device", "--threads", "--dtype", "--direction", "--size", "--input"),
    *("--attribute", "--processes", "--objective", "--factor", "--dims", "--base", "--new", "--tolerance"),
)


def is_plain(command: str) -> bool:
    """Whether a command that stands in a file is one of opperf's own, of names, versions and inputs alone.

    >>> [is_plain(f"opperf run add {rest}") for rest in ("--framework torch", "--plugin x.py", "; curl evil", "| sh")]
    [True, False, False, False]
    """
    try:
        opperf, verb, operator, *words = shlex.split(command)
    except ValueError:
        return False
    values = words[1::2]
    is_ours = opperf == "opperf" and verb in _VERBS and shlex.join([opperf, verb, operator, *words]) == command
    if not is_ours or len(words) % 2 or not set(words[::2]) <= {*_OPTIONS}:
        return False
    places = [value for name, value in zip(words[::2], values) if name in ("--environment", "--base", "--new")]
    return _is_name(operator) and all(map(_is_name, values)) and all(map(_is_version, places))


def _is_name(text: str) -> bool:
    return refusal(text) is None and not text.startswith("-")


def _is_version(text: str) -> bool:
    """Whether an environment, or a side without options, is a framework's own or one public version."""
    with suppress(InputError):
        return split_implementation(text)[0] is not None or EnvironmentSpec.parse(text).is_public
    return False


def _unusual(side: Side) -> dict[str, object]:
    """Return the settings of a side that are not its framework's defaults."""
    usual = Side(side.framework, mode=FRAMEWORKS[side.framework].mode)
    return {name: getattr(side, name) for name in HOW if getattr(side, name) != getattr(usual, name)}


def case_words(case: Case) -> list[str] | None:
    """Return the operator and the options that make exactly this case, None where none do.

    >>> from opperf.catalog import operator
    >>> case_words(operator("add").case("small").with_dtype("float64"))
    ['add', '--size', 'small', '--dtype', 'float64']
    """
    if case.operator not in catalog() and not (_is_name(case.operator) and _PLAIN.fullmatch(case.operator)):
        return None
    dtypes = dict.fromkeys(["float32", *(tensor.dtype for tensor in case.tensors())])
    for spelling, words in _spellings(case) if case.operator in catalog() else _own_spelling(case):
        for dtype in dtypes:
            if restrict(spelling.with_dtype(dtype)).id == case.id:
                return [case.operator, *words, *(["--dtype", dtype] if dtype != "float32" else [])]
    return None


def _spellings(case: Case) -> Iterator[tuple[Case, list[str]]]:
    """Yield cases that a command line can make of this operator, each with its options: the shortest first."""
    definition = operator(case.operator)
    for size in ("common", *(size for size in SIZES if size != "common")):
        yield definition.case(size), [] if size == "common" else ["--size", size]
    texts = argument_words(case, definition.case("common").inputs)
    with suppress(InputError):
        yield case_with(definition, texts), _options(case, texts)


def _own_spelling(case: Case) -> Iterator[tuple[Case, list[str]]]:
    """Yield what a command line makes of a case of a framework's own function."""
    texts = argument_words(case)
    inputs, attributes = ({name: texts[name] for name in part} for part in (case.inputs, case.attributes))
    with suppress(InputError):
        yield foreign_case(case.operator, inputs, attributes), _options(case, texts)


def _options(case: Case, texts: Mapping[str, str]) -> list[str]:
    inputs = [word for name in case.inputs for word in ("--input", f"{name}={texts[name]}")]
    return inputs + [word for name in case.attributes for word in ("--attribute", f"{name}={texts[name]}")]
