"""A child on a device: whose an error is that comes late, and when the child is of no more use."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from opperf.child import __main__ as child
from opperf.child.backends.null.runtime import NullBackend
from opperf.domain.message.replies import Hello
from opperf.domain.message.requests import Limits, Release
from opperf.domain.message.wire import request_line
from opperf.domain.plan import Side


def answers(errors: list[str | None], device: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the answers to two requests of a child; each wait for the device takes the next of the errors."""

    class Failing(NullBackend):
        def wait(self, outputs: Any) -> None:
            error = errors.pop(0) if errors else None
            if error is not None:
                raise RuntimeError(error)

    monkeypatch.setattr(child, "_start", lambda *_: (Failing(Side("null", device=device)), Hello(1, {}, (device,))))
    requests = io.BytesIO(b"".join(request_line(number, Release(number)) for number in (1, 2)))
    replies = io.BytesIO()
    child._serve(requests, replies, Side("null", device=device), Limits(None, None, str(folder), ()))
    _, *lines = replies.getvalue().splitlines()
    return [json.loads(line).get("failure") for line in lines]


def test_an_error_that_comes_late_is_the_requests_that_caused_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = answers(["late", None, None], "cuda:0", tmp_path, monkeypatch)
    assert (first["reason"]["message"], first["last"], second) == ("late", False, None)


def test_a_device_that_answers_each_call_with_an_error_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = answers(["illegal address"] * 4, "cuda:0", tmp_path, monkeypatch)
    assert (first["reason"]["message"], first["last"]) == ("illegal address", True)


@pytest.mark.parametrize(("device", "last"), [("cuda:0", True), ("cpu", False)])
def test_a_device_whose_memory_was_short_lies_in_pieces_and_its_child_ends(
    device: str, last: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setattr(child, "_answer", fails)
    first, _ = answers([], device, tmp_path, monkeypatch)
    assert (first["reason"]["slug"], first["last"]) == ("out_of_memory", last)


def test_a_cpu_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(["never"], "cpu", tmp_path, monkeypatch) == [None, None]
