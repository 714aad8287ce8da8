"""The lines between parent and child: one JSON object each, over two pipes that nothing else uses.

The child opens with its hello. Then each request of the parent gets one answer that carries its number:

    {"id": 7, "verb": "measure", "arguments": {...}}      ->
    <-     {"id": 7, "result": {...}}    or    {"id": 7, "failure": {"reason": {...}, "skipped": false}}

Arrays never travel here. Both sides are of one version, and hold every message to its type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.json_text import JsonDict, NotJSON, value_of
from opperf.domain.message.replies import Failure
from opperf.domain.message.requests import VERBS, Request, verb

PROTOCOL = 2
#: No honest message is longer; a child that floods its pipe is stopped here.
LONGEST = 64 * 1024 * 1024
_ENCODER = json.JSONEncoder(separators=(",", ":"))


class MessageError(OpperfError):
    """A line on the pipe is no message of this protocol."""


@dataclass(frozen=True)
class Answer:
    """A line of the child, its content not yet read. The first, number 0, says which `protocol` the child speaks."""

    id: int
    result: Mapping[str, object] | None = None
    failure: Mapping[str, object] | None = None
    protocol: object = None


def request_line(number: int, request: Request[Fields]) -> bytes:
    """Return the line of a request."""
    return _line({"id": number, "verb": verb(request), "arguments": request.to_json()})


def answer_line(number: int, reply: Fields, *, protocol: int | None = None) -> bytes:
    """Return the line of a reply, or of a failure."""
    greeting = {} if protocol is None else {"protocol": protocol}
    return _line({"id": number, "failure" if isinstance(reply, Failure) else "result": reply.to_json(), **greeting})


def read_request(line: bytes) -> tuple[int, Request[Fields]]:
    """Read a line from the parent; raises `MessageError`."""
    document = _object(line, {"id", "verb", "arguments"})
    word = document.get("verb")
    if not isinstance(word, str) or word not in VERBS or not isinstance(document.get("arguments"), dict):
        raise MessageError(f"not a request: {line[:80]!r}", slug="protocol")
    try:
        return document["id"], VERBS[word].from_json(document["arguments"], word)
    except InputError as error:
        raise MessageError(f"not a request: {error.message[:200]}", slug="protocol") from error


def read_answer(line: bytes) -> Answer:
    """Read a line from the child; raises `MessageError`."""
    document = _object(line, {"id", "result", "failure", "protocol"})
    if ("result" in document) == ("failure" in document) or not isinstance(
        document.get("result", document.get("failure")), dict
    ):
        raise MessageError(f"not a reply: {line[:80]!r}", slug="protocol")
    return Answer(**document)


def _line(content: Mapping[str, object]) -> bytes:
    return _ENCODER.encode(content).encode() + b"\n"


def _object(line: bytes, keys: set[str]) -> JsonDict:
    try:
        value = value_of(line)
    except NotJSON as error:
        raise MessageError(f"not JSON: {line[:80]!r}", slug="protocol") from error
    if not isinstance(value, dict) or type(value.get("id")) is not int or not keys.issuperset(value):
        raise MessageError(f"not a message: {line[:80]!r}", slug="protocol")
    return value
