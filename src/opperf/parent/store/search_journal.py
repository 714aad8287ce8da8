"""The journal of a search: lines of JSON beside its results, from which a search that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from opperf.domain.codec import read_as
from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors, write_text
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.text_file import read_bytes


class SearchJournal:
    """Keeps what a search has measured, as it comes; nowhere without a path."""

    def __init__(self, path: Path | None, rows: Iterable[object] = ()) -> None:
        """Begin it with what an earlier search has measured."""
        self._path = path
        if path is not None:
            write_text(path, _lines(rows))

    def add(self, *rows: object) -> None:
        """Append what was measured; raises `HarnessError` where the disk is full."""
        if self._path is not None:
            with explain_errors(self._path), self._path.open("a", encoding="utf-8") as file:
                file.write(_lines(rows))


def _lines(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


def read_rows(path: Path, verb: str, kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a journal, each with its place, as a type hint has them; the last line may be torn.

    Raises `InputError` for what no search by this verb has written.
    """
    lines = read_bytes(path).split(b"\n")
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        try:
            row = read_as(kind, value_of(line), where) if line else None
        except NotJSON as error:
            if number == len(lines):
                return
            raise InputError(f"{where}: not a journal of `opperf {verb}`", slug="bad_journal") from error
        except InputError as error:
            raise InputError(error.message, hint=error.hint, slug="bad_journal") from error
        if row is not None:
            yield where, row


def check_shares(shares: bool, resume: Path | None) -> None:
    """Raise `InputError` for a journal that shares nothing with the search which is to go on with it."""
    if not shares:
        raise InputError(
            f"`--resume {resume}`: the journal of another search",
            hint="name the same operators, inputs and sides, or leave it out",
            slug="bad_journal",
        )
