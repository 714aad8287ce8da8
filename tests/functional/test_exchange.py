"""Export results from a database to other tools, and import theirs."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient
from tests.functional.conftest import FEW, current, invoke

from opperf.parent.commands.exchange import EXPORTS
from opperf.parent.pages.server.app import PAGES, application
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.documents import pack, unpack

PYTEST = {
    "machine_info": {"machine": "x86_64", "cpu": {"brand_raw": "EPYC", "count": 2}},
    "commit_info": {"id": "0123456789abcdef"},
    "datetime": "2026-11-23T10:00:00+00:00",
    "benchmarks": [
        {
            "name": "test_sum[10]",
            "fullname": "test_x.py::test_sum[10]",
            "params": {"n": 10},
            "stats": {
                "min": 1e-6,
                "max": 4e-6,
                "mean": 2.5e-6,
                "median": 2e-6,
                "stddev": 1e-7,
                "rounds": 50,
                "iterations": 3,
            },
        }
    ],
}
GOOGLE = {
    "context": {"date": "2026-11-23T11:00:00Z", "host_name": "vm", "num_cpus": 2, "caches": []},
    "benchmarks": [
        *(
            {"name": "sum/8", "run_name": "sum/8", "run_type": "iteration", "real_time": time, "time_unit": "us"}
            for time in (3.0, 1.0, 2.0)
        ),
        {"name": "bad", "run_name": "bad", "run_type": "iteration", "error_occurred": True, "error_message": "no"},
    ],
}
MXNET = {
    "add": [
        {"inputs": {"lhs": [4, 4]}, "avg_time_forward_add": 0.5, "avg_time_backward_add": 1.5},
        {"inputs": {"lhs": [8, 4]}, "avg_time_add": 2.0, "p50_time_add": 1.0, "p90_time_add": 3.0, "p99_time_add": 4.0},
    ]
}
PARAM = [
    {"run_options": {"device": "cuda"}, "sys_info": {"hostname": "vm"}, "start_time": "2026-11-23T12:00:00"},
    {
        "op_name": "torch.add",
        "id": "0",
        "metric": {"forward": {"warmup.time": [9.0], "measure.time": [1.0, 3.0, 2.0]}, "backward": {}},
        "config": {"build": [], "input": [{"args": []}]},
    },
    {"finish_time": "2026-11-23T12:00:09"},
]


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def show(opperf: Any, operator: str) -> list[dict[str, Any]]:
    """Return the rows of an operator's history."""
    done = opperf("history", "show", operator, "--database", "team.db", "--format", "json")
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return rows


def bring(opperf: Any, *words: object) -> Any:
    done = opperf("history", "import", *words, "--database", "team.db")
    assert done.code == 0, done.err
    return done


def test_times_of_pytest_benchmark_are_imported_once_and_labelled_absolute(opperf: Any, here: Path) -> None:
    write(here / "p.json", PYTEST)
    assert "1 added with 1 row, 0 there already" in bring(opperf, "p.json").err
    assert "0 added with 0 rows, 1 there already" in bring(opperf, "p.json").err
    (row,) = show(opperf, "test_x.py::test_sum")
    assert (row["time_s"], row["framework"], row["version"], row["case"]) == (
        *(2e-6, "pytest-benchmark", "0123456789ab", "n=10"),
    )
    (run,) = json.loads(opperf("history", "list", "--database", "team.db", "--format", "json").out)["rows"]
    assert (run["kind"], run["labels"], run["machine"]) == ("imported", "imported=pytest-benchmark", "EPYC, 2 cores")
    opperf("history", "export", "--database", "team.db", "--output", "all.jsonl")
    (record,) = json.loads((here / "all.jsonl").read_text())["records"]
    assert [warning["slug"] for warning in record["warnings"]] == ["absolute_time"]


def test_repetitions_of_google_benchmark_are_samples_and_errors_are_failures(opperf: Any, here: Path) -> None:
    write(here / "g.json", GOOGLE)
    bring(opperf, "g.json", "--version", "1.2")
    (row,) = show(opperf, "sum")
    assert (row["time_s"], row["version"], row["case"]) == (pytest.approx(2e-6), "1.2", "arg1=8")
    assert [row["status"] for row in show(opperf, "bad")] == ["failed"]


def test_rows_of_mxnet_opperf_are_times_of_directions_in_milliseconds(opperf: Any, here: Path) -> None:
    write(here / "m.json", MXNET)
    bring(opperf, "m.json", "--version", "1.9.1")
    times = {(row["case"], row["direction"]): row["time_s"] for row in show(opperf, "mxnet:add")}
    assert times == {
        ("lhs=[4;4]", "forward"): pytest.approx(5e-4),
        ("lhs=[4;4]", "backward"): pytest.approx(15e-4),
        ("lhs=[8;4]", "forward_backward"): pytest.approx(1e-3),
    }


def test_lines_of_param_are_times_on_its_device(opperf: Any, here: Path) -> None:
    write(here / "p.jsonl", *PARAM)
    bring(opperf, "p.jsonl", "--version", "2.13.0")
    (row,) = show(opperf, "torch:torch.add")
    assert (row["time_s"], row["device"], row["version"]) == (pytest.approx(2e-3), "cuda", "2.13.0")
    assert row["started"].startswith("2026-11-23T12:00:00")


def test_changes_are_found_in_imported_times_and_said_to_be_weaker(opperf: Any, here: Path) -> None:
    for day in range(1, 11):
        median = (2e-6 if day < 6 else 3e-6) * (1 + day % 2 / 100)
        stats = {**PYTEST["benchmarks"][0]["stats"], "median": median}  # type: ignore[index]
        one = {**PYTEST["benchmarks"][0], "stats": stats}  # type: ignore[index]
        file = {**PYTEST, "commit_info": {"id": f"c{day}"}, "datetime": f"2026-11-{day:02}T10:00:00"}
        write(here / f"{day}.json", {**file, "benchmarks": [one]})
    bring(opperf, *(f"{day}.json" for day in range(1, 11)))
    (change,) = json.loads(opperf("history", "changes", "--database", "team.db", "--format", "json").out)["rows"]
    assert (change["before"], change["after"], change["evidence"]) == ("c5", "c6", "times")
    assert change["ratio"] == pytest.approx(1.5, rel=0.02)
    out = opperf("history", "changes", "--database", "team.db").out
    assert "1 series of absolute times" in out
    assert "much weaker evidence, since a busy night or another machine looks like a change" in " ".join(out.split())


@pytest.mark.usefixtures("exported")
def test_everything_that_leaves_as_lines_comes_back(opperf: Any, here: Path) -> None:
    opperf("noise", "null:steady", "--repeats", 1, *FEW, "--output", "n.json")
    write(here / "p.json", PYTEST)
    bring(opperf, "p.json")
    added = opperf("history", "add", "n.json", "--samples", "--database", "team.db")
    assert added.code == 0, added.err
    first = opperf("history", "export", "--database", "team.db", "--output", "a.jsonl")
    assert "wrote a.jsonl: 4 runs" in first.err
    assert opperf("history", "import", "a.jsonl", "--database", "copy.db").code == 0
    opperf("history", "export", "--database", "copy.db", "--output", "b.jsonl")
    assert (here / "a.jsonl").read_text() == (here / "b.jsonl").read_text()
    kinds = [json.loads(line)["kind"] for line in (here / "a.jsonl").read_text().splitlines()]
    assert sorted(kinds) == ["comparison", "imported", "noise", "run"]
    assert json.loads((here / "r.json").read_text())["records"][0]["samples"] in [
        json.loads(line)["records"][0]["samples"]
        for line in (here / "b.jsonl").read_text().splitlines()
        if json.loads(line)["kind"] == "run"
    ]
    assert (
        json.loads(opperf("history", "list", "--database", "copy.db", "--format", "json").out)["rows"]
        == (json.loads(opperf("history", "list", "--database", "team.db", "--format", "json").out)["rows"])
    )


@pytest.fixture(scope="module")
def team(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database of a run and a comparison."""
    with current(tmp_path_factory.mktemp("team"), one_cache) as folder:
        invoke("run", "null:steady", "null:raise", "--runs", 3, "--label", "repo=me/mine", "--output", "r.json")
        invoke("compare", "null:steady", "--base", "null", "--new", "null;slowdown=2", "--output", "c.json")
        assert invoke("history", "add", "r.json", "c.json", "--samples", "--database", "team.db").code == 0
    return folder


@pytest.fixture
def exported(team: Path, here: Path) -> Path:
    """The database of that folder, where each test may change it."""
    shutil.copytree(team, here, dirs_exist_ok=True)
    return here


def test_a_table_has_a_line_for_each_record_and_comparison(opperf: Any, exported: Path) -> None:
    opperf("history", "export", "--format", "csv", "--output", "t.csv", "--database", "team.db")
    rows = list(csv.DictReader((exported / "t.csv").read_text().splitlines()))
    assert [(row["operator"], row["status"]) for row in rows] == [
        *(("null:steady", "ok"), ("null:raise", "failed"), ("null:steady", "ok")),
    ]
    assert float(rows[0]["time_s"]) == pytest.approx(1e-4)
    assert rows[2]["verdict"] == "slower"
    assert float(rows[2]["ratio"]) == pytest.approx(2)


def test_records_for_pytorch_have_its_columns_and_no_failure_as_zero(opperf: Any, exported: Path) -> None:
    opperf("history", "export", "--format", "pytorch-v3", "--output", "v3.json", "--database", "team.db")
    records = json.loads((exported / "v3.json").read_text())
    for record in records:
        assert {
            *("timestamp", "schema_version", "name", "repo", "head_branch", "head_sha", "workflow_id", "run_attempt"),
            *("job_id", "benchmark", "model", "inputs", "metric", "runners", "dependencies"),
        } == set(record)
        assert set(record["metric"]) == {"name", "benchmark_values", "target_value", "extra_info"}
        infos = (record["benchmark"], record["model"], record["metric"], *record["runners"])
        assert all(isinstance(value, str) for one in infos for value in one["extra_info"].values())
    assert {record["model"]["name"] for record in records} == {"null:steady"}
    times = [one for one in records if one["metric"]["name"] == "time"]
    assert [one["metric"]["benchmark_values"] for one in times] == [[pytest.approx(1e-4)]]
    assert (times[0]["metric"]["extra_info"]["unit"], times[0]["repo"]) == ("s", "me/mine")
    (ratio,) = (one for one in records if one["metric"]["name"] == "ratio")
    assert ratio["metric"]["benchmark_values"] == [pytest.approx(2)]
    assert ratio["metric"]["extra_info"]["verdict"] == "slower"


def test_a_name_from_a_file_leads_out_of_no_folder(opperf: Any, exported: Path) -> None:
    document = json.loads((exported / "r.json").read_text())
    document["run"]["id"] = "evil"
    document["records"][0]["side"]["framework"] = "../../../../evil"
    write(exported / "evil.jsonl", document)
    bring(opperf, "evil.jsonl")
    before = {path for path in exported.parent.rglob("*") if exported / "asv" not in path.parents}
    opperf("history", "export", "--format", "asv", "--output", "asv", "--database", "team.db")
    after = {path for path in exported.parent.rglob("*") if exported / "asv" not in path.parents}
    assert after - before == {exported / "asv"}
    assert [path.name for path in (exported / "asv").rglob("*evil*.json")] != []


def test_benchers_metrics_are_nanoseconds_and_ratios(opperf: Any, exported: Path) -> None:
    opperf("history", "export", "--format", "bencher", "--output", "b.json", "--database", "team.db")
    measures = list(json.loads((exported / "b.json").read_text()).values())
    assert {name for one in measures for name in one} == {"latency", "ratio"}
    assert [one["latency"]["value"] for one in measures if "latency" in one] == [pytest.approx(1e5)]
    (ratio,) = (one["ratio"] for one in measures if "ratio" in one)
    assert ratio["lower_value"] <= ratio["value"] <= ratio["upper_value"]


def test_an_empty_database_leaves_empty_files(opperf: Any, exported: Path) -> None:
    for name, content in (("jsonl", ""), ("pytorch-v3", "[]\n"), ("bencher", "{}\n"), ("flashinfer", "")):
        words = ("--format", name, "--output", "e", "--database", "team.db", "--since", "2100-01-01")
        assert "wrote e: 0 runs" in opperf("history", "export", *words).err
        assert (exported / "e").read_text() == content


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("text",), "opperf cannot read results in this format"),
        (({"cases": []},), "opperf cannot read results in this format"),
        (({**PYTEST, "benchmarks": [{"name": "x", "fullname": "x"}]},), "benchmarks[0]"),
        (({**GOOGLE, "benchmarks": [{"name": "x", "real_time": 1, "time_unit": "h"}]},), "benchmarks[0].time_unit"),
        (({"add": [{"inputs": {}, "avg_time_forward_add": "fast"}]},), "avg_time_forward_add"),
        ((PARAM[0], {"op_name": "x", "metric": {"forward": {"measure.time": ["a"]}}}), "line 2"),
        (({"schema_version": 1, "run": {}, "records": [], "kind": "none"},), "run"),
        (({"schema_version": 99, "run": {}, "records": []},), "schema_version"),
    ],
)
def test_a_bad_file_is_refused_with_its_place_and_adds_nothing(
    lines: tuple[object, ...], message: str, opperf: Any, here: Path
) -> None:
    write(here / "x.json", *lines)
    done = opperf("history", "import", "x.json", "--database", "team.db")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "x.json" in done.err
    assert not (here / "team.db").exists()


def test_each_file_of_a_folder_is_imported(opperf: Any, here: Path) -> None:
    (here / "saved" / "Linux").mkdir(parents=True)
    write(here / "saved" / "Linux" / "0001.json", PYTEST)
    write(here / "saved" / "Linux" / "0002.json", {**PYTEST, "commit_info": {"id": "c2"}})
    assert "2 added" in bring(opperf, "saved").err
    assert [row["version"] for row in show(opperf, "test_x.py::test_sum")] == ["0123456789ab", "c2"]


def test_a_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_imported(opperf: Any, here: Path) -> None:
    (here / "saved").mkdir()
    write(here / "saved" / "0001.json", PYTEST)
    (here / "saved" / "0002.json").write_text("{")
    done = opperf("history", "import", "saved", "--database", "team.db")
    assert (done.code, done.out) == (3, "")
    assert "1 added with 1 row, 0 there already" in done.err
    assert "not imported: saved/0002.json: not JSON" in done.err
    (here / "saved" / "0001.json").write_text("[]")
    none = opperf("history", "import", "saved", "--database", "other.db")
    assert (none.code, (here / "other.db").exists()) == (2, False)
    assert "none of the 2 files can be read; of the first: saved/0001.json" in none.err


def test_a_parameter_is_spelt_alike_whatever_tool_measured_it(opperf: Any, here: Path) -> None:
    write(here / "p.json", {**PYTEST, "benchmarks": [PYTEST["benchmarks"][0] | {"params": {"n": 100}}]})  # type: ignore[index]
    run = {"run_type": "iteration", "real_time": 1.0}
    write(here / "g.json", {**GOOGLE, "benchmarks": [{"name": "sum/n:100", "run_name": "sum/n:100", **run}]})
    for name, content in (
        ("benchmarks.json", {"time_sum": {"name": "time_sum", "type": "time", "param_names": ["n"]}}),
        ("vm/machine.json", {"machine": "vm"}),
        ("vm/a-py.json", {"commit_hash": "a", "date": 1, "results": {"time_sum": [[1e-3], [["100"]]]}}),
    ):
        (here / "asv" / name).parent.mkdir(parents=True, exist_ok=True)
        write(here / "asv" / name, content)
    bring(opperf, "p.json", "g.json", "asv")
    for operator in ("test_x.py::test_sum", "sum", "time_sum"):
        assert [row["case"] for row in show(opperf, operator)] == ["n=100"], operator


def test_names_that_an_import_brought_are_listed_and_found_by_a_part(opperf: Any, here: Path) -> None:
    write(here / "p.json", PYTEST)
    write(here / "g.json", GOOGLE)
    bring(opperf, "p.json", "g.json")

    def names(*words: str) -> list[str]:
        done = opperf("history", "operators", *words, "--database", "team.db", "--format", "json")
        assert done.code == 0, done.err
        return [row["operator"] for row in json.loads(done.out)["rows"]]

    assert names() == ["bad", "sum", "test_x.py::test_sum"]
    assert names("*sum") == ["sum", "test_x.py::test_sum"]
    assert names("--framework", "pytest-benchmark") == ["test_x.py::test_sum"]
    for words in (("show", "test_sum"), ("changes", "test_sum"), ("operators", "*TEST_SUM*")):
        done = opperf("history", *words, "--database", "team.db")
        assert (done.code, done.out) == (2, ""), words
        assert "did you mean `test_x.py::test_sum`?" in done.err, words
    done = opperf("history", "show", "conv2d", "--database", "team.db")
    assert (done.code, "`opperf history operators` lists what it has" in done.err) == (2, True)


def test_a_folder_without_results_is_refused(opperf: Any, here: Path) -> None:
    (here / "empty").mkdir()
    done = opperf("history", "import", "empty", "--database", "team.db")
    assert (done.code, "the folder has no results" in done.err) == (2, True)


def test_a_format_that_is_not_known_is_refused(opperf: Any, exported: Path) -> None:
    done = opperf("history", "export", "--format", "xml", "--output", "x", "--database", "team.db")
    assert (done.code, "no format `xml`" in done.err, os.path.exists("x")) == (2, True, False)


#: Midnight of the last day of all, a day's length further west: no calendar has it in UTC.
NEVER = "9999-12-31T23:59:59-23:59"


@pytest.fixture
def marked(opperf: Any, exported: Path) -> Path:
    """The address of a database that has, from earlier, a run of a moment that cannot be shown."""
    write(exported / "p.json", PYTEST)
    bring(opperf, "p.json")
    with Archive(Address.of(str(exported / "team.db"))) as store, store.engine.begin() as connection:
        run = schema.runs.c
        key, packed = connection.execute(select(run.key, run.document).where(run.kind == "imported")).one()
        document = unpack(packed, key)
        document["run"]["started"] = NEVER
        values = {"key": "odd", "started": 253402386839, "document": pack(document)}
        connection.execute(update(schema.runs).where(run.key == key).values(values))
        connection.execute(update(schema.records).where(schema.records.c.time == 2e-6).values(started=253402386839))
    return exported / "team.db"


@pytest.mark.parametrize("change", [{"datetime": NEVER}, {"datetime": "0001-01-01T00:00:00"}])
def test_a_run_that_could_not_be_shown_is_not_stored(change: dict[str, str], opperf: Any, here: Path) -> None:
    write(here / "p.json", PYTEST | change)
    done = opperf("history", "import", "p.json", "--database", "team.db")
    assert (done.code, done.out) == (2, "")
    assert "p.json.datetime: found" in done.err
    assert not (here / "team.db").exists()


def test_a_file_of_opperf_with_an_impossible_moment_is_refused(opperf: Any, exported: Path) -> None:
    document = json.loads((exported / "r.json").read_text())
    document["run"]["started"] = NEVER
    write(exported / "odd.json", document)
    done = opperf("history", "add", "odd.json", "--database", "team.db")
    assert (done.code, "run.started: found" in done.err) == (2, True)


def test_one_run_that_cannot_be_shown_costs_its_own_row_only(marked: Path, opperf: Any, here: Path) -> None:
    place = ("--database", marked)
    listed = opperf("history", "list", *place)
    assert (listed.code, listed.out.count("odd"), "`opperf history remove odd`" in listed.out) == (0, 3, True)
    assert opperf("history", "show", "test_x.py::test_sum", *place).code == 0
    assert opperf("history", "changes", *place).code == 0
    for name in EXPORTS:
        done = opperf("history", "export", "--format", name, "--output", here / name, *place)
        assert (done.code, "2 runs" in done.err or name in ("asv", "flashinfer")) == (0, True)
        assert "left out run odd" in done.err
        assert "`opperf history remove odd`" in done.err
    with Archive(Address.of(str(marked))) as store:
        client = TestClient(application(store, hosts=["testserver"]))
        for path in (*(path for path in PAGES if "{" not in path), "/operators/test_x.py::test_sum", "/machines/1"):
            assert (path, client.get(path).status_code) == (path, 200)
        assert "opperf history remove odd" in client.get("/suites").text
        assert client.get("/runs/odd").status_code == 400
    assert opperf("history", "remove", "odd", *place).code == 0
    assert "odd" not in opperf("history", "list", *place).out


@pytest.mark.usefixtures("exported")
def test_an_export_says_what_its_format_has_no_place_for(opperf: Any, here: Path) -> None:
    opperf("noise", "null:steady", "--repeats", 1, *FEW, "--output", "n.json")
    opperf("history", "add", "n.json", "--database", "team.db")
    done = opperf("history", "export", "--format", "asv", "--output", "asv", "--database", "team.db")
    assert "wrote asv: 1 run\n" in done.err
    assert "left out 1 comparisons, since it has no place for ratios" in done.err
    assert "left out 1 noise floors" in done.err
    done = opperf("history", "export", "--format", "pytorch-v3", "--output", "v3", "--database", "team.db")
    assert "wrote v3: 2 runs\n" in done.err
    assert "left out 1 trials without a measurement" in done.err
    for _ in range(2):
        opperf("run", "null:steady", "--runs", 3, "--database", "team.db")
    done = opperf("history", "export", "--format", "asv", "--output", "asv", "--database", "team.db")
    assert "left out 2 earlier results of the same build" in done.err
