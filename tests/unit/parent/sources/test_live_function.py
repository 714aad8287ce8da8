"""Functions that a program hands over: by file and name, or from their source."""

from __future__ import annotations

import importlib.util
import linecache
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.domain_examples import __file__ as examples

from opperf.domain.errors import InputError
from opperf.parent.sources.live_function import code_text

SCRIPT = """
import math as m
from os.path import join
from fractions import Fraction

FACTOR = 3
WEIGHTS = [1, (2.5, "x")]
STATE = object()

def scale(x):
    return x * FACTOR + m.floor(WEIGHTS[1][0])

twice = scale

def whole(x, by=FACTOR):
    def inner(y):
        return twice(y) + by
    return inner(x)

def even(n):
    return n == 0 or odd(n - 1)

def odd(n):
    return n != 0 and even(n - 1)

def half(x):
    return Fraction(x, 2), join("a", "b")

def stateful(x):
    return STATE, x

def calls_stateful(x):
    return stateful(x)

def maker(n):
    def closed(x):
        return x + n
    return closed

square = lambda x: x * x
"""


@pytest.fixture
def script(tmp_path: Path) -> ModuleType:
    """A script that runs as `__main__`: its functions are of no module that a child may import."""
    path = tmp_path / "bench.py"
    path.write_text(SCRIPT)
    spec = importlib.util.spec_from_file_location("__main__", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loaded(function: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    """Return the function that a child would load."""
    place, _, name = code_text(function, folder).removeprefix("code:").rpartition(":")
    spec = importlib.util.spec_from_file_location("elsewhere", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result: Callable[..., Any] = getattr(module, name)
    return result


def test_a_function_of_a_module_is_named_by_its_file(tmp_path: Path) -> None:
    assert code_text(loaded, tmp_path) == f"code:{Path(__file__).resolve()}:loaded"
    assert Path(examples).is_file()
    assert not list(tmp_path.iterdir())


def test_a_function_of_a_script_is_carried_with_what_it_uses(script: ModuleType, tmp_path: Path) -> None:
    assert loaded(script.whole, tmp_path)(5) == script.whole(5) == 5 * 3 + math.floor(2.5) + 3
    assert loaded(script.half, tmp_path)(3) == script.half(3)


def test_functions_that_call_each_other_are_carried_together(script: ModuleType, tmp_path: Path) -> None:
    assert loaded(script.even, tmp_path)(4) is True


def test_the_same_source_is_the_same_code(script: ModuleType, tmp_path: Path) -> None:
    first = code_text(script.scale, tmp_path)
    assert code_text(script.scale, tmp_path) == first
    assert code_text(script.half, tmp_path) != first


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("stateful", "`stateful` uses `STATE`, object"),
        ("calls_stateful", "`stateful`, which `calls_stateful` calls, uses `STATE`"),
        ("square", "a lambda has no name"),
    ],
)
def test_what_a_child_cannot_be_given_is_refused(name: str, told: str, script: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        code_text(getattr(script, name), tmp_path)


def test_a_closure_is_refused_by_the_name_that_it_closes_over(script: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`closed` uses `n` of the function around it"):
        code_text(script.maker(2), tmp_path)


def test_a_function_of_a_notebook_is_carried(tmp_path: Path) -> None:
    text = "def cell(x):\n    return x + 1\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "<cell 1>", "exec"), names)
    assert loaded(names["cell"], tmp_path)(2) == 3


def test_a_function_without_source_is_refused(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed(x):\n    return x", names)
    with pytest.raises(InputError, match="`typed` has no source"):
        code_text(names["typed"], tmp_path)


@pytest.mark.parametrize("function", [math.sqrt, [].append, Path])
def test_what_is_not_written_in_python_is_refused(function: Callable[..., object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a Python function"):
        code_text(function, tmp_path)
