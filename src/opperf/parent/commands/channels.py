"""How messages are sent: to a webhook, by mail, and as one comment on GitHub that is edited in place.

The standard library speaks HTTP and SMTP. No redirection is followed, so that what is sent goes where the user said.
"""

from __future__ import annotations

import json
import math
import os
import smtplib
import ssl
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from http.client import HTTPException
from itertools import accumulate, takewhile
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from opperf.domain.files.json_text import JsonObject
from opperf.parent.sources.notify_keys import Issue, Mail, Webhook, resolve

#: How long a server may take to answer. Seconds.
PATIENCE = 10.0
#: What opperf's comment begins with, by which it is known.
MARK = "<!-- opperf: new regressions -->"
#: Comments of an issue that are looked through, and bytes of an answer that are read, at most.
MOST_PAGES, PER_PAGE, MOST_BYTES = 20, 100, 16 * 1024 * 1024
#: Characters of what messages say together, at most: GitHub refuses a comment of over 65,536, Mattermost a post of over
#: 16,383 and Teams a card of over 28 KB with all around its text; Slack cuts off what lies behind 40,000.
MOST_TEXT = {"github": 60_000, "slack": 30_000, "mattermost": 15_000, "teams": 15_000}
#: Those of what is said of the others where not all have room.
REST = 100
#: A subject is one line, of as many characters as a line of mail may have.
LINES = SMTP.clone(max_line_length=998)
#: What libraries raise; only its kind is told, since its text may have an address.
TROUBLES = (OSError, HTTPException, smtplib.SMTPException, ValueError)


class Trouble(Exception):
    """Why messages were not sent; `is_certain` is False where they may have arrived after all.

    A web server's answer has a `status`, the text of its `body`, and where it says so the seconds to `wait`.
    """

    def __init__(
        self,
        words: str,
        *,
        is_certain: bool = True,
        status: int | None = None,
        body: bytes = b"",
        wait: str | None = None,
    ) -> None:
        super().__init__(words)
        self.is_certain, self.status, self.body = is_certain, status, body
        self.wait = float(wait) if wait is not None and wait.isdecimal() else None


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow no redirection: it becomes the answer."""


def text_of(content: JsonObject, code: str = "`") -> str:
    """Write a message as lines of text; commands stand within `code`."""
    commands = (f"{what}: {code}{content[key]}{code}" for what, key in COMMANDS.items() if content.get(key))
    return "\n".join([str(content["title"]), str(content["evidence"]), *commands])


COMMANDS = {"again": "command", "decide": "triage"}


def texts_of(contents: Iterable[JsonObject], place: str, code: str = "`") -> list[str]:
    """Write messages as texts, as many as a place takes at once; where it takes no more, the last tells of the others.

    >>> content = {"title": "exp: slower", "evidence": "x" * 14_000}
    >>> [len(text) for text in texts_of([content], "mattermost")]
    [14012]
    >>> texts_of([content] * 3, "mattermost")[1:]
    ['2 more: `opperf history changes` has them']
    """
    every = [text_of(content, code) for content in contents]
    lengths = accumulate(len(text) + 2 for text in every)
    most = MOST_TEXT.get(place, math.inf) - REST
    fitting = list(takewhile(lambda pair: pair[1] <= most, zip(every, lengths)))
    left = len(every) - len(fitting)
    rest = [f"{left} more: {code}opperf history changes{code} has them"] if left else []
    return [*(text for text, _ in fitting), *rest]


def send_webhook(webhook: Webhook, contents: Sequence[JsonObject]) -> None:
    """Send messages in one request; raises `Trouble`."""
    texts = texts_of(contents, webhook.form, "" if webhook.form == "teams" else "`")
    text = "\n\n".join(texts)
    title = f"opperf: {len(contents)} new regression{'' if len(contents) == 1 else 's'}"
    card = {
        "type": "AdaptiveCard",
        "version": "1.4",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "body": [
            {"type": "TextBlock", "text": title, "weight": "Bolder"},
            *({"type": "TextBlock", "text": text, "wrap": True} for text in texts),
        ],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    forms: dict[str, JsonObject] = {
        "json": {"title": title, "regressions": [*contents]},
        "slack": {"text": f"*{title}*\n{_slack(text)}"},
        "mattermost": {"username": "opperf", "text": f"**{title}**\n\n{text}"},
        "teams": {"type": "message", "attachments": [attachment]},
    }
    _ask("POST", resolve(webhook.url), forms[webhook.form])


def _slack(text: str) -> str:
    """Escape what Slack takes for markup of its own."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def send_mail(mail: Mail, contents: Sequence[JsonObject]) -> None:
    """Send messages as one mail; raises `Trouble`."""
    message = EmailMessage(LINES)
    first, more = str(contents[0]["title"]), len(contents) - 1
    message["Subject"] = f"opperf: {first}{f' and {more} more' if more else ''}".replace("\n", " ")
    message["From"], message["To"] = mail.sender, ", ".join(mail.to)
    message.set_content("\n\n".join(text_of(content, "") for content in contents) + "\n")
    parts = urlsplit(resolve(mail.server))
    context = ssl.create_default_context()
    is_handed_over = False
    try:
        with (
            smtplib.SMTP_SSL(parts.hostname or "", parts.port or 465, timeout=PATIENCE, context=context)
            if parts.scheme == "smtps"
            else smtplib.SMTP(parts.hostname or "", parts.port or 25, timeout=PATIENCE)
        ) as server:
            server.ehlo()
            if parts.scheme == "smtp" and (parts.username or server.has_extn("starttls")):
                server.starttls(context=context)
            if parts.username:
                server.login(unquote(parts.username), unquote(parts.password or ""))
            is_handed_over = True
            server.send_message(message)
    except smtplib.SMTPResponseException as error:  # the server says no
        raise Trouble(f"the mail server answered {error.smtp_code}") from None
    except (smtplib.SMTPRecipientsRefused, smtplib.SMTPNotSupportedError) as error:
        raise Trouble(type(error).__name__) from None
    except TROUBLES as error:
        raise Trouble(type(error).__name__, is_certain=not is_handed_over) from None


def write_comment(issue: Issue, contents: Sequence[JsonObject], variables: Mapping[str, str] = os.environ) -> None:
    """Write the latest messages into opperf's one comment, which is made where it is missing; raises `Trouble`.

    GitHub's address and token are those of the environment: `GITHUB_API_URL`, `GITHUB_TOKEN`.
    """
    token = variables.get("GITHUB_TOKEN")
    if not token:
        raise Trouble("the variable `GITHUB_TOKEN` is not set")
    api = variables.get("GITHUB_API_URL") or "https://api.github.com"
    repository, _, number = issue.issue.partition("#")
    place = f"{api.rstrip('/')}/repos/{repository}/issues"
    latest = texts_of(reversed(contents), "github")[::-1]
    body = "\n\n".join([MARK, "### opperf: new regressions", *latest])
    for page in range(1, MOST_PAGES + 1):
        comments = _ask("GET", f"{place}/{number}/comments?per_page={PER_PAGE}&page={page}", None, token)
        rows = [one for one in comments if isinstance(one, dict)] if isinstance(comments, list) else []
        own = next((row for row in rows if str(row.get("body") or "").startswith(MARK)), None)
        if own is not None:
            _ask("PATCH", f"{place}/comments/{int(own['id'])}", {"body": body}, token)
            return
        if len(rows) < PER_PAGE:
            break
    _ask("POST", f"{place}/{number}/comments", {"body": body}, token)


def _ask(method: str, url: str, body: JsonObject | None, token: str | None = None) -> object:
    """Return the JSON that a server answers, None for other text; raises `Trouble`, which names no address."""
    data = None if body is None else json.dumps(body).encode()
    return ask(method, url, data, {} if token is None else {"Authorization": f"Bearer {token}"})


def ask(method: str, url: str, data: bytes | None, headers: Mapping[str, str], *, patience: float = PATIENCE) -> object:
    """Return the JSON that a server answers to bytes of it, None for other text; raises `Trouble`.

    No trouble names the address. `patience` is how long the server may take to answer, in seconds.
    """
    usual = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "opperf"}
    try:
        if urlsplit(url).scheme not in ("http", "https"):
            raise Trouble("the address is not one of the web")
        request = Request(url, data, {**usual, **headers}, method=method)
        with build_opener(_Stay).open(request, timeout=patience) as answer:
            text = answer.read(MOST_BYTES)
    except HTTPError as error:
        body = b""
        with error, suppress(*TROUBLES):
            body = error.read(MOST_BYTES)
        words, wait = f"the server answered {error.code}", error.headers.get("Retry-After")
        raise Trouble(words, status=error.code, body=body, wait=wait) from None
    except URLError as error:  # before the request was sent whole
        raise Trouble(_kind(error.reason)) from None
    except TROUBLES as error:
        raise Trouble(type(error).__name__, is_certain=False) from None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _kind(reason: object) -> str:
    return type(reason).__name__ if isinstance(reason, Exception) else "no connection"
