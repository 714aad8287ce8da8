"""A folder of results as asv writes it: which files are runs, and which values are times."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.parent.commands.exchange import Imported, import_results
from opperf.parent.store.database import intake
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries


def write(path: Path, **content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def bring(folder: Path, database: Path | None = None) -> tuple[Imported, list[Run]]:
    """Import a folder; return what came of it, and every run as the database has it."""
    address = str(database or folder / "results.db")
    done = import_results([folder], address)
    with Archive(Address.of(address)) as archive:
        runs = [archive.run(entry.key) for entry in reversed(entries(archive))]
    return done, [run for run in runs if run is not None]


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """The runs of a machine whose own file lies between those of two commits."""
    write(tmp_path / "vm" / "machine.json", machine="vm", cpu="EPYC", num_cpu="2", version=1)
    for date, commit, time in ((1000, "aaaa", 2e-3), (2000, "ffff", 3e-3)):
        results = {"sum.time_axis": [[time, None, 0], [["0", "1", "2"]]]}
        write(tmp_path / "vm" / f"{commit}.json", commit_hash=commit, env_name="py", date=date, results=results)
    return bring(tmp_path)[1]


def test_each_file_beside_that_of_the_machine_is_a_run(runs: list[Run]) -> None:
    assert [[record.details.version for record in run.records] for run in runs] == [["aaaa"] * 3, ["ffff"] * 3]


def test_a_time_is_any_number_above_zero(runs: list[Run]) -> None:
    times = [None if record.time is None else record.time.value for record in runs[0].records]
    assert times == [2e-3, None, None]


def read(folder: Path, results: dict[str, Any], **changes: Any) -> tuple[Imported, Run]:
    """Return what the import of a folder that has one file came to, and its run."""
    write(folder / "vm" / "machine.json", machine="vm", num_cpu="9" * 5000, version=1)
    file = {"commit_hash": "a", "env_name": "py", "date": 1000, "results": results, **changes}
    write(folder / "vm" / "a.json", **file)
    done, (run,) = bring(folder)
    return done, run


def test_a_value_of_asv_is_a_median_and_nothing_else(tmp_path: Path) -> None:
    columns = ["result", "params", "stats_ci_99_a", "stats_ci_99_b", "stats_number", "stats_repeat"]
    rows = {"time_a": [[2e-3], [], [1e-3], [3e-3], [5], [10]], "time_b": [[2e-3], []]}
    full, bare = (record.time for record in read(tmp_path, rows, result_columns=columns)[1].records)
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
    foreign, run = read(tmp_path, results)
    assert [record.trial.case.operator for record in run.records] == ["a.time_skipped"]
    assert sorted(foreign.left_out.values()) == [1, 1, 1, 1, 1, 1, 2]
    words = " ".join(foreign.left_out)
    assert all(
        word in words for word in ("`mem_`", "`peakmem_`", "`track_`", "unknown kind", "skips", "failed for all")
    )


def test_parameters_that_multiply_beyond_all_memory_cost_nothing(tmp_path: Path) -> None:
    params = [["1"] * 10 for _ in range(20)]
    foreign, run = read(tmp_path, {"a.time_all": [None, params], "a.time_some": [[1.0], params]})
    assert (run.records, sum(foreign.left_out.values())) == ((), 2)
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
    _, run = read(tmp_path, {"time_a": [[1.0], []]}, result_columns=["result", "stats_repeat"])
    assert len(run.records) == 1


#: A commit as asv before 0.5 wrote it: a value alone, one for each combination, and with statistics.
FIRST = {
    "time_plain": 2e-3,
    "time_failed": None,
    "Suite.time_sum": {"params": [["10", "1000"], ["'list'", "'tuple'"]], "result": [1e-3, 2e-3, None, float("nan")]},
    "Suite.time_mean": {
        "params": [["1.5"]],
        "result": [4e-3],
        "stats": [{"ci_99": [3e-3, 5e-3], "number": 7, "repeat": 10, "std": 1e-4}],
        "samples": None,
    },
    "Suite.time_none": {"params": [["1", "2"]], "result": None},
    "track_size": 42,
}


def test_a_file_of_format_1_without_a_name_of_its_environment_is_read_as_asv_reads_it(tmp_path: Path) -> None:
    write(tmp_path / "vm" / "machine.json", machine="vm", version=1)
    file = {"commit_hash": "a" * 40, "date": 1000, "python": "2.7", "version": 1, "requirements": {"Cython": None}}
    write(tmp_path / "vm" / "aaaaaaaa-py2.7-Cython.json", **file, params={"machine": "vm"}, results=FIRST)
    write(
        tmp_path / "benchmarks.json", **{"Suite.time_sum": {"name": "", "type": "time", "param_names": ["n", "kind"]}}
    )
    done, (run,) = bring(tmp_path)
    assert run.labels == {"imported": "asv", "asv_environment": "py2.7-Cython"}
    rows = {
        (record.trial.case.operator, *record.trial.case.attributes.items()): record.time and record.time.median
        for record in run.records
    }
    assert rows == {
        ("time_plain",): 2e-3,
        ("time_failed",): None,
        ("Suite.time_sum", ("n", 10), ("kind", "list")): 1e-3,
        ("Suite.time_sum", ("n", 10), ("kind", "tuple")): 2e-3,
        ("Suite.time_sum", ("n", 1000), ("kind", "list")): None,
        ("Suite.time_mean", ("param1", 1.5)): 4e-3,
    }
    mean = next(record.time for record in run.records if record.trial.case.operator == "Suite.time_mean")
    assert mean is not None
    assert (mean.interval, mean.calls_per_sample, mean.samples) == ((3e-3, 5e-3), 7, 10)
    assert sorted(done.left_out.values()) == [1, 1, 1]


def build(folder: Path, number: int, time: float = 1e-3) -> Path:
    """Write the file of a build, and return its place."""
    path = folder / "vm" / f"{number:08}-py.json"
    results = {"time_sum": [[time, 2 * time], [["10", "'ten'"]]]}
    write(path, commit_hash=f"{number:040}", env_name="py", date=1000 * number, results=results)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of results of four builds."""
    write(tmp_path / "asv" / "vm" / "machine.json", machine="vm", version=1)
    for number in range(1, 5):
        build(tmp_path / "asv", number)
    return tmp_path / "asv"


def test_a_file_that_cannot_be_read_is_named_and_costs_itself_alone(folder: Path) -> None:
    (folder / "vm" / "00000002-py.json").write_text("{")
    done, runs = bring(folder)
    assert [run.records[0].details.version for run in runs] == [f"{number:040}"[:12] for number in (1, 3, 4)]
    (error,) = done.unreadable
    assert "00000002-py.json: not JSON" in error.message


def test_a_machine_that_cannot_be_read_is_named_once_and_costs_its_own_files(folder: Path) -> None:
    shutil.copytree(folder / "vm", folder / "other")
    (folder / "other" / "machine.json").write_text("[]")
    done, runs = bring(folder)
    assert (len(runs), [("other/machine.json" in error.message) for error in done.unreadable]) == (4, [True])


def test_an_import_that_was_stopped_goes_on_after_the_last_piece(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "AT_ONCE", 4)  # two builds

    def stop(count: int, total: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_results([folder], str(tmp_path / "a.db"), progress=stop)
    counts = []
    done = import_results([folder], str(tmp_path / "a.db"), progress=lambda *count: counts.append(count))
    assert [one.outcome for one in done.additions] == ["there", "there", "added", "added"]
    assert counts == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    whole = bring(folder, tmp_path / "b.db")[1]
    assert bring(folder, tmp_path / "a.db")[1] == whole


def test_a_build_of_which_more_was_measured_takes_the_place_of_what_was_there(folder: Path, tmp_path: Path) -> None:
    bring(folder, tmp_path / "a.db")
    build(folder, 4, time=5e-3)
    done, runs = bring(folder, tmp_path / "a.db")
    assert [one.outcome for one in done.additions] == ["there", "there", "there", "replaced"]
    assert [record.time and record.time.median for record in runs[-1].records] == [5e-3, 10e-3]


def test_what_is_stored_of_a_time_is_a_whole_record(folder: Path) -> None:
    record = bring(folder)[1][0].records[0]
    assert dict(record.trial.case.attributes) == {"param1": 10}
    assert [warning.slug for warning in record.warnings] == ["absolute_time"]
    assert record.facts == {"implementation": "time_sum", "version": "000000000000", "imported": "asv"}
    assert record.trial.side == Side("asv", "000000000000")


def test_benchmarks_that_cannot_be_read_refuse_the_folder(folder: Path) -> None:
    (folder / "benchmarks.json").write_text("{")
    with pytest.raises(InputError, match=r"benchmarks\.json: not JSON"):
        bring(folder)
    assert not (folder / "results.db").exists()
