"""Instructions of real frameworks, counted under Valgrind: the same in every process, and more where there is more."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from tests.functional.conftest import invoke

pytestmark = pytest.mark.skipif(
    not (shutil.which("valgrind") and shutil.which("cc")), reason="there is no Valgrind, or no C compiler, here"
)


def counted(*words: str) -> list[dict[str, Any]]:
    """Return the records of a run that counts instructions."""
    done = invoke("run", *words, "--clock", "instructions", "--format", "json")
    assert done.code == 0, done.err
    return done.records


@pytest.mark.usefixtures("forked_children")
def test_two_runs_count_the_same_and_say_with_which_vectors() -> None:
    words = ("add", "exp", "--framework", "numpy", "--size", "small", "--runs", "5", "--direction", "forward")
    first, second = (counted(*words) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        counts = [record["metrics"]["instructions"]["value"] for record in (one, other)]
        assert counts[0] > 1000
        assert counts[0] == pytest.approx(counts[1], rel=1e-3)
        assert one["facts"]["instructions"]["instruction_set"] in ("avx2", "avx", "sse2", "neon")
        assert one["facts"]["instructions"]["timed_instruction_set"] != "avx512"
