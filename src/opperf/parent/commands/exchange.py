"""Export results from a database to other tools, and import theirs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias, get_args

from opperf.domain.codec import check_version, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.files.destination import write_parts
from opperf.domain.files.json_text import JsonDict, NotJSON, value_of
from opperf.domain.files.text_file import distinct, read_bytes
from opperf.domain.moment import moment_of
from opperf.domain.record import SCHEMA_VERSION, Run
from opperf.domain.type_hint import Unread
from opperf.parent.commands.history import archive as open_archive
from opperf.parent.commands.load import read_value
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.triage import Decision
from opperf.parent.reports.exports import asv, bencher, csv, flashinfer, pytorch_v3
from opperf.parent.store.database.archive import KINDS, Archive, Kind, Stored
from opperf.parent.store.database.decisions import add_missing, decisions
from opperf.parent.store.database.headings import Unreadable
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.rows import Addition
from opperf.parent.store.imports import asv as asv_folder
from opperf.parent.store.imports.absolute_times import Foreign
from opperf.parent.store.imports.ahead import Ahead
from opperf.parent.store.imports.benchmark_json import google_run, pytest_run
from opperf.parent.store.imports.builds import Build
from opperf.parent.store.imports.operator_json import is_mxnet, mxnet_run, param_run

#: The version of another tool's results, where neither its file nor the user names one.
UNKNOWN_VERSION = "unknown"
#: The key of the line that has what people said of changes.
DECISIONS = "decisions"


@dataclass(frozen=True)
class Import:
    """A run from a file, and its kind; opperf's own files keep theirs."""

    document: Stored
    kind: Kind = "imported"
    #: What of the file has no place in it, counted by reason.
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, foreign: Foreign) -> Import:
        """Import a run of another tool."""
        return cls(foreign.run, left_out=foreign.left_out)


@dataclass(frozen=True)
class Export:
    """What was written: the runs of which the file holds something, decisions; what it has no place for, by reason."""

    runs: int
    left_out: Mapping[str, int]
    unreadable: Sequence[Unreadable]
    decisions: int = 0


def export_results(archive: Archive, format: str, output: Path, *, since: datetime | None = None) -> Export:
    """Write the runs of a database, oldest first.

    Raises `InputError` for a format that is not known, or a place that cannot be written to.
    """
    if format not in EXPORTS:
        raise unknown("format", format, EXPORTS, hint=f"known: {', '.join(EXPORTS)}")
    write, takes = EXPORTS[format]
    keys = [entry.key for entry in reversed(entries(archive, since=since))]
    statements = [decision for decision in decisions(archive) if since is None or decision.moment >= since]
    documents = _Documents(archive, keys, takes, statements if takes.whole else ())
    documents.left_out.update(write(documents, output) or {})
    return Export(documents.runs, documents.left_out, documents.unreadable, len(documents.decisions))


@dataclass(frozen=True)
class _Takes:
    """The rows that a format has a place for."""

    comparisons: bool = True
    whole: bool = False
    failures: bool = True
    #: Nothing but judgements on workloads.
    workloads: bool = False

    def lacks(self, document: Stored) -> Iterator[str]:
        """Yield why a row is left out, for each that is."""
        if self.workloads:
            rows = document.judgements if isinstance(document, JudgedRun) else ()
            others = sum(not one.workload for one in rows) if rows else _row_count(document)
            yield from ("what is no judgement on a workload",) * others
            return
        if isinstance(document, NoiseRun) and not self.whole:
            yield from ("noise floors",) * len(document.floors)
        if isinstance(document, JudgedRun) and not self.whole:
            yield from ("judgements",) * len(document.judgements)
        if isinstance(document, ComparisonRun):
            for comparison in document.comparisons:
                if not self.comparisons:
                    yield "comparisons, since it has no place for ratios"
                elif comparison.verdict.ratio is None and not self.failures:
                    yield "comparisons without a ratio"
        if isinstance(document, Run) and not self.failures:
            yield from ("trials without a measurement" for record in document.records if not record.metrics)


class _Documents:
    """The documents of a database, read one after the other, with a count of what became of them."""

    def __init__(
        self, archive: Archive, keys: Sequence[str], takes: _Takes, decisions: Sequence[Decision] = ()
    ) -> None:
        self._archive, self._keys, self._takes = archive, keys, takes
        self.decisions = decisions
        self.runs = 0
        self.left_out: Counter[str] = Counter()
        self.unreadable: list[Unreadable] = []

    def __iter__(self) -> Iterator[tuple[JsonDict, Stored]]:
        for key in self._keys:
            try:
                data = self._archive.document_json(key)
                document = None if data is None else own_import(data, f"run {key}").document
            except InputError as error:
                self.unreadable.append(Unreadable(key, error.message))
                continue
            if data is None or document is None:  # it was removed meanwhile
                continue
            reasons = [*self._takes.lacks(document)]
            self.left_out.update(reasons)
            self.runs += not reasons or len(reasons) < _row_count(document)
            yield data, document

    def measured(self) -> Iterator[Run | ComparisonRun]:
        """Yield those that hold measurements."""
        return (document for _, document in self if isinstance(document, (Run, ComparisonRun)))


def _row_count(document: Stored) -> int:
    if isinstance(document, NoiseRun):
        return len(document.floors)
    if isinstance(document, JudgedRun):
        return len(document.judgements)
    return len(document.records if isinstance(document, Run) else document.comparisons)


@dataclass(frozen=True)
class Imported:
    """The address of a database, what was added to it, what of the files was not, by reason; and unreadable files.

    `decisions` counts those that were added.
    """

    address: str
    additions: Sequence[Addition]
    left_out: Mapping[str, int]
    unreadable: Sequence[InputError] = ()
    decisions: int = 0


def import_results(
    paths: Sequence[Path],
    database: str | None = None,
    *,
    version: str | None = None,
    progress: Callable[[int, int], None] = lambda count, total: None,
) -> Imported:
    """Add what other tools measured, or `opperf history export` wrote as lines, file by file.

    What is there already is not read again, so an import that was stopped goes on where it was. Files that cannot be
    read are returned; raises `InputError` where none can. `version` is the build, for files that do not say.
    `progress` takes the number of files that are done, and of all.
    """
    with ExitStack() as stack:
        files = [file for path in paths for file in _files(path, version or UNKNOWN_VERSION, stack)]
        reading = _Reading(files, progress)
        parts = iter(reading)
        first = next(parts, None)
        if first is None:  # no database is made for nothing
            raise reading.nothing()
        store = stack.enter_context(open_archive(database, create=True))
        return _add(store, reading, chain([first], parts))


def _add(store: Archive, reading: _Reading, parts: Iterable[_Part]) -> Imported:
    additions: list[Addition] = []
    left_out: Counter[str] = Counter()
    intake, decision_count = store.intake(), 0
    reading.there = there = intake.there()
    for part in parts:
        if isinstance(part, Addition):
            additions.append(part)
            continue
        if isinstance(part, tuple):
            decision_count += add_missing(store, part)
            continue
        left_out.update(part.left_out)
        if isinstance(part, Import):
            additions.append(store.add(part.document, samples=True, kind=part.kind))
        elif part.digest in there:  # the first, which was read before the database was
            additions.append(there[part.digest])
        else:
            additions += intake.add(part)
    additions += intake.flush()
    return Imported(str(store.address), additions, left_out, list(reading.errors.values()), decision_count)


_Part: TypeAlias = "Import | Build | Addition | tuple[Decision, ...]"
#: Reads what a file holds; of what is there already, by its digest, no more than that. None: it is not known yet.
_Read: TypeAlias = "Callable[[Mapping[str, Addition] | None], Iterator[_Part]]"


class _Reading:
    """Files that are read one after the other, with the errors of those that cannot be, each once."""

    def __init__(self, files: Sequence[_Read], progress: Callable[[int, int], None]) -> None:
        self._files, self._progress = files, progress
        self.there: Mapping[str, Addition] | None = None
        self.errors: dict[str, InputError] = {}

    def __iter__(self) -> Iterator[_Part]:
        for number, read in enumerate(self._files):
            self._progress(number, len(self._files))
            try:
                parts = [*read(self.there)]  # all of a file, or nothing
            except InputError as error:
                self.errors.setdefault(error.message, error)
            else:
                yield from parts
        self._progress(len(self._files), len(self._files))

    def nothing(self) -> InputError:
        """Return the error for files of which none holds anything."""
        if not self.errors:
            return InputError("the files have no results", slug="input")
        first = next(iter(self.errors.values()))
        if len(self._files) == 1:
            return first
        message = f"none of the {len(self._files)} files can be read; of the first: {first.message}"
        return InputError(message, hint=first.hint, slug="input")


def _files(path: Path, version: str, stack: ExitStack) -> list[_Read]:
    """Return the readers of a file, of asv's folder, or of each file in another one; raises `InputError` for others."""
    places = (path, path / "results", path / ".asv" / "results")
    results = next((place for place in places if asv_folder.is_results(place)), None)
    if not path.is_dir():
        return [partial(_read_one, path, version)]
    if results is not None:
        ahead = stack.enter_context(Ahead(asv_folder.Folder(results)))
        return [partial(_read_build, ahead, number) for number in range(len(ahead.files))]
    files = sorted(path.rglob("*.json"))
    if not files:
        hint = "asv stores them in `.asv/results`, pytest-benchmark in `.benchmarks`"
        raise InputError(f"{path}: the folder has no results", hint=hint, slug="input")
    return [partial(_read_one, file, version) for file in files]


def _read_build(ahead: Ahead, number: int, there: Mapping[str, Addition] | None) -> Iterator[_Part]:
    yield ahead.build(number, there)


def _read_one(file: Path, version: str, _: object) -> Iterator[_Part]:
    return _read_file(file, version)


def _read_file(path: Path, version: str) -> Iterator[_Part]:
    data, where = read_bytes(path), str(path)
    start = moment_of(path.stat().st_mtime)
    values = _values(data, where)
    first = values[0] if values else None
    keys = set(first) if isinstance(first, dict) else set()
    if "run_options" in keys or "sys_info" in keys:
        yield Import.of(param_run(values, where, version=version, started=start))
    elif "schema_version" in keys and keys & {"run", DECISIONS}:
        for number, value in enumerate(values, 1):
            place = f"{where}: line {number}" if len(values) > 1 else where
            yield (
                _decisions(value, place) if isinstance(value, dict) and DECISIONS in value else own_import(value, place)
            )
    elif {"benchmarks", "machine_info"} <= keys:
        yield Import.of(pytest_run(first, where))
    elif {"benchmarks", "context"} <= keys:
        yield Import.of(google_run(first, where, version=version))
    elif is_mxnet(first):
        yield Import.of(mxnet_run(first, where, version=version, started=start))
    else:
        hint = "it reads asv's folder, JSON of pytest-benchmark and others, and PARAM's output lines"
        raise InputError(f"{where}: opperf cannot read results in this format", hint=hint, slug="input")


def _values(data: bytes, where: str) -> list[object]:
    """Return the JSON value of a file, or one for each of its lines."""
    try:
        return [value_of(data, object_pairs_hook=distinct)]
    except NotJSON as whole:
        lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        if len(lines) < 2 or not lines[0][1].startswith(b"{") or not lines[0][1].rstrip().endswith(b"}"):
            raise InputError(f"{where}: not JSON ({whole})", slug="input") from whole
    values = []
    for number, line in lines:
        try:
            values.append(value_of(line, object_pairs_hook=distinct))
        except NotJSON as error:
            raise InputError(f"{where}: line {number}: not JSON ({error})", slug="input") from error
    return values


def _decisions(value: JsonDict, where: str) -> tuple[Decision, ...]:
    """Return the decisions of a line; raises `InputError` for what is none."""
    check_version(value.get("schema_version"), SCHEMA_VERSION, where)
    lines: tuple[object, ...] = read_as(tuple[Unread, ...], value[DECISIONS], f"{where}: {DECISIONS}")
    return tuple(Decision.from_json(line, f"{where}: {DECISIONS}[{number}]") for number, line in enumerate(lines))


def own_import(value: object, where: str) -> Import:
    """Read the document of a run as a database writes it; raises `InputError` that says what is wrong and where."""
    document = read_value(value, where)
    if not isinstance(document, (Run, ComparisonRun, NoiseRun, JudgedRun)):
        raise InputError(f"{where}: neither results, comparisons, noise floors nor judgements", slug="input")
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind is not None and kind not in get_args(Kind):
        raise InputError(f"{where}: kind: found `{kind}`, expected {', '.join(get_args(Kind))}", slug="bad_value")
    return Import(document, kind or KINDS[type(document)])


def _jsonl(documents: _Documents, output: Path) -> None:
    line = {"schema_version": SCHEMA_VERSION, DECISIONS: [decision.to_json() for decision in documents.decisions]}
    lines = chain((data for data, _ in documents), [line] if documents.decisions else [])
    write_parts(output, (f"{json.dumps(data)}\n".encode() for data in lines))


def _csv(documents: _Documents, output: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield csv.heading().encode()
        for document in documents.measured():
            yield from (line.encode() for line in csv.lines(document))

    write_parts(output, parts())


def _pytorch_v3(documents: _Documents, output: Path) -> None:
    def parts() -> Iterator[bytes]:
        separator = "[\n"
        for document in documents.measured():
            for record in pytorch_v3.records(document):
                yield f"{separator}{json.dumps(record)}".encode()
                separator = ",\n"
        yield b"[]\n" if separator == "[\n" else b"\n]\n"

    write_parts(output, parts())


def _asv(documents: _Documents, output: Path) -> Mapping[str, int]:
    replaced = asv.write(output, (document for document in documents.measured() if isinstance(document, Run)))
    return {"earlier results of the same build": replaced} if replaced else {}


def _bencher(documents: _Documents, output: Path) -> Mapping[str, int]:
    measures, replaced = bencher.metrics(documents.measured())
    write_parts(output, (json.dumps(measures, indent=1).encode(), b"\n"))
    return {"earlier results of the same case": replaced} if replaced else {}


def _flashinfer(documents: _Documents, output: Path) -> None:
    runs = (document for _, document in documents if isinstance(document, JudgedRun))
    write_parts(output, (line.encode() for line in flashinfer.lines(runs)))


#: How each format is written, which returns what it left out itself; and what it has a place for.
EXPORTS: dict[str, tuple[Callable[[_Documents, Path], Mapping[str, int] | None], _Takes]] = {
    "jsonl": (_jsonl, _Takes(whole=True)),
    "csv": (_csv, _Takes()),
    "pytorch-v3": (_pytorch_v3, _Takes(failures=False)),
    "asv": (_asv, _Takes(comparisons=False)),
    "bencher": (_bencher, _Takes(failures=False)),
    "flashinfer": (_flashinfer, _Takes(workloads=True)),
}
