"""A trace file as a stream of bytes: plain, as .gz, or as the one .json in a .tar.gz, unpacked as it is read.

A small file may unpack to any size, and a tar archive tells sizes of its own: both are bounded, and so is what the
stream's JSON holds before a parser sees it.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import ijson

from opperf.catalog.param.problems import quoted
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import LONGEST_STRING, Bounds, NotJSON

GZIP = b"\x1f\x8b"
#: What a packed file may unpack to: bytes in all, and bytes for each packed one. Traces are packed 10 to 40 times
#: smaller; zeros 1,030 times.
MOST_UNPACKED, MOST_RATIO = 1 << 26, 100
#: Files in an archive that are looked at.
MOST_MEMBERS = 1000
#: Prefix of the files that macOS adds to an archive, one for each file.
MAC = "._"
#: What reading a file raises that is cut short or never was one.
DAMAGED = (NotJSON, ijson.JSONError, zlib.error, tarfile.TarError, UnicodeDecodeError, EOFError, OSError)


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
            raise TooLarge(f"it asks for {size:,} bytes at once, expected at most {LONGEST_STRING:,}")
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
def opened(path: Path) -> Iterator[BoundedJson]:
    """Open a trace file; raises `InputError` for an unreadable one."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            if not is_packed:
                yield BoundedJson(file)
                return
            most = MOST_UNPACKED + MOST_RATIO * path.stat().st_size
            with gzip.open(file) as stream:
                unpacked: Any = Unpacker(stream, most)  # all that `tarfile` needs of a file
                if path.name.endswith((".tar.gz", ".tgz")):
                    with tarfile.open(fileobj=unpacked, mode="r:") as archive:
                        yield BoundedJson(_only_json(archive, path))
                else:
                    yield BoundedJson(unpacked)
    except DAMAGED as error:
        raise InputError(
            f"cannot read `{path}`: {getattr(error, 'strerror', None) or describe(error)}", slug="input"
        ) from error


def describe(error: BaseException) -> str:
    """Return the first line of an error, without control characters."""
    reason = error.args[0] if error.args else ""  # a parser shows bytes as they are, which may be no text
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(error)
    first = next(iter(text.strip().splitlines()), type(error).__name__)
    return first if first.isprintable() else first.encode("unicode_escape").decode()


def _only_json(archive: tarfile.TarFile, path: Path) -> IO[bytes]:
    members = []
    for number, member in enumerate(archive):
        if number == MOST_MEMBERS:
            raise InputError(f"{path}: over {MOST_MEMBERS} files in it, expected one .json", hint="unpack it")
        name = member.name.rpartition("/")[2]
        if member.isfile() and name.endswith(".json") and not name.startswith(MAC):
            members.append(member)
    file = archive.extractfile(members[0]) if len(members) == 1 else None
    if file is None:
        names = ", ".join(quoted(member.name) for member in members[:5]) or "none"
        raise InputError(f"{path}: expected one .json in it, found {names}", hint="unpack it", slug="bad_trace")
    return file
