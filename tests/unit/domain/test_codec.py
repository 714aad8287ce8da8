"""Nouns from JSON: what fits a type hint is taken, anything else is told with its place and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Optional, Union

import pytest
from tests.each import each

from opperf.domain.codec import Fields, decode, encode, read_as
from opperf.domain.errors import InputError
from opperf.domain.type_hint import Above, AtLeast, Count, Form, OneOf


@dataclass(frozen=True)
class Code:
    """What no file may name: it has no `from_json`."""

    name: str


@dataclass(frozen=True)
class Inner:
    """A noun within another."""

    size: Count
    word: Annotated[str, OneOf(("left", "right"))] = "left"

    def __post_init__(self) -> None:
        if self.size == 13:
            raise InputError("13 is not liked", hint="take 12")

    @classmethod
    def from_json(cls, data: Any, where: str) -> Inner:
        """Read the JSON form."""
        return decode(cls, data, where)


@dataclass(frozen=True)
class Outer:
    """A noun with a field of each kind."""

    time: Annotated[float, Above(0)]
    inner: Optional[Inner] = None
    several: tuple[Inner, ...] = ()
    bounds: tuple[float, float] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    code: Union[str, Code, None] = None
    free: Any = None
    many: Sequence[Annotated[int, AtLeast(-1)]] = ()


def test_a_noun_is_made_of_what_fits_its_hints() -> None:
    said = {"time": 1, "inner": {"size": 2, "later": []}, "several": [{"size": 3.0, "word": "right"}], "many": [-1, 5]}
    whole = {**said, "bounds": [0, 1.5], "names": {"a": "b"}, "code": "x", "free": [None], "later": 5}
    assert decode(Outer, whole, "f: one") == Outer(
        1.0, Inner(2), (Inner(3, "right"),), (0.0, 1.5), {"a": "b"}, "x", [None], (-1, 5)
    )


@each(
    ("change", "message"),
    [
        ({"time": "a"}, 'f: one.time: found "a", expected a number > 0'),
        ({"time": 0}, "f: one.time: found 0, expected a number > 0"),
        ({"time": True}, "f: one.time: found true, expected a number > 0"),
        ({"time": float("inf")}, "f: one.time: found Infinity, expected a number > 0"),
        ({"inner": []}, "f: one.inner: found [], expected an object or null"),
        ({"inner": {}}, "f: one.inner: no `size`, expected a whole number >= 1"),
        ({"inner": {"size": 0.5}}, "f: one.inner.size: found 0.5, expected a whole number >= 1"),
        ({"inner": {"size": 13}}, "f: one.inner: 13 is not liked"),
        ({"inner": {"size": 1, "word": "up"}}, 'f: one.inner.word: found "up", expected "left" or "right"'),
        ({"several": {}}, "f: one.several: found {}, expected a list"),
        ({"several": [{"size": 1}, {"size": "x" * 99}]}, 'f: one.several[1].size: found "xxx'),
        ({"bounds": [1]}, "f: one.bounds: found [1], expected a list of 2: a number, a number or null"),
        ({"bounds": [1, None]}, "f: one.bounds[1]: found null, expected a number"),
        ({"names": {"a b": 1}}, 'f: one.names["a b"]: found 1, expected a string'),
        ({"code": {"name": "os:system"}}, 'f: one.code: found {"name": "os:system"}, expected a string or null'),
        ({"free": float("nan")}, "f: one.free: found NaN, expected numbers that are finite"),
        ({"free": {"a": [1e999]}}, 'f: one.free: found {"a": [Infinity]}, expected numbers that are finite'),
        ({"many": [0, -2]}, "f: one.many[1]: found -2, expected a whole number >= -1"),
        ({"many": [1 << 80]}, "f: one.many[0]: found 1208925819614629174706176, expected a whole number >= -1"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(Outer, {"time": 1, **change}, "f: one")
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize("data", [None, [], "x", 5])
def test_what_is_no_object_is_no_noun(data: Any) -> None:
    with pytest.raises(InputError, match=r"f: one: found .*, expected an object"):
        decode(Outer, data, "f: one")


def test_the_hint_of_a_noun_goes_with_its_place() -> None:
    with pytest.raises(InputError) as caught:
        decode(Inner, {"size": 13}, "f: one")
    assert caught.value.hint == "take 12"


def test_a_class_that_reads_no_data_is_never_made_of_it() -> None:
    with pytest.raises(TypeError, match="is not read from data"):
        read_as(Code, {"name": "os:system"}, "f")


@dataclass(frozen=True)
class Note(Fields):
    """A noun whose JSON is its fields; a size is written with its unit."""

    text: str
    size: Annotated[int, Form("a size", lambda size: f"{size} B", lambda data, where: int(str(data).split()[0]))]
    parts: tuple[tuple[str, int], ...] = ()
    others: Mapping[str, Optional[bool]] = field(default_factory=dict)


def test_what_is_its_fields_is_written_and_read_by_its_type_hints() -> None:
    note = Note("a", 4, (("b", 1),), {"c": True, "d": None})
    told = {"text": "a", "size": "4 B", "parts": [["b", 1]], "others": {"c": True, "d": None}}
    assert note.to_json() == told
    assert Note.from_json(told) == note


def test_a_place_is_called_after_its_type_where_nobody_says_another() -> None:
    with pytest.raises(InputError, match=r"^note: no `size`, expected a size"):
        Note.from_json({"text": "a"})


def test_what_has_no_json_form_is_not_written() -> None:
    with pytest.raises(TypeError, match="Code has no JSON form"):
        encode({"implementation": [Code("mine.py:f")]})


@dataclass(frozen=True)
class Noun(Fields):
    """A noun with another's fields among its own, one that is left out, and a number that follows from others."""

    note: Note
    weight: int = 1
    marks: tuple[str, ...] = ()

    flat = ("note",)
    sparse = ("marks",)
    beside = ("double",)

    @property
    def double(self) -> int:
        """Twice the weight."""
        return 2 * self.weight


def test_flat_fields_stand_among_the_others_and_sparse_ones_are_left_out() -> None:
    noun = Noun(Note("a", 4), 3)
    told = {"text": "a", "size": "4 B", "parts": [], "others": {}, "weight": 3, "double": 6}
    assert noun.to_json() == told
    assert Noun.from_json({**told, "double": "not read"}) == noun
    assert Noun(noun.note, marks=("b",)).to_json()["marks"] == ["b"]


def test_what_is_missing_of_a_flat_field_is_told_as_of_the_whole() -> None:
    with pytest.raises(InputError, match=r"^f: one: no `size`, expected a size"):
        Noun.from_json({"text": "a"}, "f: one")


def test_the_fields_of_a_document_are_told_behind_the_name_of_its_file() -> None:
    with pytest.raises(InputError, match=r"^f\.json: text: found 1, expected a string"):
        Note.from_json({"text": 1, "size": "4 B"}, "f.json: ")
    with pytest.raises(InputError, match=r"^f\.json: found 1, expected an object"):
        Note.from_json(1, "f.json: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"text": 1}, "f.text: found 1, expected a string"),
        ({"weight": 1, "text": "a"}, "f: no `size`, expected a size"),
        ({"size": 0, "word": "up"}, "f.size: found 0, expected a whole number >= 1"),
        ([], "f: found [], expected an object"),
    ],
)
def test_an_object_is_read_as_the_noun_that_has_most_of_its_keys(data: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_as(Union[Note, Inner], data, "f")
    assert caught.value.message == message
