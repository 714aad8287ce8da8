"""Benchmark files on a fleet: those that a user named go out with each order, and lie in a private folder of a node.

Only what stands below the user's current folder travels: the folder of the benchmarks, and what pytest reads on the way
to it. A side of an order names them as records do; the node makes code of such a name where the files came with it.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from opperf.domain.code import SUITE_EXAMPLES, SuiteCode
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.files.text_file import read_bytes
from opperf.domain.plan import Side, Trial
from opperf.domain.units import format_bytes
from opperf.parent.measuring.fleet.engine import Bout, Order, SuiteFiles
from opperf.parent.workers.suite_library import LIBRARIES, library_folder

#: The most bytes of files that go out with each order.
MOST = 8 << 20
#: What is read beside benchmarks, in their folder and in those above it.
BESIDE = ("conftest.py", "__init__.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
HINT = "name files below the current folder, by a relative path"
#: The folders on a node: of the files, and of what `setup_cache` makes once for all processes of a side.
FILES, SHARED = "files", "shared"


def files_of(benchmarks: Sequence[SuiteCode]) -> SuiteFiles | None:
    """Return the files of benchmarks, None without any; raises `InputError` for what cannot travel."""
    if not benchmarks:
        return None
    contents: dict[str, str] = {}
    for code in benchmarks:
        place = Path(code.path.partition("::")[0])
        if place.is_absolute() or ".." in place.parts:
            message = f"`--fleet` sends files to its nodes, and `{code}` is not below the current folder"
            raise InputError(message, hint=HINT, slug="fleet_code")
        for file in _files(place):
            contents.setdefault(file.as_posix(), read_bytes(file).decode("latin-1"))
    size = sum(map(len, contents.values()))
    if size > MOST:
        message = f"`--fleet` sends files of {format_bytes(MOST)} at most, and there are {format_bytes(size)}"
        raise InputError(message, hint="name the folder of the benchmarks alone", slug="fleet_code")
    return SuiteFiles(tuple(map(str, benchmarks)), contents)


def _files(place: Path) -> Iterator[Path]:
    """Yield what is read of benchmarks at a place: their folder, but for what is hidden or compiled."""
    folder = place if place.is_dir() else place.parent
    for file in sorted(folder.rglob("*")):
        parts = file.relative_to(folder).parts
        if file.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts):
            yield file
    yield from (file for above in folder.parents for name in BESIDE if (file := above / name).is_file())


class Shelf:
    """The files that came with orders, each set of them written once, beside what all processes of theirs share."""

    def __init__(self) -> None:
        self._folders: dict[int, ScratchFolder] = {}

    def order(self, order: Order) -> Order:
        """Return an order whose sides have code where its files came with it."""
        if order.suites is None:
            return order
        folder = self._folder(order.suites)
        codes = {text: _code(text, folder / FILES, folder / SHARED) for text in order.suites.names}

        def with_code(trial: Trial) -> Trial:
            return replace(trial, side=_with_code(trial.side, codes))

        bouts = (Bout(with_code(bout.base), with_code(bout.new), with_code(bout.key)) for bout in order.bouts)
        return replace(order, trials=tuple(map(with_code, order.trials)), bouts=tuple(bouts))

    def _folder(self, files: SuiteFiles) -> Path:
        """Return a folder with files and room to share, private to this user and this process."""
        key = hash((files.names, *files.contents.items()))
        if key not in self._folders:
            scratch = self._folders[key] = ScratchFolder("benchmarks")
            atexit.register(scratch.close)
            for part in (FILES, SHARED):
                (scratch.path / part).mkdir()
            for name, content in files.contents.items():
                if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                    raise InputError(f"an order has a file `{name}`, expected one below its folder")
                file = scratch.path / FILES / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.encode("latin-1"))
        return self._folders[key].path


def _code(text: str, folder: Path, shared: Path) -> SuiteCode:
    """Return the code that a name in an order means, whose files are here; raises `InputError` for any other."""
    kind, _, path = text.partition(":")
    if kind not in SUITE_EXAMPLES:
        raise InputError(f"an order has files of `{text}`, expected those of {', '.join(SUITE_EXAMPLES)}")
    library = library_folder(kind, lambda note: None) if kind in LIBRARIES else None
    return SuiteCode(kind, path, library, home=str(folder), shared=str(shared))


def _with_code(side: Side, codes: dict[str, SuiteCode]) -> Side:
    code = codes.get(str(side.implementation))
    return side if code is None else replace(side, implementation=code)
