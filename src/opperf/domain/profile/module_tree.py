"""A profile by the modules of a model: what each costs forward, backward and in the optimizer, with all below it.

* A row includes the modules within its module. What is deeper than the table shows counts where the table ends.
* Layers of one list that are equal, as far as the profile tells, are one row: `Net.layers.*` stands for all of them,
  `Net.layers.{0,2}` for some. They are equal if the same operators run in modules of the same names, with as many
  parameters.
* `between` is time in a module, in a backward or in an optimizer in which no operator ran: Python and the framework's
  dispatcher. What lies outside of every span, from the first call of a module on, is that of `(no module)`.
* An optimizer updates all parameters together, so that its time is shared out by their number where that is known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Event, Profile, highest_peaks, in_time, own_times, parents, union
from opperf.domain.profile.repetition import OPTIMIZER

#: What the facts of a process call the number of trainable parameters that each module has for itself.
PARAMETERS = "parameters"
#: The rows of what belongs to no module.
NO_MODULE, OPTIMIZER_ROW = "(no module)", "(optimizer)"
PHASES = ("forward", "backward", "recomputed", "optimizer")
#: A member of a list: the list's name, and the member's number.
_MEMBER = re.compile(r"(.*\.|)(\d+)$")


@dataclass(frozen=True)
class ModuleRow:
    """A module with all within it, or several equal ones: seconds of operators by phase, and between operators.

    `modules` were summed up, which were called `calls` times; `operators` ran in them. `share` is the part of `total`,
    the sum of all times, in that of the whole profile. `allocated` are bytes, `at_peak` those of them that were alive
    at the peak of memory, `parameters` trainable numbers; None
    where that was not recorded. `device` is time of kernels.
    """

    name: str
    level: int
    modules: int
    calls: int
    operators: int
    forward: float
    backward: float
    recomputed: float
    optimizer: float
    between: float
    total: float
    share: float | None
    allocated: int | None = None
    at_peak: int | None = None
    device: float | None = None
    parameters: int | None = None


@dataclass
class _Node:
    """A module, or all that became one row: what it has for itself, in nanoseconds, and the modules right within it."""

    below: dict[str, _Node] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    times: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def signature(self) -> tuple[object, ...]:
        """Return a value that equal modules have in common; those below have been joined before."""
        return (
            frozenset(self.names),
            self.counts.get(PARAMETERS, 0),
            frozenset((name, child.signature()) for name, child in self.below.items()),
        )

    def absorb(self, twin: _Node) -> None:
        """Take over what an equal module has."""
        self.names |= twin.names
        self.paths |= twin.paths
        for key, time in twin.times.items():
            self.times[key] += time
        for key, count in twin.counts.items():
            self.counts[key] += count
        for name, child in twin.below.items():
            self.below.setdefault(name, _Node()).absorb(child)

    def whole(self) -> _Node:
        """Return the sums over this module and all within it."""
        result = _Node()
        for node in (self, *(child.whole() for child in self.below.values())):
            result.absorb(_Node(paths=node.paths, times=node.times, counts=node.counts))
        return result


def module_rows(profile: Profile, depth: int | None = None) -> tuple[ModuleRow, ...]:
    """Return a row for each module down to a depth, each followed by those within it, the longest first.

    >>> spans = [Event("Net", "module", 0, 100, 1, "main"), Event("mm", "operator", 10, 60, 1, "main", module="Net.fc")]
    >>> [(row.name, round(row.forward * 1e9), round(row.between * 1e9)) for row in module_rows(Profile(tuple(spans)))]
    [('Net', 60, 40), ('Net.fc', 60, 0)]
    """
    root = _tree(profile)
    _join_layers(root)
    _share_optimizer(root)
    profiled = sum(root.whole().times[key] for key in (*PHASES, "between"))
    return tuple(_rows(root, "", 1, depth, profiled))


def labels(profile: Profile) -> Mapping[str, str]:
    """Return the name of each module's row by its path."""
    root = _tree(profile)
    _join_layers(root)
    return dict(_labels(root, ""))


def _labels(node: _Node, name: str) -> Iterator[tuple[str, str]]:
    for path in node.paths:
        yield path, name
    for level, child in node.below.items():
        yield from _labels(child, f"{name}.{level}".lstrip("."))


def has_modules(profile: Profile) -> bool:
    """Whether a profile knows of any operator, or of any span, which module it is of."""
    return any(event.module or event.kind == "module" for event in profile.events)


def _tree(profile: Profile) -> _Node:
    """Return the modules below one node that is none, with what each has for itself."""
    spans = profile.of_kind("operator", "module", "task", "api")
    above = parents(spans)
    in_optimizer = _within_optimizer(spans, above)
    facts = _parameters(profile)
    blocks = highest_peaks(profile.blocks)
    paths = {
        *facts,
        *(one.module for one in blocks),
        *(_module(event) for event in profile.of_kind("operator", "module", "kernel", "task")),
    }
    levels = _levels(paths - {""}, {_module(event) for event in spans})
    root = _Node()
    for place, time in enumerate(own_times(spans)):
        event = spans[place]
        node = _descend(root, levels, _module(event), in_optimizer[place])
        _add(node, event, time, in_optimizer[place])
    for event, allocated in _own_allocations(spans, above):
        _descend(root, levels, _module(event), False).counts["allocated"] += allocated
    for event in profile.of_kind("kernel"):
        _descend(root, levels, event.module, False).times["device"] += event.duration
    for block in blocks:
        _descend(root, levels, block.module, False).counts["at peak"] += block.size
    for path, count in facts.items():
        _descend(root, levels, path, False).counts[PARAMETERS] += count
    root.below.setdefault(NO_MODULE, _Node()).times["between"] += _outside(profile)
    return root


def _module(event: Event) -> str:
    return event.name if event.kind == "module" else event.module


def _within_optimizer(spans: Sequence[Event], above: Sequence[int | None]) -> list[bool]:
    """Return for each span whether it is part of a step of an optimizer."""
    result = [False] * len(spans)
    for place in sorted(range(len(spans)), key=lambda place: in_time(spans[place])):
        outer = above[place]
        result[place] = bool(OPTIMIZER.match(spans[place].name)) or (outer is not None and result[outer])
    return result


def _levels(paths: Iterable[str], called: set[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the levels of each path: what is only a list of modules is no level, its members are."""
    result = {}
    for path in paths:
        levels: list[str] = []
        names: list[str] = []
        for place, name in enumerate(parts := path.split(".")):
            names.append(name)
            is_called = ".".join(parts[: place + 1]) in called
            is_member = len(names) > 1 and bool(_MEMBER.fullmatch(name))
            if not levels or place == len(parts) - 1 or is_called or is_member:
                levels.append(".".join(names))
                names = []
        result[path] = tuple(levels)
    return result


def _descend(root: _Node, levels: Mapping[str, tuple[str, ...]], path: str, optimizer: bool) -> _Node:
    """Return the node of a module; what an optimizer runs is of none."""
    if optimizer or not path:
        return root.below.setdefault(OPTIMIZER_ROW if optimizer else NO_MODULE, _Node())
    node = root
    for name in levels[path]:
        node = node.below.setdefault(name, _Node())
    node.paths.add(path)
    return node


def _add(node: _Node, event: Event, time: int, optimizer: bool) -> None:
    """Add a span to its module: what ran, or what lies between."""
    if event.kind != "operator":
        node.times["between"] += time
        node.counts["calls"] += event.kind == "module"
        return
    phase = "optimizer" if optimizer else event.phase or "forward"
    node.times[phase] += time
    node.counts["operators"] += 1
    if phase == "forward":
        node.names.add(event.name)


def _own_allocations(spans: Sequence[Event], above: Sequence[int | None]) -> Iterator[tuple[Event, int]]:
    """Yield the spans that memory was counted for, each with the bytes that none within it allocated."""
    sizes = [event.allocated or 0 for event in spans]
    for event, outer in zip(spans, above):
        if outer is not None:
            sizes[outer] -= event.allocated or 0
    for event, size in zip(spans, sizes):
        if event.allocated is not None:
            yield event, max(0, size)


def _parameters(profile: Profile) -> Mapping[str, int]:
    result: dict[str, int] = {}
    for facts in profile.processes.values():
        counts = facts.get(PARAMETERS)
        for path, count in counts.items() if isinstance(counts, Mapping) else ():
            result[str(path)] = max(result.get(str(path), 0), int(count))
    return result


def _outside(profile: Profile) -> int:
    """Return the nanoseconds in which the busiest thread of each process was in no span, while it was watched.

    What comes before the first call of a module is initialisation.
    """
    threads: dict[int, dict[str, list[Event]]] = defaultdict(lambda: defaultdict(list))
    for event in profile.of_kind("operator", "module", "task", "api"):
        threads[event.process][event.thread].append(event)
    total = 0
    for process, spans in threads.items():
        busiest = max(spans.values(), key=len)
        begin = min((one.begin for one in busiest if one.kind == "module"), default=min(one.begin for one in busiest))
        end = max(one.end for one in busiest)
        ran = union((max(begin, one.begin), one.end) for one in busiest)
        total += max(0, profile.watched(begin, end, process) - ran)
    return total


def _join_layers(node: _Node) -> None:
    """Join the members of each list that are equal, from the innermost modules outwards."""
    for child in node.below.values():
        _join_layers(child)
    lists: dict[str, dict[int, _Node]] = defaultdict(dict)
    for name, child in node.below.items():
        if member := _MEMBER.fullmatch(name):
            lists[member[1]][int(member[2])] = child
    for stem, members in lists.items():
        equal: dict[object, list[int]] = defaultdict(list)
        for number, child in sorted(members.items()):
            equal[child.signature()].append(number)
        for numbers in equal.values():
            if len(numbers) < 2:
                continue
            label = "*" if len(numbers) == len(members) else f"{{{','.join(map(str, numbers))}}}"
            joined = node.below[stem + label] = _Node()
            for number in numbers:
                joined.absorb(members[number])
                del node.below[f"{stem}{number}"]


def _share_optimizer(root: _Node) -> None:
    """Share out the time of optimizers by parameters, where the modules are known that have them."""
    owners = [node for node in _nodes(root) if node.counts.get(PARAMETERS)]
    parameters = sum(node.counts[PARAMETERS] for node in owners)
    if not parameters or OPTIMIZER_ROW not in root.below:
        return
    optimizer = root.below.pop(OPTIMIZER_ROW)
    for node in owners:
        part = node.counts[PARAMETERS] / parameters
        for key in ("optimizer", "between"):
            node.times[key] += optimizer.times[key] * part


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.below.values():
        yield from _nodes(child)


def _rows(node: _Node, path: str, level: int, depth: int | None, profiled: float) -> Iterator[ModuleRow]:
    rows = [(_row(child, f"{path}.{name}".lstrip("."), level, profiled), name) for name, child in node.below.items()]
    for row, name in sorted(rows, key=lambda pair: (pair[1] in (NO_MODULE, OPTIMIZER_ROW), -pair[0].total, pair[1])):
        if row.total or row.operators:
            yield row
            if depth is None or level < depth:
                yield from _rows(node.below[name], row.name, level + 1, depth, profiled)


def _row(node: _Node, name: str, level: int, profiled: float) -> ModuleRow:
    sums = node.whole()
    phases = {phase: sums.times[phase] / 1e9 for phase in PHASES}
    between = sums.times["between"] / 1e9
    total = sum(phases.values()) + between
    return ModuleRow(
        name=name,
        level=level,
        modules=len(node.paths),
        calls=node.counts["calls"],
        operators=sums.counts["operators"],
        **phases,
        between=between,
        total=total,
        share=total * 1e9 / profiled if profiled else None,
        allocated=sums.counts.get("allocated"),
        at_peak=sums.counts.get("at peak"),
        device=sums.times["device"] / 1e9 if "device" in sums.times else None,
        parameters=sums.counts.get(PARAMETERS),
    )
