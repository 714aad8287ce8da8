"""What is submitted to a judge: functions that a user names, a folder of files, or a file of JSON lines.

Such a file holds code, or names files that do, which opperf otherwise takes from nobody but the user. Here the user
names the file for just that: what is in it is loaded by the process of its candidate alone, as any candidate is.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import NotJSON, show, value_of
from opperf.domain.files.text_file import distinct, read_text
from opperf.parent.documents.candidates import Evidence, Judged
from opperf.parent.measuring.judge.candidates import function_of, read_candidate

#: Characters of a name at most: it is in each message, and a column of reports.
LONGEST_NAME = 200
#: What a file is called into which a source is written. Its folder is its own.
FILE = "candidate.py"


@dataclass(frozen=True)
class Submission:
    """A candidate as it was submitted: its name, its code, and a digest of its source.

    Who named many files does not want to begin again for one without a function: then there is a `fault` instead of
    `code`. A `source` that has no file gets one, in a private folder of its own, while it is judged.
    """

    name: str
    code: Code | None
    digest: str
    fault: str = ""
    source: bytes | None = None

    def write(self) -> None:
        """Have the file of its source there."""
        folder = Path(self._place).parent
        if self.source is not None and not folder.exists():
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700)
            Path(self._place).write_bytes(self.source)

    def remove(self) -> None:
        """Remove that file."""
        if self.source is not None:
            shutil.rmtree(Path(self._place).parent, ignore_errors=True)

    @property
    def _place(self) -> str:
        return "" if self.code is None else self.code.name.rpartition(":")[0]

    def unloadable(self, against: str, case: Case) -> Judged:
        """Return the verdict on a candidate without code: it is wrong where it would be loaded."""
        return Judged(self.name, against, case, "wrong", self.fault, (Evidence("load", self.fault, "load", case),))

    def spelled(self, judged: Judged) -> Judged:
        """Return a judgement that speaks of the candidate by its name, where its file is no longer there."""
        if self.source is None:
            return judged
        evidence = tuple(replace(one, message=self._spelled(one.message)) for one in judged.evidence)
        return replace(judged, reason=self._spelled(judged.reason), evidence=evidence)

    def _spelled(self, text: str) -> str:
        return text.replace(self._place, self.name)


def submission_of(text: str, against: str) -> Submission:
    """Return a candidate that a user names; raises `InputError`.

    >>> submission_of("my_kernels:fast", "softmax").name
    'my_kernels:fast'
    """
    code = read_candidate(text, against)
    place = code.name.rpartition(":")[0]
    if place.endswith(".py") and not Path(place).is_file():
        raise InputError(f"no file `{place}`", hint="a candidate is named by its file and function: `my_kernel.py:f`")
    return Submission(code.name, code, digest_of(code))


def digest_of(code: Code) -> str:
    """Return a digest of the source of a function, which changes with its file; of a module that of its name."""
    place, _, function = code.name.rpartition(":")
    if place.endswith(".py"):
        with suppress(OSError):
            return _digest(function, Path(place).read_bytes())
    return _digest(code.name, b"")


def _digest(function: str, source: bytes) -> str:
    return hashlib.sha256(f"{function}\n".encode() + source).hexdigest()


def submissions(place: Path, against: str, folder: Path) -> list[Submission]:
    """Return the candidates of a folder, one for each Python file, or of a file of JSON lines; raises `InputError`.

    Sources are to lie in a private `folder`, which is to last until they are judged.
    """
    every = list(_of_lines(place, against, folder) if place.is_file() else _of_folder(place, against))
    if not every:
        what = "lines" if place.is_file() else "Python files"
        raise InputError(f"{place}: nothing to judge: there are no {what}", slug="candidates")
    return every


def _of_folder(place: Path, against: str) -> Iterator[Submission]:
    if not place.is_dir():
        raise InputError(
            f"{place}: there is no such folder or file", hint="name a folder of Python files, or a file of JSON lines"
        )
    for file in sorted(place.glob("*.py")):
        if file.name != "__init__.py":
            yield of_file(file.name, str(file), against)


def _of_lines(place: Path, against: str, folder: Path) -> Iterator[Submission]:
    lines: dict[str, int] = {}
    for number, line in enumerate(read_text(place).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{place}: line {number}"
        name, row = _row(line, where)
        if name in lines:
            raise InputError(f'{where}: the id "{name}" is that of line {lines[name]} as well', slug="candidates")
        lines[name] = number
        yield _of_row(name, row, where, place, folder / f"{number}", against)


def _row(line: str, where: str) -> tuple[str, Mapping[str, object]]:
    try:
        row = value_of(line.encode(), object_pairs_hook=distinct)
    except NotJSON as error:
        raise InputError(f"{where} is not JSON ({error})", slug="candidates") from error
    if not isinstance(row, dict) or {"file", "source"}.isdisjoint(row) or {"file", "source"} <= row.keys():
        raise InputError(
            f"{where}: found {show(row)}, expected an object with an `id`, and a `file` or a `source`",
            hint='write `{"id": "a", "file": "a.py:f"}`, or `{"id": "a", "source": "def f(x): ..."}`',
            slug="candidates",
        )
    name = row.get("id")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        expected = f"a text of up to {LONGEST_NAME} printable characters"
        raise InputError(f"{where}: id: found {show(name)}, expected {expected}", slug="candidates")
    return name, row


def _of_row(name: str, row: Mapping[str, object], where: str, place: Path, folder: Path, against: str) -> Submission:
    key = "file" if "file" in row else "source"
    text, function = row[key], row.get("function")
    if not isinstance(text, str) or not text:
        raise InputError(f"{where}: {key}: found {show(text)}, expected a text", slug="candidates")
    if function is not None and not (isinstance(function, str) and function.isidentifier()):
        raise InputError(f"{where}: function: found {show(function)}, expected a name", slug="candidates")
    if key == "source":
        return of_source(name, text, folder, against, function)
    text = str(place.parent / text)
    return of_file(name, text if function is None else f"{text}:{function}", against)


def of_source(name: str, source: str, folder: Path, against: str, function: str | None = None) -> Submission:
    """Return a candidate that is a text of Python; it is to lie in a folder of its own."""
    content = source.encode("utf-8", "surrogatepass")
    try:
        function = function or function_of(source, name, against)
    except InputError as error:
        return Submission(name, None, _digest("", content), error.message)
    return of_bytes(name, function, content, folder)


def of_bytes(name: str, function: str, content: bytes, folder: Path) -> Submission:
    """Return a candidate whose source has this content; it is to lie in a folder of its own."""
    return Submission(name, Code(f"{folder / FILE}:{function}"), _digest(function, content), source=content)


def of_file(name: str, text: str, against: str) -> Submission:
    """Return a candidate of many: where its file has no function, that is its fault, not the user's."""
    file = text if text.endswith(".py") else text.rpartition(":")[0]
    try:
        code = read_candidate(text, against)
        if not Path(file).is_file():
            raise InputError(f"{file}: there is no such file")
    except InputError as error:
        content = Path(file).read_bytes() if Path(file).is_file() else text.encode()
        return Submission(name, None, _digest("", content), error.message)
    return Submission(name, code, digest_of(code))
