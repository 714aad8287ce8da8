"""The nodes of a trace file, one at a time, so that a file of any size is read in little memory.

Schemas 1.0.1 (flat) and 1.0.2-chakra to 1.1.1-chakra are read.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import field
from pathlib import Path
from typing import IO, Any

import ijson

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near
from opperf.domain.files.json_text import LONGEST_STRING, Bounds, JsonObject, NotJSON, show
from opperf.param.problems import MOST_NAMES, quote

GZIP = b"\x1f\x8b"
#: What a packed file may unpack to: bytes in all, and bytes for each packed one. Traces are packed 10 to 40 times
#: smaller; zeros 1,030 times.
MOST_UNPACKED, MOST_RATIO = 1 << 26, 100
#: How the names of archives end. Behind one a colon may name a member: `ranks.tar.gz:rank_3.json`.
ARCHIVES = (".tar.gz", ".tgz", ".tar")
#: Files in an archive that are looked at.
MOST_MEMBERS = 1000
#: Prefix of the files that macOS adds to an archive, one for each file.
MAC = "._"
#: How PyTorch's profiler begins the name of a step.
STEP = "ProfilerStep#"
#: What reading a file raises that is cut short or never was one.
DAMAGE = (NotJSON, ijson.JSONError, zlib.error, tarfile.TarError, UnicodeDecodeError, EOFError, OSError)


class TooLarge(OSError):
    """A file unpacks to an implausible size."""


@dataclass
class Unpacker:
    """What a .gz unpacks to, up to `most` bytes."""

    file: gzip.GzipFile
    most: int

    def read(self, size: int = -1) -> bytes:
        """Return this many bytes; `tarfile` asks for as many as an archive says that the name of a file has."""
        if size > LONGEST_STRING:
            raise TooLarge(f"it requests {size:,} bytes at once, expected at most {LONGEST_STRING:,}")
        data = self.file.read(size)
        self._check(self.file.tell())
        return data

    def seek(self, place: int, whence: int = 0) -> int:
        """Go to a place, counted from the beginning."""
        self._check(place)
        return self.file.seek(place, whence)

    def tell(self) -> int:
        """Return the place."""
        return self.file.tell()

    def _check(self, place: int) -> None:
        if place > self.most:
            raise TooLarge(f"it unpacks to over {self.most:,} bytes, {MOST_RATIO} times its own and more")


@dataclass
class BoundedJson:
    """A stream of JSON that is within the bounds of it."""

    file: IO[bytes] | Unpacker
    bounds: Bounds = field(default_factory=Bounds)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raises `NotJSON`."""
        data = self.file.read(size)
        self.bounds.check(data)
        return data


@contextmanager
def open_trace(path: Path) -> Iterator[BoundedJson]:
    """Open a trace file, or a member of an archive; raises `InputError` for an unreadable one."""
    try:
        place, member = split_member(path)
        with place.open("rb") as file:
            is_packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            with gzip.open(file) if is_packed else nullcontext() as stream:
                most = MOST_UNPACKED + MOST_RATIO * place.stat().st_size
                content: Any = file if stream is None else Unpacker(stream, most)  # all that `tarfile` needs of a file
                if place.name.endswith(ARCHIVES):
                    with tarfile.open(fileobj=content, mode="r:") as archive:
                        yield BoundedJson(_json_of(archive, place, member))
                else:
                    yield BoundedJson(content)
    except DAMAGE as error:
        raise InputError(
            f"cannot read `{path}`: {getattr(error, 'strerror', None) or describe(error)}", slug="input"
        ) from error


def split_member(path: Path) -> tuple[Path, str | None]:
    """Return an archive and the member of it that a path names, or the path and None.

    >>> split_member(Path("ranks.tar.gz:et/rank_3.json"))
    (PosixPath('ranks.tar.gz'), 'et/rank_3.json')
    """
    text = str(path)
    ends = [text.find(f"{suffix}:") + len(suffix) for suffix in ARCHIVES if f"{suffix}:" in text]
    if not ends or path.exists():  # a name may have a colon
        return path, None
    return Path(text[: min(ends)]), text[min(ends) + 1 :]


def describe(error: BaseException) -> str:
    """Return the first line of an error, without control characters."""
    reason = error.args[0] if error.args else ""  # a parser shows bytes as they are, which may be no text
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(error)
    first = next(iter(text.strip().splitlines()), type(error).__name__)
    return first if first.isprintable() else first.encode("unicode_escape").decode()


def _json_of(archive: tarfile.TarFile, path: Path, end: str | None) -> IO[bytes]:
    """Return the member whose name ends so, the only .json where none is named; raises `InputError`."""
    members: list[tarfile.TarInfo] = []
    for number, member in enumerate(archive):
        if number == MOST_MEMBERS:
            raise InputError(f"{path}: over {MOST_MEMBERS} files in it, expected fewer", hint="unpack it")
        name = member.name.rpartition("/")[2]
        if member.isfile() and name.endswith(".json") and not name.startswith(MAC):
            members.append(member)
    names = sorted(member.name for member in members)
    matches = [one for one in members if end is None or f"/{one.name}".endswith(f"/{end}")]
    file = archive.extractfile(matches[0]) if len(matches) == 1 else None
    if file is None:
        candidates = sorted(one.name for one in matches) or near(str(end), names) or names
        count = "no" if not matches else f"{len(matches)}"
        which = ".json" if end is None else f"member{'s' if matches else ''} {quote(end)}"
        there = ", ".join(map(quote, candidates[:MOST_NAMES])) + (", ..." if len(candidates) > MOST_NAMES else "")
        text = f"{path}: {count} {which} in it, expected one" + (f"; there are {there}" if candidates else "")
        hint = f"name one: `{path}:{show(candidates[0])[1:-1]}`" if candidates else None
        raise InputError(text, hint=hint, slug="bad_trace")
    return file


SCHEMAS = ("1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4")
#: What a file without keys is, by the first event of its parser.
MEANINGS = {"start_map": "it is an empty object", "start_array": "it is a list"}
EXPECTED = "expected a PyTorch execution trace: JSON with `schema` and `nodes`, plain, .gz or in a .tar or .tar.gz"


@dataclass(frozen=True)
class Node:
    """One recorded call, or a label around some. `record_function` joins it to a Kineto trace; 0 is none.

    `thread` is the number of the thread that made it, within the trace.
    `schema` is empty but for operators. Strides are empty in traces that have none. `reason` says why it cannot be run
    again, where its reader knows; `assumed` are arguments that were not recorded and have their defaults.
    """

    id: int
    parent: int
    name: str
    schema: str
    values: Sequence[object]
    shapes: Sequence[Any]
    types: Sequence[str]
    strides: Sequence[Any]
    record_function: int = 0
    thread: int = 0
    ranges: str = ""
    kernel_backend: str = ""
    kernel_file: str = ""
    reason: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def is_operator(self) -> bool:
        """Whether the node computes; the others are labels, steps and functions of autograd."""
        return bool(self.schema or self.kernel_backend)


def nodes(path: Path) -> Iterator[Node]:
    """Yield the nodes of a trace in the order of the file; raises `InputError` for a damaged one."""
    read = 0
    with open_trace(path) as file:
        try:
            for data in ijson.items(file, "nodes.item", use_float=True):
                yield _node(data)
                read += 1
        except DAMAGE as error:
            raise InputError(
                f"{path}: damaged after {read} nodes: {describe(error)}", hint=EXPECTED, slug="bad_trace"
            ) from error
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise InputError(
                f"{path}: nodes[{read}] is not a node of a trace ({type(error).__name__}: {error})",
                hint=EXPECTED,
                slug="bad_trace",
            ) from error


def process(path: Path) -> int | None:
    """Return the process that wrote a trace; None where the trace does not say."""
    with open_trace(path) as file:
        pid = next(ijson.items(file, "pid", use_float=True), None)
    return pid if isinstance(pid, int) else None


def check(path: Path) -> bool:
    """Return whether a file is a Kineto trace; raises `InputError` for one that is no trace of a known schema either.

    It is read no further than it must be.
    """
    keys: list[str] = []
    kind = ""
    with open_trace(path) as file:
        try:
            for prefix, event, value in ijson.parse(file, use_float=True):
                kind = kind or event
                if prefix == "" and event == "map_key":
                    keys.append(value)
                if prefix == "schema":
                    _check_schema(value, path)
                    return False
                if prefix == "traceEvents":
                    return True
        except DAMAGE as error:
            raise InputError(f"{path}: not JSON: {describe(error)}", hint=EXPECTED, slug="bad_trace") from error
    reason = f"its keys are {', '.join(map(quote, keys[:6]))}" if keys else MEANINGS.get(kind, "it is not an object")
    raise InputError(f"{path}: not an execution trace: {reason}", hint=EXPECTED, slug="bad_trace")


def _check_schema(schema: object, path: Path) -> None:
    if schema not in SCHEMAS:
        hint = f"opperf reads {', '.join(SCHEMAS)}"
        raise InputError(f"{path}: `schema` is {show(schema)}", hint=hint, slug="bad_trace")


def _node(data: JsonObject) -> Node:
    if "ctrl_deps" not in data:
        return _flat(data)
    attributes = {entry["name"]: entry["value"] for entry in data.get("attrs", ())}
    inputs = data["inputs"]
    return Node(
        id=int(data["id"]),
        parent=int(data["ctrl_deps"]),
        name=str(data["name"]),
        schema=str(attributes.get("op_schema", "")),
        values=_list(inputs, "values"),
        shapes=_list(inputs, "shapes"),
        types=_list(inputs, "types"),
        strides=inputs.get("strides", ()),
        record_function=int(attributes.get("rf_id", 0)),
        thread=int(attributes.get("tid", 0)),
        ranges=str(attributes.get("tensor_range", "")),
        kernel_backend=str(attributes.get("kernel_backend", "")),
        kernel_file=str(attributes.get("kernel_file", "")),
    )


def _flat(data: JsonObject) -> Node:
    """Read a node of schema 1.0.1."""
    return Node(
        id=int(data["id"]),
        parent=int(data["parent"]),
        name=str(data["name"]),
        schema=str(data["op_schema"]),
        values=_list(data, "inputs"),
        shapes=_list(data, "input_shapes"),
        types=_list(data, "input_types"),
        strides=(),
        record_function=int(data.get("rf_id", 0)),
        thread=int(data.get("tid", 0)),
    )


def _list(holder: JsonObject, name: str) -> list[Any]:
    """Return the list of that name; raises `TypeError` for anything else."""
    value = holder[name]
    if isinstance(value, list):
        return value
    raise TypeError(f"`{name}` is {show(value)}, expected a list")
