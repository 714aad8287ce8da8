"""Verdicts as lines of JSON: one for each candidate, on the disk before the next one is judged.

A line has all of a judgement, a digest of the candidate's source, and the terms that it was judged by. So a judge that
was stopped, by whatever, goes on where it was: a last line that was torn is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors
from opperf.domain.files.json_text import NotJSON, show, value_of
from opperf.domain.files.line_file import LineFile
from opperf.domain.files.text_file import distinct, read_bytes
from opperf.parent.documents.candidates import Judged


class Lines:
    """A file of verdicts that is added to."""

    def __init__(self, path: Path, terms: Mapping[str, object], *, resume: bool = False) -> None:
        """Begin it, or go on with it; raises `InputError` for one that was judged by other terms."""
        self.path = path
        self._terms = json.loads(json.dumps(terms))
        #: What was judged earlier, the last verdict on each candidate and case, by their names and ids.
        self.earlier: dict[tuple[str, str], Judged] = {}
        self._digests: dict[tuple[str, str], str] = {}
        complete = self._read() if resume and path.exists() else 0
        with explain_errors(path):
            file = path.open("ab" if resume else "wb")
            if resume and file.seekable():
                file.truncate(complete)
        self._file = LineFile(path, file)

    def _read(self) -> int:
        """Read what is there, and return the bytes that whole lines take."""
        content = read_bytes(self.path)
        complete = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:complete].split(b"\n")[:-1], 1):
            where = f"{self.path}: line {number}"
            try:
                row = value_of(line, object_pairs_hook=distinct)
            except NotJSON as error:
                raise InputError(f"{where} is not JSON ({error})", slug="bad_journal") from error
            if not isinstance(row, dict) or not isinstance(row.get("digest"), str):
                raise InputError(f"{where}: this is no verdict of `opperf judge`", slug="bad_journal")
            self._check(row.get("terms"), where)
            judged = Judged.from_json(row, where)
            self.earlier[_key(judged)], self._digests[_key(judged)] = judged, row["digest"]
        return complete

    def _check(self, terms: object, where: str) -> None:
        if terms == self._terms:
            return
        theirs = terms if isinstance(terms, dict) else {}
        names = [name for name in self._terms if theirs.get(name) != self._terms[name]]
        each = (f"{name} was {show(theirs.get(name))} and is {show(self._terms[name])} now" for name in names)
        raise InputError(
            f"{where} was judged by other terms: {'; '.join(each) or 'they have other names'}",
            hint="judge as then, or write to another file",
            slug="other_settings",
        )

    def has(self, name: str, digest: str, case: str) -> bool:
        """Whether a candidate of this source has a verdict on a case."""
        return self._digests.get((name, case)) == digest

    def add(self, judged: Judged, digest: str) -> None:
        """Append a verdict, and wait until it is on the disk; raises `HarnessError` where that is full."""
        line = json.dumps({**judged.to_json(), "digest": digest, "terms": self._terms}, allow_nan=False)
        self._file.add([line])

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _key(judged: Judged) -> tuple[str, str]:
    return judged.candidate, judged.case.id
