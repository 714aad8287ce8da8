"""What a program compiled while it was watched: the operators and modules that each compiled graph was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from opperf.domain.codec import Fields, decode
from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Profile
from opperf.domain.type_hint import Count

#: What the facts of a process call it.
COMPILED = "compiled"


@dataclass(frozen=True)
class Graph(Fields):
    """One compiled graph: `id` has the number of its function, and of the time that this was compiled (`0/1`).

    `operators` says how often each is called in it, `modules` how many calls come from each; a path is below what was
    compiled, and empty outside of all modules.
    """

    id: str
    function: str
    operators: Mapping[str, Count]
    modules: Mapping[str, Count]


@dataclass(frozen=True)
class Compilation(Fields):
    """What was compiled: graphs, why functions were cut into several (and how often), and why compiled again."""

    graphs: tuple[Graph, ...] = ()
    breaks: Mapping[str, Count] = field(default_factory=dict)
    recompilations: tuple[str, ...] = ()


def compilations(profile: Profile) -> dict[int, Compilation]:
    """Return the compilation of each process that had one, by number; raises `InputError` for facts of another form."""
    return {
        number: decode(Compilation, facts[COMPILED], f"process {number}: {COMPILED}")
        for number, facts in sorted(profile.processes.items())
        if facts.get(COMPILED)
    }
