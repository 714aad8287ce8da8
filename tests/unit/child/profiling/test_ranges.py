"""Which frameworks' operators are named by ranges, and how, without any of them."""

from __future__ import annotations

import pytest

from opperf.child.profiling.autostart import emitting
from opperf.domain.backend import Unsupported


def program() -> None:
    """Fail within ranges."""
    with emitting("nvtx", "null"):
        print("the program")
        raise KeyError


def test_ranges_are_emitted_while_they_are_entered_and_end_with_an_exception(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyError):
        program()
    assert capsys.readouterr().out == "range start nvtx\nthe program\nrange end nvtx\n"


@pytest.mark.parametrize(("kind", "framework"), [("nvtx", "jax"), ("nvtx", "mxnet"), ("itt", "mxnet")])
def test_a_framework_that_names_its_operators_by_itself_is_left_alone(
    kind: str, framework: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with emitting(kind, framework):
        pass
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("kind", "framework"), [("itt", "jax"), ("nvtx", "numpy")])
def test_a_framework_without_ranges_says_so(kind: str, framework: str) -> None:
    with pytest.raises(Unsupported, match=f"opperf marks no ranges in {framework}") as caught:
        emitting(kind, framework)
    assert caught.value.slug == "no_ranges"
