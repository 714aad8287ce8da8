"""Passwords in the addresses of databases, kept out of everything that is printed, stored or sent."""

from __future__ import annotations

import re

#: The user's part of an address with a password in it.
_USER = re.compile(r"(?<=://)([^\s/@:]*):[^\s/@]*(?:@[^\s/@]*)*@")


def hide_passwords(text: str) -> str:
    """Return a text without the passwords of the addresses in it.

    >>> hide_passwords("opperf run --database postgresql://ann:p:w@db/perf")
    'opperf run --database postgresql://ann:***@db/perf'
    """
    return _USER.sub(r"\1:***@", text)
