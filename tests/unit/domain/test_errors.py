"""Errors: exit codes, hints, and the names that were perhaps meant."""

from __future__ import annotations

import pytest

from opperf.domain.errors import EnvironmentFailure, HarnessError, InputError, OpperfError, WorkerFailure, near, unknown


@pytest.mark.parametrize(
    ("kind", "code"), [(InputError, 2), (HarnessError, 3), (EnvironmentFailure, 3), (OpperfError, 3)]
)
def test_each_kind_of_error_has_its_exit_code(kind: type[OpperfError], code: int) -> None:
    assert kind("x").exit_code == code


def test_a_lost_worker_is_a_failure_of_the_harness() -> None:
    lost = WorkerFailure("gone", slug="crash", signal="SIGSEGV", stderr="words")
    assert (lost.exit_code, lost.signal, lost.stderr) == (3, "SIGSEGV", "words")


def test_a_hint_stands_after_a_blank_line() -> None:
    assert str(InputError("no", hint="do this")) == "no\n\nhint: do this"


def test_an_error_without_a_hint_is_its_message() -> None:
    assert str(InputError("no")) == "no"


def test_a_slip_of_the_pen_is_near() -> None:
    assert near("sofmax", ["softmax", "add"]) == ["softmax"]


def test_case_does_not_matter() -> None:
    assert near("BATCHNORM", ["BatchNorm", "add"]) == ["BatchNorm"]


def test_names_that_begin_alike_come_first_and_the_shortest_first() -> None:
    assert near("conv", ["conv2d_transpose", "conv2d"])[:2] == ["conv2d", "conv2d_transpose"]


def test_no_more_than_the_asked_number_is_near() -> None:
    assert len(near("a", [f"a{i}" for i in range(20)], most=3)) == 3


def test_nothing_is_near_an_empty_name() -> None:
    assert near("", ["add", "softmax"]) == []


def test_near_names_replace_the_hint() -> None:
    error = unknown("data of `f`", "flot", ["float"], hint="other")
    assert (error.slug, error.hint) == ("unknown_data", "did you mean `float`?")


def test_without_near_names_the_hint_stands() -> None:
    assert unknown("size", "zzz", ["small"], hint="known: small").hint == "known: small"


def test_a_name_that_is_like_no_other_has_the_hint_with_all_that_are_known() -> None:
    sizes = ("small", "common", "large", "skewed", "int64")
    assert unknown("size", "giant", sizes, hint="known: all").hint == "known: all"
    assert unknown("size", "comon", sizes, hint="known: all").hint == "did you mean `common`?"
