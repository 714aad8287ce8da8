"""Large results, compared at some places."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from opperf.child.worker import spot_check
from opperf.child.worker.correctness import WrongResult, check
from opperf.child.worker.spot_check import compare
from opperf.domain.backend import HostValue

SIZE = 100_000


def value(numbers: Any, dtype: str = "float32") -> HostValue:
    """Return numbers as a tensor outside its framework."""
    raw = array("f" if dtype == "float32" else "d", numbers).tobytes()
    return raw, (len(numbers),), dtype


def test_equal_results_agree_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_check, "check", None)
    compare([value([1.0] * SIZE)], [value([1.0] * SIZE)], "X", 0.0)


def test_results_that_differ_by_rounding_agree_at_the_places_that_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []

    def watch(results: list[HostValue], *words: Any) -> None:
        sizes.extend(shape[0] for _, shape, _ in results)
        check(results, *words)

    monkeypatch.setattr(spot_check, "check", watch)
    compare([value([1.0] * SIZE)], [value([1.000001] * SIZE)], "X", 0.0)
    assert sizes == [1024 + 15 * 64]


def test_a_hundredth_of_wrong_elements_is_seen_and_named_by_its_place() -> None:
    wrong = [1.0] * SIZE
    wrong[::100] = [2.0] * (SIZE // 100)
    with pytest.raises(WrongResult, match=r"^element 0 of tensor 0 is 2, expected 1 by X \(within 0\.0002\)$"):
        compare([value(wrong)], [value([1.0] * SIZE)], "X", 0.0)


def test_the_end_of_a_tensor_is_always_looked_at() -> None:
    wrong = [1.0] * SIZE
    wrong[-1] = 0.0
    with pytest.raises(
        WrongResult, match=rf"^element {SIZE - 1} of tensor 0 is 0, expected 1 by X \(within 0\.0002\)$"
    ):
        compare([value(wrong)], [value([1.0] * SIZE)], "X", 0.0)


def test_another_number_of_tensors_is_wrong() -> None:
    with pytest.raises(WrongResult, match="it returns 2 tensors, and X returns 1"):
        compare([value([1.0]), value([1.0])], [value([1.0])], "X", 0.0)


def test_fewer_significant_bits_than_expected_are_another_result() -> None:
    with pytest.raises(WrongResult, match="tensor 0 is of float32, and of float64 from X"):
        compare([value([1.0])], [value([1.0], "float64")], "X", 0.0)
    compare([value([1.0], "float64")], [value([1.0])], "X", 0.0)
