"""Reasons for failed and skipped trials, and warnings on records."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.type_hint import OneOf

#: What became of a trial: it was measured, or there is a reason why not.
STATUSES = ("ok", "failed", "skipped")
Status: TypeAlias = Annotated[str, OneOf(STATUSES)]


@dataclass(frozen=True)
class Reason(Fields):
    """Why there is no measurement.

    `slug` is short and stable, for programs; `exception` and `traceback` come from the framework, `signal` and
    `stderr` from a child that died.
    """

    slug: str
    message: str
    hint: str | None = None
    signal: str | None = None
    exception: str | None = None
    traceback: str | None = None
    stderr: str | None = None


@dataclass(frozen=True)
class Warning(Fields):  # noqa: A001
    """A doubt about a number, with a remedy."""

    slug: str
    message: str
    hint: str | None = None
