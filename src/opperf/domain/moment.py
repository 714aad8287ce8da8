"""Moments as files and tables have them: ISO 8601, in years that everything which shows them can show.

The calendar ends: midnight of the last day of the year 9999 is no date any more an hour further west. So a moment that
is read lies well within it, and one that is stored already is shown at the nearest end.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Annotated, TypeAlias

from opperf.domain.type_hint import Form, wrong

FIRST = datetime(1900, 1, 1, tzinfo=timezone.utc)
LAST = datetime(3000, 1, 1, tzinfo=timezone.utc)
EXPECTED = "a date and time of the years 1900 to 2999, such as 2026-11-23T10:00:00+00:00"


def parse_moment(text: str) -> datetime:
    """Return a moment, in UTC where it does not say; raises `ValueError` for any other text.

    >>> str(parse_moment("2026-11-23T10:00:00Z"))
    '2026-11-23 10:00:00+00:00'
    """
    moment = datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)  # Python 3.10 reads no `Z`
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    if not FIRST <= moment < LAST:
        raise ValueError(f"{text} is out of range")
    return moment


def moment_of(seconds: float) -> datetime | None:
    """Return the moment of so many seconds since 1970, None outside the years that are shown."""
    return _since_1970(seconds) if FIRST.timestamp() <= seconds < LAST.timestamp() else None


@lru_cache(maxsize=4096)  # a night's rows, of which a page reads thousands, have one moment
def shown_moment(seconds: float) -> datetime:
    """Return the moment of so many seconds since 1970, or else the end of the years that are shown.

    >>> shown_moment(1e12).year, shown_moment(0).year
    (3000, 1970)
    """
    return _since_1970(min(max(seconds, FIRST.timestamp()), LAST.timestamp()))


def _since_1970(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)


def _read(value: object, where: str) -> str:
    try:
        if isinstance(value, str):
            parse_moment(value)
            return value
    except (ValueError, OverflowError):
        pass
    raise wrong(value, where, EXPECTED)


#: A moment in a file, which stays the text that it is.
Moment: TypeAlias = Annotated[str, Form(EXPECTED, str, _read)]
