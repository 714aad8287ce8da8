"""An asv suite in environments that know nothing of asv: its library lies beside them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.functional.conftest import invoke

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")
SUITE = """
import numpy as np

class Sort:
    params = [100, 1000]

    def setup(self, n):
        self.x = np.arange(n)[::-1].copy()

    def time_sort(self, n):
        self.x.sort()
"""
ENVIRONMENTS = ("numpy==2.2.6", "numpy==2.4.6")


def opperf(*words: str) -> str:
    """Run a command that ends well, and return its data."""
    done = invoke(*words)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a suite."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "bench.py").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_releases_are_compared_and_kept(folder: Path) -> None:
    base, new = ENVIRONMENTS
    words = ("--base", base, "--new", new, "--pairs", "3", "--tolerance", "50%", "--trial-budget", "0.05")
    kept = ("--html", "page.html", "--database", "kept.db", "--format", "json")
    document = json.loads(opperf("compare", "asv:benchmarks", *words, *kept))
    (small, large) = document["comparisons"]
    assert (small["case"]["operator"], small["case"]["attributes"]) == ("bench.Sort.time_sort", {"param1": 100})
    assert [one["environment"] for one in (small["base"], small["new"])] == [base, new]
    assert {one["verdict"] for one in (small, large)} <= {"slower", "faster", "same", "inconclusive"}
    assert "bench.Sort.time_sort" in (folder / "page.html").read_text()
    assert "bench.Sort.time_sort" in opperf("history", "operators", "*", "--database", "kept.db")


@pytest.mark.usefixtures("folder")
def test_a_gate_judges_a_suite_by_expectations() -> None:
    words = ("asv:benchmarks", "--environment", ENVIRONMENTS[1], "--expected", "expected.json", "--select", "1000")
    opperf("gate", *words, "--update-expected", "--processes", "3")
    opperf("gate", *words, "--processes", "3", "--threshold", "900%", "--inconclusive", "pass")


#: A project whose second commit does its work four times, as the first pairs tell, and its suite.
CALC = """
def work():
    for _ in range({times}):
        sum(range(5000))
"""
CALC_SUITE = "import calc\n\ndef time_work(): calc.work()\n"
INSTALL = 'echo >> {builds}; cp calc.py "$VIRTUAL_ENV"/lib/python*/site-packages/'


@pytest.mark.slow
def test_two_commits_are_built_once_and_compared_by_their_names(
    folder: Path,
) -> None:
    (folder / "benchmarks" / "bench.py").write_text(CALC_SUITE)
    (folder / "asv.conf.json").write_text(json.dumps({"project": "calc", "matrix": {"numpy": ["2.4.6"]}}))
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    git = ["git", "-C", str(folder), *author]
    subprocess.run([*git, "init", "-q"], check=True)
    for number, times in ((1, 1), (2, 4)):
        (folder / "calc.py").write_text(CALC.format(times=times))
        for step in (["add", "calc.py"], ["commit", "-q", "-m", f"{number}"], ["tag", f"v{number}"]):
            subprocess.run([*git, *step], check=True)
    builds = folder / "builds"
    command = INSTALL.format(builds=builds)
    (folder / "calc.py").unlink()  # what is measured is not the working tree
    words = ("--pairs", "3", "--trial-budget", "0.02")
    compared = opperf("compare", "asv:benchmarks", "--base", "git:v1", "--new", "git:v2", "--build", command, *words,
                      "--format", "json", "--asv-results", "results")  # fmt: skip
    (one,) = json.loads(compared)["comparisons"]
    commits = [subprocess.check_output([*git, "rev-parse", f"v{n}"], text=True).strip() for n in (1, 2)]
    assert one["verdict"] == "slower"
    sides = [one["base"]["environment"], one["new"]["environment"]]
    assert sides == [f"git:v{n} ({commit[:10]})" for n, commit in zip((1, 2), commits)]
    written = [path.name for path in (folder / "results").glob("*/*-numpy.json")]
    assert sorted(written) == sorted(f"{commit[:8]}-numpy.json" for commit in commits)
    (folder / "opperf.toml").write_text(f'base = "git:v1"\nnew = "git:v2"\nbuild = {json.dumps(command)}\n')
    judged = invoke("gate", "asv:benchmarks", *words, "--junit", "gate.xml")
    assert judged.code == 1, judged.err
    assert "git:v2" in (folder / "gate.xml").read_text()
    assert len(builds.read_text().splitlines()) == 2
