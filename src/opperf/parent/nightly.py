"""Judge nightly builds: compare each with a fixed anchor and with the previous build, and keep the ratios.

Times of different nights differ by the machine; ratios of builds that were measured in turns do not. A build is judged
by the one before it. Its ratio to the anchor says where it stands, and the two must agree:
r(anchor, build) = r(anchor, before) r(before, build).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from opperf.domain.comparison import Comparison, ComparisonRun
from opperf.domain.dataclass import dataclass
from opperf.domain.environment import EnvironmentSpec
from opperf.domain.errors import InputError
from opperf.domain.judgement import Judgement
from opperf.parent.analysis.gate import judgement_of
from opperf.parent.analysis.ratio_graph import Closure, Edge, RatioGraph
from opperf.parent.compare import Judging, live
from opperf.parent.gate import Gate, selection_of
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import read_side
from opperf.parent.progress import Progress
from opperf.parent.sources.gate_file import NightlyFile
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.history import Entry, Ratios, entries, ratios
from opperf.parent.workers.installer import newest

#: The labels by which the runs of nights are known.
NAME, BUILD, ANCHOR = "nightly", "build", "anchor"


@dataclass(frozen=True)
class Order:
    """Options that override the file: another `anchor`, `overlap` with the previous one, builds measured `again`."""

    anchor: str | None = None
    overlap: bool = False
    again: bool = False
    check: bool = True
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
    def run(self) -> ComparisonRun:
        """All comparisons, judged ones first: a judgement refers to them by index."""
        steps = [step for night in self.nights for step in night.steps]
        others = [one for night in self.nights for one in night.run.comparisons if one not in night.steps]
        return ComparisonRun(self.nights[-1].run.run, (*steps, *others))


def nightly(file: NightlyFile, store: Archive, order: Order, progress: Progress) -> Nights:
    """Measure, judge and keep each build of a file that the database does not have yet.

    Raises `InputError` for bad input, and for an anchor that no night before was compared with.
    """
    anchor = order.anchor or file.anchor
    moved_from = _former_anchor(file, store, anchor, overlap=order.overlap)
    selection = selection_of(file.gate, (), {}, others=False, note=progress.note)
    nights: list[Night] = []
    cause: BaseException | None = None
    with _index(file.index):
        for text in file.builds:
            build = pin(text, file.index)
            former = [entry for entry in _former(file, store) if entry.labels.get(BUILD) != build]
            if build == anchor:
                progress.note(f"{build} is the anchor, so it is not measured separately")
                continue
            if not order.again and _is_there(file, store, build, anchor):
                progress.note(f"{build} is in the database, so it is not measured again")
                continue
            before = _predecessor(file, former, anchor)
            bases = list(dict.fromkeys(base for base in (before or anchor, anchor, moved_from) if base is not None))
            pairs = [(base, build) for base in bases if base != build]
            if moved_from is not None and not any(night.build == anchor for night in nights):
                pairs.append((moved_from, anchor))
            night, cause = _night(file, selection, pairs, build, anchor, order, progress)
            if cause is not None:
                break
            store.add(night.run, kind="nightly")
            progress.note(f"kept {build} in {store.address}")
            nights.append(night)
            moved_from = None
    steps = [step for night in nights for step in night.steps]
    rule = file.gate
    judgement = judgement_of(steps, rule.tolerance, inconclusive=rule.inconclusive)
    builds = {one.build for one in nights}
    return Nights(tuple(nights), judgement, tuple(_closures(store, steps)) if builds else (), cause)


def pin(text: str, index: str | None = None) -> str:
    """Return a side with a pinned version: the newest where the text names none.

    >>> pin("numpy==2.2.6;threads=2")
    'numpy==2.2.6;threads=2'
    """
    build, semicolon, rest = text.partition(";")
    spec = EnvironmentSpec.parse(build)
    if spec.kind == "python" or "==" in build or "@" in build or not spec.requirements:
        return text
    return newest(build, index) + semicolon + rest


def _night(
    file: NightlyFile,
    selection: Selection,
    pairs: Sequence[tuple[str, str]],
    build: str,
    anchor: str,
    order: Order,
    progress: Progress,
) -> tuple[Night, BaseException | None]:
    """Compare each pair of builds; the first is what the night is judged by."""
    labels = {**order.labels, NAME: file.name, BUILD: build, ANCHOR: anchor}
    rule = file.gate
    judging = Judging(rule.tolerance, rule.pairs, rule.settle, rule.max_pairs, labels=labels, command=order.command)
    settings = Gate(rule, {}, check=order.check).settings()
    runs: list[ComparisonRun] = []
    cause: BaseException | None = None
    for base, new in pairs:
        progress.note(f"comparing {new} with {base}")
        run, cause = live(selection, read_side(base), [read_side(new)], settings, judging, judging.rule(), progress)
        runs.append(run)
        if cause is not None:
            break
    sides = {name: facts for run in runs for name, facts in run.run.environment["sides"].items()}
    first = runs[0].run
    whole = replace(first, environment={**first.environment, "sides": sides})
    comparisons = tuple(one for run in runs for one in run.comparisons)
    return Night(build, pairs[0][0], ComparisonRun(whole, comparisons), runs[0].comparisons), cause


def _former(file: NightlyFile, store: Archive) -> list[Entry]:
    """Return the nights that the database has, the latest first."""
    return entries(store, label=(NAME, file.name))


def _is_there(file: NightlyFile, store: Archive, build: str, anchor: str) -> bool:
    """Whether a build was compared with an anchor; one at a path may be another by now."""
    pairs = {(entry.labels.get(BUILD), entry.labels.get(ANCHOR)) for entry in _former(file, store)}
    return not build.startswith("python=") and (build, anchor) in pairs


def _former_anchor(file: NightlyFile, store: Archive, anchor: str, *, overlap: bool) -> str | None:
    """Return the previous anchor, None without one.

    Raises `InputError` where nothing would join the new anchor to the nights before.
    """
    former = _former(file, store)
    if not former or any(anchor in (entry.labels.get(ANCHOR), entry.labels.get(BUILD)) for entry in former):
        return None
    if not overlap:
        raise InputError(
            f"no night of `{file.name}` was compared with the anchor `{anchor}`",
            hint=f"add `--overlap` to compare the new anchor with the previous one, `{former[0].labels[ANCHOR]}`, once",
            slug="anchor",
        )
    return former[0].labels[ANCHOR] if _is_runnable(file, former[0].labels[ANCHOR]) else None


def _predecessor(file: NightlyFile, former: Sequence[Entry], anchor: str) -> str | None:
    """Return the previous build, None if there is none or it cannot be measured again."""
    builds = (entry.labels.get(BUILD) for entry in former)
    return next((build for build in builds if build and build != anchor and _is_runnable(file, build)), None)


def _is_runnable(file: NightlyFile, side: str) -> bool:
    """Whether a side that the database names may be run: a public release, or what the file names itself."""
    return side in (file.anchor, *file.builds) or EnvironmentSpec.parse(side.partition(";")[0]).is_public


def _closures(store: Archive, steps: Sequence[Comparison]) -> Iterator[tuple[Ratios, Closure]]:
    """Yield the ratios of the operators that were measured which other ratios say something of as well."""
    cases = {(step.case.id, step.direction) for step in steps}
    for series in ratios(store):
        if (series.case.id, series.direction) in cases:
            graph = RatioGraph([Edge(one.base, one.new, one.estimate) for one in series.ratios])
            yield from ((series, closure) for closure in graph.closures())


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
