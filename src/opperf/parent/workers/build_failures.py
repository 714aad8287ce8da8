"""Why an environment was not built, in one sentence of opperf's.

It stands in tables and logs, where what uv says of its search takes four lines and speaks of things that nobody wrote.
The end of what it says stands below the sentence where that leaves something open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

#: Asked for the newest release of a package, as `2.4.6`; None where nobody knows.
Newest: TypeAlias = Callable[[str], "str | None"]

#: How much of what uv says is shown, in lines, and letters of one that stands in the sentence.
LAST_LINES = 20
LONGEST_LINE = 300
#: What says that no index was reached.
UNREACHED = re.compile(r"\bdns\b|connect|timed out|offline|error sending request", re.IGNORECASE)
# Before what uv says: its marks of causes, and its words for them.
_MARGIN = re.compile(r"^[\s×╰─▶├│]*((error|cause):\s*)?")  # noqa: RUF001
_NAME = r"([A-Za-z0-9][\w.-]*)"
_NO_VERSION = re.compile(rf"there (?:is|are) (?:no|not a) versions? of {_NAME}==([^\s,]+)")
_NO_SUCH = re.compile(rf"only {_NAME}[<>=!~]\S* (?:is|are) available and you require (\S+?),")
#: What each of uv's complaints means; the groups of the pattern fill the sentence.
_MEANINGS = (
    (re.compile(rf"{_NAME} was not found in"), "the package index has no package `{}`"),
    (re.compile(rf"{_NAME}==(\S+) has no (?:usable )?wheels"), "{} {} has no wheel for its Python"),
    (re.compile(r"Because you require (\S+) and (\S+), we can conclude"), "`{}` and `{}` exclude each other"),
    (re.compile(r"Distribution not found at: (?:file://)?(\S+)"), "there is no file `{}`"),
)
_SOURCE = re.compile(r"Failed to (?:build|download and build) `([^`]+)`")


def build_failure(stderr: str, newest: Newest) -> str:
    r"""Return the failure in a sentence, and below it the end of uv's output where the sentence leaves it open.

    >>> build_failure("  cause: Because there is no version of numpy==1.99 and you require it", lambda name: "2.4.6")
    'the package index has no numpy 1.99; its newest release for this Python is 2.4.6'
    """
    if match := _NO_VERSION.search(stderr):
        return _missing(match[1], f"{match[1]} {match[2]}", newest)
    if match := _NO_SUCH.search(stderr):
        return _missing(match[1], match[2], newest)
    for pattern, sentence in _MEANINGS:
        if match := pattern.search(stderr):
            return sentence.format(*match.groups())
    if UNREACHED.search(stderr):
        return _with_words("uv could not reach the package index", stderr)
    lines = _telling(stderr)
    if not lines:
        return "uv gave no reason"
    if match := _SOURCE.search(stderr):
        return _with_words(f"`{match[1]}` has no wheel for its Python, and its source does not build", stderr)
    if "No solution found" in stderr:
        return _with_words("no releases of its packages go together", stderr)
    return lines[0] if len(lines) == 1 else _with_words("uv could not install it", stderr)


def _missing(package: str, what: str, newest: Newest) -> str:
    """Say that an index has no release, and which is its newest."""
    version = newest(package)
    tail = "" if version is None else f"; its newest release for this Python is {version}"
    return f"the package index has no {what}{tail}"


def _telling(stderr: str) -> Sequence[str]:
    """Return the lines that say something, without uv's own hints."""
    lines = [_MARGIN.sub("", line).strip() for line in stderr.splitlines() if not line.startswith("hint:")]
    return [line[:LONGEST_LINE] for line in lines if line]


def _with_words(sentence: str, stderr: str) -> str:
    """Return the sentence with the end of what uv says below it."""
    return "\n".join([sentence, "", "uv says:", "", *stderr.strip().splitlines()[-LAST_LINES:]])
