"""A test of many rows fails with all that fail, and is skipped only where all are."""

from __future__ import annotations

import inspect
from itertools import product

import pytest
from tests.each import each


def test_every_row_that_fails_is_named_and_the_others_are_not() -> None:
    @each(("number", "root"), [(4, 2), (9, 4), (16, "x"), (25, 5)])
    def test(number: int, root: int) -> None:
        assert number == root * root, "no root"

    with pytest.raises(AssertionError) as caught:
        test()
    lines = [line for line in str(caught.value).splitlines() if line.startswith("number")]
    assert lines[0] == "number=9, root=4: no root"
    assert lines[1].startswith("number=16, root='x': TypeError: ")
    assert len(lines) == 2


def test_two_tables_are_tried_in_every_pair_and_what_is_left_is_a_fixture() -> None:
    seen = []

    @each("letter", "ab")
    @each("number", [1, 2])
    def test(tmp_path: str, letter: str, number: int) -> None:
        seen.append((letter, number, tmp_path))

    assert list(inspect.signature(test).parameters) == ["tmp_path"]
    test(tmp_path="here")
    assert seen == [(*pair, "here") for pair in product("ab", [1, 2])]


def test_a_skipped_row_is_left_out_and_where_all_are_so_is_the_test() -> None:
    @each("number", [1, 2])
    def some(number: int) -> None:
        if number == 1:
            pytest.skip("odd")
        assert number == 3

    @each("number", [1, 2])
    def none(number: int) -> None:
        pytest.skip("every one")

    with pytest.raises(AssertionError, match="number=2"):
        some()
    with pytest.raises(pytest.skip.Exception, match="every one"):
        none()


def test_a_row_is_as_long_as_its_names() -> None:
    @each(("a", "b"), [(1, 2, 3)])
    def test(a: int, b: int) -> None:
        raise NotImplementedError

    with pytest.raises(ValueError, match="zip"):
        test()
