"""Cases of functions from their signatures: a rule of their own first, then what their arguments are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from opperf.child.backends.naming.signatures import Functions, Rules, distinct, required_arguments
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

RULES = Rules(
    {"take": ("a: n,n | indices: n int32 0..8", {"axis": 0, "length": lambda side: 2 * side})},
    {"axis": 1, "shape": lambda side: (side, side)},
    {"mask": "n bool"},
)


def reduced(
    a: Any, mask: Any, axis: int, shape: tuple[int, ...], *more: Any, keepdims: bool = False, **rest: Any
) -> None:
    """A function with an argument of each kind."""


class Ufunc:
    """What says how many arrays it takes, and has no signature that helps."""

    def __init__(self, nin: int) -> None:
        self.nin = nin

    def __call__(self, *args: Any, out: Any = None) -> None:
        """Compute nothing."""


def test_a_rule_of_a_function_stands_before_what_its_arguments_are_called() -> None:
    given = {"a": TensorSpec((8, 8)), "indices": TensorSpec((8,), "int32", range=(0, 8))}
    assert RULES.case("x:take", "take", reduced, "small") == [Case("x:take", given, {"axis": 0, "length": 16})]


def test_arguments_that_a_function_needs_are_made_by_their_names_and_matrices_where_nothing_is_known() -> None:
    given = {"a": TensorSpec((256, 256)), "mask": TensorSpec((256,), "bool")}
    assert RULES.case("x:r", "r", reduced, "common") == [Case("x:r", given, {"axis": 1, "shape": (256, 256)})]


def test_a_size_without_rules_has_no_case() -> None:
    assert RULES.case("x:take", "take", reduced, "skewed") == []


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (reduced, ("a", "mask", "axis", "shape")),
        (Ufunc(1), ("x",)),
        (Ufunc(2), ("x1", "x2")),
        (dict.fromkeys, ("iterable",)),
        (print, ()),
    ],
)
def test_what_a_function_needs_is_read_from_its_signature(function: Callable[..., Any], names: tuple[str, ...]) -> None:
    assert required_arguments(function) == names


def test_what_says_nothing_of_its_arguments_needs_none() -> None:
    assert required_arguments(getattr) == ()


def test_a_function_with_several_names_is_listed_by_its_own() -> None:
    reduced_again: Callable[..., Any] = Ufunc(1)
    paths = {"a.other": reduced, "b.reduced": reduced, "c.reduced": reduced, "z.first": reduced_again}
    assert distinct({**paths, "z.second": reduced_again}) == ["b.reduced", "z.first"]


def outer(a: Any) -> None:
    """A function right below its framework."""


NAMED: Mapping[str, Any] = {"x.deep.reduced": reduced, "x.kind": Ufunc, "x.outer": outer, "x.reduced": reduced}


@pytest.fixture
def functions() -> Functions:
    """The functions of a framework called `x`, whose `x.deep` users write `d`, and one of them left out."""
    return Functions(
        "x",
        ["x.deep.reduced", "x.deep.shape", "x.kind", "x.outer", "x.reduced"],
        NAMED.__getitem__,
        {"x": ModuleType("x"), "d": ModuleType("x.deep")},
        {"x.deep.": Rules({"reduced": ("a: n", {})}), "x.": Rules({"reduced": ("a: n,n", {})})},
        {"it sees no elements": ("deep.shape",)},
    )


def test_functions_that_compute_are_listed_once_without_classes_and_what_is_left_out(functions: Functions) -> None:
    assert functions.paths() == ["x.deep.reduced", "x.outer"]


@pytest.mark.parametrize(
    ("path", "operator", "shape"),
    [
        ("x.deep.reduced", "x:x.deep.reduced", (8,)),
        ("d.reduced", "x:x.deep.reduced", (8,)),
        ("x.reduced", "x:x.reduced", (8, 8)),
        ("x.outer", "x:x.outer", (8, 8)),
    ],
)
def test_a_function_has_a_case_by_the_rules_of_the_area_that_its_path_begins_with(
    path: str, operator: str, shape: tuple[int, ...], functions: Functions
) -> None:
    assert functions.examples(path, "small") == [Case(operator, {"a": TensorSpec(shape)})]


@pytest.mark.parametrize("path", ["x.kind", "x.missing", "y.reduced"])
def test_what_does_not_compute_has_no_case(path: str, functions: Functions) -> None:
    assert functions.examples(path, "small") == []


def test_a_function_that_is_left_out_says_why(functions: Functions) -> None:
    with pytest.raises(Unsupported, match="it sees no elements"):
        functions.examples("d.shape", "small")


def test_paths_may_begin_otherwise_than_the_framework_is_called() -> None:
    left_out = {"it sees no elements": ("shape",)}
    short = Functions("long", ["l.outer", "l.shape"], lambda path: outer, {}, {"l.": Rules({})}, left_out, root="l")
    assert short.paths() == ["l.outer"]
    assert short.examples("l.outer", "small") == [Case("long:l.outer", {"a": TensorSpec((8, 8))})]
