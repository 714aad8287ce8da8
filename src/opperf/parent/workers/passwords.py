"""Passwords in URLs, kept out of everything that is printed, stored or sent.

SQLAlchemy's own parser says what is a password, so that what it connects with and what is hidden are the same. Where it
finds an `@` behind the password, as of a password that is not encoded, all before the last one is hidden.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import replace

from opperf.domain.errors import InputError
from opperf.parent.documents.environment import EnvironmentSpec

#: Where a URL begins in a word of a command line, such as `--database=postgresql://...`.
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
#: Parameters of a query that are secrets, and schemes of URLs whose user may be a token.
_SECRET = re.compile(r"pass(?!file)|pwd|secret|token|credential|signature", re.IGNORECASE)
_WEB = re.compile(r"(?:\w+\+)?https?", re.IGNORECASE)
HIDDEN = "***"
#: Between the packages of an environment.
_BESIDE = re.compile(r"(\s\+\s)")
#: What the user wrote of environments, by the text that is shown of it. It stands here and in no side or spec: those go
#: into records, journals and messages. Only this process installs from there, and what is secret ends with it.
_CONCEALED: dict[str, str] = {}


def own_command() -> tuple[str, ...]:
    """Return the command line of this process, without passwords."""
    return tuple(map(hide_passwords, sys.argv))


def hide_passwords(text: str) -> str:
    """Return a word without the passwords of the URLs in it; the last of them ends with the word.

    >>> hide_passwords("torch @ https://host/t.whl + numba @ https://ann:pw@host/n.whl")
    'torch @ https://host/t.whl + numba @ https://ann:***@host/n.whl'

    >>> hide_passwords("--database=postgresql://ann:p w/@x@db/perf")
    '--database=postgresql://ann:***@db/perf'
    >>> hide_passwords("postgresql://ann@db/perf?password=secret&sslmode=require")
    'postgresql://ann@db/perf?password=***&sslmode=require'
    >>> hide_passwords("torch @ https://TOKEN@wheels.example/torch.whl")
    'torch @ https://***@wheels.example/torch.whl'
    """
    # As a whole first, since a password may have any sign in it; then each package of an environment.
    return "".join(map(_hide_in, _BESIDE.split(_hide_in(text))))


def _hide_in(text: str) -> str:
    match = _SCHEME.search(text)
    if match is None or not re.search("[@?]", text[match.end() :]):
        return text
    return text[: match.start()] + _hide(match[0], text[match.end() :])


def environment_of(text: str) -> EnvironmentSpec:
    """Read an environment as a user writes it; its text, which records and reports show, has no passwords.

    Within this process that text means the same environment. Raises `InputError`.

    >>> spec = environment_of("torch @ https://ann:pw@wheels.example/torch.whl")
    >>> spec.text, environment_of(spec.text).requirements == spec.requirements
    ('torch @ https://ann:***@wheels.example/torch.whl', True)
    """
    try:
        spec = EnvironmentSpec.parse(_CONCEALED.get(text.strip(), text))
    except InputError as error:
        message = error.message
        for part in (text, *_BESIDE.split(text.strip())):
            message = message.replace(part, hide_passwords(part))
        raise InputError(message, hint=error.hint, slug=error.slug) from None
    public = hide_passwords(spec.text)
    if public != spec.text:
        _CONCEALED[public] = spec.text
    return replace(spec, text=public)


def secrets(query: Iterable[str]) -> list[str]:
    """Return the names of the parameters of a query that are secrets."""
    return [name for name in query if _SECRET.search(name)]


def _hide(scheme: str, rest: str) -> str:
    """Hide the user's part of a URL, then the secrets of its query."""
    from sqlalchemy.engine import make_url  # only a command that names a URL pays for it
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(scheme + rest)
        has_user, has_password = url.username is not None, url.password is not None
    except (ArgumentError, ValueError):  # a port that is no number
        has_user = has_password = "@" in rest
    user = ""
    if has_password or (has_user and _WEB.fullmatch(scheme.removesuffix("://"))):
        name, colon, _ = rest.partition(":")
        user = f"{name}:{HIDDEN}@" if colon and "@" not in name else f"{HIDDEN}@"
        rest = rest.rpartition("@")[2]
    try:
        plain = make_url(scheme + rest)
        names = secrets(plain.query)
    except (ArgumentError, ValueError):
        place, mark, _ = rest.partition("?")  # no parser reads it
        return f"{scheme}{user}{place}{mark}{HIDDEN if mark else ''}"
    if names:
        own = plain.set(query={**plain.query, **dict.fromkeys(names, HIDDEN)})
        place = own.render_as_string(hide_password=False).replace("%2A%2A%2A", HIDDEN)
        rest = place.removeprefix(scheme)
    return f"{scheme}{user}{hide_passwords(rest)}"
