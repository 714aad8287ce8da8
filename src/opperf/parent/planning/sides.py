"""Which sides a selection means: frameworks, each in its environments, on its devices, in its modes."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.catalog.groups import GROUPS
from opperf.domain.code import Code
from opperf.domain.environment import EnvironmentSpec
from opperf.domain.errors import InputError, check_known
from opperf.domain.plan import ALLOCATORS, ENGINES, MODES, Side, check_most
from opperf.domain.registry import FRAMEWORKS, device_named, framework, split_implementation
from opperf.parent.planning.configs import configured_frameworks
from opperf.parent.planning.selection import Selection


def frameworks(selection: Selection, importable: Sequence[str]) -> tuple[str, ...]:
    """Return the frameworks that are meant.

    Named ones first; then those that the environments or the operators' own names belong to; then what imports here.
    The names in a suite and in another tool's group count where no framework is named. Raises `InputError` where there
    is none at all.
    """
    names = [framework(name).name for name in selection.frameworks]
    prefixed = [
        name.framework if isinstance(name, Code) else split_implementation(name)[0] for name in selection.operators
    ]
    bound = [EnvironmentSpec.parse(text).framework for text in selection.environments]
    prefixed += configured_frameworks(selection.configs, named=bool(names) or any(bound))
    if not names:
        prefixed += [split_implementation(entry.case.operator)[0] for entry in selection.suite_cases]
        members = [member for category in selection.categories for member in GROUPS.get(category, (category,))]
        prefixed += [split_implementation(member)[0] for member in members]
    result = [*names, *(name for name in prefixed if name is not None)]
    if not names:
        result += [name for name in bound if name is not None]
        if not result or (None in prefixed and not any(bound)):
            result += importable
    if not result:
        raise InputError(
            "no framework can be imported here",
            hint="name one: `--framework torch`; opperf builds its environment",
            slug="no_framework",
        )
    return tuple(dict.fromkeys(result))


def sides(selection: Selection, names: Sequence[str]) -> tuple[Side, ...]:
    """Return the sides of these frameworks, on the CPU where no device is named; raises `InputError`."""
    for mode in selection.modes:
        check_known("mode", mode, MODES)
    check_known("engine", selection.engine, ENGINES)
    check_known("allocator", selection.allocator, ALLOCATORS)
    if selection.threads < 1:
        raise InputError(f"`--threads` is {selection.threads}, expected a whole number >= 1")
    check_most("--threads", selection.threads, "threads")
    places = [device_named(text) for text in selection.devices] or ["cpu"]
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


def environments(selection: Selection, name: str) -> tuple[str, ...]:
    """Return the environments for one framework: those bound to it, else those bound to none, else the current one."""
    specs = [EnvironmentSpec.parse(text) for text in selection.environments]
    own = [spec.text for spec in specs if spec.framework == name]
    free = [spec.text for spec in specs if spec.framework is None]
    return tuple(own or (free if name != "null" else ()) or ("current",))
