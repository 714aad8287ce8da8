"""What a child sets before its framework is imported, in which order."""

from __future__ import annotations

import os

import pytest

from opperf.child import backends
from opperf.child.backends.jax.threads import configure
from opperf.domain.plan import PROGRAM, Side


def test_a_variable_of_the_side_wins_over_what_the_threads_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    backends.start(Side("null", threads=1, settings={"env.OMP_NUM_THREADS": "3"}))
    assert (os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"]) == ("3", "1")


def test_the_settings_that_are_no_variables_are_not_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("slowdown", raising=False)
    backends.start(Side("null", settings={"slowdown": "1.05"}))
    assert "slowdown" not in os.environ


def test_a_program_of_jax_runs_with_the_element_types_that_it_has_without_opperf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variables: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", variables)
    configure(Side("jax", settings=PROGRAM))
    assert "JAX_ENABLE_X64" not in variables
    configure(Side("jax"))
    assert variables["JAX_ENABLE_X64"] == "1"
