"""What a child says of the operators of a function, on the null framework."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from opperf.catalog import operator
from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.capture import capture, capture_code, capture_model
from opperf.domain.backend import Unsupported
from opperf.domain.call import AbstractCapture, CapturedCall
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.message import requests
from opperf.domain.message.replies import Recording
from opperf.domain.plan import Side
from opperf.domain.suite import LeftOut, SuiteCase
from opperf.domain.tensor import TensorSpec

STEP = """
calls = 0

def step():
    global calls
    calls += 1
    return ["add"] if calls == 1 else ["steady", "add", "mystery", "steady"]
"""


@pytest.fixture
def code(tmp_path: Path) -> Code:
    """A function of the user's, which does at its first call what it does never again."""
    (tmp_path / "own.py").write_text(STEP)
    return Code(f"{tmp_path / 'own.py'}:step")


def test_equal_calls_of_the_last_run_are_one_case_with_their_count_and_origins(code: Code, tmp_path: Path) -> None:
    result = capture(NullBackend(Side("null")), code, tmp_path, NoCounters())
    suite = result.suite
    assert suite is not None
    assert [(entry.case.operator, entry.count, entry.origin) for entry in suite.cases] == [
        ("null:steady", 2, "step backward"),
        ("add", 1, "Net"),
    ]
    assert suite.cases[1] == SuiteCase(operator("add").case("small"), 1, "Net", ("forward",))
    assert (suite.name, suite.source) == ("step", code.name)
    assert suite.left_out == (LeftOut("mystery", 1, "not known here"),)


def test_a_case_of_several_modules_names_each_once(code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = operator("add").case("small")
    calls = [
        CapturedCall("add", add, module="Net.a"),
        CapturedCall("add", add),
        CapturedCall("add", add, module="Net.a"),
        CapturedCall("add", add, optimizer=True),
    ]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    suite = capture(NullBackend(Side("null")), code, tmp_path, NoCounters()).suite
    assert suite is not None
    (entry,) = suite.cases
    assert (entry.count, entry.origin) == (4, "Net.a, step, step optimizer")


def test_a_gradient_without_an_operator_of_its_own_is_a_case_in_the_backward_direction(
    code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = operator("add").case("small")
    calls = [
        CapturedCall("add", add, module="net_dense0"),
        CapturedCall("add", add, module="net_dense0", backward=True, direction="backward"),
        CapturedCall("add", add, module="net_dense0", backward=True),
    ]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    suite = capture(NullBackend(Side("null")), code, tmp_path, NoCounters()).suite
    assert suite is not None
    assert suite.cases == (
        SuiteCase(add, 2, "net_dense0, net_dense0 backward", ("forward",)),
        SuiteCase(add, 1, "net_dense0 backward", ("backward",)),
    )


def test_what_a_loop_calls_counts_as_often_as_it_turns(
    code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = operator("add").case("small")
    calls = [
        CapturedCall("add", add, count=5),
        CapturedCall("add", add),
        CapturedCall("mystery", why="not known", count=3),
    ]
    monkeypatch.setattr(NullBackend, "capture", lambda self, function: calls)
    suite = capture(NullBackend(Side("null")), code, tmp_path, NoCounters()).suite
    assert suite is not None
    assert [entry.count for entry in suite.cases] == [6]
    assert suite.left_out == (LeftOut("mystery", 3, "not known"),)


def test_the_operators_of_a_framework_that_compiles_are_said_to_be_unfused(
    code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NullBackend, "name", "jax")
    suite = capture(NullBackend(Side("null")), code, tmp_path, NoCounters()).suite
    assert suite is not None
    assert suite.source == f"{code.name}, unfused"


def test_a_framework_that_cannot_be_watched_refuses(
    code: Code, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: NullBackend, function: Callable[[], Any]) -> None:
        return None

    monkeypatch.setattr(NullBackend, "capture", none)
    with pytest.raises(Unsupported, match="the operators of null cannot be captured yet"):
        capture(NullBackend(Side("null")), code, tmp_path, NoCounters())


def test_code_that_cannot_be_loaded_is_an_answer(tmp_path: Path) -> None:
    result = capture(NullBackend(Side("null")), Code("nowhere.py:step"), tmp_path, NoCounters())
    assert result.suite is None
    assert (result.wrong or "").startswith("there is no file `nowhere.py`")


def test_a_module_that_is_missing_is_told_with_where_it_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "lacking.py").write_text("import nowhere_at_all")
    result = capture(NullBackend(Side("null")), Code("lacking.py:step"), tmp_path, NoCounters())
    assert (result.wrong or "").endswith("No module named 'nowhere_at_all'")
    assert "`--framework`" in (result.hint or "")


def test_what_a_file_asks_for_that_shapes_do_not_tell_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = "from opperf.domain.backend import Unsupported\nraise Unsupported('it reads an array', slug='no_capture')"
    (tmp_path / "reading.py").write_text(reading)

    def load_only(self: NullBackend, load: Callable[[], Any]) -> AbstractCapture:
        load()
        return AbstractCapture([])

    monkeypatch.setattr(NullBackend, "capture_abstract", load_only)
    request = requests.Capture(Code("reading.py:step"), True)
    with pytest.raises(Unsupported, match=r"^it reads an array$"):
        capture_code(NullBackend(Side("null")), request, tmp_path, NoCounters())


class Model:
    """A model that takes two tensors, and is run with what is made for them."""

    inputs: ClassVar[dict[str, TensorSpec]] = {"a": TensorSpec((2,)), "b": TensorSpec((3,), "int64")}
    notes: ClassVar[list[str]] = ["a is small"]

    def __init__(self, backend: NullBackend) -> None:
        self._clock = backend.clock

    def capture_nodes(self, made: dict[str, Any]) -> list[CapturedCall]:
        """Return one operator for each input, and one that is left out."""
        shapes = [list(tensor.spec.shape) for tensor in made.values()]
        result = [
            CapturedCall("add", Case("add", {}, {"shape": tuple(shape)}), module=f"n{shape[0]}") for shape in shapes
        ]
        return [*result, CapturedCall("if", why="a graph")]

    def running(self, made: dict[str, Any]) -> Callable[[], object]:
        """Return what lets a virtual millisecond pass."""
        return lambda: self._clock.advance(1_000_000)


def test_a_model_in_a_file_is_run_with_inputs_that_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def reader(*given: Any) -> Model:
        read.append(given)
        return Model(backend)

    monkeypatch.setattr("opperf.child.backends.model_file", lambda framework: SimpleNamespace(read=reader))
    backend = NullBackend(Side("null"))
    result = capture_model(backend, "/somewhere/net.onnx", {"a": {"shape": [2]}}, NoCounters())
    assert read == [("/somewhere/net.onnx", {"a": TensorSpec((2,))}, backend.side)]
    suite = result.suite
    assert suite is not None
    assert (suite.name, suite.source) == ("net.onnx", "net.onnx")
    assert suite.program is not None
    assert (suite.program.time, suite.program.calls, suite.program.framework) == (0.001, 30, "null")
    assert [(entry.case.attributes, entry.origin) for entry in suite.cases] == [
        ({"shape": (2,)}, "n2"),
        ({"shape": (3,)}, "n3"),
    ]
    assert suite.left_out == (LeftOut("if", 1, "a graph"),)
    assert result.notes == ("a is small",)


def test_what_is_wrong_with_a_model_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*given: Any) -> Any:
        raise InputError("no model", hint="another file")

    monkeypatch.setattr("opperf.child.backends.model_file", lambda framework: SimpleNamespace(read=read))
    assert capture_model(NullBackend(Side("null")), "net.onnx", {}, NoCounters()) == Recording(
        wrong="no model", hint="another file"
    )


def test_a_framework_whose_models_are_no_files_refuses() -> None:
    with pytest.raises(Unsupported, match="opperf cannot read models of null"):
        capture_model(NullBackend(Side("null")), "net.onnx", {}, NoCounters())
