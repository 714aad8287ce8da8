"""`opperf run --replace`: what cannot be predicted is refused before anything is measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.functional.conftest import invoke

CASES = [
    {"case": {"operator": operator, "inputs": inputs, "attributes": {}}, "count": count}
    for operator, inputs, count in (
        ("sqrt", {"data": {"shape": [64, 64], "dtype": "float32"}}, 4),
        ("add", {name: {"shape": [64, 64], "dtype": "float32"} for name in ("lhs", "rhs")}, 2),
    )
]
ROOTS = "import numpy\n\ndef same(data):\n    return numpy.power(data, 0.5)\n\ndef wrong(data):\n    return data + 1\n"


@pytest.fixture
def step(here: Path) -> Path:
    """A suite of two operators, with a file of replacements beside it."""
    (here / "mine.py").write_text(ROOTS, encoding="utf-8")
    file = here / "step.json"
    file.write_text(json.dumps({"schema_version": 1, "name": "step", "source": "test", "cases": CASES}))
    return file


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--replace", "sqrt"], "`--replace` is `sqrt`, expected an operator and a function of yours"),
        (["--replace", "sqrt=power"], "`--replace` is `sqrt=power`, expected an operator and a function of yours"),
        (["--replace", "cos=mine.py:same"], "in it: sqrt, add"),
        (["--replace", "sqrt=mine.py:same", "--framework", "numpy", "--top", "3"], "`--top` cannot be used with"),
        (
            ["--replace", "sqrt=mine.py:same", "--framework", "numpy", "--mode", "eager", "--mode", "compiled"],
            "one side",
        ),
        (["--replace", "sqrt=mine.py:same"], "name it: `--framework torch`"),
    ],
)
def test_what_cannot_be_replaced_is_refused(step: Path, words: list[str], message: str) -> None:
    done = invoke("run", "--suite", str(step), *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_a_replacement_needs_a_suite(step: Path) -> None:
    done = invoke("run", "sqrt", "--replace", f"sqrt={step.with_name('mine.py')}:same", "--framework", "numpy")
    assert done.code == 2
    assert "`--replace` needs the suite of a step: `--suite FILE`" in done.err


def test_a_dry_run_lists_the_suite_and_then_the_replacement(step: Path) -> None:
    words = ("--suite", step, "--framework", "numpy", "--direction", "forward", "--dry-run", "--format", "csv")
    done = invoke("run", *words, "--replace", "sqrt=mine.py:same")
    assert done.code == 0, done.err
    assert [line.partition(",")[0] for line in done.out.splitlines()[1:]] == ["sqrt", "add", "mine.py:same"]


def test_a_dry_run_lists_no_more_trials_than_it_should_and_the_most_expensive_first(step: Path) -> None:
    done = invoke("run", "--suite", step, "--framework", "numpy", "--direction", "forward", "--dry-run", "--top", "1")
    assert done.code == 0, done.err
    assert "sqrt" in done.out
    assert "add" not in done.out
    assert "1 more row" in done.out


@pytest.mark.slow
def test_a_right_replacement_gets_a_prediction_and_a_wrong_one_none(step: Path) -> None:
    words = ("--suite", str(step), "--framework", "numpy", "--direction", "forward", "--runs", "5", "--processes", "3")
    file, page = step.with_name("answer.json"), step.with_name("page.html")
    done = invoke("run", *words, "--replace", "sqrt=mine.py:same", "--output", file, "--html", page)
    assert done.code == 0, done.err
    result = json.loads(file.read_text())["what_if"]
    assert (result["operator"], result["calls"], result["of"], result["source"]) == ("sqrt", 4, 6, "sum")
    assert result["predicted"] == pytest.approx(result["step"] - result["before"] * (1 - result["ratio"]))
    assert invoke("show", file).out == done.out
    assert "mine.py:same" in page.read_text()
    first = json.loads(file.read_text())["run"]["id"]
    resumed = invoke("run", *words, "--replace", "sqrt=mine.py:same", "--resume", file, "--format", "json")
    assert resumed.code == 0, resumed.err
    assert json.loads(file.read_text())["run"]["id"] == first
    wrong = invoke("run", *words, "--replace", "sqrt=mine.py:wrong")
    assert wrong.code == 3
    assert "no prediction" in wrong.out


MODEL = """
import torch

torch.manual_seed(0)
net = torch.nn.LayerNorm(16)
x, ones = torch.randn(8, 16), torch.ones(8, 16)

def step():
    net.zero_grad()
    net(x).exp().backward(ones)

def norm(input, normalized_shape, weight, bias, eps):
    return torch.nn.functional.layer_norm(input, normalized_shape, weight, bias, eps)

def wrong(input, normalized_shape, weight, bias, eps):
    return norm(input, normalized_shape, weight, bias, eps) + 1
"""


@pytest.mark.slow
def test_the_backward_of_a_recorded_step_is_replaced_with_its_operator(here: Path) -> None:
    (here / "model.py").write_text(MODEL, encoding="utf-8")
    captured = invoke("capture", "model.py:step", "--framework", "torch", "--output", "step.json")
    assert captured.code == 0, captured.err
    words = ("--suite", "step.json", "--trial-budget", "0.05", "--processes", "3", "--environment", "torch")
    done = invoke("run", *words, "--replace", "layer_norm=model.py:norm", "--format", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    (gradient,) = result["what_if"]["backward"]
    assert "native_layer_norm_backward" in gradient
    assert (result["what_if"]["calls"], result["what_if"]["gradients"]) == (2, [])
    assert [one["direction"] for one in result["comparison"]["comparisons"]] == ["forward_backward"]
    wrong = invoke("run", *words, "--replace", "layer_norm=model.py:wrong")
    assert wrong.code == 3
    assert "by `torch:aten::native_layer_norm" in wrong.out
