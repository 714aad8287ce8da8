"""The machine and its environments: facts, sources of noise, and peak rates; and how busy it was during a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.load import load_of
from opperf.domain.peaks import MOVE, Rate, best_rates, fallbacks
from opperf.domain.plan import Side
from opperf.domain.reason import Warning
from opperf.domain.record import Run
from opperf.domain.units import format_byte_rate, format_bytes, format_flop_rate, plural
from opperf.parent.reports.document import Document, Note, Section

#: Facts of an environment that fit on a line; the whole of them is in every result file.
FACTS = ("version", "blas", "isa", "engine", "threads", "threads_seen", "allocator", "import_seconds")
#: What a report says of a machine that others had much of.
CROWD = "other programs ran meanwhile, so times are longer and less certain"


@dataclass(frozen=True)
class Visit:
    """What a child said of its environment, or why it cannot be used."""

    framework: str
    environment: str
    devices: Sequence[str] = ()
    facts: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {**vars(self), "devices": list(self.devices), "facts": dict(self.facts)}


def crowds(run: Run, sides: Iterable[Side] = ()) -> list[str]:
    """Say where other programs took much of a machine: this one, that of another run, or a node of a fleet.

    `sides` are those that were measured, where the run has no records.
    """
    runs = [Run.from_header(one, "merged") for one in run.environment.get("merged", ())] or [run]
    own = own_load(run, sides)
    places = [(f" of the run of {one.started}" if len(runs) > 1 else "", one.machine) for one in runs]
    places += [
        (f" of {name}", node["machine"])
        for one in runs
        for name, node in one.environment.get("nodes", {}).items()
        if node.get("machine")
    ]
    loads = [(place, load_of(machine, own)) for place, machine in places]
    return [f"the load average{place} was {load}: {CROWD}" for place, load in loads if load and load.is_crowded]


def own_load(run: Run, sides: Iterable[Side] = ()) -> int:
    """Return how many CPUs a run keeps busy by itself, by its records or by what it compared: one side at a time."""
    threads = max((side.threads for side in (*(one.trial.side for one in run.records), *sides)), default=1)
    return max(1, run.settings.jobs) * threads


def document(
    facts: Mapping[str, object],
    doubts: Sequence[Warning],
    where: tuple[str, int],
    rates: Sequence[Rate],
    visits: Sequence[Visit],
) -> Document:
    """Return the report; `rates` were measured on the device and with the threads in `where`."""
    values = {name: value for name, value in facts.items() if value is not None and not isinstance(value, (dict, list))}
    none = Note("no framework can be imported here; `opperf doctor --framework torch` checks one that opperf built")
    return Document(
        "opperf doctor",
        [
            Section("machine", [Note(f"{name}: {value}") for name, value in values.items()]),
            Section("noise", [*map(_doubt, doubts)] or [Note("nothing found")]),
            Section(f"peaks of {where[0]}, {plural(int(where[1]), 'thread')}", [*_peaks(rates)]),
            Section("environments", [*map(_visit, visits)] or [none]),
        ],
        lambda: {
            "machine": dict(facts),
            "noise": [doubt.to_json() for doubt in doubts],
            "peaks": [rate.to_json() for rate in rates],
            "environments": [visit.to_json() for visit in visits],
        },
    )


def _doubt(doubt: Warning) -> Note:
    return Note(f"{doubt.slug}: {doubt.message}", [Note(doubt.hint, kind="hint")] if doubt.hint else [])


def _visit(visit: Visit) -> Note:
    if visit.error is not None:
        first, *others = (line for line in visit.error.splitlines() if line)
        below = [Note(f"cannot be used: {first}"), *map(Note, others)]
    else:
        facts = (f"{name}: {visit.facts[name]}" for name in FACTS if visit.facts.get(name) is not None)
        below = [Note(f"devices: {', '.join(visit.devices)}"), *map(Note, facts)]
    return Note(f"{visit.framework} in `{visit.environment}`", below)


def _peaks(rates: Sequence[Rate]) -> Iterator[Note]:
    """Yield the limits that were measured, and with what."""
    several = best_rates(rates)
    for best in several:
        source = f"({best.operator} of {best.framework}{', may be too low' if best.doubt else ''})"
        if best.kind == MOVE:
            yield Note(f"moving {format_bytes(best.size)}: {format_byte_rate(best.rate)} {source}")
        else:
            yield Note(f"products of {best.dtype}: {format_flop_rate(best.rate)} {source}")
    for doubt in dict.fromkeys(best.doubt for best in several if best.doubt):
        yield Note(f"may be too low: measured on a busy machine ({doubt})")
    for loop in fallbacks(rates):
        rate = format_flop_rate(loop.rate)
        yield Note(f"products of {loop.dtype}: no peak; {loop.framework} has a loop for them, at {rate}")
    if not rates:
        yield Note("not measured; `opperf doctor --peaks --framework torch` measures them")
