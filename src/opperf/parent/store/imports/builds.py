"""Times that another tool measured of one build, column by column.

A folder of results may hold millions of times, of which each would be kilobytes as a record. So they stay in columns
from the file to the database, and a record is made of one where somebody reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from hashlib import sha256

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.parameter import argument
from opperf.domain.plan import Settings, Side
from opperf.domain.record import Run
from opperf.parent.store.imports.absolute_times import LABEL


@dataclass(frozen=True)
class Block:
    """The times of a benchmark, in seconds; None where it failed.

    `places` are those of its combinations of parameters that have one, counted as `itertools.product` makes them of
    `values`, which are texts as the tool writes them. `samples` are as many as one time was taken of, `calls` those of
    each sample; None where the tool does not say.
    """

    name: str
    parameters: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    places: Sequence[int]
    times: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    samples: Sequence[int | None]
    calls: Sequence[int | None]

    def case(self, place: int) -> Case:
        """Return the case of a combination of parameters."""
        words: list[str] = []
        for several in reversed(self.values):
            place, number = divmod(place, len(several))
            words.append(several[number])
        return Case(self.name, {}, dict(zip(self.parameters, map(argument, reversed(words)))))


@dataclass(frozen=True)
class Build:
    """What a tool measured of one build on a machine; `name` tells it from others, `digest` from what it was before."""

    tool: str
    name: str
    digest: str
    version: str
    started: datetime
    machine: JsonObject
    labels: Mapping[str, str]
    blocks: Sequence[Block]
    #: What of the file has no place in it, counted by reason.
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        """What was measured."""
        return Side(self.tool, self.version)

    @property
    def rows(self) -> int:
        """The number of times, those that are missing too."""
        return sum(len(block.places) for block in self.blocks)

    def run(self) -> Run:
        """Return the run without its records. The same build is the same run, whatever was measured of it."""
        return Run(
            id=sha256(repr((self.tool, self.name)).encode()).hexdigest()[:12],
            started=self.started.isoformat(),
            command=(self.tool,),
            settings=Settings(),
            labels={LABEL: self.tool, **self.labels},
            environment={"machine": self.machine},
        )
