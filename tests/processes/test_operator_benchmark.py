"""PyTorch's operator benchmarks run as their files are: what they register is measured, and called as they call it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import Done, current, invoke, invoke_module

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_children", "few_rounds")]
CONFIGS = """
import operator_benchmark as op_bench

short = op_bench.config_list(
    attr_names=["M", "N"], attrs=[[1, 2], [3, 4]], cross_product_configs={"device": ["cpu", "cuda"]}, tags=["short"]
)
"""
TESTS = """
import os, sys
import operator_benchmark as op_bench
import torch
from pt import configs

class AddBenchmark(op_bench.TorchBenchmarkBase):
    def init(self, M, N, device):
        self.inputs = {
            "one": torch.rand(M, N, device=device, requires_grad=self.auto_set()),
            "other": torch.rand(M, N, device=device, requires_grad=self.auto_set()),
        }
        self.set_module_name("add")

    def forward(self, one, other):
        return torch.add(one, other)

long = op_bench.cross_product_configs(M=[8], N=[8], device=["cpu"], tags=["long"])
op_bench.generate_pt_test(configs.short + long, AddBenchmark)
op_bench.generate_pt_gradient_test(configs.short[:1], AddBenchmark)

class Unary(op_bench.TorchBenchmarkBase):
    def init(self, M, N, device, op_func):
        self.inputs = {"x": torch.rand(M, N) + 1}
        self.op_func = op_func

    def forward(self, x):
        return self.op_func(x)

operators = op_bench.op_list(
    attr_names=["op_name", "op_func"], attrs=[["neg", torch.neg], ["neg_", torch.neg_]]
)
op_bench.generate_pt_tests_from_op_list(operators, configs.short[:1], Unary)

class Scale(op_bench.TorchBenchmarkBase):
    def init(self, how):
        self.weight = torch.ones(3, requires_grad=True)
        self.inputs = {"x": torch.ones(3)}
        if how == "raises":
            raise ValueError("no luck")
        if how == "leaves":
            sys.exit(3)
        self.how = how

    def forward_impl_eager(self):
        return self.forward(*self.get_inputs(), self.weight)

    def forward(self, x, weight):
        if self.how == "moves":
            os.chdir("/")
        if self.how == "prints":
            print("x" * 1_000_000)
        result = x * weight
        assert result.requires_grad  # a forward records what its weights' gradients take
        return result

ways = op_bench.cross_product_configs(how=["works", "raises", "leaves", "moves", "prints"], tags=["short"])
op_bench.generate_pt_test(ways, Scale)
op_bench.generate_pt_gradient_test(ways[:1], Scale)
drawn = op_bench.random_sample_configs(
    M=[1, 2, 3], probs=op_bench.attr_probs(M=[0.2, 0.3, 0.5]), total_samples=3, tags=["drawn"]
)

class Drawn(op_bench.TorchBenchmarkBase):
    def init(self, M):
        self.inputs = {"x": torch.rand(M)}

    def forward(self, x):
        return x + 1

op_bench.generate_pt_test(drawn, Drawn)

if __name__ == "__main__":
    op_bench.benchmark_runner.main()
"""
NAMES = [
    *("add_M1_N2_cpu", "add_M3_N4_cpu", "add_M1_N2_cpu_bwdall", "add_M1_N2_cpu_bwd1", "add_M1_N2_cpu_bwd2"),
    *("neg_M1_N2_cpu", "neg__M1_N2_cpu"),
    *("Scale_howworks", "Scale_howraises", "Scale_howleaves", "Scale_howmoves", "Scale_howprints", "Scale_howworks"),
]
LEAVES = "importing `leaves_test.py` ended the process: the child ended with exit code 3"
QUICK = ("--runs", "3", "--device", "cpu", "--format", "json")
Records = dict[tuple[str, str], dict[str, Any]]


def pytorchs(*words: object) -> Done:
    """Run the command that PyTorch's files are run with."""
    return invoke_module("opperf.compat.operator_benchmark", *words)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory, one_cache: Path) -> Iterator[Path]:
    """The current folder, with tests that share configs, and one that cannot be loaded."""
    folder = tmp_path_factory.mktemp("operator_benchmark")
    (folder / "pt").mkdir()
    (folder / "pt" / "__init__.py").touch()
    (folder / "pt" / "configs.py").write_text(CONFIGS)
    (folder / "pt" / "add_test.py").write_text(TESTS)
    (folder / "pt" / "broken_test.py").write_text("import operator_benchmark\n\nimport nothing_here\n")
    (folder / "pt" / "leaves_test.py").write_text("import os\nos._exit(3)\n")
    with current(folder, one_cache):
        yield folder


@pytest.fixture(scope="module")
def records(folder: Path, forked_children: None) -> Records:
    """The records of the whole folder, by name and direction."""
    done = invoke("run", "op_bench:pt/", *QUICK)
    assert done.code == 0, done.err
    records = json.loads(done.out)["records"]
    assert [one["case"]["operator"] for one in records] == [*NAMES, "broken_test.py", "leaves_test.py"]
    return {(one["case"]["operator"], one["direction"]): one for one in records}


def test_a_test_is_measured_in_the_direction_that_it_is_about(records: Records) -> None:
    failing = {"Scale_howraises", "Scale_howleaves", "broken_test.py", "leaves_test.py"}
    assert {name for (name, _), record in records.items() if record["status"] != "ok"} == failing
    assert {name for name, direction in records if direction == "backward"} == {
        *(name for name in NAMES if "_bwd" in name),
        "Scale_howworks",
    }
    gradient = records["Scale_howworks", "backward"]
    assert gradient["case"]["attributes"] == {"tag": "short", "number": 2}
    assert gradient["side"]["implementation"] == "op_bench:pt/add_test.py"


def test_inputs_that_a_test_changes_are_put_back(records: Records) -> None:
    assert records["neg__M1_N2_cpu", "forward"]["facts"]["mutates"] == "x: restored before each call"
    assert "mutates" not in records["neg_M1_N2_cpu", "forward"]["facts"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Scale_howraises", "no luck"),
        ("Scale_howleaves", "it called `sys.exit(3)`"),
        (
            "broken_test.py",
            "cannot import its files: broken_test.py:3: ModuleNotFoundError: No module named 'nothing_here'",
        ),
        ("leaves_test.py", LEAVES),
    ],
)
def test_what_cannot_be_measured_is_one_record(name: str, message: str, records: Records) -> None:
    record = records[name, "forward"]
    assert (record["status"], record["reason"]["message"]) == ("failed", message)


def test_tests_of_all_tags_can_be_selected() -> None:
    words = ("--dry-run", "--format", "csv", "--device", "cpu")
    for pattern, count in ((r"\(long\)", 1), ("drawn", 3), ("^add", 6)):
        done = invoke("run", "op_bench:pt/add_test.py", "--select", pattern, *words)
        assert len(done.out.splitlines()) == count + 1, done.out


def test_a_file_that_is_named_and_cannot_be_loaded_is_one_message() -> None:
    done = invoke("run", "op_bench:pt/broken_test.py")
    assert done.code == 2
    assert "broken_test.py:3: ModuleNotFoundError: No module named 'nothing_here'" in done.err
    assert "--environment 'torch + nothing_here'" in done.err
    done = invoke("run", "op_bench:pt/leaves_test.py")
    assert done.code == 2
    assert f"`op_bench:pt/leaves_test.py` in `torch`: {LEAVES}" in done.err


def test_two_sides_are_compared(folder: Path) -> None:
    sides = ("--base", "torch", "--new", "torch;threads=2", "--select", r"add_M1_N2_cpu(_bwdall)?\(")
    how = ("--pairs", "3", "--tolerance", "900%", "--trial-budget", "0.05", "--html", "page.html", "--format", "json")
    done = invoke("compare", "op_bench:pt/add_test.py", *sides, *how)
    comparisons = json.loads(done.out)["comparisons"]
    assert [(one["case"]["operator"], one["direction"]) for one in comparisons] == [
        ("add_M1_N2_cpu", "forward"),
        ("add_M1_N2_cpu_bwdall", "backward"),
    ]
    assert not any("not measured" in (one["reason"] or "") for one in comparisons)
    assert "add_M1_N2_cpu_bwdall" in (folder / "page.html").read_text()


def test_files_of_pytorch_are_not_measured_in_another_framework() -> None:
    done = invoke("run", "op_bench:pt/add_test.py", "--framework", "numpy")
    assert done.code == 2
    assert "these are benchmarks of PyTorch, which are not measured in numpy" in done.err


def test_the_command_of_pytorch_lists_tests_and_operators() -> None:
    tests = pytorchs("pt/", "--list_tests", "--tag_filter", "short", "--device", "cpu")
    assert tests.out.splitlines()[3:] == ["# Tag : short", "", "# List of tests:", *(f"# {name}" for name in NAMES)]
    assert "left out: `op_bench:pt/broken_test.py` cannot be loaded" in tests.err
    operators = pytorchs("pt/add_test.py", "--list-ops", "--operator-range", "m-z", "--device", "cpu")
    assert operators.out.splitlines()[6:] == ["# neg", "# neg_", "# Scale"]


def test_the_command_of_pytorch_writes_its_lines_and_files(folder: Path) -> None:
    words = (
        "--operators",
        "add",
        "--omp-num-threads",
        "1",
        "--iterations",
        "3",
        "--device",
        "cpu",
        "--output-json",
        "o.json",
    )
    for _ in range(2):
        done = pytorchs("pt/add_test.py", *words)
        assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[5:9] == [
        *("# Benchmarking PyTorch: add", "# Mode: Eager", "# Name: add_M1_N2_cpu"),
        "# Input: M: 1, N: 2, device: cpu",
    ]
    assert lines[9].startswith("Forward Execution Time (us) : ")
    rows = list(csv.DictReader((folder / "benchmark_logs").read_text().splitlines()))
    assert [row["Case Name"] for row in rows] == 2 * [
        f"{name}_BACKWARD" if "_bwd" in name else name for name in NAMES[:5]
    ]
    assert all(float(row["Execution Time"]) > 0 for row in rows)
    (first, *_) = json.loads((folder / "o.json").read_text())
    assert (first["run"], first["latency unit"], first["M"], first["device"]) == ("Forward", "us", "1", "cpu")
    dashboard = json.loads((folder / "benchmark-results.json").read_text())
    assert [one["metric"]["name"] for one in dashboard[:3]] == ["latency", "peak memory", "memory bandwidth"]
    assert [one["benchmark"]["mode"] for one in dashboard[::3]] == ["inference"] * 2 + ["training"] * 3


def test_the_command_of_pytorch_runs_a_test_several_times() -> None:
    words = (
        "--test-name",
        "add_M8_N8_cpu",
        "--num-runs",
        "2",
        "--iterations",
        "3",
        "--device",
        "cpu",
        "--output-csv",
        "other",
    )
    done = pytorchs("pt/add_test.py", *words)
    assert [line.split(" : ")[0] for line in done.out.splitlines() if line.startswith("Run:")] == [
        "Run: 0, Forward Execution Time (us)",
        "Run: 1, Forward Execution Time (us)",
    ]
    observed = pytorchs("pt/add_test.py", "--report-aibench", *words)
    line = next(line for line in observed.out.splitlines() if line.startswith("PyTorchObserver "))
    assert json.loads(line.removeprefix("PyTorchObserver "))["type"] == "PyTorch_add_M8_N8_cpu_Eager"
