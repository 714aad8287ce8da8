"""JSON from outside: within bounds it is read as the standard library reads it, beyond them it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.files.json_text import (
    DEEPEST,
    LONGEST_KEY,
    LONGEST_NUMBER,
    LONGEST_STRING,
    Bounds,
    NotJSON,
    value_of,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=20,
)
#: Text that parsers of pieces trip over: brackets, quotes and backslashes in strings.
TRICKY = st.text(alphabet='[]{}"\\:0 \n', max_size=30)


def nested(depth: int) -> bytes:
    """Return lists in lists."""
    return b"[" * depth + b"]" * depth


def in_pieces(data: bytes, size: int) -> None:
    """Look through bytes in pieces."""
    bounds = Bounds()
    for begin in range(0, len(data), size):
        bounds.check(data[begin : begin + size])


@given(JSON)
def test_what_is_written_is_read(value: Any) -> None:
    assert value_of(json.dumps(value).encode()) == value


@given(st.dictionaries(TRICKY, st.lists(TRICKY, max_size=4), max_size=4), st.integers(1, 9))
def test_brackets_and_quotes_in_strings_count_for_nothing_wherever_pieces_begin(value: Any, size: int) -> None:
    in_pieces(json.dumps({"[" * DEEPEST: value, "1" * (LONGEST_NUMBER + 1): '"' * LONGEST_KEY}).encode(), size)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_lists_and_objects_are_nested_so_deep_and_no_deeper(size: int) -> None:
    in_pieces(nested(DEEPEST), size)
    in_pieces(b'{"a": ' * DEEPEST + b"1" + b"}" * DEEPEST, size)
    in_pieces(b"[[]]," * 1000, size)
    for data in (nested(DEEPEST + 1), b'{"a": [' * (DEEPEST // 2) + b"{}", nested(200_000)):
        with pytest.raises(NotJSON, match=f"nested over {DEEPEST} deep"):
            in_pieces(data, size)


def test_the_place_of_what_is_too_deep_is_told_to_the_byte() -> None:
    data = b'{"a": "\\"[[[", "b": ' + nested(DEEPEST)
    for size in (1, 5, 1000):
        with pytest.raises(NotJSON) as caught:
            in_pieces(data, size)
        place = int(str(caught.value).partition(":")[0].removeprefix("byte ").replace(",", ""))
        assert data[: place + 1].endswith(b"[" * DEEPEST)


@pytest.mark.parametrize("size", [60, 1 << 16])
def test_a_number_has_so_many_digits_at_most(size: int) -> None:
    assert value_of(b"1" * LONGEST_NUMBER) == int("1" * LONGEST_NUMBER)
    in_pieces(b"[" + b"1," * 1000 + b"1]", size)
    with pytest.raises(NotJSON, match="digits"):
        in_pieces(b'{"a": "b", "c": 1' + b"0" * LONGEST_NUMBER + b"}", size)


@each("space", [b"", b" ", b"\n" * 100])
@each("size", [1, 50, LONGEST_KEY + 3, LONGEST_KEY + 4, 1 << 16])
def test_a_key_is_shorter_than_a_string_may_be(size: int, space: bytes) -> None:
    longest = b"k" * LONGEST_KEY
    in_pieces(b'{"' + longest + b'"' + space + b': "' + longest + b'v", "a": ["' + longest + b'v"]}', size)
    with pytest.raises(NotJSON, match="a key of over"):
        in_pieces(b'{"' + longest + b'k"' + space + b": 1}", size)


def test_a_string_that_does_not_end_is_refused_before_all_of_it_is_read() -> None:
    bounds, piece = Bounds(), b"a" * (1 << 20)
    bounds.check(b'["')
    for _ in range(LONGEST_STRING // len(piece)):
        bounds.check(piece)
    with pytest.raises(NotJSON, match="a string of over"):
        bounds.check(piece)


def test_half_a_letter_becomes_a_question_mark() -> None:
    assert value_of(b'{"\\ud800": ["a\\udfff", "\\ud83d\\ude00"]}') == {"?": ["a?", "\U0001f600"]}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value_of(data)
    except NotJSON as error:
        message = str(error)
        assert message


def test_nothing_is_an_empty_file() -> None:
    with pytest.raises(NotJSON, match="the file is empty"):
        value_of(b" \n")
