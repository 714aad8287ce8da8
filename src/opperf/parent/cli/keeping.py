"""Results that go into a database when a command ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.errors import HarnessError, OpperfError

if TYPE_CHECKING:
    from opperf.parent.cli.options import Report
    from opperf.parent.history import Result


def check_database(database: str | None) -> None:
    """Raise `InputError` for an address that cannot be read, before anything is measured."""
    if database is not None:
        from opperf.parent.history import address

        address(database)


def keep(result: Result, report: Report) -> None:
    """Add a result to the database that the user named with `--database`; without it, do nothing.

    Raises `HarnessError` where that fails, and says which file has the result: that of `--output`, or a new one.
    """
    if report.database is None:
        return
    from opperf.parent.cli.output import tell
    from opperf.parent.history import archive, run_of

    try:
        with archive(report.database, create=True) as store:
            store.add(result)
            tell(f"added run {run_of(result).id} to {store.address}")
    except OpperfError as error:
        file = report.output or _write(result)
        raise HarnessError(
            f"{error.message}; the results are in {file}", hint=f"add them later: `opperf history add {file}`"
        ) from error


def _write(result: Result) -> Path:
    from opperf.domain.files.destination import write_text
    from opperf.parent.history import run_of

    file = Path(f"opperf-{run_of(result).id}.json")
    write_text(file, json.dumps(result.to_json(), allow_nan=False) + "\n")
    return file
