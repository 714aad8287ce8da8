"""Judge nightly builds: compare each with a fixed anchor and with the previous build, and keep the ratios.

Times of different nights differ by the machine; ratios of builds that were measured in turns do not. A build is judged
by the one before it in the order of builds, whenever that was measured; where it fills a gap, the one behind it is
judged again. Its ratio to the anchor says where it stands, and the two must agree:
r(anchor, build) = r(anchor, before) r(before, build).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.parent.analysis.change_points import fence, points, steps
from opperf.parent.analysis.gate import judgement_of
from opperf.parent.analysis.ratio_graph import Closure, RatioGraph
from opperf.parent.commands import compare as comparing
from opperf.parent.commands.compare import live
from opperf.parent.commands.gate import Gate, selection_of
from opperf.parent.commands.nightly.calendar import ANCHOR, BUILD, NAME, Calendar
from opperf.parent.commands.triage import judge
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.floor import series_key
from opperf.parent.documents.judgement import Judgement
from opperf.parent.documents.load import with_highest_load
from opperf.parent.measuring.progress import Progress
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import read_side
from opperf.parent.sources.gate_file import NightlyFile
from opperf.parent.sources.options import What
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.build_order import BEFORE, ORDER
from opperf.parent.store.database.builds import build_orders
from opperf.parent.store.database.history import Ratios, ratios
from opperf.parent.store.database.rows import machine_name
from opperf.parent.workers import machine
from opperf.parent.workers.installer import newest
from opperf.parent.workers.passwords import environment_of


@dataclass(frozen=True)
class Order:
    """Options that override the file: operators, another `anchor`, `overlap` with the previous one, builds `again`.

    `operators` are those that the user names, which may be code: `what` says which benchmarks of a suite are meant.
    """

    operators: Sequence[str] = ()
    what: What = field(default_factory=What)
    anchor: str | None = None
    overlap: bool = False
    again: bool = False
    check: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


@dataclass(frozen=True)
class Night:
    """A measured build: the comparisons that it was judged by, then all others."""

    build: str
    judge: str
    run: ComparisonRun
    steps: tuple[Comparison, ...]


@dataclass(frozen=True)
class Nights:
    """The nights of one command. `cause` is what stopped it, None when nothing did; that night is not kept."""

    nights: tuple[Night, ...]
    judgement: Judgement
    closures: tuple[tuple[Ratios, Closure], ...] = ()
    cause: BaseException | None = None

    @property
    def steps(self) -> tuple[Comparison, ...]:
        """The comparisons that nights are judged by."""
        return tuple(step for night in self.nights for step in night.steps)

    @property
    def others(self) -> tuple[Comparison, ...]:
        """All other comparisons: those with the anchor."""
        return tuple(one for night in self.nights for one in night.run.comparisons if one not in night.steps)

    @property
    def run(self) -> ComparisonRun:
        """All comparisons, judged ones first: a judgement refers to them by index."""
        run = _join(self.nights[-1].run.run, [night.run for night in self.nights])
        return ComparisonRun(run, (*self.steps, *self.others))


def nightly(file: NightlyFile, store: Archive, order: Order, progress: Progress) -> Nights:
    """Measure, judge and keep each build of a file that the database does not have yet.

    Raises `InputError` for bad input, and for an anchor that no night before was compared with.
    """
    anchor = order.anchor or file.anchor
    with _index(file.index):
        calendar = Calendar(file, store, anchor, [pin(text, file.index) for text in file.builds], progress)
        moved_from = calendar.former_anchor(overlap=order.overlap)
        selection = selection_of(file.gate, order.operators, order.what, others=False, note=progress.note)
        bench = _Bench(file, order, selection, anchor, _pasts(store), progress)
        nights: list[Night] = []
        cause: BaseException | None = None
        night_count, began = calendar.count(again=order.again), time.monotonic()
        for build, is_again in calendar.plan(again=order.again):
            if not is_again and night_count > 1:
                progress.note(
                    _place(build, len({night.build for night in nights}), night_count, time.monotonic() - began)
                )
            before = calendar.predecessor(build)
            bases = [before] if is_again else [before, anchor, moved_from]
            pairs = [(base, build) for base in dict.fromkeys(bases) if base is not None and base != build]
            if moved_from is not None and not is_again and not any(night.build == anchor for night in nights):
                pairs.append((moved_from, anchor))
            night, cause = bench.measure(build, pairs, is_listed=calendar.lists(before, build))
            if cause is not None:
                break
            store.add(night.run, kind="nightly")
            progress.note(f"kept {build} in {store.address}")
            nights.append(night)
            moved_from = None
    steps = [step for night in nights for step in night.steps]
    rule = file.gate
    judgement = judge(store, judgement_of(steps, rule.tolerance, inconclusive=rule.inconclusive))
    builds = {one.build for one in nights}
    return Nights(tuple(nights), judgement, tuple(_closures(store, steps)) if builds else (), cause)


def pin(text: str, index: str | None = None) -> str:
    """Return a side with a pinned version: the newest where the text names none.

    >>> pin("numpy==2.2.6;threads=2")
    'numpy==2.2.6;threads=2'
    """
    build, semicolon, rest = text.partition(";")
    spec = environment_of(build)
    if "@" in build and spec.requirements:
        return spec.text + semicolon + rest
    if spec.kind == "python" or "==" in build or not spec.requirements:
        return text
    return newest(build, index) + semicolon + rest


def _place(build: str, count: int, total: int, seconds: float) -> str:
    """Say which build comes now, and how long it and the rest take if they are as those before.

    >>> _place("numpy==2.0.0", 0, 3, 0.0), _place("numpy==2.1.0", 1, 3, 40.0)
    ('numpy==2.0.0: build 1 of 3', 'numpy==2.1.0: build 2 of 3, about 80 s to go')
    """
    left = f", about {seconds / count * (total - count):.0f} s to go" if count else ""
    return f"{build}: build {min(count + 1, total)} of {total}{left}"


@dataclass(frozen=True)
class _Bench:
    """What all nights of a command share: how they are measured, and how far series moved before."""

    file: NightlyFile
    order: Order
    selection: Selection
    anchor: str
    pasts: Mapping[tuple[object, ...], float]
    progress: Progress

    def measure(
        self, build: str, pairs: Sequence[tuple[str, str]], *, is_listed: bool
    ) -> tuple[Night, BaseException | None]:
        """Compare each pair of builds; the first is what the night is judged by. A label says where it `is_listed`.

        The step from build to build, and it alone, must be beyond what its series moved by before.
        """
        labels = {**self.order.labels, NAME: self.file.name, BUILD: build, ANCHOR: self.anchor}
        rule = self.file.gate
        judging = comparing.Order(rule, labels=labels, command=self.order.command)
        settings = Gate(rule, check=self.order.check).settings()
        runs: list[ComparisonRun] = []
        cause: BaseException | None = None
        for base, new in pairs:
            self.progress.note(f"comparing {new} with {base}")
            by = judging if runs else replace(judging, pasts=self.pasts)
            run, cause = live(self.selection, read_side(base), [read_side(new)], settings, by, self.progress)
            runs.append(run)
            if cause is not None:
                break
        sides = {name: facts for run in runs for name, facts in run.run.environment["sides"].items()}
        step = next(filter(None, map(_step, runs[0].comparisons)), None) if is_listed else None
        joined = _join(runs[0].run, runs, sides=sides)
        whole = replace(joined, labels={**joined.labels, **({} if step is None else {ORDER: step})})
        comparisons = tuple(comparison for run in runs for comparison in run.comparisons)
        return Night(build, pairs[0][0], ComparisonRun(whole, comparisons), runs[0].comparisons), cause


def _pasts(store: Archive) -> dict[tuple[object, ...], float]:
    """Return how far each series moved before on this machine, from build to build, by `series_key`."""
    here, orders = machine_name(machine.facts()), build_orders(store)
    pasts: dict[tuple[object, ...], float] = {}
    for series in ratios(store):
        _, builds = points(series.ratios, orders.get(series.framework, ()))
        if series.machine == here and (past := fence(steps(builds))):
            pasts[series_key(series.case.id, series.direction, series.side, series.metric)] = past
    return pasts


def _join(run: Run, runs: Sequence[ComparisonRun], **facts: object) -> Run:
    """Return a run with the load that the machine had over several, and with these facts of where they were."""
    machine = with_highest_load(run.machine, [one.run.machine for one in runs])
    return replace(run, environment={**run.environment, "machine": machine, **facts})


def _step(comparison: Comparison) -> str | None:
    """Write which version stands before which in the user's list."""
    if not comparison.base_version or not comparison.new_version or comparison.base_version == comparison.new_version:
        return None
    return f"{comparison.new.framework} {comparison.base_version} {BEFORE} {comparison.new_version}"


def _closures(store: Archive, steps: Sequence[Comparison]) -> Iterator[tuple[Ratios, Closure]]:
    """Yield the ratios of the operators that were measured which other ratios say something of as well."""
    cases = {(step.case.id, step.direction) for step in steps}
    for series in ratios(store):
        if (series.case.id, series.direction) in cases:
            yield from ((series, closure) for closure in RatioGraph(series.ratios).closures())


@contextmanager
def _index(url: str | None) -> Iterator[None]:
    """Have environments built from an index with nightly wheels, too."""
    if url is None:
        yield
        return
    names = {"UV_INDEX": url, "UV_PRERELEASE": "allow"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
