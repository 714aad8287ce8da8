"""The access log: a line of JSON for each request, which has no secret in it.

A query may have the token, and headers and cookies do, so a line has the path alone.
"""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, TextIO

from opperf.parent.pages.server.api import MACHINE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Characters of a path that a line has, at most.
MOST_PATH = 200


class AccessLog:
    """Writes a line for each request once it is answered: when, who, what, the status, and how long that took."""

    def __init__(self, app: ASGIApp, stream: TextIO) -> None:
        self._app, self._stream = app, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status, size = time.perf_counter(), None, 0

        async def answer(message: Message) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            line = {
                "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                "client": (scope.get("client") or ("",))[0],
                "machine": scope.get(MACHINE),
                "method": scope["method"],
                "path": scope["path"][:MOST_PATH],
                "status": status,
                "bytes": size,
                "ms": round((time.perf_counter() - begin) * 1e3, 1),
            }
            self._stream.write(f"{json.dumps(line)}\n")
            self._stream.flush()
