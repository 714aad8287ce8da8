"""Versions of frameworks that are too old to be measured."""

from __future__ import annotations

import importlib.metadata

import pytest
from tests.each import each

from opperf.child.backends import OLDEST, check_age
from opperf.domain.backend import Unsupported


@each("own", ["0.4.29", "0.4.26.dev1", "0.3.99"])
def test_a_version_that_does_not_run_is_refused_with_the_oldest_that_does(own: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.metadata, "version", lambda name: own)
        with pytest.raises(Unsupported, match=rf"jax {own} is older than 0\.4\.30, the oldest version") as caught:
            check_age("jax")
    assert caught.value.slug == "too_old"


@each("own", ["0.4.30", "0.4.31", "0.10.2", "1.0"])
def test_the_oldest_and_newer_ones_are_measured(own: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.metadata, "version", lambda name: own)
        check_age("jax")


def test_a_framework_that_nobody_tried_or_that_is_not_there_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    for name in (*OLDEST, "numpy", "null"):
        check_age(name)
