"""A profile in a file is the profile, and a folder that is not there is one message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.chrome import from_trace, save
from opperf.domain.profile.event import Event, Profile

#: The command has a byte that is no UTF-8, as Python hands it over.
SEEN = Profile(
    (Event("caf\u00e9::\U0001f600", "operator", 5, 10, 1, "main", shapes=((2,),)),),
    (),
    {1: {"framework": "null", "command": "caf\udce9.py"}},
)


def test_what_is_saved_is_read_again(tmp_path: Path) -> None:
    save(SEEN, tmp_path / "trace.json")
    assert from_trace(json.loads((tmp_path / "trace.json").read_text()), "trace.json") == SEEN
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_names_stand_in_the_file_as_they_are(tmp_path: Path) -> None:
    save(SEEN, tmp_path / "trace.json")
    assert '"caf\u00e9::\U0001f600"' in (tmp_path / "trace.json").read_text(encoding="utf-8")


def test_a_folder_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write") as refused:
        save(SEEN, tmp_path / "nowhere" / "trace.json")
    assert refused.value.slug == "output"
