"""Export results from a database to other tools, and import theirs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TypeAlias, Union, get_args

from opperf.domain.comparison import ComparisonRun
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.files.destination import write_parts
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.text_file import distinct, read_bytes
from opperf.domain.floor import NoiseRun
from opperf.domain.record import Run
from opperf.parent.history import archive as open_archive
from opperf.parent.load import read_value
from opperf.parent.reports.exports import asv, bencher, csv, pytorch_v3
from opperf.parent.store.database.archive import Addition, Archive, Kind
from opperf.parent.store.database.history import entries
from opperf.parent.store.imports import asv as asv_folder
from opperf.parent.store.imports.benchmark_json import google_run, pytest_run
from opperf.parent.store.imports.operator_json import is_mxnet, mxnet_run, param_run

Measured: TypeAlias = Union[Run, ComparisonRun]
#: The version of another tool's results, where neither its file nor the user names one.
UNKNOWN_VERSION = "unknown"


@dataclass(frozen=True)
class Import:
    """A run from a file, and its kind; opperf's own files keep theirs."""

    document: Run | ComparisonRun | NoiseRun
    kind: Kind = "imported"


def export_results(archive: Archive, format: str, output: Path, *, since: datetime | None = None) -> int:
    """Write the runs of a database, oldest first; return how many runs.

    Raises `InputError` for a format that is not known, or a place that cannot be written to.
    """
    if format not in EXPORTS:
        raise unknown("format", format, EXPORTS, hint=f"known: {', '.join(EXPORTS)}")
    keys = [entry.key for entry in reversed(entries(archive, since=since))]
    EXPORTS[format](archive, keys, output)
    return len(keys)


def import_results(
    paths: Sequence[Path], database: str | None = None, *, version: str | None = None
) -> tuple[str, list[Addition]]:
    """Add what other tools measured, or `opperf history export` wrote as lines; return the address of the database.

    Where one of the files cannot be read, nothing is added. `version` is the build, for files that do not say.
    """
    imports = [one for path in paths for one in read_imports(path, version)]
    with open_archive(database, create=True) as store:
        return str(store.address), [store.add(one.document, samples=True, kind=one.kind) for one in imports]


def read_imports(path: Path, version: str | None = None) -> Iterator[Import]:
    """Yield the runs of a file, of asv's folder, or of each file in another one; raises `InputError` for others."""
    places = (path, path / "results", path / ".asv" / "results")
    results = next((place for place in places if asv_folder.is_results(place)), None)
    if not path.is_dir():
        yield from _read_file(path, version or UNKNOWN_VERSION)
    elif results is not None:
        yield from map(Import, asv_folder.read_folder(results))
    else:
        files = sorted(path.rglob("*.json"))
        if not files:
            hint = "asv stores them in `.asv/results`, pytest-benchmark in `.benchmarks`"
            raise InputError(f"{path}: the folder has no results", hint=hint, slug="input")
        for file in files:
            yield from _read_file(file, version or UNKNOWN_VERSION)


def _read_file(path: Path, version: str) -> Iterator[Import]:
    data, where = read_bytes(path), str(path)
    start = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    values = _values(data, where)
    first = values[0] if values else None
    keys = set(first) if isinstance(first, dict) else set()
    if "run_options" in keys or "sys_info" in keys:
        yield Import(param_run(values, where, version=version, started=start))
    elif {"schema_version", "run"} <= keys:
        for number, value in enumerate(values, 1):
            yield _own_import(value, f"{where}: line {number}" if len(values) > 1 else where)
    elif {"benchmarks", "machine_info"} <= keys:
        yield Import(pytest_run(first, where))
    elif {"benchmarks", "context"} <= keys:
        yield Import(google_run(first, where, version=version))
    elif is_mxnet(first):
        yield Import(mxnet_run(first, where, version=version, started=start))
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


def _own_import(value: object, where: str) -> Import:
    document = read_value(value, where)
    if not isinstance(document, (Run, ComparisonRun, NoiseRun)):
        raise InputError(f"{where}: neither results, comparisons nor noise floors", slug="input")
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind is not None and kind not in get_args(Kind):
        raise InputError(f"{where}: kind: found `{kind}`, expected {', '.join(get_args(Kind))}", slug="bad_value")
    return Import(document, kind) if kind else Import(document, "run")


def _documents(archive: Archive, keys: Iterable[str]) -> Iterator[Measured]:
    for key in keys:
        document = archive.document(key)
        if document is not None:
            yield document


def _jsonl(archive: Archive, keys: Iterable[str], output: Path) -> None:
    lines = (json.dumps(document) for key in keys if (document := archive.document_json(key)) is not None)
    write_parts(output, (f"{line}\n".encode() for line in lines))


def _csv(archive: Archive, keys: Iterable[str], output: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield csv.heading().encode()
        for document in _documents(archive, keys):
            yield from (line.encode() for line in csv.lines(document))

    write_parts(output, parts())


def _pytorch_v3(archive: Archive, keys: Iterable[str], output: Path) -> None:
    def parts() -> Iterator[bytes]:
        separator = "[\n"
        for document in _documents(archive, keys):
            for record in pytorch_v3.records(document):
                yield f"{separator}{json.dumps(record)}".encode()
                separator = ",\n"
        yield b"[]\n" if separator == "[\n" else b"\n]\n"

    write_parts(output, parts())


def _asv(archive: Archive, keys: Iterable[str], output: Path) -> None:
    asv.write(output, (document for document in _documents(archive, keys) if isinstance(document, Run)))


def _bencher(archive: Archive, keys: Iterable[str], output: Path) -> None:
    write_parts(output, (json.dumps(bencher.metrics(_documents(archive, keys)), indent=1).encode(), b"\n"))


EXPORTS: dict[str, Callable[[Archive, Iterable[str], Path], None]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "pytorch-v3": _pytorch_v3,
    "asv": _asv,
    "bencher": _bencher,
}
