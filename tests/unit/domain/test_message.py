"""The protocol's lines: what is written is read, and whatever else comes through the pipe is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.message import VERBS, MessageError, Reply, Request, read_reply, read_request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(max_size=5), JSON, max_size=3)
LINES = st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode())
KEYS = st.sampled_from(["id", "verb", "arguments", "result", "failure"])
NEARLY = st.dictionaries(KEYS, JSON, max_size=5).map(lambda value: json.dumps(value).encode())


@given(st.integers(), st.sampled_from(VERBS), OBJECT)
def test_a_request_is_read_as_it_was_written(number: int, verb: str, arguments: dict[str, Any]) -> None:
    request = Request(number, verb, arguments)
    assert read_request(request.encode()) == request


@given(st.integers(), OBJECT)
def test_a_result_is_read_as_it_was_written(number: int, result: dict[str, Any]) -> None:
    assert read_reply(Reply(number, result).encode()) == Reply(number, result)


@given(st.integers(), OBJECT)
def test_a_failure_is_read_as_it_was_written(number: int, failure: dict[str, Any]) -> None:
    assert read_reply(Reply(number, failure=failure).encode()) == Reply(number, failure=failure)


@given(OBJECT)
def test_a_message_is_one_line(content: dict[str, Any]) -> None:
    for line in (Request(1, "measure", content).encode(), Reply(1, content).encode()):
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1


@given(LINES | NEARLY)
def test_any_line_is_a_request_or_refused(line: bytes) -> None:
    try:
        found = read_request(line)
    except MessageError as error:
        slug = error.slug
        assert slug == "protocol"
    else:
        assert found.verb in VERBS


@given(LINES | NEARLY)
def test_any_line_is_a_reply_or_refused(line: bytes) -> None:
    try:
        found = read_reply(line)
    except MessageError as error:
        slug = error.slug
        assert slug == "protocol"
    else:
        assert (found.result is None) != (found.failure is None)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"\x00\xff not a message\n",
        b"[1, 2]\n",
        b"{}\n",
        b'{"id": "1", "result": {}}\n',
        b'{"id": 1}\n',
        b'{"id": 1, "result": []}\n',
        b'{"id": 1, "result": {}, "failure": {}}\n',
        b'{"id": 1, "result": {}',
        b"[" * 200_000,
    ],
)
def test_what_is_no_reply_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_reply(line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 1, "verb": "delete", "arguments": {}}',
        b'{"id": 1, "verb": "measure"}',
        b'{"id": 1, "verb": "measure", "arguments": []}',
        b'{"verb": "measure", "arguments": {}}',
        b'{"id": 1, "verb": ["measure"], "arguments": {}}',
    ],
)
def test_what_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_request(line)


def test_a_refusal_shows_the_beginning_of_the_line_alone() -> None:
    with pytest.raises(MessageError) as caught:
        read_reply(b"x" * 10_000)
    assert len(str(caught.value)) < 200
