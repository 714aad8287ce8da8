"""A folder of results as asv writes it: which files are runs, and which values are times."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.record import Run
from opperf.parent.store.imports.absolute_times import Foreign
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
    return [one.run for one in read_folder(tmp_path)]


def test_each_file_beside_that_of_the_machine_is_a_run(runs: list[Run]) -> None:
    assert [[record.details.version for record in run.records] for run in runs] == [["aaaa"] * 3, ["ffff"] * 3]


def test_a_time_is_any_number_above_zero(runs: list[Run]) -> None:
    times = [None if record.time is None else record.time.value for record in runs[0].records]
    assert times == [2e-3, None, None]


def read(folder: Path, results: dict[str, Any], **changes: Any) -> Foreign:
    """Return the run of a folder that has one file."""
    write(folder / "vm" / "machine.json", machine="vm", num_cpu="9" * 5000, version=1)
    file = {"commit_hash": "a", "env_name": "py", "date": 1000, "results": results, **changes}
    write(folder / "vm" / "a.json", **file)
    (foreign,) = read_folder(folder)
    return foreign


def test_a_value_of_asv_is_a_median_and_nothing_else(tmp_path: Path) -> None:
    columns = ["result", "params", "stats_ci_99_a", "stats_ci_99_b", "stats_number", "stats_repeat"]
    rows = {"time_a": [[2e-3], [], [1e-3], [3e-3], [5], [10]], "time_b": [[2e-3], []]}
    full, bare = (record.time for record in read(tmp_path, rows, result_columns=columns).run.records)
    assert full is not None
    assert bare is not None
    assert (full.median, full.interval, full.calls_per_sample, full.samples) == (2e-3, (1e-3, 3e-3), 5, 10)
    assert {getattr(one, name) for one in (full, bare) for name in ("mean", "min", "max", "p90", "p99", "stdev")} == {
        None
    }
    assert (bare.samples, bare.calls_per_sample, bare.processes) == (None, None, None)


def test_what_is_no_time_is_counted_by_reason(tmp_path: Path) -> None:
    results = {
        "a.mem_list": [[10, 20], [["1", "2"]]],
        "a.peakmem_all": [[10], []],
        "a.track_size": [[10], []],
        "a.other": [[10], []],
        "a.time_all": [None, [["1", "2"], ["3", "4"]]],
        "a.time_some": [[1.0], [["1", "2"]]],
        "a.time_skipped": [[float("nan"), 1.0], [["1", "2"]]],
    }
    foreign = read(tmp_path, results)
    assert [record.trial.case.operator for record in foreign.run.records] == ["a.time_skipped"]
    assert sorted(foreign.left_out.values()) == [1, 1, 1, 1, 1, 1, 2]
    words = " ".join(foreign.left_out)
    assert all(
        word in words for word in ("`mem_`", "`peakmem_`", "`track_`", "unknown kind", "skips", "failed for all")
    )


def test_parameters_that_multiply_beyond_all_memory_cost_nothing(tmp_path: Path) -> None:
    params = [["1"] * 10 for _ in range(20)]
    foreign = read(tmp_path, {"a.time_all": [None, params], "a.time_some": [[1.0], params]})
    assert (foreign.run.records, sum(foreign.left_out.values())) == ((), 2)
    with pytest.raises(InputError, match="at most 32 parameters"):
        read(tmp_path, {"a.time_all": [[1.0], [["1"]] * 33]})


@each(
    ("change", "place"),
    [
        ({"date": 10**30}, "a.json.date"),
        ({"date": 10**17}, "a.json: date"),
        ({"env_name": ["py"]}, "a.json.env_name"),
        ({"results": {"time_a": [[1e300], []]}}, "a.json: time_a"),
        ({"results": {"time_a": [[1.0], [["x"], "y"]]}}, "params"),
        ({"results": {"time_a": [[1.0], ["a"]]}, "result_columns": ["result", "stats_repeat"]}, "stats_repeat[0]"),
    ],
)
def test_a_value_that_is_none_of_asvs_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    with TemporaryDirectory() as folder:
        with pytest.raises(InputError) as refusal:
            read(Path(folder), **{"results": {}, **change})
        assert place in refusal.value.message


def test_a_column_that_no_row_has_is_read_as_none(tmp_path: Path) -> None:
    foreign = read(tmp_path, {"time_a": [[1.0], []]}, result_columns=["result", "stats_repeat"])
    assert len(foreign.run.records) == 1
