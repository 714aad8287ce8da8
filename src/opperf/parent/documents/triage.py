"""What people say about changes: each decision names its change, and is added to those before it.

A change has a name that stays the same from night to night: that of its series (case, direction, side and metric, on
whichever machine), of the build after it, and of whether it is slower or faster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from opperf.domain.codec import Fields, decode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, check_known
from opperf.domain.moment import Moment, parse_moment
from opperf.domain.stats.significance import Estimate
from opperf.domain.type_hint import LogRatio, LogSpread, OneOf

NEW, SEEN, EXPECTED, FIXED, NO_CHANGE = STATES = ("new", "seen", "expected", "fixed", "not a change")
#: The states of changes that fail no gate again.
QUIET = (EXPECTED, NO_CHANGE)
#: Characters of a name: of a million changes, hardly ever are two alike (48 bits), and a beginning will do.
NAME_LENGTH = 12
#: Characters of what people write, at most.
MOST_TEXT = 2000


@dataclass(frozen=True)
class Step:
    """A step from one build of a framework to another; `series` is the hash of its series, `size` new over base."""

    series: str
    operator: str
    framework: str
    before: str
    after: str
    size: Estimate

    @property
    def name(self) -> str:
        """The name by which people know the change."""
        return _hash(self.series, self.after, self.is_slower)[:NAME_LENGTH]

    @property
    def is_slower(self) -> bool:
        """Whether the build after it takes longer."""
        return self.size.log_ratio > 0


def series_hash(case: str, direction: str, side: Mapping[str, object], metric: str) -> str:
    """Return the hash of a series, whichever machine measured it: of its case's id, and a side without its build."""
    return _hash(case, direction, dict(side), metric)[:32]


def _hash(*parts: object) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class _Line(Fields):
    """A decision as files have it: what it says, and the step as it was known then."""

    change: str
    series: str
    operator: str
    framework: str
    before: str
    after: str
    log_ratio: LogRatio
    error: LogSpread
    state: Annotated[str, OneOf(STATES)]
    note: str
    owner: str
    link: str
    author: str
    moment: Moment


@dataclass(frozen=True)
class Decision:
    """What somebody said about a change, and when; `link` leads to the issue or commit that it is about."""

    step: Step
    state: str
    note: str
    owner: str
    link: str
    author: str
    moment: datetime
    #: The name of the change, which that of the step was when it was said.
    change: str

    @classmethod
    def from_json(cls, data: object, where: str) -> Decision:
        """Read what `to_json` wrote; raises `InputError` that names the place."""
        line = decode(_Line, data, where)
        texts = {name: getattr(line, name) for name in ("note", "owner", "link", "author")}
        check_decision(line.state, **texts)
        size = Estimate(line.log_ratio, line.error)
        step = Step(line.series, line.operator, line.framework, line.before, line.after, size)
        return cls(step, line.state, **texts, moment=parse_moment(line.moment), change=line.change)

    def to_json(self) -> dict[str, object]:
        """Return the decision as files have it."""
        step, texts = self.step, {name: getattr(self, name) for name in ("state", "note", "owner", "link", "author")}
        names = {name: getattr(step, name) for name in ("series", "operator", "framework", "before", "after")}
        size = {"log_ratio": step.size.log_ratio, "error": step.size.error}
        return {"change": self.change, **names, **size, **texts, "moment": self.moment.isoformat()}

    @property
    def words(self) -> str:
        """What it says in a line.

        >>> step = Step("", "sum", "numpy", "2.0", "2.1", Estimate(0.1, 0.01))
        >>> Decision(step, "expected", "safer now", "ann", "", "bob", datetime(2026, 11, 3), "a1").words
        'expected: safer now (bob, 2026-11-03; owner ann)'
        """
        return f"{self.state}{': ' if self.note else ' '}{self.reason}"

    @property
    def reason(self) -> str:
        """What it says but for the state."""
        owner = f"; owner {self.owner}" if self.owner else ""
        link = f"; {self.link}" if self.link else ""
        return f"{self.note} ({self.author}, {self.moment:%Y-%m-%d}{owner}{link})".lstrip()


def check_decision(state: str, **texts: str) -> None:
    """Raise `InputError` for a state that there is not, a text that is too long, or a `link` that leads nowhere."""
    check_known("state", state, STATES)
    for name, text in texts.items():
        if len(text) > MOST_TEXT:
            raise InputError(f"the {name} has {len(text)} characters, expected {MOST_TEXT} or fewer", slug="input")
    if texts.get("link") and not is_link(texts["link"]):
        hint = "write, for example, `https://github.com/numpy/numpy/issues/1`"
        raise InputError(f"`{texts['link']}` is no address of a page", hint=hint, slug="input")


def is_link(text: str) -> bool:
    """Whether a text is the address of a page on the web, which a browser may follow.

    >>> is_link("https://github.com/numpy/numpy/issues/1"), is_link("javascript:alert(1)")
    (True, False)
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and text.isprintable() and " " not in text
