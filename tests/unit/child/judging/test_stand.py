"""Where results lie is told within the turn, of all at once where they are plain, and after what is left to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from opperf.child.backends.numpy.runtime import start
from opperf.child.judging.stand import Stand
from opperf.domain.plan import Side


def told(backend: Any, results: list[Any]) -> list[int]:
    """Return the addresses that a stand tells of results."""
    stand = object.__new__(Stand)
    answers = memoryview(bytearray(128)).cast("Q")
    stand._backend, stand._carrier, stand._answers = backend, None, answers
    stand._tell_places(results)
    return list(answers[1 : 1 + answers[0]])


def test_what_is_left_to_do_to_a_result_is_done_and_kept() -> None:
    backend = SimpleNamespace(
        leaves=lambda result: [result],
        address=lambda tensor: max(0, tensor),
        addresses=lambda results: (),
        resolved=lambda tensor: -tensor,
    )
    results = [3, -5]
    assert told(backend, results) == [3, 5]
    assert results == [3, [5]]


@pytest.mark.parametrize("several", [[np.ones(3), np.ones((2, 2))[1]], [(np.ones(1), np.ones(2))], [np.float32(3)], []])
def test_plain_results_are_told_as_all_others(several: list[Any]) -> None:
    backend = start(Side("numpy"))
    leaves = [leaf for result in several for leaf in backend.leaves(result)]
    assert told(backend, several) == [backend.address(leaf) for leaf in leaves]
    assert bool(backend.addresses(several)) == all(isinstance(one, np.ndarray) for one in several or [()])
