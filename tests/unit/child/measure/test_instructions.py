"""What callgrind's files say was executed, and what a call of the allocator counts as."""

from __future__ import annotations

import pytest

from opperf.child.measure.instructions import ALLOCATOR, ALLOCATOR_CALL, POOL_CALL, POOLS, total

HEAD = "version: 1\npositions: line\nevents: Ir\nsummary: {}\n\n\n"
CALL = "cob=/lib/libc.so.6\ncfi=???\ncfn={}\ncalls={} 1368 \n0 {}\n"


def test_a_file_without_a_summary_says_nothing() -> None:
    assert total("version: 1\nevents: Ir\n") is None
    assert total("") is None


@pytest.mark.parametrize("executed", [140, 9000])
@pytest.mark.parametrize("name", ALLOCATOR)
def test_a_call_of_the_allocator_counts_the_same_however_long_it_looks(name: str, executed: int) -> None:
    text = HEAD.format(1000 + executed) + "fn=add\n0 1000\n" + CALL.format(name, 1, executed)
    assert total(text) == 1000 + ALLOCATOR_CALL


def test_more_calls_of_the_allocator_count_more() -> None:
    few, many = (HEAD.format(1500) + "fn=add\n" + CALL.format("malloc", calls, 500) for calls in (3, 7))
    assert total(many) - total(few) == 4 * ALLOCATOR_CALL  # type: ignore[operator]  # both have a summary


def test_what_the_allocator_calls_of_itself_counts_once() -> None:
    text = (
        HEAD.format(900)
        + "fn=add\n"
        + CALL.format("realloc", 1, 800)
        + "\nfn=realloc\n"
        + CALL.format("malloc", 1, 300)
    )
    assert total(text) == 100 + ALLOCATOR_CALL


@pytest.mark.parametrize("executed", [21, 300])
@pytest.mark.parametrize("name", POOLS)
def test_a_call_of_cpythons_allocator_counts_the_same_whether_or_not_its_pool_is_full(name: str, executed: int) -> None:
    within = f"\nfn={name}\n700 {executed}\n731 0\n"
    text = HEAD.format(1000 + executed) + "fn=add\n0 1000\n" + CALL.format(name, 1, executed) + within
    assert total(text) == 1000 + POOL_CALL


def test_what_cpythons_allocator_asks_of_glibc_counts_as_a_call_of_each() -> None:
    within = "\nfn=_PyObject_Malloc\n700 40\n" + CALL.format("malloc", 1, 800)
    text = HEAD.format(1840) + "fn=add\n0 1000\n" + CALL.format("_PyObject_Malloc", 1, 840) + within
    assert total(text) == 1000 + POOL_CALL + ALLOCATOR_CALL


def test_a_function_that_is_only_named_like_the_allocator_counts_as_it_is() -> None:
    text = HEAD.format(900) + "fn=malloc_in_a_pool\n0 100\n" + CALL.format("free_list::take", 1, 800)
    assert total(text) == 900
