"""A profile in a file is the profile, and a folder that is not there is one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opperf.errors import InputError
from opperf.profile.chrome import from_trace
from opperf.profile.event import Event, Profile
from opperf.profile.saved import save

SEEN = Profile((Event("add", "operator", 5, 10, 1, "main", shapes=((2,),)),), (), {1: {"framework": "null"}})


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    save(SEEN, tmp_path / "trace.json")
    assert from_trace(json.loads((tmp_path / "trace.json").read_text()), "trace.json") == SEEN
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_a_folder_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write") as refused:
        save(SEEN, tmp_path / "nowhere" / "trace.json")
    assert refused.value.slug == "output"
