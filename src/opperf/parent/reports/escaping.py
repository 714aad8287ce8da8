r"""Escape untrusted text for a terminal, Markdown, a CSV field or a GitHub annotation.

Names and messages come from files, frameworks and other people's code. Nothing of them acts: no escape sequence reaches
a terminal, no workflow command a CI system, no markup or mention a page, no formula a spreadsheet. HTML is escaped by
the template engine, XML by its writer.
"""

from __future__ import annotations

import re

#: What starts a workflow command of GitHub Actions: two colons at the beginning of a line, which any word may come to
#: stand at, and `##[` anywhere in it. Three colons and more may be broken into such a beginning.
_COMMAND = re.compile(r"(?<!\S)::|:{3,}|##(?=\[)")
#: What starts markup inside a line. An underscore between letters (`log_softmax`) and a bracket that no `(` or `[`
#: follows (`[1.20, 1.24] ms`) start none, and stay readable.
_MARKUP = re.compile(r"[\\`*<&|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
_CODE = re.compile(r"(`[^`|\\]+`)")
#: What GitHub turns into a mention, a reference or a link; a zero-width space breaks it.
_MENTION = re.compile(r"@(?=\w)|#(?=\d)|:(?=//)|(?i:\bwww)(?=\.)")
#: What starts a heading, a quotation or a list at the beginning of a line.
_BLOCK = re.compile(r"^([0-9]*)([-#+.)=>])")
#: Beginnings of a field that spreadsheets read as formulas.
_FORMULA = ("=", "+", "-", "@")


def one_line(text: str) -> str:
    r"""Return the text as one line in which everything that does not print as itself, or commands, is escaped.

    >>> one_line("add\n\x1b[31m"), one_line("aten::add ::error::no")
    ('add\\n\\x1b[31m', 'aten::add \\x3a\\x3aerror::no')
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return _COMMAND.sub(lambda match: "".join(f"\\x{ord(char):02x}" for char in match[0]), text)


def for_markdown(text: str) -> str:
    r"""Return one line of text that Markdown shows as it is, in a cell of a table too.

    What stands between two backticks, as opperf writes what can be typed, stays code.

    >>> for_markdown("a|b log_softmax __add__")
    'a\\|b log_softmax \\_\\_add\\_\\_'
    """
    parts = _CODE.split(one_line(text))
    parts[::2] = [_plain(part) for part in parts[::2]]
    return "".join(parts)


def _plain(text: str) -> str:
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", text)
    return _MENTION.sub(lambda match: f"{match[0]}&#8203;", escaped)


def for_markdown_line(text: str) -> str:
    """Return text that begins a line of Markdown."""
    return _BLOCK.sub(r"\1\\\2", for_markdown(text.strip()))


def for_csv(value: object) -> object:
    """Return a field: numbers as they are, text as one line that no spreadsheet computes.

    >>> for_csv("=1+1"), for_csv(-1.5), for_csv(None)
    ("'=1+1", -1.5, None)
    """
    if not isinstance(value, str):
        return value
    line = one_line(value)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line


def for_annotation(text: str) -> str:
    r"""Return the message of a workflow command of GitHub.

    >>> for_annotation("50%\n")
    '50%25\\n'
    """
    return one_line(text).replace("%", "%25")


def for_annotation_property(text: str) -> str:
    """Return a property of a workflow command of GitHub, as its title.

    >>> for_annotation_property("opperf: a, b")
    'opperf%3A a%2C b'
    """
    return for_annotation(text).replace(":", "%3A").replace(",", "%2C")
