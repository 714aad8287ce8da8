"""Documents that users keep, read and written whole; and what an earlier run left in one, or in its journal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_text
from opperf.domain.files.text_file import read_json
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings
from opperf.domain.record import Record, Run
from opperf.parent.documents.judgement import Expectation, document, from_document
from opperf.parent.store.journal import journal_of, read_journal

if TYPE_CHECKING:
    from opperf.domain.profile.event import Profile


def read_run(path: Path) -> Run:
    """Read a result file; raises `InputError` that says what is wrong and where."""
    return Run.from_json(read_json(path, hint="write one with `opperf run --format json --output FILE`"), str(path))


def read_expected(path: Path) -> tuple[Expectation, ...]:
    """Read a file of expectations; raises `InputError` that says what is wrong and where."""
    return from_document(read_json(path, hint="create it with `opperf gate --update-expected`"), str(path))


def write_expected(path: Path, expectations: Sequence[Expectation]) -> None:
    """Write a file of expectations, so that it has the old content or the new one."""
    write_text(path, json.dumps(document(expectations), indent=1, allow_nan=False) + "\n")


def read_profile(path: Path) -> Profile:
    """Read a profile; raises `InputError` for anything else."""
    from opperf.domain.profile.chrome import from_trace  # other documents are read without what profiles are made of

    return from_trace(read_json(path), str(path))


@dataclass
class Earlier:
    """Outcomes by trial, and records that are whole."""

    run: Run | None = None
    outcomes: dict[tuple[object, ...], list[Outcome]] = field(default_factory=dict)
    records: dict[tuple[object, ...], Record] = field(default_factory=dict)


def earlier_work(resume: Path | None, settings: Settings) -> Earlier:
    """Read what a result file or its journal holds; raises `InputError` when it was measured by other settings.

    A journal lies there only when the run has not finished, and then it holds all that the file can: the file may be
    of an earlier run, or in a format that cannot be read again.
    """
    if resume is None:
        return Earlier()
    earlier = Earlier()
    journal = journal_of(resume)
    if not resume.exists() and not journal.exists():
        raise InputError(f"`{resume}` and its journal do not exist", hint="leave out `--resume` to start a new run")
    if not journal.exists():
        earlier.run = read_run(resume)
        earlier.records = {record.key: record for record in earlier.run.records if not _is_open(record, settings)}
        _same_settings(earlier.run.settings, settings, resume)
        return earlier
    document = read_journal(journal)
    _same_settings(document.run.settings, settings, journal)
    earlier.run = document.run
    earlier.records = {record.key: record for record in document.records}
    for outcome in document.outcomes:
        if not (outcome.reason is not None and outcome.reason.slug == "budget"):
            earlier.outcomes.setdefault(outcome.key, []).append(outcome)
            earlier.records.pop(outcome.key, None)  # outcomes say more than the record made from them
    return earlier


def _is_open(record: Record, settings: Settings) -> bool:
    """Whether a record stands for a trial that was not reached, or not in every process, and is to be measured now."""
    if record.reason is not None:
        return record.reason.slug in ("budget", "not_run")
    return record.time is not None and (record.time.processes or 0) < settings.processes


def _same_settings(then: Settings, now: Settings, path: Path) -> None:
    differing = then.differences(now)
    if differing:
        text = ", ".join(f"{name} was {getattr(then, name)} and is {getattr(now, name)}" for name in differing)
        raise InputError(
            f"{path}: measured with other settings: {text}",
            hint="resume with the same settings, or write to another file",
            slug="other_settings",
        )
