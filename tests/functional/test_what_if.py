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
        (["--replace", "sqrt=mine.py:same", "--framework", "numpy", "--dry-run"], "goes neither with `--dry-run` nor"),
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


@pytest.mark.slow
def test_a_right_replacement_gets_a_prediction_and_a_wrong_one_none(step: Path) -> None:
    words = ("--suite", str(step), "--framework", "numpy", "--direction", "forward", "--runs", "5", "--processes", "3")
    done = invoke("run", *words, "--replace", "sqrt=mine.py:same", "--format", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)["what_if"]
    assert (result["operator"], result["calls"], result["of"], result["source"]) == ("sqrt", 4, 6, "sum")
    assert result["predicted"] == pytest.approx(result["step"] - result["before"] * (1 - result["ratio"]))
    wrong = invoke("run", *words, "--replace", "sqrt=mine.py:wrong")
    assert wrong.code == 3
    assert "no prediction" in wrong.out
