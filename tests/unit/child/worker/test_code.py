"""The user's own code: loaded where it lies, called by its own parameters, refused in one sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from opperf import operator
from opperf.catalog import operator as neutral
from opperf.child.worker.code import CodeError, call, examples, flop_count, load, neutral_names
from opperf.child.worker.signature import parameters_of
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.custom import declaration_of
from opperf.domain.tensor import TensorSpec

PATH = Code("mine:f")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that Python forgets afterwards."""
    before = set(sys.modules)
    yield tmp_path
    sys.path[:] = [place for place in sys.path if place != str(tmp_path)]
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_function_of_a_module_is_found_in_the_folder_of_the_command(folder: Path) -> None:
    (folder / "kernels_a.py").write_text("def twice(x):\n    return x * 2\n")
    assert load(Code("kernels_a:twice"), folder)(3) == 6


def test_a_function_of_a_file_is_found_by_its_path_and_the_file_is_run_once(folder: Path) -> None:
    (folder / "ops").mkdir()
    (folder / "ops" / "mine.py").write_text("class Layer:\n    @staticmethod\n    def half(x):\n        return x / 2\n")
    half = load(Code("ops/mine.py:Layer.half"), folder)
    assert half(3) == 1.5
    assert load(Code("ops/mine.py:Layer.half"), folder) is half


def test_a_file_imports_what_lies_beside_it_ahead_of_installed_packages_and_behind_pythons_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: folder / name for name in ("site-packages", "mine")}
    for place, value in zip(places.values(), ("installed", "mine")):
        place.mkdir()
        (place / "beside_it.py").write_text(f"value = {value!r}")
    (places["mine"] / "json.py").write_text("value = 'no standard library'")
    (places["mine"] / "a.py").write_text(
        "import beside_it, json\ndef f():\n    return beside_it.value, json.dumps(1)\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(places["site-packages"])])
    monkeypatch.delitem(sys.modules, "json")
    assert load(Code("mine/a.py:f"), folder)() == ("mine", "1")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no_such_module_anywhere:f", "ModuleNotFoundError"),
        ("nothing.py:f", "nothing.py"),
        ("broken.py:f", "ZeroDivisionError"),
        ("fine.py:g", "has no `g`"),
        ("fine.py:number", "is int, expected a function"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_sentence(path: str, told: str, folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "fine.py").write_text("number = 3\ndef f(x):\n    return x\n")
    with pytest.raises(CodeError, match=re.escape(told)) as caught:
        load(Code(path), folder)
    assert "\n" not in caught.value.message


def test_a_file_that_fails_is_tried_again_after_it_was_mended(folder: Path) -> None:
    (folder / "late.py").write_text("1 / 0\n")
    with pytest.raises(CodeError):
        load(Code("late.py:f"), folder)
    (folder / "late.py").write_text("def f(x):\n    return x\n")
    assert load(Code("late.py:f"), folder)(1) == 1


def test_parameters_take_the_inputs_of_the_operator_in_order() -> None:
    @operator(implements="matmul")
    def product(a, b, *, fast=True):  # type: ignore[no-untyped-def]
        return a @ b

    assert neutral_names(product, declaration_of(product)) == {"a": "lhs", "b": "rhs"}


def test_a_parameter_with_a_neutral_name_is_that_argument() -> None:
    @operator(implements="softmax")
    def softmax(axis, x):  # type: ignore[no-untyped-def]
        return x

    assert neutral_names(softmax, declaration_of(softmax)) == {"axis": "axis", "x": "data"}


def test_a_parameter_that_is_nothing_of_the_operator_is_told() -> None:
    @operator(implements="softmax")
    def softmax(x, temperature):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(CodeError, match="no argument of `softmax` matches the parameter `temperature`"):
        neutral_names(softmax, declaration_of(softmax))


def test_a_declared_name_that_the_operator_does_not_take_is_told() -> None:
    @operator(implements="softmax", arguments={"x": "dota"})
    def softmax(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(CodeError, match="`dota`"):
        neutral_names(softmax, declaration_of(softmax))


def test_an_operator_that_nobody_knows_cannot_be_implemented() -> None:
    @operator(implements="softmaxx")
    def softmax(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(CodeError, match="no operator `softmaxx`"):
        neutral_names(softmax, declaration_of(softmax))


def test_leading_parameters_go_by_position_and_the_others_by_name() -> None:
    def function(x, hidden=None, times=1):  # type: ignore[no-untyped-def]
        return x

    made = call(PATH, function, Case("mine:f", {"x": TensorSpec((2,))}, {"times": 3}), "numpy")
    assert [parameter.own for parameter in made.positional] == ["x"]
    assert [parameter.own for parameter in made.keywords] == ["times"]
    assert made.function is function


def test_a_parameter_may_be_called_as_the_framework_calls_the_argument() -> None:
    def drop_in(input, *, dim, dtype=None):  # type: ignore[no-untyped-def]
        return input

    names = {"input": "data", "dim": "axis", "other": "rhs"}
    made = call(PATH, drop_in, Case("softmax", {"data": TensorSpec((2,))}, {"axis": 0}), "torch", names)
    assert [(one.own, one.neutral) for one in made.positional] == [("input", "data")]
    assert [(one.own, one.neutral) for one in made.keywords] == [("dim", "axis")]
    with pytest.raises(CodeError, match="the parameter `dim`"):
        call(PATH, drop_in, Case("softmax", {"data": TensorSpec((2,))}, {"axis": 0}), "torch")


def test_a_function_that_does_not_say_what_it_takes_gets_the_inputs_of_an_operator() -> None:
    case = neutral("softmax").case("small")
    for function in (lambda *arguments: arguments, lambda *arguments, **more: arguments, print):
        made = call(PATH, function, case, "torch")
        assert [one.neutral for one in made.positional] == ["data"]
        assert not made.keywords
    of_nobody = call(PATH, print, Case("mine:f", {"x": TensorSpec((2,))}, {"n": 1}), "torch")
    assert [one.neutral for one in of_nobody.positional] == ["x", "n"]


def test_an_attribute_that_the_function_cannot_compute_is_a_skip() -> None:
    @operator(implements="softmax")
    def softmax(x):  # type: ignore[no-untyped-def]
        return x

    case = neutral("softmax").case("small")
    assert call(PATH, softmax, case, "torch").positional[0].neutral == "data"
    with pytest.raises(Unsupported, match="takes no `axis`, and computes `axis=-1`"):
        call(PATH, softmax, Case("softmax", case.inputs, {"axis": 0}), "torch")


def test_a_function_of_another_framework_is_a_skip() -> None:
    @operator(framework=("torch", "jax"))
    def function(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(Unsupported, match="declared for torch, jax, not numpy"):
        call(PATH, function, Case("mine:f", {"x": TensorSpec((2,))}), "numpy")


def test_declared_sizes_are_cases_and_flops_are_counted_from_their_shapes() -> None:
    @operator(sizes={"small": {"x": (8, 4), "times": 3}}, flops=lambda x, times: x[0] * x[1] * times)
    def function(x, times):  # type: ignore[no-untyped-def]
        return x * times

    (case,) = examples(PATH, function, "small")
    assert (case.tensor("x").shape, case["times"]) == ((8, 4), 3)
    assert flop_count(function, case) == 96
    assert examples(PATH, function, "large") == []


def test_a_declared_input_has_its_type_values_and_range() -> None:
    @operator(sizes={"small": {"x": (8, 4), "at": "5:int64:sorted:range=0..8", "mode": "a:b"}})
    def function(x, at, mode):  # type: ignore[no-untyped-def]
        return x[at]

    (case,) = examples(PATH, function, "small")
    assert case.tensor("at") == TensorSpec((5,), "int64", values="sorted", range=(0, 8))
    assert case.attributes == {"mode": "a:b"}


def test_a_count_that_raises_says_what_it_raised() -> None:
    @operator(flops=lambda **shapes: 1 // 0)
    def function(x):  # type: ignore[no-untyped-def]
        return x

    with pytest.raises(CodeError, match="ZeroDivisionError"):
        flop_count(function, Case("mine:f", {"x": TensorSpec((2,))}))


def test_a_function_that_takes_no_declaration_is_told_how_to_get_one() -> None:
    from opperf import InputError

    with pytest.raises(InputError, match="takes no declaration"):
        operator(implements="sum")(sum)


def test_code_that_imports_a_framework_of_another_side_is_told_to_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mxnet", None)
    (tmp_path / "with_mxnet.py").write_text("import mxnet\n")
    with pytest.raises(CodeError, match="ModuleNotFoundError") as caught:
        load(Code("with_mxnet.py:f"), tmp_path)
    assert caught.value.hint == "`--framework mxnet`"


def test_the_names_of_arguments_are_known_where_python_can_tell_all_of_them() -> None:
    assert parameters_of(lambda x, *, axis=0, **more: x) == {"x": True, "axis": False}
    assert parameters_of(lambda *arrays, out=None: arrays) is None
    assert parameters_of(lambda x, *arrays, out=None: arrays) == {"x": True, "*arrays": True, "out": False}
    assert parameters_of(int.__new__) is None
    assert parameters_of(dict) is None
