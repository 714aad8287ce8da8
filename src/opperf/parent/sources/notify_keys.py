"""Where messages on new regressions go: the tables of `[notify]` in a gate file.

A file may be changed by whoever may change the project, so none says where a secret is sent to: an address that has one
is read whole from the variable that `$NAME` names, and GitHub's token goes to GitHub's address in the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.parent.sources.gate_keys import Keys, Reader, names, one_of, string, wrong

#: The forms of a webhook's message: opperf's own JSON, and what chats take.
FORMS = ("json", "slack", "mattermost", "teams")
VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Webhook:
    """An address that takes a message by `POST`, as JSON or in the form of a chat."""

    url: str
    form: str = "json"


@dataclass(frozen=True)
class Mail:
    """A server of mail, who writes, and to whom."""

    server: str
    sender: str
    to: tuple[str, ...]


#: How an issue is written, and what is said of another text.
ISSUE, ISSUE_EXPECTED = r"[\w.-]+/[\w.-]+#\d+", "an issue, such as `owner/name#12`"


@dataclass(frozen=True)
class Issue:
    """An issue or a pull request on GitHub, as `owner/name#12`, whose one comment is edited in place."""

    issue: str

    def in_environment(self, variables: Mapping[str, str] = os.environ) -> Issue:
        """Return the issue that `$NAME` stands for, which is another one in each pull request; raises `InputError`.

        >>> Issue("$PULL").in_environment({"PULL": "numpy/numpy#12"})
        Issue(issue='numpy/numpy#12')
        """
        text = resolve(self.issue, variables)
        if not re.fullmatch(ISSUE, text):
            raise InputError(f"`{self.issue}` is `{text}`, expected {ISSUE_EXPECTED}", slug="notify")
        return Issue(text)


@dataclass(frozen=True)
class Channels:
    """Where messages go; nowhere unless a file says so."""

    webhook: Webhook | None = None
    email: Mail | None = None
    github: Issue | None = None

    @property
    def by_name(self) -> dict[str, Webhook | Mail | Issue]:
        """Those that there are, by name."""
        every = {"webhook": self.webhook, "email": self.email, "github": self.github}
        return {name: channel for name, channel in every.items() if channel is not None}


def resolve(address: str, variables: Mapping[str, str] = os.environ) -> str:
    """Return an address, that in the environment for `$NAME`; raises `InputError` for a variable that is not set.

    >>> resolve("$HOOK", {"HOOK": "https://chat.example/T1"}), resolve("smtp://mail", {})
    ('https://chat.example/T1', 'smtp://mail')
    """
    match = VARIABLE.fullmatch(address)
    if match is None:
        return address
    if not variables.get(match[1]):
        hint = "`[notify]` says that it has where messages go"
        raise InputError(f"the variable `{match[1]}` is not set", hint=hint, slug="notify")
    return variables[match[1]]


def _address(*schemes: str) -> Reader:
    """Return the reader of a URL without a secret in it, or of `$NAME`."""

    def read(value: object, folder: Path) -> str:
        text = string(value, folder)
        if VARIABLE.fullmatch(text):
            return text
        parts = urlsplit(text)
        if parts.scheme not in schemes or not parts.hostname:
            raise wrong(value, f"an address of {' or '.join(f'`{scheme}://`' for scheme in schemes)}, or `$NAME`")
        if parts.password is not None:
            raise InputError("the address has a password", hint="put it into a variable: `$NAME`", slug="gate_file")
        return text

    return read


def _matching(pattern: str, expected: str) -> Reader:
    """Return the reader of a text of this pattern, or of `$NAME`."""

    def read(value: object, folder: Path) -> str:
        text = string(value, folder)
        if not re.fullmatch(pattern, text) and not VARIABLE.fullmatch(text):
            raise wrong(value, expected)
        return text

    return read


def _mailbox(text: str) -> None:
    if not re.fullmatch(r"[^@\s<>,;]+@[^@\s<>,;]+", text):
        raise wrong(text, "an address of mail, such as `team@example.com`")


def _sender(value: object, folder: Path) -> str:
    _mailbox(string(value, folder))
    return str(value)


#: The tables of `[notify]`: what each makes, and its keys, of which only `form` may be left out.
NOTIFY_KEYS: Mapping[str, tuple[Any, Keys]] = {
    "webhook": (Webhook, {"url": ("url", _address("https", "http")), "form": ("form", one_of(FORMS))}),
    "email": (
        Mail,
        {"server": ("server", _address("smtp", "smtps")), "sender": ("sender", _sender), "to": ("to", names(_mailbox))},
    ),
    "github": (Issue, {"issue": ("issue", _matching(ISSUE, f"{ISSUE_EXPECTED}, or `$NAME`"))}),
}
