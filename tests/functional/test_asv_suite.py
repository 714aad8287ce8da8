"""An asv suite is measured as its files are: what asv lists is a case, and what asv calls is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from asv_runner import _aux, discovery
from tests.functional.conftest import FEW, Done
from tests.functional.suites import Records, check_refused, records_of

Opperf = Callable[..., Done]
SUITE = """
import os, sys
import numpy as np
from asv_runner.benchmarks.mark import SkipNotImplemented, skip_benchmark, skip_for_params

TABLE = np.arange(100)[::-1].copy()

class Sort:
    params = [[100, 300], ["quicksort", "stable"]]
    param_names = ["n", "kind"]

    def setup(self, n, kind):
        self.x = np.arange(n)[::-1].copy()

    def time_copy(self, n, kind):
        assert self.x[0] == n - 1
        np.sort(self.x, kind=kind)

    @skip_for_params([(300, "stable")])
    def time_in_place(self, n, kind):
        assert self.x[0] == n - 1
        self.x.sort(kind=kind)

class Once:
    number = 1
    log = []

    def setup(self):
        self.log.append("setup")
        self.x = np.arange(100)[::-1].copy()

    def time_sort(self):
        assert self.x[0] == 99 and self.log == ["setup"]
        self.log.append("call")
        self.x.sort()

    def teardown(self):
        self.log.clear()

class Table:
    def time_sort(self):
        assert TABLE[0] == 99
        TABLE.sort()

class Constants:
    params = [np.int64(3), np.ma.masked]

    def time_add(self, value):
        value + 1

class Alias:
    def setup(self):
        self.x = TABLE

    def time_sort(self):
        self.x.sort()

class Cached:
    def setup_cache(self):
        return np.ones(10)

    def time_sum(self, cache):
        assert cache.shape == (10,)
        cache.sum()

    def time_file(self, cache):
        np.save("left.npy", cache)

    def track_size(self, cache):
        return len(cache) / 4
    track_size.unit = "dozen"

    def peakmem_sum(self, cache):
        np.ones(8_000_000).sum()

class Told:
    params = ["leaves", "fails", "text", "not this"]

    def setup(self, what):
        if what == "not this":
            raise NotImplementedError("no such thing")

    def track_it(self, what):
        if what == "leaves":
            os._exit(4)
        if what == "fails":
            raise KeyError("gone")
        return "no number"

class Slow:
    params = ["setup", "call"]
    timeout = 0.2
    version = "3"
    pretty_name = "slow"

    def setup(self, what):
        while what == "setup":
            pass

    def time_it(self, what):
        while what == "call":
            pass

class Short(Slow):
    params = ["nothing"]
    timeout = 600

def timeraw_nothing():
    return "pass"

class Bad:
    params = ["in setup", "not here", "leaves setup", "leaves", "prints", "moves", "forks", "not this", "fails"]
    param_names = ["what"]

    def setup(self, what):
        if what == "in setup":
            raise ValueError("no luck")
        if what == "not here":
            raise NotImplementedError("no such thing")
        if what == "leaves setup":
            sys.exit(3)
        if what == "forks":
            os.fork()

    def time_it(self, what):
        if what == "leaves":
            sys.exit(4)
        if what == "prints":
            print("x" * 1_000_000)
        if what == "moves":
            os.chdir("/")
        if what == "not this":
            raise SkipNotImplemented("not for this")
        if what == "fails":
            raise KeyError("gone")

@skip_benchmark
def time_never():
    pass

def time_free():
    TABLE.sum()

time_free.benchmark_name = "named.time_freely"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite whose settings name its folder."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "files" / "deep").mkdir(parents=True)
    (folder / "files" / "__init__.py").touch()
    (folder / "files" / "deep" / "__init__.py").touch()
    (folder / "files" / "deep" / "bench.py").write_text(SUITE)
    settings = '{\n  // "pythons": ["3.9"],\n  "repo": "http://x", /* not\n  read */ "benchmark_dir": "files", // ]\n}'
    (folder / "asv.conf.json").write_text(settings)
    return folder


@pytest.fixture(scope="module")
def records(folder: Path, one_cache: Path, forked_children: None) -> Records:
    """The records of the whole suite, by benchmark and parameters."""
    records = records_of("asv:.", "deep.bench.", folder, one_cache)
    assert [path.name for path in folder.iterdir()] == ["asv.conf.json", "files"]
    return records


def test_the_cases_are_those_that_asv_lists(records: Records, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.meta_path", [*__import__("sys").meta_path])
    _aux.update_sys_path(str(folder / "files"))
    listed = {one.name: one for one in discovery.disc_benchmarks(str(folder / "files"))}
    own = [record["case"] for record in records.values()]
    assert list(dict.fromkeys(case["operator"] for case in own)) == list(listed)
    assert "named.time_freely" in listed
    assert [case["attributes"] for case in own if case["operator"].endswith("Sort.time_copy")] == [
        {"n": n, "kind": kind} for n in (100, 300) for kind in ("quicksort", "stable")
    ]


def test_what_asv_measures_is_measured(records: Records) -> None:
    constants = [record for key, record in records.items() if key[0] == "Constants.time_add"]
    assert [record["status"] for record in constants] == ["ok", "ok"]
    for name in ("Cached.time_sum", "Cached.time_file", "Once.time_sort", "named.time_freely"):
        assert records[name,]["status"] == "ok", records[name,]["reason"]
    assert records["Sort.time_copy", 300, "stable"]["side"]["implementation"] == "asv:files"


def test_a_short_call_that_asv_times_by_itself_has_a_warning(records: Records) -> None:
    keys = (("Short.time_it", 3, "nothing"), ("named.time_freely",))  # with a `setup`, and without
    slugs = [[warning["slug"] for warning in records[key]["warnings"]] for key in keys]
    assert ["asv_times_one_call" in several for several in slugs] == [True, False]


def test_what_a_benchmark_tells_stands_in_place_of_its_time(records: Records) -> None:
    told = {key[0]: record["metrics"] for key, record in records.items() if "_" in str(key[0]) and record["metrics"]}
    assert told["Cached.track_size"] == {"tracked": {"unit": "dozen", "value": 2.5, "source": None}}
    ((peak_name, peak),) = told["Cached.peakmem_sum"].items()
    assert peak_name == "process_peak"
    assert 64e6 < peak["value"] < 64e6 + 120e6  # the array, and a Python with NumPy
    assert list(told["timeraw_nothing"]) == ["time_raw"]
    assert "time" in told["Cached.time_sum"]


def test_what_a_benchmark_tells_is_compared_by_pairs(opperf: Opperf, here: Path, forked_children: None) -> None:
    (here / "suite").mkdir()
    lines = [
        "import os",
        "def track_same(): return 0",
        "def track_more(): return 3 * int(os.environ['TIMES'])",
        "track_more.unit = 'files'",
        "def track_from_nothing(): return int(os.environ['TIMES']) - 1",
    ]
    (here / "suite" / "bench.py").write_text("\n".join(lines))
    # Of four times as many, the first pairs tell enough.
    sides = ("--base", "numpy;env.TIMES=1", "--new", "numpy;env.TIMES=4", "--pairs", "3")
    done = opperf("compare", "asv:suite", *sides, "--format", "json")
    by_name = {one["case"]["operator"].removeprefix("bench."): one for one in json.loads(done.out)["comparisons"]}
    assert {name: one["verdict"] for name, one in by_name.items()} == {
        "track_same": "same",
        "track_more": "slower",
        "track_from_nothing": "inconclusive",
    }
    more = by_name["track_more"]
    assert (more["metric"], more["ratio"], more["base_value"], more["new_value"]) == ("tracked", 4.0, 3.0, 12.0)
    assert "no ratio of numbers that are not above zero" in by_name["track_from_nothing"]["reason"]
    table = opperf("gate", "asv:suite", "--select", "more", *sides)
    assert table.code == 1
    assert "3 files" in table.out
    assert "4.000 times the base's tracked" in table.out


@pytest.mark.parametrize(
    ("case", "note"),
    [
        (("Sort.time_copy", 100, "stable"), None),
        (("Sort.time_in_place", 100, "stable"), "self.x: restored before each call"),
        (("Table.time_sort",), "TABLE: restored before each call"),
        (("Once.time_sort",), "made anew before each call"),
    ],
)
def test_each_call_has_the_inputs_of_the_first(case: tuple[object, ...], note: str | None, records: Records) -> None:
    assert records[case]["status"] == "ok", records[case]["reason"]
    assert records[case]["facts"].get("mutates") == note


@pytest.mark.parametrize(
    ("case", "status", "message"),
    [
        (("Sort.time_in_place", 300, "stable"), "skipped", "asv: skipped: these parameters are in its"),
        (("Alias.time_sort",), "skipped", "calls change `self.x`, which is not made anew for the next"),
        (("Slow.time_it", 3, "setup"), "failed", "not over after its own `timeout` of 0.2 s"),
        (("Slow.time_it", 3, "call"), "failed", "not over after its own `timeout` of 0.2 s"),
        (("Short.time_it", 3, "nothing"), "ok", ""),
        (("Told.track_it", "leaves"), "failed", "it ended with 4"),
        (("Told.track_it", "fails"), "failed", "KeyError: 'gone'"),
        (("Told.track_it", "text"), "failed", "it returned 'no number', expected a number"),
        (("Told.track_it", "not this"), "skipped", "asv: skipped: NotImplementedError('no such thing')"),
        (("Bad.time_it", "in setup"), "failed", "no luck"),
        (("Bad.time_it", "not here"), "skipped", "asv: skipped: NotImplementedError('no such thing')"),
        (("Bad.time_it", "leaves setup"), "failed", "it called `sys.exit(3)`"),
        (("Bad.time_it", "leaves"), "failed", "it called `sys.exit(4)`"),
        (("Bad.time_it", "prints"), "ok", ""),
        (("Bad.time_it", "moves"), "ok", ""),
        (("Bad.time_it", "forks"), "ok", ""),
        (("Bad.time_it", "not this"), "skipped", "asv: skipped: SkipNotImplemented('not for this')"),
        (("Bad.time_it", "fails"), "failed", "gone"),
    ],
)
def test_a_benchmark_that_cannot_be_measured_is_one_record(
    case: tuple[object, ...], status: str, message: str, records: Records
) -> None:
    record = records[case]
    assert record["status"] == status
    assert message in (record["reason"] or {"message": ""})["message"]


def test_a_pattern_selects_by_name_and_parameters(
    opperf: Opperf, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for pattern in (r"copy\(300", r"time_copy\(\d+, 'stable'\)", r"time_copy\(\d+, stable"):
        done = opperf("run", "asv:files", "--select", pattern, "--dry-run", "--format", "csv")
        assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["deep.bench.Sort.time_copy"] * 2


def test_a_file_of_expectations_names_no_suite_to_load(opperf: Opperf, here: Path) -> None:
    (here / "suite").mkdir()
    (here / "suite" / "bench.py").write_text(
        f"import pathlib\npathlib.Path({str(here / 'loaded')!r}).touch()\ndef time_it(): pass\n"
    )
    written = opperf("gate", "asv:suite", "--expected", "old.json", "--update-expected", "--processes", "3")
    assert written.code == 0, written.err
    (here / "loaded").unlink()
    done = opperf("gate", "--expected", "old.json")
    assert done.code == 2
    assert "old.json: expectations[0]: `asv:suite` is code, and a file does not say which code is run" in done.err
    assert not (here / "loaded").exists()


def test_results_are_written_as_asv_has_them(opperf: Opperf, here: Path, forked_children: None) -> None:
    (here / "suite").mkdir()
    lines = [
        "class Sum:",
        "    params = [[10, 20], ['a', 'b']]",
        "    def setup(self, n, kind):",
        "        if (n, kind) == (10, 'b'):",
        "            raise NotImplementedError",
        "        if (n, kind) == (20, 'b'):",
        "            raise ValueError('gone')",
        "    def time_sum(self, n, kind): sum(range(n))",
        "def track_four(): return 4",
        "track_four.version = '7'",
    ]
    (here / "suite" / "bench.py").write_text("\n".join(lines))
    done = opperf("run", "asv:suite", "--framework", "numpy", "--runs", "3", "--asv-results", "results")
    assert done.code == 0, done.err
    (path,) = (here / "results").glob("*/*-numpy.json")
    document = json.loads(path.read_text())
    assert path.name.startswith(document["commit_hash"][:8])
    rows = document["results"]
    result, params, version, *_ = rows["bench.Sum.time_sum"]
    assert params == [["10", "20"], ["'a'", "'b'"]]
    assert result[0] > 0
    assert result[1] != result[1]  # it was left out
    assert result[3] is None
    benchmarks = json.loads((here / "results" / "benchmarks.json").read_text())
    assert benchmarks["bench.Sum.time_sum"]["version"] == version
    assert (rows["bench.track_four"][0], rows["bench.track_four"][2]) == ([4.0], "7")
    sides = ("--base", "numpy", "--new", "numpy;env.X=1", "--select", "Sum", *FEW, "--tolerance", "1000%")
    compared = opperf("compare", "asv:suite", *sides, "--asv-results", "results")
    assert compared.code == 0, compared.err
    both = json.loads(path.read_text())["results"]
    assert both.keys() == rows.keys()  # what was not measured again is kept
    imported = opperf("history", "import", "results", "--database", "kept.db")
    assert "1 added" in imported.out + imported.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("asv:",), "`asv:` names no benchmarks, expected a folder behind `asv:`"),
        (("asv:nowhere",), "there is no folder `nowhere`"),
        (("asv:empty",), "`empty` holds no Python files"),
        (("asv:broken",), "cannot import its files: bench.py:2: ModuleNotFoundError: No module named 'nothing_here'"),
        (("asv:leaves",), "cannot import its files: bench.py:1: SystemExit: 5"),
        (("asv:settings",), "settings/asv.conf.json:3:19: Expecting ':' delimiter, expected JSON with comments"),
        (("asv:good", "--select", "Sort"), "`asv:good` has no benchmark that `--select Sort` matches"),
        (("asv:good", "--select", "("), "`--select` is `(`, which is no regular expression"),
        (("asv:good", "--size", "small"), "`--size` does not apply to `asv:good`"),
        (("add", "--framework", "numpy", "--asv-results", "x"), "and none is named"),
        (("add", "--framework", "numpy", "--select", "x"), "`--select` chooses among the benchmarks of other tools'"),
    ],
)
def test_bad_input_is_one_message(words: tuple[str, ...], message: str) -> None:
    files = {
        "empty/read.me": "",
        "broken/bench.py": "x = 1\nimport nothing_here\n",
        "leaves/bench.py": "raise SystemExit(5)\n",
        "settings/asv.conf.json": '{\n  // comment\n  "benchmark_dir" "x"\n}\n',
        "good/bench.py": "def time_nothing(): pass\n",
    }
    check_refused(words, message, files)
