"""Profiles that are read from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile
from opperf.parent.store.documents import read_profile


def test_a_profile_is_read_as_it_was_written(tmp_path: Path) -> None:
    profile = Profile(
        (Event("add", "operator", 5, 7, 1, "main", shapes=((2, 3), ())),), (), {1: {"framework": "torch"}}
    )
    (tmp_path / "profile.json").write_text(json.dumps(to_trace(profile)))
    assert read_profile(tmp_path / "profile.json") == profile


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ('{"traceEvents": []}', "not a profile of opperf"),
        ('{"opperf": {"schema_version": 1}}', "traceEvents: found null, expected a list"),
    ],
)
def test_a_file_that_holds_no_profile_is_refused_by_its_name(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(text)
    with pytest.raises(InputError, match=f"profile.json: {message}"):
        read_profile(tmp_path / "profile.json")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"command": True}, "1.command: found true, expected a string or a list or null"),
        ({"command": ["a.py", 5]}, r"1.command: found \["),
        ({"name": 5}, "1.name: found 5, expected a string or null"),
        ({"framework": []}, r"1.framework: found \[\], expected a string or null"),
    ],
)
def test_what_is_known_of_a_process_is_text(facts: dict[str, Any], message: str, tmp_path: Path) -> None:
    document: Any = to_trace(Profile(processes={1: {"framework": "torch", "command": ["a.py", "-v"]}}))
    (tmp_path / "whole.json").write_text(json.dumps(document))
    assert read_profile(tmp_path / "whole.json").processes[1]["command"] == ["a.py", "-v"]
    document["opperf"]["processes"]["1"] |= facts
    (tmp_path / "profile.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"profile.json: opperf.processes.{message}"):
        read_profile(tmp_path / "profile.json")


def test_a_file_that_is_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read `.*none\.json`: No such file"):
        read_profile(tmp_path / "none.json")
