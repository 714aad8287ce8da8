"""What machines ask for, beside the pages: `POST /api/runs` adds a run, `GET /health` says whether that is possible.

Each machine has a token of its own: it adds runs, and reads nothing; nor does the token of visitors add any. What comes
in is data. It is read within the bounds of a result file, checked as one, and goes in whole or not at all; a run that
is there is never replaced.
"""

from __future__ import annotations

import hmac
import math
import time
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, fail_after, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from opperf.domain.errors import HarnessError, InputError, OpperfError
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.text_file import distinct
from opperf.parent.commands.exchange import own_import
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.rows import Addition

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Bytes of a run, packed and unpacked, at most: some 20,000 records without samples.
MOST_BYTES = 64 * 1024 * 1024
#: Runs that a machine may send to a process of the server in a minute, or at once after a rest.
PER_MINUTE = 120
#: How long a run may take to arrive. Seconds.
PATIENCE = 60.0
#: Runs that a server reads at the same time: one may take the memory of its bytes some twenty times.
AT_ONCE = 2
#: When to ask again where the database cannot be reached. Seconds.
LATER = 10
#: What the scope of a request has the machine's name under, for the log.
MACHINE = "opperf.machine"
#: The status of an error by its slug, where it is not 400.
STATUSES = {"conflict": 409, "database": 422}


class Refusal(Exception):
    """The answer to a request that is not met: a status, why, headers, and what to do."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.response = JSONResponse({"error": message, **({"hint": hint} if hint else {})}, status, headers)


class Allowance:
    """How many requests a machine may make: so many a minute, and no more at once."""

    def __init__(self, per_minute: int = PER_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = per_minute, clock
        self._left, self._since = float(per_minute), clock()

    def wait(self) -> float:
        """Take a request from what is left, and return 0; without one, return how many seconds until there is."""
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._since) * self._most / 60)
        self._since = now
        if self._left < 1:
            return (1 - self._left) * 60 / self._most
        self._left -= 1
        return 0.0


class Api:
    """Answers machines, and hands every other request on; without machines, nothing can be added."""

    def __init__(self, app: ASGIApp, archive: Archive, machines: Mapping[str, str], processes: int = 1) -> None:
        self._app, self._archive, self._machines = app, archive, machines
        self._allowances = {name: Allowance() for name in machines}
        self._readers, self._watcher = CapacityLimiter(max(1, AT_ONCE // processes)), CapacityLimiter(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        place = scope["path"] if scope["type"] == "http" else ""
        response = self._app
        if place == "/health":
            response = await self._health(Request(scope))
        elif place == "/api/runs" and self._machines:
            try:
                response = await self._add(Request(scope, receive))
            except Refusal as refusal:
                response = refusal.response
        await response(scope, receive, send)

    async def _health(self, request: Request) -> JSONResponse:
        """Say whether the database can be reached, and the version of its tables; nothing of what is in it."""
        if request.method not in ("GET", "HEAD"):
            return Refusal(405, "expected GET", {"Allow": "GET, HEAD"}).response
        try:
            version = await to_thread.run_sync(self._archive.version, limiter=self._watcher)
        except OpperfError:
            answer = {"status": "unavailable", "database": "unreachable"}
            return JSONResponse(answer, 503, {"Retry-After": str(LATER)})
        return JSONResponse({"status": "ok", "database": "reachable", "schema": version})

    async def _add(self, request: Request) -> JSONResponse:
        """Add the run that a machine sends; raises `Refusal`."""
        if request.method != "POST":
            raise Refusal(405, "expected POST", {"Allow": "POST"})
        name = self._machine(request)
        request.scope[MACHINE] = name
        wait = self._allowances[name].wait()
        if wait:
            message = f"over {PER_MINUTE} runs in a minute, expected fewer"
            raise Refusal(429, message, {"Retry-After": str(math.ceil(wait))})
        body, encoding = await _body(request), request.headers.get("content-encoding", "identity")
        try:
            addition = await to_thread.run_sync(self._store, body, encoding, limiter=self._readers)
        except InputError as error:
            # The database's own words would name its place.
            text = "the run has a value that no database takes" if error.slug == "database" else error.message
            raise Refusal(STATUSES.get(error.slug, 400), text, hint=error.hint) from error
        except HarnessError as error:
            raise Refusal(503, "the database cannot be reached", {"Retry-After": str(LATER)}) from error
        answer = {"run": addition.key, "outcome": addition.outcome, "rows": addition.rows}
        return JSONResponse(answer, 200 if addition.outcome == "there" else 201)

    def _machine(self, request: Request) -> str:
        """Return the name of the machine whose token a request has; every token is compared, whichever it is."""
        words = request.headers.get("authorization")
        names = [name for name, token in self._machines.items() if equals(words, f"Bearer {token}")]
        if not names:
            message = "no machine has this token: send `Authorization: Bearer TOKEN`"
            raise Refusal(401, message, {"WWW-Authenticate": "Bearer"})
        return names[0]

    def _store(self, body: bytes, encoding: str) -> Addition:
        try:
            value = value_of(_unpack(body, encoding), object_pairs_hook=distinct)
        except NotJSON as error:
            raise InputError(f"the body is not JSON ({error})") from error
        document = own_import(value, "the body")
        return self._archive.add(document.document, samples=True, kind=document.kind, replace=False)


async def _body(request: Request) -> bytes:
    """Return the bytes of a body; raises `Refusal` for one that is too long, or takes too long to arrive."""
    too_long = Refusal(413, f"a run of over {MOST_BYTES:,} bytes, expected a smaller one")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise too_long
    parts, size = [], 0
    try:
        with fail_after(PATIENCE):
            async for part in request.stream():
                size += len(part)
                if size > MOST_BYTES:
                    raise too_long
                parts.append(part)
    except TimeoutError:
        raise Refusal(408, f"the run took over {PATIENCE:g} s to arrive") from None
    except ClientDisconnect:
        raise Refusal(400, "the run did not arrive whole") from None
    return b"".join(parts)


def _unpack(body: bytes, encoding: str) -> bytes:
    """Return a body unpacked, of which no more is made than may be; raises `Refusal` or `InputError`."""
    if encoding == "identity":
        return body
    if encoding != "gzip":
        raise Refusal(415, "the body is packed in a way that is not known, expected gzip", {"Accept-Encoding": "gzip"})
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = unpacker.decompress(body, MOST_BYTES + 1)
    except zlib.error as error:
        raise InputError(f"the body is not packed by gzip ({error})") from error
    if len(text) > MOST_BYTES:
        raise Refusal(413, f"a run of over {MOST_BYTES:,} bytes, expected a smaller one")
    if not unpacker.eof:
        raise InputError("the packed body is cut off")
    return text


def equals(text: str | None, secret: str) -> bool:
    """Whether a text is the secret, compared in constant time."""
    return text is not None and hmac.compare_digest(text.encode(), secret.encode())
