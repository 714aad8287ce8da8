"""The journal of a run: one JSON line for each outcome, on the disk before the next trial begins.

It survives Ctrl-C, SIGTERM, SIGKILL and a loss of power. The last line may be torn by any of them, and is passed over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors, scratch_file
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.line_file import LineFile
from opperf.domain.files.text_file import distinct, read_bytes
from opperf.domain.measurement import Outcome
from opperf.domain.record import SCHEMA_VERSION, Record, Run


def journal_of(output: Path) -> Path:
    """Return the path of a result file's journal."""
    return output.with_name(output.name + ".journal")


@dataclass(frozen=True)
class Journal:
    """What a journal holds: the run's header, as a run without records; outcomes; records of a run that was resumed."""

    run: Run
    outcomes: tuple[Outcome, ...]
    records: tuple[Record, ...] = ()


class JournalWriter:
    """Writes a journal, line by line."""

    def __init__(self, path: Path, run: Run, outcomes: Iterable[Outcome] = (), records: Iterable[Record] = ()) -> None:
        # A journal of the same name holds what this one begins with: it is replaced when this one holds that too.
        with explain_errors(path), scratch_file(path) as (descriptor, unfinished):
            self._file = LineFile(path, os.fdopen(os.dup(descriptor), "wb"))
            try:
                header = _line({"schema_version": SCHEMA_VERSION, "run": run.header()})
                self._file.add(chain([header], (_line({"record": record.to_json()}) for record in records)))
                self.add(*outcomes)
                unfinished.replace(path)
            except BaseException:
                self.close()
                raise

    def add(self, *outcomes: Outcome) -> None:
        """Append outcomes and wait until they are on the disk; raises `HarnessError` where that is full."""
        self._file.add(_line({"outcome": outcome.to_json()}) for outcome in outcomes)

    def close(self) -> None:
        """Close the file; the journal stays."""
        self._file.close()


def _line(content: Mapping[str, object]) -> str:
    return json.dumps(content, separators=(",", ":"))


def read_journal(path: Path) -> Journal:
    """Read a journal; raises `InputError` for anything but a torn last line."""
    lines = read_bytes(path).split(b"\n")
    header: object = None
    outcomes, records = [], []
    for number, line in enumerate(lines, 1):
        where = f"{path}: line {number}"
        try:
            data = value_of(line, object_pairs_hook=distinct) if line else {}
        except NotJSON as error:
            if number == len(lines):  # no newline after it: it was being written when the run ended
                break
            raise InputError(f"{where} is not JSON ({error})", slug="bad_journal") from error
        if not isinstance(data, dict) or (number == 1 and data.get("schema_version") != SCHEMA_VERSION):
            raise InputError(
                f"{where}: this version of opperf did not write the journal",
                hint="leave out `--resume` to start again",
                slug="bad_journal",
            )
        if number == 1:
            header = data.get("run")
        if "outcome" in data:
            outcomes.append(Outcome.from_json(data["outcome"], f"{where}: outcome"))
        if "record" in data:
            records.append(Record.from_json(data["record"], f"{where}: record"))
    return Journal(Run.from_header(header, f"{path}: line 1: run"), tuple(outcomes), tuple(records))
