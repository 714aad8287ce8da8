"""A side as a user writes it, one word and then settings.

    (framework[==version] | environment | python=PATH | implementation)[;key=value]...

torch                     torch where it imports, or in the environment that opperf builds
numpy==1.26.4             a version
mxnet-mkl==1.6.0          a flavour
python=/opt/mine/bin/python;framework=torch
git:v2.4.0;framework=numpy                      a commit that is built, in `compare` and `gate`
torch:aten::mm            an implementation
torch;threads=2;mode=compiled;dtype=float64;env.OMP_NUM_THREADS=1
mine.py:blocked;attribute.block=64
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from opperf.catalog.groups import GROUPS
from opperf.domain.code import Code, check_name, read_operator
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, check_known, unknown
from opperf.domain.plan import (
    ALLOCATORS,
    ATTRIBUTE,
    ENGINES,
    EXTRA_CALLS,
    HOW,
    LAYOUT,
    MODES,
    VARIABLE,
    Side,
    check_most,
)
from opperf.domain.registry import FRAMEWORKS, LAYER_LIBRARIES, framework, parse_device, split_implementation
from opperf.domain.tensor import parse_dtype
from opperf.parent.documents.environment import GIT, EnvironmentSpec
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.options import Where
from opperf.parent.workers.interpreters import suite_environment
from opperf.parent.workers.passwords import environment_of, hide_passwords

KEYS = (*HOW, "dtype", "framework")
#: What makes a side one with a known difference.
DIFFERENCES = (EXTRA_CALLS, LAYOUT)
#: What benchmark files of each tool are measured in. NumPy is what nearly all suites of asv need; it measures any call.
SUITE_FRAMEWORKS = {"asv": "numpy", "op_bench": "torch", "pytest": "numpy"}
HINT = "write torch, numpy==1.26.4, python=PATH;framework=torch or torch:aten::mm, then ;threads=2 and the like"


@dataclass(frozen=True)
class SideText:
    """A side that was read: where and how, and a dtype that overrides the case's on this side alone."""

    text: str
    side: Side
    dtype: str | None = None


def in_environment(side: Side, text: str) -> Side:
    """Return a side in another environment, which a user writes as `text`."""
    return replace(side, environment=environment_of(text).text)


def read_side(text: str) -> SideText:
    """Read a side from a file; raises `InputError` for unknown words and for code."""
    first = text.partition(";")[0].strip()
    if not first.startswith(GIT):
        check_name(first, "a side")
    return _read(text)


def parse_side(text: str, usual: Callable[[Code], str | None] = lambda code: None) -> SideText:
    """Read a side that the user names, whose implementation may be their own code; raises `InputError`.

    `usual` says which framework code is for, where the side does not.
    """
    first, *rest = text.split(";")
    if first.strip().startswith(GIT):
        return _read(text)
    operator_name = read_operator(first.strip())
    if isinstance(operator_name, Code) and operator_name.framework is None:
        keys = dict(_pair(word.strip(), text) for word in rest if word.strip())
        owner = keys.get("framework") or usual(operator_name)
        if owner is None:
            raise InputError(f"`{operator_name.name}` does not name its framework", hint="add `;framework=torch`")
        text = ";".join([f"{framework(owner).name}:{operator_name}", *rest])
    words = _read(text)
    name = words.side.implementation
    code = None if name is None else read_operator(f"{words.side.framework}:{name}")
    return replace(words, side=replace(words.side, implementation=code)) if isinstance(code, Code) else words


def _read(text: str) -> SideText:
    first, *rest = [word.strip() for word in text.split(";")]
    if not first:
        raise InputError(f"`{text}` is not a side", hint=HINT)
    keys = dict(_pair(word, text) for word in rest if word)
    name, environment, path = _place(first, keys.pop("framework", None))
    settings = {key: value for key, value in keys.items() if key not in KEYS}
    side = Side(
        framework=name,
        environment=environment,
        device=parse_device(keys.get("device", "cpu")),
        mode=_one_of(keys.get("mode", FRAMEWORKS[name].mode), MODES, "mode"),
        threads=_threads(keys.get("threads", "1")),
        implementation=path,
        engine=_one_of(keys.get("engine", "naive"), ENGINES, "engine"),
        allocator=_one_of(keys.get("allocator", "fixed"), ALLOCATORS, "allocator"),
        settings=settings,
    )
    for difference in DIFFERENCES:
        getattr(side, difference)  # what is none has one message, before anything is started
    dtype = keys.get("dtype")
    return SideText(hide_passwords(text), side, None if dtype is None else parse_dtype(dtype))


def _place(first: str, framework_name: str | None) -> tuple[str, str, str | None]:
    """Return framework, environment and implementation."""
    prefix, path = split_implementation(first)
    if prefix is not None:
        return prefix, "current", path
    if first in FRAMEWORKS:
        return first, "current", None
    spec = environment_of(first)
    name = framework_name or spec.framework
    if name is None:
        raise InputError(f"`{first}` does not name its framework", hint="add `;framework=torch`")
    return framework(name).name, spec.text, None


def _pair(word: str, text: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in word.partition("="))
    if not equals or not key or not value:
        raise InputError(f"`{word}` in `{text}`: expected key=value", hint=HINT)
    if key not in (*KEYS, *DIFFERENCES) and not key.startswith((VARIABLE, ATTRIBUTE)) and not text.startswith("null"):
        keys = (*KEYS, *DIFFERENCES)
        raise unknown("key", key, keys, hint=f"known: {', '.join(keys)}, {VARIABLE}NAME, {ATTRIBUTE}NAME")
    return key, value


def _one_of(value: str, names: tuple[str, ...], key: str) -> str:
    check_known(key, value, names)
    return value


def _threads(value: str) -> int:
    if not value.isdecimal() or len(value) > 18 or int(value) < 1:
        raise InputError(f"`threads={value}`: expected a whole number >= 1")
    check_most("threads", int(value), "threads")
    return int(value)


def frameworks(selection: Selection, importable: Sequence[str]) -> tuple[str, ...]:
    """Return the frameworks that are meant.

    Named ones first; then those that the environments or the operators' own names belong to; then what imports here.
    The names in a suite and in another tool's group count where no framework is named. Raises `InputError` where there
    is none at all.
    """
    names = [framework(name).name for name in selection.frameworks]
    prefixes = [name.framework if isinstance(name, Code) else _owner(name) for name in selection.operators]
    bound = [EnvironmentSpec.parse(text).framework for text in selection.environments]
    if selection.configs:
        from opperf.parent.planning.configs import configured_frameworks

        prefixes += configured_frameworks(selection.configs, explicit=bool(names) or any(bound))
    if not names:
        prefixes += [_owner(entry.case.operator) for entry in selection.suite_cases]
        members = [member for category in selection.categories for member in GROUPS.get(category, (category,))]
        prefixes += [_owner(member) for member in members]
    result = [*names, *(name for name in prefixes if name is not None)]
    if not names:
        result += [name for name in bound if name is not None]
        if selection.benchmarks and not result:
            result = [SUITE_FRAMEWORKS[files.kind] for files in selection.benchmarks]
        elif not result or (None in prefixes and not any(bound)):
            result += importable
    if not result:
        raise InputError(
            "no framework can be imported here",
            hint="name one: `--framework torch`; opperf builds its environment",
            slug="no_framework",
        )
    return tuple(dict.fromkeys(result))


def _owner(name: str) -> str | None:
    """Return the framework that a name says; None for a neutral name, and for a layer that several have."""
    prefix = split_implementation(name)[0]
    return None if prefix in LAYER_LIBRARIES else prefix


def sides(selection: Selection, names: Sequence[str]) -> tuple[Side, ...]:
    """Return the sides of these frameworks, on the CPU where no device is named; raises `InputError`."""
    for mode in selection.modes:
        check_known("mode", mode, MODES)
    check_known("engine", selection.engine, ENGINES)
    check_known("allocator", selection.allocator, ALLOCATORS)
    if selection.threads < 1:
        raise InputError(f"`--threads` is {selection.threads}, expected a whole number >= 1")
    check_most("--threads", selection.threads, "threads")
    places = list(map(parse_device, selection.named_devices)) or ["cpu"]
    return tuple(
        Side(
            framework=name,
            environment=environment,
            device=place,
            mode=mode,
            threads=selection.threads,
            engine=selection.engine,
            allocator=selection.allocator,
        )
        for name in names
        for environment in environments(selection, name)
        for place in places
        for mode in (selection.modes or (FRAMEWORKS[name].mode,))
    )


def plain_side(where: Where, name: str) -> Side:
    """Return the side of a framework that options name, each of them once at most; raises `InputError`."""
    devices = [parse_device(device) for device in where.device]
    how = Selection(
        devices=devices, modes=where.mode, threads=where.threads, engine=where.engine, allocator=where.allocator
    )
    (side,) = sides(how, (name,))
    return in_environment(side, where.environment[0]) if where.environment else side


def environments(selection: Selection, name: str) -> tuple[str, ...]:
    """Return the environments for one framework: those bound to it, else those bound to none.

    Else the current one, or one that has what the benchmark files' own settings list.
    """
    specs = [environment_of(text) for text in selection.environments]
    own = [spec.text for spec in specs if spec.framework == name]
    free = [spec.text for spec in specs if spec.framework is None]
    return tuple(own or (free if name != "null" else ()) or (suite_environment(name, selection.packages),))
