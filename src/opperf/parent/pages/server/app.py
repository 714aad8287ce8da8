"""The application: every page is a view in HTML, JSON or CSV, behind access control.

It only reads, but for what visitors say of changes, where it is to write. No host but those named answers, so that no
site in the user's browser can speak to it under a name of its own; with a token, nobody without. Pages load nothing
from anywhere else, and no script or style that stands in them runs. What nobody expected is a page, and a line on
stderr.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias
from urllib.parse import parse_qsl, urlencode

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from opperf import __version__
from opperf.domain.errors import InputError, OpperfError
from opperf.parent.pages.charts import STYLE, figure
from opperf.parent.pages.server import details, lists, visits
from opperf.parent.pages.server.access_log import AccessLog
from opperf.parent.pages.server.api import Api, equals
from opperf.parent.pages.server.beside import side_by_side
from opperf.parent.pages.server.cache import LARGEST, Answer, Cache
from opperf.parent.pages.server.cache import PAGES as MOST_PAGES
from opperf.parent.pages.server.changes import change, changes, decide_change
from opperf.parent.pages.server.operator_page import operator
from opperf.parent.pages.server.overview import overview
from opperf.parent.pages.server.suites import suite, suites
from opperf.parent.pages.server.view import Link, View
from opperf.parent.pages.templates import template_engine
from opperf.parent.reports import render
from opperf.parent.reports.document import Document, Note
from opperf.parent.reports.formats.html import piece
from opperf.parent.reports.text import one_line
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.listing import LastRun, last_run

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = Path(__file__).parent
COOKIE = "opperf_token"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # A browser keeps a page, and asks each time whether it is still the one.
    "Cache-Control": "private, no-cache",
}
#: Pages that a process makes at the same time. Python makes one at a time, and a thread that waits for a row of the
#: database loses its turn to the others, so more would make each other wait. A second one gets past a slow one.
AT_ONCE = 2
#: How hard answers are packed: a third of the time of zlib's own choice, for a twentieth more bytes.
PACKED = 4
#: Bytes of a form, at most: five texts, each of which may be as long as it may, percent-encoded.
MOST_FORM = 64 * 1024
#: The media types of the forms of a view: of HTML, and of the others.
HTML = "text/html; charset=utf-8"
TYPES = {"json": "application/json", "csv": "text/csv; charset=utf-8"}

#: Makes a view from the database, the parts of the path, and the query of the URL.
Page: TypeAlias = Callable[..., View]

PAGES: dict[str, Page] = {
    "/": overview,
    "/changes": changes,
    "/changes/{name}": change,
    "/operators": lists.operators,
    "/operators/{name:path}": operator,
    "/runs": lists.runs,
    "/runs/{key}": details.run,
    "/beside": side_by_side,
    "/suites": suites,
    "/suites/{name:path}": suite,
    "/machines": lists.machine_list,
    "/machines/{key}": details.machine,
    "/search": lists.search,
}
#: The pages that every page leads to.
MENU = {
    "Latest build": "/",
    "Changes": "/changes",
    "Operators": "/operators",
    "Runs": "/runs",
    "Side by side": "/beside",
    "Suites": "/suites",
    "Machines": "/machines",
}
#: What the pages of errors say, by status.
ERRORS = {
    404: "There is no such page.",
    405: "This page can only be looked at.",
    500: "opperf met an error that it did not expect. Whoever runs this server finds a line about it on its stderr.",
}


def application(
    archive: Archive,
    *,
    hosts: Sequence[str],
    token: str | None = None,
    write: bool = False,
    machines: Mapping[str, str] | None = None,
    processes: int = 1,
    log: TextIO | None = None,
    notice: str = "",
    tell: Callable[[str], None] = lambda line: print(line, file=sys.stderr),
) -> ASGIApp:
    """Return the application that answers for a database under the names of `hosts`.

    With `write`, which needs a token, visitors may say what a change is to them, by forms that only its pages have.
    Each of `machines`, by its name and with its token, may add runs. The application answers in so many `processes` at
    once, which share what memory adding runs may take. A `log` gets a line of JSON for each request.
    `notice` stands on every page, and `tell` gets a line about each error that nobody expected.
    """
    csrf = secrets.token_urlsafe() if write and token else ""
    filler = template_engine(FOLDER)
    filler.filters |= {"line": one_line, "figure": figure}
    filler.globals |= {"csrf": csrf, "notice": notice, "database": archive.address.name, "menu": MENU}
    for name in ("view.html", "main.html"):  # compiled once, before several processes are made of this one
        filler.get_template(name)
    style = (STYLE, *((FOLDER / name).read_text(encoding="utf-8") for name in ("../page.css", "server.css")))
    scripts = ((FOLDER / name).read_text(encoding="utf-8") for name in ("../tables.js", "../charts.js", "script.js"))
    files = {"/style.css": ("text/css", "".join(style)), "/script.js": ("text/javascript", "".join(scripts))}
    cache = Cache[Answer](MOST_PAGES, small=lambda answer: len(answer.body) <= LARGEST)
    limiter = CapacityLimiter(AT_ONCE)
    routes = [
        Route(path, partial(_in_turn, limiter, partial(_answer, archive, filler, cache, page)))
        for path, page in PAGES.items()
    ]
    if csrf:
        routes.append(Route("/changes/{name}", partial(_decide, archive, filler, csrf), methods=["POST"]))
    routes += [Route(path, partial(_file, Answer(text.encode(), kind))) for path, (kind, text) in files.items()]
    guards = [
        Middleware(TrustedHostMiddleware, allowed_hosts=[*hosts]),
        Middleware(Api, archive=archive, machines=machines or {}, processes=processes),
        *([Middleware(Token, token=token)] if token else []),
        Middleware(GZipMiddleware, compresslevel=PACKED),
    ]
    refuse = partial(_refuse, archive, filler)
    handlers = {404: refuse, 405: refuse, Exception: refuse}
    # Around all of it, since what answers for an unexpected error stands before every guard.
    app = Headers(OneLine(Starlette(routes=routes, middleware=guards, exception_handlers=handlers), tell))
    return app if log is None else AccessLog(app, log)


async def _file(answer: Answer, request: Request) -> Response:
    return answer.response(request.headers.get("if-none-match"))


async def _in_turn(limiter: CapacityLimiter, answer: Callable[[Request], Response], request: Request) -> Response:
    return await to_thread.run_sync(answer, request, limiter=limiter)


def _answer(archive: Archive, filler: Environment, cache: Cache[Answer], page: Page, request: Request) -> Response:
    """Answer a request in the form that it asks for; what cannot be answered says why in that form, too."""
    query, visit = dict(request.query_params), None
    form = query.pop("format", "html")
    try:
        if form not in ("html", *TYPES):
            raise InputError(f"no format `{form}`", hint=f"known: html, {', '.join(TYPES)}", slug="format")
        if any("\0" in text for text in (*query.values(), *map(str, request.path_params.values()))):
            raise InputError("the address has a byte of zero, which is part of no name", slug="missing")
        # What a run says depends on nothing else that is added.
        stamp = archive.content(**request.path_params) if page is details.run else archive.stamp()
        if page is overview and form == "html":
            visit = _visit(archive, request)
        query = {**(visit.query if visit else {}), **query}

        def make() -> Answer:
            return _render(filler, page(archive, **request.path_params, query=query), request, 200)

        answer = cache.get((request.url.path, str(request.url.query), *query.items()), stamp, make)
    except OpperfError as error:
        status = (404 if error.slug == "missing" else 400) if isinstance(error, InputError) else 503
        answer = _render(filler, _trouble("This cannot be shown", error.message, error.hint), request, status)
    response = _framed(archive, filler, answer, request).response(request.headers.get("if-none-match"))
    if visit is not None:
        response.set_cookie(visits.COOKIE, visit.cookie, max_age=visits.KEPT, httponly=True, samesite="strict")
    return response


def _visit(archive: Archive, request: Request) -> visits.Visit:
    last = last_run(archive)
    return visits.Visit.of(request.cookies.get(visits.COOKIE), 0 if last is None else last.number, int(time.time()))


def _render(filler: Environment, view: View, request: Request, status: int) -> Answer:
    """Return a view in the form that is asked for; in HTML where that is none, but for what frames every page."""
    form = request.query_params.get("format", "html")
    if form in TYPES:
        text = render(view.document if view.whole is None else view.whole(), form)
        return Answer(text.encode(), TYPES[form], status)
    text = filler.get_template("main.html").render(view=view, report=piece(view.document))
    return Answer(text.encode(), HTML, status, view.document.title)


def _framed(archive: Archive, filler: Environment, answer: Answer, request: Request) -> Answer:
    """Return a page of HTML with its header and footer, which say what was added last; of another form as it is."""
    if answer.kind != HTML:
        return answer
    query = dict(request.query_params)
    query.pop("format", None)
    forms = {form: f"?{urlencode({**query, 'format': form})}" for form in TYPES}
    text = filler.get_template("view.html").render(
        title=answer.title, main=answer.body.decode(), path=request.url.path, query=query, forms=forms,
        version=__version__, last=_last_run(archive),
    )  # fmt: skip
    return replace(answer, body=text.encode())


def _trouble(title: str, text: str, hint: str | None = None) -> View:
    """Return the page of something that went wrong, with the way back."""
    hints = [] if hint is None else [Note(hint, kind="hint")]
    return View(Document(title, [Note(text), *hints]), facts={"go on": Link("the first page", "/")})


def _refuse(archive: Archive, filler: Environment, request: Request, error: Exception) -> Response:
    """Answer a request that no page takes, or that a page failed on without knowing why."""
    status = int(getattr(error, "status_code", 500))
    headers = getattr(error, "headers", None)
    view = _trouble("This cannot be shown", ERRORS.get(status, ERRORS[500]))
    response = _framed(archive, filler, _render(filler, view, request, status), request).response(None)
    response.headers.update(headers or {})
    return response


async def _decide(archive: Archive, filler: Environment, csrf: str, request: Request) -> Response:
    """Add what a form says of a change, and lead back to its page; what cannot be added says why."""
    query, status = dict(request.query_params), 400
    try:
        form = await _form(request)
        if not equals(form.get("csrf"), csrf):
            status = 403
            raise InputError(
                "the form is not of this server, or from before it was started", hint="load the page again"
            )
        await run_in_threadpool(decide_change, archive, request.path_params["name"], query, form)
    except OpperfError as error:
        status = status if isinstance(error, InputError) else 503
        answer = _render(filler, _trouble("This cannot be said", error.message, error.hint), request, status)
        return _framed(archive, filler, answer, request).response(None)
    return RedirectResponse(request.url.path + (f"?{urlencode(query)}" if query else ""), 303)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; raises `InputError` for a body that is none, or is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_FORM:
            raise InputError(f"the form has more than {MOST_FORM} bytes")
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except ValueError as error:
        raise InputError("the body is no form") from error


def _last_run(archive: Archive) -> LastRun | None:
    """Return the run that was added last, for the header; the page of an error says itself what is wrong."""
    try:
        return last_run(archive)
    except OpperfError:
        return None


class Headers:
    """Puts the headers of safety on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]
            await send(message)

        await self._app(scope, receive, answer)


class OneLine:
    """Says an error that nobody expected in a line, where the server would print where all of it stands."""

    def __init__(self, app: ASGIApp, tell: Callable[[str], None]) -> None:
        self._app, self._tell = app, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, which has answered already when it raises."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http":
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            text = f"{scope['method']} {scope['path']}: {type(error).__name__}: {error} ({place})"
            self._tell(one_line(text))


class Token:
    """Admits requests with the token: once in the URL, remembered by a cookie, or in a header each time."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token
        #: The value of the cookie, from which the token cannot be derived.
        self._mark = hashlib.sha256(token.encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does, or that the token is missing."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        response: ASGIApp = PlainTextResponse("the token is missing: open /?token=TOKEN\n", 401)
        if equals(request.query_params.get("token"), self._token):
            rest = [(name, text) for name, text in request.query_params.multi_items() if name != "token"]
            path = f"/{request.url.path.lstrip('/')}"  # with two slashes it would begin with the name of a host
            there = RedirectResponse(f"{path}{'?' if rest else ''}{urlencode(rest)}", 303)
            there.set_cookie(COOKIE, self._mark, httponly=True, samesite="strict")
            response = there
        elif equals(request.cookies.get(COOKIE), self._mark) or equals(
            request.headers.get("authorization"), f"Bearer {self._token}"
        ):
            response = self._app
        await response(scope, receive, send)
