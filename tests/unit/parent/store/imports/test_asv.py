"""A folder of results as asv writes it: which files are runs, and which values are times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.record import Run
from opperf.parent.store.imports.asv import read_folder


def write(path: Path, **content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """The runs of a machine whose own file lies between those of two commits."""
    write(tmp_path / "vm" / "machine.json", machine="vm", cpu="EPYC", num_cpu="2", version=1)
    for commit, time in (("aaaa", 2e-3), ("ffff", 3e-3)):
        results = {"sum.time_axis": [[time, None, 0], [["0", "1", "2"]]]}
        write(tmp_path / "vm" / f"{commit}.json", commit_hash=commit, env_name="py", date=1000, results=results)
    return list(read_folder(tmp_path))


def test_each_file_beside_that_of_the_machine_is_a_run(runs: list[Run]) -> None:
    assert [[record.details.version for record in run.records] for run in runs] == [["aaaa"] * 3, ["ffff"] * 3]


def test_a_time_is_any_number_above_zero(runs: list[Run]) -> None:
    times = [None if record.time is None else record.time.median for record in runs[0].records]
    assert times == [2e-3, None, None]
