"""What a program compiled, below its profile: each graph's operators and modules, graph breaks and recompilations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from opperf.domain.profile.compilation import Compilation, Graph, compilations
from opperf.domain.profile.event import Profile
from opperf.domain.units import plural
from opperf.parent.reports.document import Column, Note, Section, table

#: How many operators and modules of a graph are named, and how many graphs and reasons are listed.
MOST_NAMES, MOST_GRAPHS, MOST_REASONS = 6, 20, 5
#: The members of a list of modules.
_MEMBER = re.compile(r"\.\d+(?=\.|$)")

COLUMNS: tuple[Column[Graph], ...] = (
    Column("graph", "graph", lambda graph: graph.id),
    Column("function", "function", lambda graph: graph.function, least=12),
    Column("calls", "calls", lambda graph: sum(graph.operators.values()), str, "right"),
    Column("operators", "operators", lambda graph: counts_text(graph.operators), least=24, lines=3),
    Column("modules", "modules", lambda graph: counts_text(_joined(graph.modules)), least=24, lines=3),
)


def counts_text(counts: Mapping[str, int]) -> str:
    """Write names with how often each occurs, the most frequent first.

    >>> counts_text({"relu": 1, "linear": 3, "": 2})
    'linear 3, relu 1'
    """
    ordered = sorted(((name, count) for name, count in counts.items() if name), key=lambda pair: -pair[1])
    words = [f"{name} {count}" for name, count in ordered[:MOST_NAMES]]
    return ", ".join([*words, *[f"{len(ordered) - MOST_NAMES} more"] * (len(ordered) > MOST_NAMES)])


def _joined(modules: Mapping[str, int]) -> Mapping[str, int]:
    """Return the modules with the members of each list as one."""
    result: Counter[str] = Counter()
    for path, count in modules.items():
        result[_MEMBER.sub(".*", path)] += count
    return result


def compiled_section(profile: Profile) -> list[Section]:
    """Return a section for each process that compiled something."""
    several = compilations(profile)
    return [_section(one, f" in process {number}" if len(several) > 1 else "") for number, one in several.items()]


def _section(compilation: Compilation, where: str) -> Section:
    graphs = compilation.graphs
    breaks, again = sum(compilation.breaks.values()), len(compilation.recompilations)
    title = (
        f"Compiled{where}: {plural(len(graphs), 'graph')}, {plural(breaks, 'graph break')}, "
        f"{plural(again, 'recompilation')}"
    )
    reasons = sorted(compilation.breaks.items(), key=lambda pair: -pair[1])
    notes = [f"graph break, {count} times: {reason}" for reason, count in reasons[:MOST_REASONS]]
    notes += [f"recompiled {reason}" for reason in compilation.recompilations[:MOST_REASONS]]
    left = max(0, len(graphs) - MOST_GRAPHS)
    notes += [f"{plural(left, 'more graph')}: `--format json` has all"] if left else []
    return Section(title, [table(COLUMNS, graphs[:MOST_GRAPHS]), *map(Note, notes)])
