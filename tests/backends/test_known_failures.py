"""What has no number says why, and where one can read of it: the lists that the registries' tests hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

#: A reason for each path and direction, and its link.
Known = Mapping[tuple[str, str], str]


@pytest.fixture(params=["jax", "mxnet", "numpy", "tensorflow", "torch"])
def known(request: pytest.FixtureRequest, known_failures: Callable[[str], Known]) -> Known:
    """Return the list of a framework."""
    return known_failures(request.param)


def test_every_known_failure_has_a_reason_of_its_own_words_and_a_link(known: Known) -> None:
    parts = {key: reason.partition("https://") for key, reason in known.items()}
    assert [key for key, (words, _, link) in parts.items() if len(words.split()) < 3 or " " in link or not link] == []


def test_no_known_failure_is_for_want_of_a_rule(known: Known) -> None:
    assert [key for key, reason in known.items() if "no rule" in reason] == []


def test_every_known_failure_is_of_a_direction_that_is_run(known: Known) -> None:
    assert {direction for _, direction in known} <= {"forward", "backward"}
