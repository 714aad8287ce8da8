"""The lock on an output: whoever comes second is told who holds it, whatever its file says."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.store import output_lock
from opperf.parent.store.output_lock import OutputLock


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes | None], str]:
    """Return what is said to the second who writes to an output, given what the lock's file says."""
    monkeypatch.setattr(output_lock, "BETWEEN", 0)

    def said(content: bytes | None) -> str:
        output = tmp_path / "run.json"
        with closing(OutputLock(output, ("opperf", "run", "add"))) as first:
            if content is not None:
                first.path.write_bytes(content)
            with pytest.raises(InputError) as caught:
                OutputLock(output, ("opperf", "run"))
        return caught.value.message

    return said


def test_the_second_is_told_which_command_holds_an_output(refused: Any) -> None:
    assert "(`opperf run add`), since 20" in refused(None)


@each(
    "content",
    [
        *(b"", b"5", b"[]", b"{}", b"[" * 60_000, b"1" * 9000, b"\xff"),
        *(b'{"pid": 1}', b'{"pid": [], "command": "x", "since": "now"}', b'{"pid": 1, "command": 5, "since": "now"}'),
        *(b'{"pid": Infinity, "command": "x", "since": "now"}', b'{"pid": 1e999, "command": "x", "since": "now"}'),
    ],
)
def test_a_lock_that_says_nothing_of_use_still_refuses_the_second(refused: Any, content: bytes) -> None:
    assert refused(content).endswith("is being written by another process")


def test_what_a_lock_says_is_told_in_one_short_line_that_prints(refused: Any) -> None:
    said = refused(json.dumps({"pid": 1, "command": "\x1b[31m\n" * 999, "since": "now"}).encode())
    assert "since now" in said
    assert said.isprintable()
    assert len(said) < 500
