"""What a child says of the operators of a function, on the null framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.backend import Captured, Unsupported
from opperf.backends.null.runtime import NullBackend
from opperf.child.capture import capture
from opperf.operators import operator
from opperf.plan import Side
from opperf.suite import Suite, SuiteCase

STEP = """
calls = 0

def step():
    global calls
    calls += 1
    return ["add"] if calls == 1 else ["steady", "add", "mystery", "steady"]
"""


@pytest.fixture
def code(tmp_path: Path) -> str:
    """A function of the user's, which does at its first call what it does never again."""
    (tmp_path / "own.py").write_text(STEP)
    return f"code:{tmp_path / 'own.py'}:step"


def test_equal_calls_of_the_second_run_are_one_case_with_their_count_and_origins(code: str, tmp_path: Path) -> None:
    found = capture(NullBackend(Side("null")), code, tmp_path)
    suite = Suite.from_json(found["suite"], "the answer")
    assert [(entry.case.operator, entry.count, entry.origin) for entry in suite.cases] == [
        ("null:steady", 2, "step backward"),
        ("add", 1, "Net"),
    ]
    assert suite.cases[1] == SuiteCase(operator("add").case("small"), 1, "Net", ("forward",))
    assert (suite.name, suite.source) == ("step", code)
    assert found["left_out"] == [{"name": "mystery", "reason": "not known here", "count": 1}]


def test_a_case_of_several_modules_names_each_once(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = operator("add").case("small")
    calls = [Captured("add", add, module="Net.a"), Captured("add", add), Captured("add", add, module="Net.a")]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    (entry,) = capture(NullBackend(Side("null")), code, tmp_path)["suite"]["cases"]
    assert (entry["count"], entry["origin"]) == (3, "Net.a, step")


def test_a_gradient_without_an_operator_of_its_own_is_a_case_in_the_backward_direction(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = operator("add").case("small")
    calls = [
        Captured("add", add, module="net_dense0"),
        Captured("add", add, module="net_dense0", backward=True, direction="backward"),
        Captured("add", add, module="net_dense0", backward=True),
    ]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    suite = Suite.from_json(capture(NullBackend(Side("null")), code, tmp_path)["suite"], "the answer")
    assert suite.cases == (
        SuiteCase(add, 2, "net_dense0, net_dense0 backward", ("forward",)),
        SuiteCase(add, 1, "net_dense0 backward", ("backward",)),
    )


def test_what_a_loop_calls_counts_as_often_as_it_turns(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = operator("add").case("small")
    calls = [Captured("add", add, count=5), Captured("add", add), Captured("mystery", why="not known", count=3)]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    found = capture(NullBackend(Side("null")), code, tmp_path)
    assert [entry["count"] for entry in found["suite"]["cases"]] == [6]
    assert found["left_out"] == [{"name": "mystery", "reason": "not known", "count": 3}]


def test_the_operators_of_a_framework_that_compiles_are_said_to_be_unfused(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NullBackend, "name", "jax")
    assert capture(NullBackend(Side("null")), code, tmp_path)["suite"]["source"] == f"{code}, unfused"


def test_a_framework_that_cannot_be_watched_refuses(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: NullBackend, function: Callable[[], Any]) -> None:
        return None

    monkeypatch.setattr(NullBackend, "capture", none)
    with pytest.raises(Unsupported, match="the operators of null cannot be captured yet"):
        capture(NullBackend(Side("null")), code, tmp_path)


def test_code_that_cannot_be_loaded_is_an_answer(tmp_path: Path) -> None:
    found = capture(NullBackend(Side("null")), "code:nowhere.py:step", tmp_path)
    assert set(found) == {"wrong", "hint"}
    assert found["wrong"].startswith("cannot load `nowhere.py`")
