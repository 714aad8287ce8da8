"""Sides, trials and settings: what makes them equal, and which settings are refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.plan import CLOCKS, LOOPS, Settings, Side, Trial
from opperf.domain.tensor import TensorSpec

SIDE = Side("torch", "torch==2.1", "cuda:0", "compiled", 4, "torch.add", "threaded", "default", {"b": "2", "a": "1"})
CASE = Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))})
OTHERS: dict[str, Any] = {
    "framework": "jax",
    "environment": "current",
    "device": "cpu",
    "mode": "eager",
    "threads": 1,
    "implementation": None,
    "engine": "naive",
    "allocator": "fixed",
    "settings": {},
}


def test_every_field_of_a_side_is_tried_below() -> None:
    assert set(OTHERS) == {field.name for field in fields(Side)}


@each("name", OTHERS)
def test_every_field_of_a_side_is_in_its_key(name: str) -> None:
    assert replace(SIDE, **{name: OTHERS[name]}).key != SIDE.key


@each("name", sorted(set(OTHERS) - {"implementation"}))
def test_a_child_serves_one_process_side(name: str) -> None:
    assert replace(SIDE, **{name: OTHERS[name]}).process != SIDE.process


def test_implementations_share_a_child() -> None:
    assert replace(SIDE, implementation=None).process == SIDE.process


def test_the_order_of_settings_does_not_make_another_side() -> None:
    other = replace(SIDE, settings={"a": "1", "b": "2"})
    assert other == SIDE
    assert len({other, SIDE}) == 1


def test_a_side_is_read_back() -> None:
    assert Side.from_json(json.loads(json.dumps(SIDE.to_json()))) == SIDE


def test_keys_of_a_later_version_are_passed_over() -> None:
    assert Side.from_json({"framework": "numpy", "hypervisor": "none"}) == Side("numpy")
    assert Settings.from_json({"runs": 5, "power": "high"}) == Settings(runs=5)


def test_a_trial_is_read_back() -> None:
    trial = Trial(CASE, SIDE, "backward", "catalog:small")
    assert Trial.from_json(json.loads(json.dumps(trial.to_json()))) == trial


def test_the_origin_of_a_case_does_not_make_another_trial() -> None:
    assert Trial(CASE, SIDE, "forward", "user").key == Trial(CASE, SIDE, "forward", "catalog:common").key


@pytest.mark.parametrize(
    "other",
    [
        Trial(CASE, SIDE, "backward"),
        Trial(CASE, replace(SIDE, mode="eager"), "forward"),
        Trial(replace(CASE, operator="subtract"), SIDE, "forward"),
    ],
)
def test_case_side_and_direction_make_another_trial(other: Trial) -> None:
    assert other.key != Trial(CASE, SIDE, "forward").key


@each(
    ("name", "value"),
    [
        ("warmup", -1),
        ("runs", 0),
        ("processes", 0),
        ("precision", 0.0),
        ("precision", float("nan")),
        ("trial_budget", -1.0),
        ("timeout", 0.0),
        ("budget", 0.0),
        ("cache", "warm"),
        ("clock", "cpu"),
    ],
)
def test_a_bad_setting_is_refused_by_the_name_of_its_option(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"`--{name.replace('_', '-')}`"):
        Settings(**{name: value})


def test_a_frameworks_own_clock_has_no_cold_cache() -> None:
    with pytest.raises(InputError, match="`--clock profiler` cannot be combined with a cold cache"):
        Settings(clock="profiler", cache="cold")


def test_no_warmup_is_a_setting() -> None:
    assert Settings(warmup=0).warmup == 0


CHANGED: dict[str, Any] = {
    "warmup": 3,
    "runs": 7,
    "precision": 0.5,
    "trial_budget": 9.0,
    "timeout": 9.0,
    "budget": 9.0,
    "processes": 9,
    "cache": "cold",
    "clock": "profiler",
    "seed": 9,
    "cpus": (0, 1),
    "memory": False,
    "latency": False,
    "check": "timed",
    "memory_limit": 9,
    "by_share": True,
    "jobs": 2,
    "loop": "native",
    "compile_cache": "none",
    "metric": "energy",
    "share_device": True,
}


def test_every_setting_is_tried_below() -> None:
    assert set(CHANGED) == {field.name for field in fields(Settings)}


#: What bounds a measurement, or adds to it, and changes no time.
PLAIN = (
    "timeout",
    "budget",
    "memory",
    "latency",
    "check",
    "memory_limit",
    "by_share",
    "jobs",
    "compile_cache",
    "share_device",
)


@each("name", CHANGED)
def test_a_setting_that_changes_what_is_measured_is_a_difference(name: str) -> None:
    differing = Settings().differences(Settings(**{name: CHANGED[name]}))
    assert differing == ([] if name in PLAIN else [name])


def test_a_clock_and_a_loop_have_no_word_in_common() -> None:
    assert not {*CLOCKS} & {*LOOPS}


def test_a_clock_without_python_has_no_loop_without_python() -> None:
    with pytest.raises(InputError, match="`--clock profiler` cannot be combined with `--loop native`"):
        Settings(clock="profiler", loop="native")


@each("name", CHANGED)
def test_settings_are_read_back(name: str) -> None:
    settings = Settings(**{name: CHANGED[name]})
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_older_files_say_of_a_check_whether_there_was_one() -> None:
    assert [Settings.from_json({**Settings().to_json(), "check": old}).check for old in (True, False)] == [
        "small",
        "none",
    ]


def test_what_is_checked_is_left_to_the_side() -> None:
    own, other = Side("torch", implementation=Code("mine.py:f")), Side("torch", implementation="torch.add")
    assert [Settings().check_of(side) for side in (own, other)] == ["timed", "small"]
    assert [Settings(check="none").check_of(side) for side in (own, other)] == ["none", "none"]
    assert "check" not in Settings().to_json()


def test_a_check_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="`--check` is `all`, expected timed, small or none"):
        Settings(check="all")
