"""Why a trial failed or was skipped, and what a reader should doubt: values that stand on a record."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, TypeAlias

from opperf.domain.codec import OneOf, decode

#: What became of a trial: it was measured, or there is a reason why not.
STATUSES = ("ok", "failed", "skipped")
Status: TypeAlias = Annotated[str, OneOf(STATUSES)]


@dataclass(frozen=True)
class Reason:
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

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, every key present."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any, where: str = "reason") -> Reason:
        """Read the JSON form; raises `InputError` that names the place."""
        return decode(cls, data, where)


@dataclass(frozen=True)
class Warning:  # noqa: A001
    """A doubt about a number, with a remedy."""

    slug: str
    message: str
    hint: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any, where: str = "warning") -> Warning:
        """Read the JSON form; raises `InputError` that names the place."""
        return decode(cls, data, where)
