"""Paths that users write lead into the framework and nowhere else."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from types import ModuleType
from typing import Any

import pytest
from tests.each import each

from opperf.child.backends.naming.paths import Refusal, canonical, function_at, listing


def module(name: str, **content: Any) -> ModuleType:
    """Return a module with this content; functions and classes made here are said to be from it."""
    made = ModuleType(name)
    for key, value in content.items():
        setattr(made, key, value)
    return made


def add() -> str:
    return "added"


class Tensor:
    def square(self) -> str:
        return "squared"

    system = os.system
    run = staticmethod(subprocess.run)


add.__module__ = Tensor.__module__ = Tensor.square.__module__ = "fake.ops"


@pytest.fixture
def roots() -> dict[str, Any]:
    """A framework called `fake`, careless about what its modules let in."""
    inner = module("fake.ops", add=add, Tensor=Tensor, _private=add, json=json, __hidden=add)
    fake = module(
        "fake",
        ops=inner,
        add=add,
        os=os,
        subprocess=subprocess,
        system=os.system,
        eval=eval,
        exec=exec,
        open=open,
        getattr=getattr,
        partial=functools.partial(os.system, "true"),
        neighbour=module("fakery", add=add),
        number=5,
        C=_without_module(),
    )
    return {"fake": fake, "F": inner}


def _without_module() -> Any:
    """Return what C functions often are: callable, and silent on where they are from."""

    class Silent:
        __module__ = None  # type: ignore[assignment]

        def __call__(self) -> str:
            return "computed"

    return Silent()


@pytest.mark.parametrize("path", ["fake.add", "fake.ops.add", "F.add"])
def test_a_function_of_the_framework_is_found(path: str, roots: dict[str, Any]) -> None:
    assert function_at(path, roots, "fake") is add


def test_a_method_of_the_frameworks_classes_is_found(roots: dict[str, Any]) -> None:
    assert function_at("fake.ops.Tensor.square", roots, "fake") is Tensor.square


def test_a_function_that_does_not_say_where_it_is_from_is_found(roots: dict[str, Any]) -> None:
    assert function_at("fake.C", roots, "fake")() == "computed"


def test_a_registered_internal_operator_is_found(roots: dict[str, Any]) -> None:
    assert function_at("fake.ops._private", roots, "fake") is add


@each(
    "path",
    [
        "fake.os.system",
        "fake.subprocess.run",
        "fake.system",
        "fake.eval",
        "fake.exec",
        "fake.open",
        "fake.getattr",
        "fake.partial",
        "fake.ops.json.loads",
        "fake.ops.Tensor.system",
        "fake.ops.Tensor.run",
        "fake.ops.Tensor.__subclasses__",
        "fake.ops.Tensor.__class__",
        "fake.ops.add.__globals__",
        "fake.ops.add.__globals__.clear",
        "fake.ops.__hidden",
        "fake.__loader__",
        "fake.__dict__",
        "fake.neighbour.add",
        "os.system",
        "builtins.eval",
        "__import__",
    ],
)
def test_a_path_that_leaves_the_framework_finds_nothing(path: str, roots: dict[str, Any]) -> None:
    with pytest.raises(LookupError):
        function_at(path, roots, "fake")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("fake.ops.json.loads", "the module json is not fake's"),
        ("fake.open", "it is not fake's"),
        ("fake.ops.Tensor.__subclasses__", "`__subclasses__` is Python's own"),
    ],
)
def test_a_path_that_is_refused_says_so_and_why(path: str, why: str, roots: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        function_at(path, roots, "fake")
    assert caught.value.why == why


@each("path", ["", "fake", "fake.", ".fake", "fake..add", "fake.ops", "fake.number", "fake.missing", "add", "fake add"])
def test_a_path_to_no_function_finds_nothing(path: str, roots: dict[str, Any]) -> None:
    with pytest.raises(LookupError):
        function_at(path, roots, "fake")


@pytest.mark.parametrize(
    ("path", "whole"),
    [("F.add", "fake.ops.add"), ("fake.add", "fake.add"), ("F", "fake.ops"), ("Fake.add", "Fake.add"), ("", "")],
)
def test_a_path_begins_with_the_own_name_of_its_module(path: str, whole: str, roots: dict[str, Any]) -> None:
    assert canonical(path, roots) == whole


def test_a_listing_holds_public_callables_by_path(roots: dict[str, Any]) -> None:
    result = listing({"F": roots["F"]})
    assert result == ["F.Tensor", "F.add"]
