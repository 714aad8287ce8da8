"""`opperf compare --suite A --with B` on the null framework, where every call takes the same time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.conftest import XLA_FLAGS
from tests.functional.conftest import Done, invoke

from opperf.parent.measuring.suite_pairs import SuitePairs


def case(operator: str, shape: int, count: int, origin: str) -> dict[str, Any]:
    """Return an entry of a suite."""
    tensor = {"shape": [shape]}
    inputs = {"lhs": tensor, "rhs": tensor} if operator == "add" else {"data": tensor}
    return {"case": {"operator": operator, "inputs": inputs}, "count": count, "origin": origin}


BEFORE = [case("add", 8, 2, "Net.a"), case("relu", 8, 1, "Net.a"), case("exp", 4, 3, "Net.b")]
AFTER = [case("add", 16, 4, "Net.a"), case("relu", 8, 1, "Net.a"), case("transpose", 4, 1, "Net.c")]


@pytest.fixture
def suites(tmp_path: Path) -> tuple[Path, Path]:
    """Two suites: one has a module that the other lacks, and both have others."""
    paths = tmp_path / "before.json", tmp_path / "after.json"
    for path, cases in zip(paths, (BEFORE, AFTER)):
        path.write_text(json.dumps({"schema_version": 1, "name": path.stem, "source": "", "cases": cases}))
    return paths


def compare(suites: tuple[Path, Path], *words: object) -> Done:
    """Compare two suites."""
    return invoke("compare", "--suite", suites[0], "--with", suites[1], *words)


def test_modules_are_matched_by_place_and_what_one_suite_has_stands_alone(suites: tuple[Path, Path]) -> None:
    output = suites[0].with_name("change.json")
    done = compare(suites, "--base", "null", "--output", output)
    assert done.code == 0, done.err
    change = json.loads(output.read_text())["suite_change"]
    calls = {(row["module"], row["group"]): (row["before"]["calls"], row["after"]["calls"]) for row in change["rows"]}
    assert calls == {("Net.a", "elementwise"): (3, 5), ("Net.b", "elementwise"): (3, 0), ("Net.c", "views"): (0, 1)}
    assert change["ratio"] == pytest.approx(1.0, rel=0.05)
    assert change["interval"][0] <= change["ratio"] <= change["interval"][1]
    assert "only" in done.out
    assert "all calls: " in done.out


def test_by_group_a_row_has_the_calls_of_all_modules(suites: tuple[Path, Path]) -> None:
    done = compare(suites, "--base", "null", "--processes", "3", "--by", "group", "--format", "csv")
    assert done.code == 0, done.err
    rows = [row.split(",") for row in done.out.splitlines()]
    assert rows[0][:2] == ["module", "group"]
    calls = {row[1]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}
    assert {group: (row["before_calls"], row["after_calls"]) for group, row in calls.items()} == {
        "elementwise": ("6", "5"),
        "views": ("0", "1"),
    }
    assert calls["elementwise"]["module"] == ""


def test_a_suite_beside_itself_is_the_same_exactly(suites: tuple[Path, Path]) -> None:
    output = suites[0].with_name("change.json")
    done = invoke("compare", "--suite", suites[0], "--with", suites[0], "--base", "null", "--output", output)
    assert done.code == 0, done.err
    change = json.loads(output.read_text())["suite_change"]
    assert (change["verdict"], change["ratio"]) == ("same", 1.0)
    assert change["interval"] == [pytest.approx(1.0, abs=1e-4), pytest.approx(1.0, abs=1e-4)]
    assert {row["before"]["time"] - row["after"]["time"] for row in change["rows"]} == {0.0}


def test_each_suite_is_measured_on_its_own_side_and_the_whole_has_a_verdict(suites: tuple[Path, Path]) -> None:
    words = ("--base", "null;speed=a", "--new", "null;speed=b;slowdown=1.5", "--format", "json")
    done = invoke("compare", "--suite", suites[0], "--with", suites[0], *words)
    assert done.code == 0, done.err
    result = json.loads(done.out)
    change = result["suite_change"]
    assert change["verdict"] == "slower"
    assert change["ratio"] == pytest.approx(1.5, rel=1e-3)
    assert {round(row["ratio"], 2) for row in change["rows"]} == {1.5}
    assert all(row["interval"][0] <= row["ratio"] <= row["interval"][1] for row in change["rows"])
    assert {record["side"]["settings"]["speed"] for record in result["records"]} == {"a", "b"}
    assert {len(ratios) for ratios in change["log_ratios"]} >= {change["pairs"]}


def test_what_one_side_cannot_run_is_said_and_its_neighbours_are_measured_all_the_same(
    suites: tuple[Path, Path],
) -> None:
    cases = [*AFTER, case("null:raise", 4, 7, "Net.d")]
    suites[1].write_text(json.dumps({"schema_version": 1, "name": "after", "source": "", "cases": cases}))
    done = compare(suites, "--base", "null", "--format", "json")
    assert done.code == 0, done.err
    change = json.loads(done.out)["suite_change"]
    assert [(gap["suite"], gap["operator"], gap["calls"]) for gap in change["unmeasured"]] == [
        ("after", "null:raise", 7)
    ]
    measured = {row["module"]: (row["before"]["measured"], row["after"]["measured"]) for row in change["rows"]}
    assert measured == {"Net.a": (3, 5), "Net.b": (3, 0), "Net.c": (0, 1), "Net.d": (0, 0)}


def test_nothing_measured_on_a_side_is_failed(suites: tuple[Path, Path]) -> None:
    cases = [case("null:raise", 4, 7, "Net.d")]
    suites[1].write_text(json.dumps({"schema_version": 1, "name": "after", "source": "", "cases": cases}))
    done = compare(suites, "--base", "null")
    assert done.code == 3, done.out
    assert ": failed" in done.out


def test_a_budget_that_ends_early_leaves_no_verdict(suites: tuple[Path, Path]) -> None:
    done = compare(suites, "--base", "null", "--budget", "1ms")
    assert done.code == 0, done.err
    assert "inconclusive: the budget ran out" in done.out


def test_a_result_is_shown_again_drawn_and_kept(suites: tuple[Path, Path]) -> None:
    file, page, database = (suites[0].with_name(name) for name in ("change.json", "page.html", "runs.db"))
    done = compare(suites, "--base", "null", "--output", file, "--html", page, "--database", database)
    assert done.code == 0, done.err
    assert invoke("show", file).out == done.out
    assert "Ratios of time: after against before" in page.read_text()
    assert "relu" in invoke("history", "operators", "--database", database).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "any framework may have `add`"),
        (("--base", "nulll"), "nulll"),
        (("--base", "mine.py:f;framework=null"), "one function cannot run a suite"),
        (("--base", "null", "--clock", "instructions"), "`--clock` cannot be used with `--with`"),
        (("--base", "null", "--dtype", "float16"), "`--dtype` cannot be used with `--with`"),
        (("--base", "null", "--explain"), "`--explain` cannot be used with `--with`"),
        (("add", "--base", "null"), "operators cannot be named with `--with`"),
        (("--base", "null", "--processes", "0"), "`--processes` is 0, expected a whole number >= 3"),
    ],
)
def test_what_two_suites_cannot_have_is_refused(
    words: tuple[str, ...], message: str, suites: tuple[Path, Path]
) -> None:
    done = compare(suites, *words)
    assert done.code == 2
    assert message in done.err


def test_a_second_suite_needs_a_first_one(suites: tuple[Path, Path]) -> None:
    done = invoke("compare", "--with", suites[1], "--base", "null")
    assert done.code == 2
    assert "`--with` needs another suite" in done.err


KERAS = """
import keras
import numpy

keras.utils.set_random_seed(0)
layers = [keras.layers.Input((16,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)]
model = keras.Sequential(layers)
x = numpy.random.rand(8, 16).astype("float32")


def step():
    return model(x)
"""


def has_times(pairs: SuitePairs) -> bool:
    """Whether each part of two suites was measured in some pair, or failed."""
    return all(part.failure or any(pair.levels for pair in part.stage1) for part in pairs._parts)


@pytest.mark.slow
def test_one_keras_model_is_compared_in_two_frameworks_layer_by_layer(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "keras_model.py").write_text(KERAS, encoding="utf-8")
    monkeypatch.setenv("XLA_FLAGS", XLA_FLAGS)
    for backend, environment in (("tensorflow", "tensorflow"), ("jax", "jax + keras")):
        words = ("--framework", backend, "--environment", environment, "--output", f"{backend}.json")
        done = invoke("capture", "keras_model.py:step", *words)
        assert done.code == 0, done.err
    suites = ("--suite", "tensorflow.json", "--with", "jax.json", "--base", "tensorflow", "--new", "jax + keras")
    # No verdict is the point: it is over when each layer has a time, which on an idle machine is after one pair.
    monkeypatch.setattr(SuitePairs, "spent", has_times)
    done = invoke("compare", *suites, "--pairs", "9", "--trial-budget", "0.05", "--format", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    rows = {(row["module"], row["group"]): row for row in result["suite_change"]["rows"]}
    products = [row for (_, group), row in rows.items() if group == "products"]
    assert len(products) == 2
    assert all(row["before"]["measured"] == row["after"]["measured"] == 1 for row in products)
    assert {record["side"]["framework"] for record in result["records"]} == {"tensorflow", "jax"}
    assert result["suite_change"]["unmeasured"] == []
