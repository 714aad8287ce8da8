"""What differs between two sides, said in sentences."""

from __future__ import annotations

from opperf.domain.explanation import Event, Explanation
from opperf.parent.measuring.explain import Difference, difference


def ran(*events: Event, notes: tuple[str, ...] = ()) -> Explanation:
    """Return an explanation of these events."""
    return Explanation(events, notes)


def primitive(name: str, by: str, seconds: float | None = 1e-4, calls: float = 1) -> Event:
    """Return a primitive that ran."""
    return Event(name, "primitive", calls, seconds, by)


def operator(name: str, seconds: float | None = 1e-4, calls: float = 1) -> Event:
    """Return an operator that ran."""
    return Event(name, "operator", calls, seconds)


def test_another_implementation_is_named_on_both_sides() -> None:
    result = difference(ran(primitive("matmul", "brgemm:avx512")), ran(primitive("matmul", "ref:any", 9e-3)))
    assert result == Difference(("matmul: base ran brgemm:avx512 (100 us), new ran ref:any (9.00 ms)",), 0)


def test_what_ran_on_one_side_only_is_said_of_that_side() -> None:
    both = operator("aten::mm")
    assert difference(ran(both, operator("aten::copy_", 2e-6, 2)), ran(both)).lines == (
        "only base ran aten::copy_ (2 times, 2.00 us)",
    )
    assert difference(ran(both), ran(both, primitive("reorder", "jit:uni", 2e-6))).lines == (
        "only new ran reorder by jit:uni (2.00 us)",
    )


def test_what_is_alike_is_counted_and_not_listed() -> None:
    same = [operator("aten::mm"), operator("aten::t", 1e-6), primitive("reorder", "jit:uni")]
    assert difference(ran(*same), ran(*same)) == Difference((), 3)


def test_a_time_that_moved_is_told_with_both_times() -> None:
    result = difference(ran(operator("aten::mm", 1e-4)), ran(operator("aten::mm", 2e-4)))
    assert result.lines == ("aten::mm: base 100 us, new 200 us",)


def test_a_time_that_moved_by_no_more_than_profilers_do_is_alike() -> None:
    assert difference(ran(operator("aten::mm", 1.0e-4)), ran(operator("aten::mm", 1.2e-4))) == Difference((), 1)


def test_a_time_that_moved_by_next_to_nothing_of_the_whole_is_alike() -> None:
    base = ran(operator("aten::mm", 1e-3), operator("aten::t", 1e-6))
    assert difference(base, ran(operator("aten::mm", 1e-3), operator("aten::t", 3e-6))) == Difference((), 2)


def test_another_number_of_calls_is_told() -> None:
    result = difference(ran(primitive("reorder", "jit:uni", None)), ran(primitive("reorder", "jit:uni", None, 3)))
    assert result.lines == ("reorder by jit:uni: base once, new 3 times",)


def test_the_most_time_comes_first() -> None:
    base = ran(operator("small", 1e-6), operator("large", 1e-3), operator("middle", 1e-4))
    assert [line.split()[3] for line in difference(base, ran()).lines] == ["large", "middle", "small"]


def test_an_operator_and_a_primitive_of_one_name_are_two_things() -> None:
    result = difference(ran(operator("softmax")), ran(Event("softmax", "primitive", 1, 1e-4)))
    assert len(result.lines) == 2


def test_notes_that_differ_are_said_of_their_side() -> None:
    result = difference(ran(notes=("BLAS a", "isa")), ran(notes=("BLAS b", "isa")))
    assert result == Difference(("only base: BLAS a", "only new: BLAS b"), 0)


def test_several_implementations_of_one_name_are_all_named() -> None:
    base = ran(primitive("reorder", "jit:blk", 2e-6), primitive("reorder", "jit:uni", 1e-6))
    assert difference(base, ran(primitive("reorder", "jit:uni", 4e-6, 2))).lines == (
        "reorder: base ran jit:blk (2.00 us) and jit:uni (1.00 us), new ran jit:uni (2 times, 4.00 us)",
    )
