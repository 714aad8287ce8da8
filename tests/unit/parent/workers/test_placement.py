"""Which children have their tensors placed, and what decides where."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from opperf.domain.backend import Unsupported
from opperf.domain.plan import DRAWN, PLANNED, Side
from opperf.parent.workers import placement

SIDE = Side("numpy")


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that was built, whatever this machine has."""
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setattr(placement, "_library", lambda folder: folder / "library.so")


def test_both_sides_load_the_library_ahead_of_the_c_library() -> None:
    ((name, value),) = placement.variables([SIDE, Side("torch")]).items()
    assert name == "LD_PRELOAD"
    assert Path(value).name == "library.so"


@pytest.mark.parametrize(
    "other",
    [
        replace(SIDE, allocator="default"),
        replace(SIDE, device="cuda:0"),
        replace(SIDE, settings={"env.LD_PRELOAD": "own.so"}),
        Side("null"),
    ],
    ids=["allocator", "device", "library", "null"],
)
def test_where_one_side_cannot_be_placed_or_should_not_neither_is(other: Side) -> None:
    assert placement.variables([SIDE, other]) == placement.variables([other, SIDE]) == {}


def test_whoever_loads_a_library_ahead_himself_keeps_its_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "jemalloc.so")
    assert placement.variables([SIDE, SIDE]) == {}


def test_both_sides_have_the_same_seed_where_both_are_planned_and_another_in_each_round() -> None:
    generator = random.Random(1)
    rounds = [placement.seeds(PLANNED, generator) for _ in range(20)]
    assert all(base == new > 0 for base, new in rounds)
    assert len({base for base, _ in rounds}) == 20
    assert any(base != new for base, new in (placement.seeds(DRAWN, generator) for _ in range(5)))


def test_a_pair_is_planned_only_where_both_children_say_so() -> None:
    assert placement.together([{"placement": "planned"}, {"placement": "planned"}]) == PLANNED
    assert placement.together([{"placement": "planned"}, {}]) == DRAWN


@pytest.mark.parametrize("system", ["", "musl"])
def test_nothing_is_compiled_for_another_c_library(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("platform.libc_ver", lambda: (system, ""))
    monkeypatch.setattr(placement, "build", lambda *_, **__: pytest.fail("compiled"))
    assert placement._library(tmp_path) is None


def test_without_a_compiler_places_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Path:
        raise Unsupported("there is no C compiler here", slug="no_compiler")

    monkeypatch.undo()
    monkeypatch.setattr("platform.libc_ver", lambda: ("glibc", "2.36"))
    monkeypatch.setattr(placement, "build", refuse)
    assert placement._library(tmp_path) is None
