"""From trace files to cases: the operators that a program called itself, merged where calls are alike.

An operator that another one called is part of that one, and not counted again. Under autocast an operator calls itself
with inputs of another type: there the casts and that call are what is run again. A file is read twice: once for who
called whom, once for the calls themselves.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from opperf.catalog.valid_values import restrict
from opperf.domain.case import Argument, Case, tensors_of
from opperf.domain.code import check_name
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near
from opperf.domain.suite import LeftOut
from opperf.param.problems import MOST_NAMES, quote
from opperf.parent.documents.trace import Between, Device, Spent, Trace, TracedCase, Way
from opperf.parent.sources.execution_trace.argument import Elements, Parameter, Unknown, arguments, signature
from opperf.parent.sources.execution_trace.durations import Durations, join
from opperf.parent.sources.execution_trace.kineto import Recording, read_kineto
from opperf.parent.sources.execution_trace.kineto_nodes import Schemas, nodes_of
from opperf.parent.sources.execution_trace.node import STEP, Node, check, nodes

#: What the names of nodes begin with that stand for a process or a thread.
ROOTS = "[pytorch"
#: Operators that need other processes, by the start of their names.
COMMUNICATION = ("c10d::", "_c10d_functional::", "_c10d_functional_autograd::", "record_param_comms", "nccl:")
#: Notes to PyTorch's own memory management, which compute nothing.
BOOKKEEPING = ("aten::record_stream",)
#: A Kineto trace that has the time of a smaller share of the calls is not of the same run, or of another part of it.
LEAST_JOINED = 0.5


@dataclass
class Tree:
    """The call tree of one file: the parent of each node, which nodes compute, and where steps begin.

    `launched` has the seconds on a device of the work that a node launched itself; `called` what operators are, and the
    types of what they were called with, both as hashes.
    """

    parents: dict[int, int] = field(default_factory=dict)
    operators: set[int] = field(default_factory=set)
    inside: set[int] = field(default_factory=set)
    labels: dict[str, None] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    launched: dict[int, float] = field(default_factory=dict)
    called: dict[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Iterable[Node], subgraph: str | None, durations: Durations | None) -> Tree:
        """Go through the nodes of a program; those called `subgraph` are remembered."""
        tree = cls()
        for node in program:
            tree.parents[node.id] = node.parent
            if node.is_operator:
                tree.operators.add(node.id)
                tree.called[node.id] = hash(node.schema), hash(tuple(map(str, node.types)))
            elif not node.name.startswith(ROOTS):
                tree.labels[node.name] = None
            if node.name.startswith(STEP):
                tree.steps.append(node.id)
            if subgraph is not None and node.name == subgraph:
                tree.inside.add(node.id)
            if durations is not None and node.id in durations.launched:
                tree.launched[node.id] = durations.launched[node.id]
        tree.steps.sort()
        tree.operators -= tree.autocast()
        return tree

    def autocast(self) -> set[int]:
        """Return the operators that autocast took the call of: they cast, and call themselves with other types."""
        nodes = set()
        for node, (operator, types) in self.called.items():
            caller = self.parents[node]
            above, others = self.called.get(caller, (None, None))
            if caller != node and above == operator and others != types:
                nodes.add(caller)
        return nodes

    def above(self, node: int) -> Iterator[int]:
        """Yield the callers of a node up to the root; those of a damaged file may form a cycle."""
        nodes = {node}
        while (node := self.parents.get(node, node)) not in nodes:
            nodes.add(node)
            yield node

    def on_device(self, *, each: bool = False) -> Mapping[int, float]:
        """Return the seconds on a device of each operator that no other one called, with what was called inside.

        With `each`, those of all operators.
        """
        times: dict[int, float] = {}
        for node, seconds in self.launched.items():
            callers = [caller for caller in (node, *self.above(node)) if caller in self.operators]
            for caller in callers if each else callers[-1:]:
                times[caller] = times.get(caller, 0.0) + seconds
        return times

    def is_wanted(self, node: Node, subgraph: str | None, steps: tuple[int, int] | None) -> bool:
        """Whether a node computes, was not called by an operator, and is in the requested part."""
        if node.id not in self.operators or any(other in self.operators for other in self.above(node.id)):
            return False
        return self._is_part(node.id, subgraph, steps)

    def _is_part(self, node: int, subgraph: str | None, steps: tuple[int, int] | None) -> bool:
        if subgraph is not None and not any(other in self.inside for other in self.above(node)):
            return False
        return steps is None or self._begins(steps[0]) <= node < self._begins(steps[1])

    def ways(
        self,
        names: Mapping[int, str],
        times: Mapping[int, float],
        subgraph: str | None,
        steps: tuple[int, int] | None,
    ) -> Iterator[tuple[Way, float]]:
        """Yield the way to each operator of the requested part, and what it took without those that it called.

        `times` are those of operators with all that they called; `names` lack what is no part of the program.
        """
        inside: dict[int, float] = {}
        for node in self.operators:
            caller = next((caller for caller in self.above(node) if caller in self.operators), None)
            if caller is not None:
                inside[caller] = inside.get(caller, 0.0) + times.get(node, 0.0)
        for node in sorted(self.operators):
            chain = [node, *self.above(node)][::-1]
            if self._is_part(next(caller for caller in chain if caller in self.operators), subgraph, steps):
                kinds = ("operator" if caller in self.operators else "label" for caller in chain)
                way = tuple((names[caller], kind) for caller, kind in zip(chain, kinds) if caller in names)
                yield way, max(times.get(node, 0.0) - inside.get(node, 0.0), 0.0)

    def _begins(self, step: int) -> float:
        """Return the node at which a step begins: nodes are numbered in the order in which they began."""
        return self.steps[step] if step < len(self.steps) else float("inf")


@dataclass
class Tally:
    """How often something ran, and for how long if recorded."""

    count: int = 0
    recorded: float | None = None

    def add(self, seconds: float | None) -> None:
        """Count one call."""
        self.count += 1
        if seconds is not None:
            self.recorded = seconds + (self.recorded or 0.0)


@dataclass
class Spans:
    """When calls ran, in seconds: of each the beginning and the end. `whole` while that is known of every call."""

    calls: list[tuple[float, float]] = field(default_factory=list)
    whole: bool = True

    def add(self, node: Node, durations: Durations | None) -> None:
        """Take one call."""
        if durations is None or node.id not in durations.begins:
            self.whole = False
        elif self.whole:
            begin = durations.begins[node.id]
            self.calls.append((begin, begin + durations.host[node.id]))

    def idle(self) -> Between | None:
        """Return when no call ran, on any thread; None where that is not known."""
        if not self.whole or not self.calls:
            return None
        self.calls.sort()
        first, end = self.calls[0][0], self.calls[0][0]
        gaps = 0.0
        for begin, finish in self.calls:
            gaps += max(0.0, begin - end)
            end = max(end, finish)
        return Between(gaps, end - first)


@dataclass
class Match:
    """How many of the requested calls a Kineto trace has, and how they were matched."""

    calls: int = 0
    timed: int = 0
    way: str = ""

    def __str__(self) -> str:
        return f"{self.timed} of {self.calls} calls by {self.way}"

    def add(self, node: Node, durations: Durations | None) -> None:
        """Count one call."""
        if durations is not None:
            self.calls += 1
            self.timed += node.id in durations.host
            self.way = durations.way

    def check(self, path: Path) -> None:
        """Raise `InputError` for a Kineto trace that has too few of the calls to be of the same run."""
        if self.timed < LEAST_JOINED * self.calls:
            raise InputError(
                f"{path}: has only {self.timed} of the {self.calls} calls of the trace, matched by {self.way}",
                hint="name the Kineto trace of the same run, choose the steps that it has with `--iterations`, or "
                "leave out `--kineto`",
                slug="bad_trace",
            )


def read_traces(
    paths: Sequence[Path],
    *,
    subgraph: str | None = None,
    steps: tuple[int, int] | None = None,
    kineto: Recording | None = None,
    schemas: Schemas | None = None,
    with_ways: bool = False,
) -> Trace:
    """Return the operators of trace files: of execution traces, or of one Kineto trace, for which `schemas` are needed.

    `subgraph` is a label (of `record_function`, or of a step) to stay below; `steps` the first profiler step that is
    taken, and the first that is not, counted from 0; `kineto` says how long calls took. Raises `InputError` for a file
    that is no trace or is damaged, for a part that none of the files has, and for a Kineto trace of another run.
    """
    alone = [path for path in paths if check(path)]
    if alone:
        if len(paths) > 1 or kineto is not None or schemas is None:
            raise InputError(
                f"{alone[0]}: this is a Kineto (Chrome) trace, which is replayed alone",
                hint=f"give no other trace, or this one with an execution trace: `--kineto {alone[0]}`",
                slug="bad_trace",
            )
        kineto = read_kineto(alone[0], details=True)
    cases: dict[Case, Tally] = {}
    left_out: dict[tuple[str, str], Tally] = {}
    labels: dict[str, None] = {}
    ways: dict[Way, Spent] = {}
    counts = []
    assumed: Counter[tuple[str, ...]] = Counter()
    match, clock = Match(), "host" if kineto is None else kineto.clock
    spans = Spans(whole=subgraph is None and clock == "host")  # the rest of a device's time is not between operators
    for path in paths:
        program, durations = _program(path, kineto, schemas if alone else None)
        tree = Tree.of(program, subgraph, durations)
        labels |= tree.labels
        counts.append(len(tree.steps))
        # A Kineto trace has none beside it.
        elements = Elements(path, frozenset()) if alone else Elements.find(path)
        on_device = tree.on_device()
        if with_ways:
            names = {node.id: _name(node.name) for node in program if not node.name.startswith(ROOTS)}
            times = tree.on_device(each=True) if clock == "device" else {} if durations is None else durations.host
            for way, own in tree.ways(names, times, subgraph, steps):
                spent = ways.get(way, Spent())
                ways[way] = Spent(spent.calls + 1, spent.seconds + own)
        for node in program:
            check_name(node.schema.partition("(")[0].strip(), f"{path}: node {node.id}")
            if not tree.is_wanted(node, subgraph, steps):
                continue
            case, seconds = _case(node, elements), _record(node, durations, on_device, clock)
            if isinstance(case, Case):
                cases.setdefault(case, Tally()).add(seconds)
                if node.assumed:
                    assumed.update([(node.name, *node.assumed)])
            else:
                left_out.setdefault((node.name, str(case)), Tally()).add(seconds)
            match.add(node, durations)
            spans.add(node, durations)
    if not cases and not left_out:
        _refuse_nothing(subgraph, steps, labels, max(counts))
    if kineto is not None:
        match.check(kineto.path)
    return Trace(
        source=", ".join(path.name for path in paths),
        cases=tuple(TracedCase(case, count.count, count.recorded) for case, count in cases.items()),
        left_out=tuple(LeftOut(name, count.count, why, count.recorded) for (name, why), count in left_out.items()),
        clock=clock,
        joined=None if kineto is None or alone else str(match),
        device=None if kineto is None or not kineto.device else _device(kineto, (*cases.values(), *left_out.values())),
        between=spans.idle(),
        assumed=tuple((name, tuple(names), count) for (name, *names), count in assumed.items()),
        ways=ways,
    )


def _name(name: str) -> str:
    """Return the name of a node: all steps have one, whatever their numbers."""
    return sys.intern(STEP.rstrip("#") if name.startswith(STEP) else name)


@dataclass(frozen=True)
class Nodes:
    """The nodes of an execution trace, which is read anew each time that they are gone through."""

    path: Path

    def __iter__(self) -> Iterator[Node]:
        return nodes(self.path)


def _program(path: Path, kineto: Recording | None, schemas: Schemas | None) -> tuple[Iterable[Node], Durations | None]:
    """Return the nodes of a trace, and how long each took where a Kineto trace says that, which may be all there is."""
    if kineto is not None and schemas is not None:
        return nodes_of(kineto, schemas)
    return Nodes(path), None if kineto is None else join(kineto, path)


def _device(kineto: Recording, tallies: Iterable[Tally]) -> Device:
    """Return the time of a device, and how much of it is that of calls."""
    of_calls = sum(tally.recorded or 0.0 for tally in tallies)
    return Device(kineto.device, of_calls if kineto.clock == "device" else 0.0)


def _record(node: Node, durations: Durations | None, on_device: Mapping[int, float], clock: str) -> float | None:
    """Return the seconds of a call by the clock of its trace; None where that is not known."""
    if durations is None:
        return None
    return on_device.get(node.id) if clock == "device" else durations.host.get(node.id)


def _case(node: Node, elements: Elements) -> Case | str:
    """Return the case of a call, or the reason why there is none."""
    if node.name.startswith(COMMUNICATION):
        return "communication between processes"
    if node.name in BOOKKEEPING:
        return "it computes nothing"
    if node.kernel_backend or not node.schema:
        return _fuse(node)
    if node.reason:
        return node.reason
    try:
        schema_signature = signature(node.schema)
        values = arguments(node, schema_signature.parameters, elements)
    except (Unknown, InputError) as error:
        return str(error)
    except (ValueError, TypeError, AttributeError, ArithmeticError, LookupError, RecursionError) as error:
        return f"its record cannot be read ({error})"
    inputs, attributes = _part(schema_signature.parameters, values)
    return restrict(Case(f"torch:{schema_signature.name}", inputs, attributes))


def _fuse(node: Node) -> str:
    """Say why a kernel that a compiler made is not run; its source would be code that a file brings."""
    kernel = f"a fused kernel of {node.kernel_backend or 'a compiler'}"
    if not node.kernel_file:
        return f"{kernel}, whose source is not in the trace"
    source = Path(node.kernel_file).name
    return f"{kernel}, whose source `{source}` is not run: traces are data, and opperf never runs code from them"


def _part(
    parameters: Iterable[Parameter], values: Mapping[str, Argument]
) -> tuple[dict[str, Argument], dict[str, Argument]]:
    """Return inputs, which go by position, and attributes: up to the last tensor an argument has its place."""
    positional = [parameter.name for parameter in parameters if not parameter.keyword_only]
    last = max((i for i, name in enumerate(positional) if any(tensors_of(values[name]))), default=-1)
    inputs = {name: values[name] for name in positional[: last + 1]}
    return inputs, {name: value for name, value in values.items() if name not in inputs}


def _refuse_nothing(subgraph: str | None, steps: tuple[int, int] | None, labels: Iterable[str], count: int) -> None:
    if subgraph is not None:
        close = near(subgraph, labels)
        names = ", ".join(map(quote, close or list(labels)[:MOST_NAMES]))
        hint = f"did you mean {names}?" if close else f"there are, for example, {names}" if names else None
        raise InputError(f"no operator below the label `{subgraph}`", hint=hint, slug="empty_trace")
    if steps is not None:
        part = f"the steps {steps[0]} to {steps[1] - 1}" if steps[1] - steps[0] > 1 else f"the step {steps[0]}"
        remedy = (
            f"its steps are 0 to {count - 1}"
            if count
            else "the trace has no `profiler.step()` calls, which mark the steps"
        )
        raise InputError(f"no operator in {part} of the trace", hint=remedy, slug="empty_trace")
    raise InputError(
        "no operator in the trace", hint="check that the observer was running while the model ran", slug="empty_trace"
    )
