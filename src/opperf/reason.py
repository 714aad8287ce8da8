"""Why a trial failed or was skipped, and what a reader should doubt: values that stand on a record."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    def from_json(cls, data: Mapping[str, Any]) -> Reason:
        """Read the JSON form; keys of later versions are passed over."""
        return cls(**{name: data.get(name) for name in cls.__dataclass_fields__})  # type: ignore[arg-type]


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
    def from_json(cls, data: Mapping[str, Any]) -> Warning:
        """Read the JSON form."""
        return cls(str(data["slug"]), str(data["message"]), data.get("hint"))
