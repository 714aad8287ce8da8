"""The machine and its environments: facts, sources of noise, and peak rates; and how busy it was during a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.peaks import MOVE, Rate, best_rates, fallbacks
from opperf.domain.plan import Side
from opperf.domain.reason import Warning
from opperf.domain.record import Run
from opperf.domain.units import format_byte_rate, format_bytes, format_flop_rate, format_seconds, plural
from opperf.parent.documents.load import load_of
from opperf.parent.reports.document import Document, Note, Section

#: What people call the facts of an environment that are shown; the whole of them is in every result file.
FACTS = {"blas": "linear algebra", "isa": "instruction sets", "engine": "engine", "allocator": "allocator"}
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
    busy_cpus = own_load(run, sides)
    places = [(f" of the run of {one.started}" if len(runs) > 1 else "", one.machine) for one in runs]
    places += [
        (f" of {name}", node["machine"])
        for one in runs
        for name, node in one.environment.get("nodes", {}).items()
        if node.get("machine")
    ]
    loads = [(place, load_of(machine, busy_cpus)) for place, machine in places]
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
    rest = Note("`opperf doctor --format json` has every fact")
    none = Note("no framework can be imported here; `opperf doctor --framework torch` checks one that opperf built")
    return Document(
        "opperf doctor",
        [
            Section("machine", [*map(Note, machine_lines(facts)), rest]),
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
        below = [Note(f"devices: {', '.join(visit.devices)}"), *map(Note, _visit_lines(visit.facts))]
    version = visit.facts.get("version")
    return Note(f"{visit.framework}{f' {version}' if version else ''} in `{visit.environment}`", below)


def _visit_lines(facts: Mapping[str, object]) -> Iterator[str]:
    yield from (f"{words}: {facts[name]}" for name, words in FACTS.items() if facts.get(name) is not None)
    yield from _device_lines(facts)
    threads, busy, seconds = (facts.get(name) for name in ("threads", "threads_seen", "import_seconds"))
    if threads is not None:
        kept_busy = f", of which a matrix product kept {busy:.2g} busy" if isinstance(busy, (int, float)) else ""
        yield f"threads: {threads}{kept_busy}"
    if isinstance(seconds, (int, float)):
        yield f"import: {format_seconds(seconds)}"


def _device_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an environment says of the device that its child was started on, and what is not known of it."""
    gpu, free, lacks = facts.get("gpu") or {}, facts.get("memory_free"), facts.get("lacks") or {}
    name = facts.get("device") if gpu or free or lacks else None  # a CPU is the machine's affair
    yield from _joined(name, free and f"{format_bytes(free)} free", *_gpu_words(gpu))
    for what, reason in lacks.items():
        yield f"no {what}: {reason}"


def _gpu_words(gpu: Mapping[str, Any]) -> Iterator[str]:
    """Yield what NVIDIA's driver says of a GPU."""
    limit, rate = gpu.get("power_limit"), gpu.get("memory_bandwidth")
    words = (gpu.get("driver") and f"driver {gpu['driver']}", gpu.get("uuid"), limit and f"at most {limit / 1e3:g} W")
    bandwidth = rate and f"memory of {format_byte_rate(rate)} at most"
    yield from filter(None, (*words, bandwidth, "divided (MIG)" if gpu.get("mig") else None))


def machine_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a machine is, as people say it: processors, GPUs, memory, clock and system, as far as it is known.

    >>> [*machine_lines({"cpu": "EPYC", "cores_logical": 4, "cores_physical": 2, "python": "3.13.1"})]
    ['EPYC, 4 CPUs on 2 cores', 'Python 3.13.1']
    """
    logical, usable = facts.get("cores_logical"), facts.get("cores_usable")
    cores = facts.get("cores_physical")
    yield from _joined(
        facts.get("cpu"),
        logical and plural(logical, "CPU") + (f" on {plural(cores, 'core')}" if cores and cores != logical else ""),
        usable and usable != logical and f"{usable} of them for this process",
        facts.get("hypervisor") and "a virtual machine",
    )
    for gpu in facts.get("gpus") or ():
        size = gpu.get("memory")
        yield from _joined(f"GPU: {gpu.get('name')}", size and format_bytes(size), f"driver {gpu.get('driver')}")
    sizes = {name: facts.get(name) for name in ("memory_total", "memory_available", "swap_used")}
    total, free, swapped = (size and format_bytes(size) for size in sizes.values())
    yield from _joined(total and f"memory: {total}", free and f"{free} free", swapped and f"{swapped} swapped out")
    governor, most, turbo = (facts.get(name) for name in ("governor", "frequency_max", "turbo"))
    yield from _joined(
        governor and f"clock: governor `{governor}`",
        most and f"at most {most / 1e9:.2g} GHz",
        turbo is not None and f"turbo {'on' if turbo else 'off'}",
    )
    kernel = " ".join(filter(None, (facts.get("system"), facts.get("kernel"), facts.get("architecture"))))
    container = facts.get("container")
    yield from _joined(facts.get("distribution"), kernel, facts.get("libc"), container and f"in {container}")
    yield from _joined(facts.get("python") and f"Python {facts['python']}")


def _joined(*parts: object) -> Iterator[str]:
    """Yield a line of the parts that there are, if there are any."""
    words = [str(part) for part in parts if part]
    if words:
        yield ", ".join(words)


def _peaks(rates: Sequence[Rate]) -> Iterator[Note]:
    """Yield the limits that were measured, and with what."""
    peaks = best_rates(rates)
    for best in peaks:
        source = f"({best.operator} of {best.framework}{', may be too low' if best.doubt else ''})"
        if best.kind == MOVE:
            yield Note(f"moving {format_bytes(best.size)}: {format_byte_rate(best.rate)} {source}")
        else:
            yield Note(f"products of {best.dtype}: {format_flop_rate(best.rate)} {source}")
    for doubt in dict.fromkeys(best.doubt for best in peaks if best.doubt):
        yield Note(f"may be too low: measured on a busy machine ({doubt})")
    for loop in fallbacks(rates):
        rate = format_flop_rate(loop.rate)
        yield Note(f"products of {loop.dtype}: no peak; {loop.framework} has a loop for them, at {rate}")
    if not rates:
        yield Note("not measured; `opperf doctor --peaks --framework torch` measures them")
