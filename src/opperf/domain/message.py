"""What parent and child say to each other: one JSON object a line, over two pipes that nothing else uses.

The child opens with `hello`. Then each request of the parent gets one reply that carries its number:

    {"id": 7, "verb": "measure", "arguments": {...}}      ->
    <-     {"id": 7, "result": {...}}    or    {"id": 7, "failure": {slug, message, exception, traceback, ...}}

Verbs: `prepare` a trial and get a handle; `measure` it (the child runs the sampling loop by itself); `sample` one block
on demand; take a `turn` of several after settling; `release` the handle; `describe` a name; `discover` the
framework's own operators, or example cases of one; `explain` what a trial runs; `evaluate` it into files; `compare`
files with files; `capture` which operators the user's function runs, or a model; `iterate` over the entries of a config
and `generate` descriptions of their arguments, by the user's own code; `quit`.
Arrays never travel here. The user's own code is told apart from names: it travels in a field `code` of its own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from opperf.domain.code import Code
from opperf.domain.errors import OpperfError
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.plan import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

PROTOCOL = 1
#: No honest message is longer; a child that floods its pipe is stopped here.
LONGEST = 64 * 1024 * 1024
VERBS = (
    *("prepare", "measure", "sample", "turn", "release"),
    *("describe", "discover", "explain", "evaluate", "compare", "capture", "iterate", "generate", "quit"),
)


class MessageError(OpperfError):
    """A line on the pipe is no message of this protocol."""


@dataclass(frozen=True)
class Request:
    """What the parent asks."""

    id: int
    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Return the line."""
        return _line({"id": self.id, "verb": self.verb, "arguments": dict(self.arguments)})


@dataclass(frozen=True)
class Reply:
    """What the child answers: a result, or the failure of this one request."""

    id: int
    result: Mapping[str, Any] | None = None
    failure: Mapping[str, Any] | None = None

    def encode(self) -> bytes:
        """Return the line."""
        if self.failure is not None:
            return _line({"id": self.id, "failure": dict(self.failure)})
        return _line({"id": self.id, "result": dict(self.result or {})})


def telling(trial: Trial) -> dict[str, Any]:
    """Return a trial as a request tells it; a child makes it of this by `told`."""
    own = trial.side.implementation
    return {"trial": trial.to_json(), **(naming("code", own) if isinstance(own, Code) else {})}


def told(arguments: Mapping[str, Any]) -> Trial:
    """Return the trial of a request, with the user's own code where the parent named it."""
    trial, code = Trial.from_json(arguments["trial"]), code_in(arguments)
    return trial if code is None else replace(trial, side=replace(trial.side, implementation=code))


def naming(key: str, name: str | Code | None) -> dict[str, Any]:
    """Return the name of an operator, or code, as a request tells it; a child makes it of this by `named`."""
    return {"code": name.name} if isinstance(name, Code) else {key: name}


def named(key: str, arguments: Mapping[str, Any]) -> str | Code | None:
    """Return the name of an operator, or code, of a request."""
    return code_in(arguments) or arguments.get(key)


def code_in(arguments: Mapping[str, Any]) -> Code | None:
    """Return the user's own code that a request names, None where it names none."""
    return Code(arguments["code"]) if "code" in arguments else None


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = value_of(line)
    except NotJSON as error:
        raise MessageError(f"not JSON: {line[:80]!r}", slug="protocol") from error
    if not isinstance(found, dict) or not isinstance(found.get("id"), int):
        raise MessageError(f"not a message: {line[:80]!r}", slug="protocol")
    return found


def read_request(line: bytes) -> Request:
    """Read a line from the parent; raises `MessageError`."""
    found = _object(line)
    if found.get("verb") not in VERBS or not isinstance(found.get("arguments"), dict):
        raise MessageError(f"not a request: {line[:80]!r}", slug="protocol")
    return Request(found["id"], found["verb"], found["arguments"])


def read_reply(line: bytes) -> Reply:
    """Read a line from the child; raises `MessageError`."""
    found = _object(line)
    result, failure = found.get("result"), found.get("failure")
    if isinstance(result, dict) == isinstance(failure, dict):
        raise MessageError(f"not a reply: {line[:80]!r}", slug="protocol")
    if isinstance(result, dict):
        return Reply(found["id"], result)
    return Reply(found["id"], failure=failure)
