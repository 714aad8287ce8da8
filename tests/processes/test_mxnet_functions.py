"""The functions of `opperf.profiler` in a script of MXNet alone, where they are MXNet's own profiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

SCRIPT = Path(__file__).parent / "functions_mxnet.py"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found, with MXNet's engine of its own choice: calls return before their work is done."""
    text = printed("mxnet", "-W", "ignore", SCRIPT, tmp_path_factory.mktemp("mxnet") / "profile.json")
    told: dict[str, Any] = json.loads(text.splitlines()[-1])
    return told


def test_all_work_that_was_asked_for_while_it_ran_is_seen_and_no_other(result: dict[str, Any]) -> None:
    assert result["seen"] == {"relu": 20}


def test_what_comes_at_the_wrong_time_is_refused(result: dict[str, Any]) -> None:
    assert [slug for slug, _ in result["stopped"]] == ["profiler_stopped"] * 2
    assert [message for _, message in result["running"]] == [
        "the profiler is already running",
        "the profiler is not stopped, so it cannot be configured",
        "the profiler is not paused",
        "the profiler is still running",
        "another profile is active in this process",
    ]
    assert result["state"] == ["unknown_state", "no state `go`"]


def test_a_dump_after_the_table_of_a_second_run_leaves_a_file_that_readers_take(result: dict[str, Any]) -> None:
    assert "relu" in result["dumped"]


def test_the_ids_in_a_dumped_file_are_numbers_that_a_double_holds(result: dict[str, Any]) -> None:
    assert result["ids"]
    assert all(0 <= number < 2**53 for number in result["ids"])
