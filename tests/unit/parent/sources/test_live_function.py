"""Functions that a program hands over: by file and name, or from their source."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import math
import os
import pickle
import runpy
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
from tests.domain_examples import __file__ as examples

from opperf.domain.errors import InputError
from opperf.parent.sources.live_function import code_text, framework_text

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


class Module:
    """As a module of PyTorch: whatever it is called with goes to `forward`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`."""
        return self.forward(*args, **kwargs)

    def forward(self, data: int, scale: int = 2) -> int:
        """Return what the module computes."""
        return data * scale


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


def test_what_no_text_says_is_pickled_with_what_it_uses(script: ModuleType, tmp_path: Path) -> None:
    assert loaded(script.maker(2), tmp_path)(5) == script.maker(2)(5)
    assert loaded(script.square, tmp_path)(5) == 25
    assert loaded(partial(pow, 2), tmp_path)(5) == 32
    assert loaded([3, 4].index, tmp_path)(4) == 1


def test_a_pickled_object_takes_the_name_of_its_type_where_it_has_none(tmp_path: Path) -> None:
    assert code_text(partial(pow, 2), tmp_path).endswith("/partial.py:partial")
    assert code_text(lambda x: x, tmp_path).endswith("/function.py:function")


def test_an_object_that_is_a_module_takes_what_its_forward_takes(tmp_path: Path) -> None:
    assert list(inspect.signature(loaded(Module(), tmp_path)).parameters) == ["data", "scale"]


def test_a_pickled_object_is_loaded_as_it_was_written_or_not_at_all(tmp_path: Path) -> None:
    place = Path(code_text(partial(pow, 2), tmp_path).removeprefix("code:").rpartition(":")[0])
    place.with_name("object.pickle").write_bytes(pickle.dumps(partial(pow, 3)))
    with pytest.raises(ImportError, match="has been changed"):
        runpy.run_path(str(place))


def test_another_python_does_not_load_a_pickled_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = code_text(partial(pow, 2), tmp_path).removeprefix("code:").rpartition(":")[0]
    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    with pytest.raises(ImportError, match="given by another Python"):
        runpy.run_path(place)


def test_pickled_objects_of_long_ago_are_removed(tmp_path: Path) -> None:
    old = Path(code_text(partial(pow, 2), tmp_path).removeprefix("code:").rpartition(":")[0])
    os.utime(old.with_name("object.pickle"), (0, 0))
    code_text(partial(pow, 3), tmp_path)
    assert not old.exists()


def test_what_cannot_be_pickled_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`acquire` cannot be sent to another process: TypeError: cannot pickle"):
        code_text(threading.Lock().acquire, tmp_path)


def test_a_function_of_a_framework_is_found_by_what_it_is() -> None:
    assert framework_text(numpy.linalg.norm) == "numpy:numpy.linalg.norm"
    assert framework_text(numpy.add) == "numpy:numpy.add"
    assert framework_text(len) is None


def test_a_function_of_a_notebook_is_carried(tmp_path: Path) -> None:
    text = "def cell(x):\n    return x + 1\n"
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "<cell 1>", "exec"), names)
    assert loaded(names["cell"], tmp_path)(2) == 3


def test_a_function_without_source_is_pickled(tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed(x):\n    return x + 1", names)
    assert loaded(names["typed"], tmp_path)(2) == 3


def test_what_is_built_into_python_is_carried_by_its_name(tmp_path: Path) -> None:
    assert loaded(math.sqrt, tmp_path) is math.sqrt
