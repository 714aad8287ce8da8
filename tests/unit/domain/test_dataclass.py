"""The package's own `dataclass` is held to the standard library's: the same classes, made by both, do the same."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.domain import dataclass as own_module
from opperf.domain.dataclass import dataclass as own
from opperf.domain.reason import Reason

Decorate = Callable[..., Any]


def family(decorate: Decorate) -> dict[str, Any]:
    """Return classes of each form that the package has, made by one of the decorators."""

    @decorate(frozen=True)
    class Point:
        """Two numbers."""

        x: int
        y: int = 7
        origin: ClassVar[int] = 0

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(f"{self.x} is negative")

    @decorate(frozen=True)
    class Named(Point):
        """A point with a name, and what is made anew for each."""

        name: str = "n"
        tags: list[str] = field(default_factory=list)
        hidden: int = field(default=1, repr=False, compare=False)

    @decorate
    class Counter:
        """What can be changed."""

        count: int = 0

    @decorate(eq=False)
    class Handle:
        """What is equal to itself alone."""

        number: int

    @decorate(frozen=True, repr=False, kw_only=True)
    class Options:
        """What is said by name only."""

        fast: bool = False
        path: str

    @decorate(frozen=True)
    class Empty:
        """Nothing."""

    return {cls.__name__: cls for cls in (Point, Named, Counter, Handle, Options, Empty)}


OWN, STANDARD = family(own), family(dataclass)
NAMES = st.sampled_from([*OWN])
VALUES = st.one_of(st.integers(-2, 2), st.sampled_from(["a", "b"]))
WORDS = st.sampled_from(["x", "y", "name", "tags", "hidden", "count", "number", "fast", "path", "unknown"])


def outcome(act: Callable[[], object]) -> tuple[str, object]:
    """Return what a call returns, or the error that it raises and its text."""
    try:
        return "ok", act()
    except Exception as error:
        return type(error).__name__, str(error).replace("family.<locals>.", "")


@given(NAMES, st.lists(VALUES, max_size=5), st.dictionaries(WORDS, VALUES, max_size=3))
def test_objects_are_made_or_refused_alike(name: str, arguments: list[Any], keywords: dict[str, Any]) -> None:
    def make(cls: Any) -> tuple[str, object]:
        return outcome(lambda: vars(cls(*arguments, **keywords)))

    assert make(OWN[name]) == make(STANDARD[name])


@given(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.integers(0, 2), st.integers(0, 2))
def test_objects_are_equal_shown_and_hashed_alike(x: int, y: int, hidden: int, other: int, count: int) -> None:
    def look(classes: dict[str, Any]) -> list[object]:
        point, named = classes["Point"](x, y), classes["Named"](x, y, hidden=hidden)
        counter, handle = classes["Counter"](count), classes["Handle"](x)
        return [
            point == classes["Point"](other),
            point == named,
            named == classes["Named"](other, y),
            counter == classes["Counter"](x),
            handle == classes["Handle"](x),
            point == (x, y),
            [
                repr(each).replace("family.<locals>.", "")
                for each in (point, named, counter, handle, classes["Empty"]())
            ],
            hash(point) == hash(classes["Point"](x, y)),
            outcome(lambda: hash(counter)),
            classes["Empty"]() == classes["Empty"](),
            vars(replace(point, y=other)),
            outcome(lambda: replace(named, x=-1)),
        ]

    assert look(OWN) == look(STANDARD)


@pytest.mark.parametrize("name", OWN)
def test_fields_and_parameters_are_those_of_the_standard_library(name: str) -> None:
    def look(cls: Any) -> list[object]:
        members = [
            (one.name, one.type, one.default, one.init, one.repr, one.compare, one.kw_only) for one in fields(cls)
        ]
        parameters = [(one.name, one.kind) for one in inspect.signature(cls).parameters.values()]
        return [members, parameters, is_dataclass(cls)]

    assert look(OWN[name]) == look(STANDARD[name])


@pytest.mark.parametrize("name", ["x", "tags", "brand_new"])
def test_what_is_frozen_cannot_be_changed(name: str) -> None:
    named = OWN["Named"](1)
    with pytest.raises(FrozenInstanceError):
        setattr(named, name, 2)
    with pytest.raises(FrozenInstanceError):
        delattr(named, name)


def test_a_method_that_the_class_has_is_kept() -> None:
    @own(frozen=True)
    class Word:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Word) and other.text.lower() == self.text.lower()

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "a word"

    assert Word("A") == Word("a")
    assert (hash(Word("a")), repr(Word("a"))) == (5, "a word")


def test_a_class_is_compiled_when_it_is_first_used_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[type] = []
    compile_init = own_module._init

    def watch(cls: type, *rest: str) -> Callable[..., None]:
        compiled.append(cls)
        return compile_init(cls, *rest)

    monkeypatch.setattr(own_module, "_init", watch)

    @own(frozen=True)
    class Base:
        x: int

    @own(frozen=True)
    class Derived(Base):
        y: int

    assert compiled == []
    assert (Derived(1, 2).x, Derived(3, 4).y) == (1, 4)
    assert compiled == [Base, Derived]


def test_an_undecorated_child_and_a_super_call_use_the_class_that_is_built() -> None:
    @own
    class Base:
        x: int

    class Child(Base):
        def __init__(self) -> None:
            super().__init__(4)

    assert Child().x == 4


def test_many_threads_that_make_the_first_object_all_get_one() -> None:
    for _ in range(20):

        @own(frozen=True)
        class Shared:
            x: int
            y: int = 2

        barrier = threading.Barrier(8)
        made: list[Shared] = []

        def make(cls: Any = Shared, barrier: threading.Barrier = barrier, made: list[Any] = made) -> None:
            barrier.wait()
            made.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [Shared(1)] * 8


def test_objects_are_copied_and_pickled() -> None:
    reason = Reason("slug", "message")
    assert copy.deepcopy(reason) == pickle.loads(pickle.dumps(reason)) == copy.copy(reason) == reason


def test_an_object_that_was_never_initialised_builds_its_class_to_be_compared() -> None:
    @own(frozen=True)
    class Bare:
        x: int

    first, second = object.__new__(Bare), object.__new__(Bare)
    for each in (first, second):
        vars(each)["x"] = 1
    assert first == second
    assert dataclasses.asdict(first) == {"x": 1}
