"""When a browser was here, and which run was the last one then: a cookie of this site, which only it gets.

The cookie holds numbers alone: the last run and the time of the visit before, and of this one. It needs no script, and
says nothing of who visits.
"""

from __future__ import annotations

from opperf.domain.dataclass import dataclass
from opperf.domain.moment import shown_moment

COOKIE = "opperf_visit"
#: A visit is over once nothing was asked for so long, and is remembered for so long. Seconds.
PAUSE, KEPT = 1800, 366 * 86_400


@dataclass(frozen=True)
class Visit:
    """The number of the last run at the visit before and when that ended, and both of this one; seconds since 1970."""

    former: int
    left: int
    last: int
    now: int

    @classmethod
    def of(cls, cookie: str | None, last: int, now: int) -> Visit:
        """Return the visit that a cookie goes on with, or a new one.

        >>> first = Visit.of(None, 7, 1_800_000_000)
        >>> second = Visit.of(first.cookie, 9, 1_800_003_600)
        >>> first.query, second.query
        ({}, {'seen': '7', 'visited': '2027-01-15 08:00'})
        >>> Visit.of("seven", 9, 1_800_003_600).query
        {}
        """
        words = (cookie or "").split(".")
        if len(words) != 4 or not all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
            return cls(last, 0, last, now)
        former, left, latest, moment = map(int, words)
        if now - moment > PAUSE:
            former, left = latest, moment
        return cls(former, left, last, now)

    @property
    def cookie(self) -> str:
        """What the browser keeps."""
        return f"{self.former}.{self.left}.{self.last}.{self.now}"

    @property
    def query(self) -> dict[str, str]:
        """What the first page is told, if the browser was here before."""
        moment = f"{shown_moment(self.left):%Y-%m-%d %H:%M}"
        return {"seen": str(self.former), "visited": moment} if self.left else {}
