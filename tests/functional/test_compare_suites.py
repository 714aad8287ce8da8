"""`opperf compare --suite A --with B` on the null framework, where every call takes the same time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import Done, invoke


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
    done = compare(suites, "--base", "null", "--processes", "1", "--by", "group", "--format", "csv")
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
    assert change["ratio"] == 1.0
    assert change["interval"] == [pytest.approx(1.0, abs=1e-4), pytest.approx(1.0, abs=1e-4)]
    assert {row["before"]["time"] - row["after"]["time"] for row in change["rows"]} == {0.0}


def test_fewer_processes_give_no_interval_and_say_so(suites: tuple[Path, Path]) -> None:
    done = compare(suites, "--base", "null", "--processes", "1")
    assert done.code == 0, done.err
    assert "no interval: it needs three processes" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "any framework may have `add`"),
        (("--base", "nulll"), "`--base nulll`: with `--with` a side is the name of a framework"),
        (("--base", "null", "--dtype", "float16"), "`--dtype` cannot be used with `--with`"),
        (("--base", "null", "--explain"), "`--explain` cannot be used with `--with`"),
        (("add", "--base", "null"), "operators cannot be named with `--with`"),
        (("--base", "null", "--processes", "0"), "`--processes` is 0, expected a whole number >= 1"),
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
