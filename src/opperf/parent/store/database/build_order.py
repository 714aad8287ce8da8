"""The order of builds: that of the user's list, else that of their versions, else that of their dates.

When a build was measured says little: an old release may be added years after its successors. So a version counts
where both builds have one. What has none (a commit, a day, a name) comes after what was there before it: before the day
that it is called by, or else before it was first measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from packaging.version import InvalidVersion, Version

from opperf.domain.dataclass import dataclass

#: The label of a night whose build stands behind another in the user's list: `order=numpy 2.1.9 < 2.0.3`.
ORDER, BEFORE = "order", "<"
_DAY = re.compile(r"(?<!\d)20\d\d-\d\d-\d\d(?!\d)")
#: A commit, whole or as other tools' builds have it. One in 65 would read as a version, as `12345678901` or `31b4` do.
_COMMIT = re.compile(r"[0-9a-f]{12}|[0-9a-f]{40}")


@dataclass(frozen=True)
class DatedBuild:
    """A build: what it goes by, its version where that is known, and when it was first measured."""

    name: str
    version: str | None
    first: datetime

    @property
    def release(self) -> Version | None:
        """The version as releases are compared; None for what is no version. What stands behind `+` orders nothing."""
        return None if self.version is None else _release(self.version)

    @property
    def day(self) -> datetime:
        """The day that it is called by, else when it was first measured."""
        match = _DAY.search(self.version or "")
        try:
            return datetime.fromisoformat(f"{match[0]}T00:00:00+00:00") if match else self.first
        except ValueError:
            return self.first


@lru_cache(maxsize=10_000)  # each page of a server asks for all builds, some of them several times
def _release(version: str) -> Version | None:
    if _COMMIT.fullmatch(version):
        return None
    try:
        return Version(Version(version).public)
    except InvalidVersion:
        return None


def arrange(builds: Iterable[DatedBuild], order: Sequence[str] = ()) -> list[str]:
    """Return the names of builds, the oldest first; those of a list are in its order, whatever else is known of them.

    Builds that nothing tells apart stay in the order that they are given in.

    >>> from datetime import timezone
    >>> moments = [datetime(2026, 11, day, tzinfo=timezone.utc) for day in (1, 2, 3)]
    >>> versions = ("2.4.6", "2.1.3", "4f2a9c")
    >>> arrange(DatedBuild(version, version, moment) for version, moment in zip(versions, moments))
    ['2.1.3', '2.4.6', '4f2a9c']
    """
    by_name = {build.name: build for build in builds}
    sequence = [by_name[name] for name in dict.fromkeys(order) if name in by_name]
    others = [build for build in by_name.values() if build not in sequence]
    releases = {build.name: build.release for build in by_name.values()}
    versioned = sorted(
        ((release, build.day, build) for build in others if (release := releases[build.name]) is not None),
        key=lambda one: one[:2],
    )
    for release, _, build in versioned:
        theirs = (releases[other.name] for other in reversed(sequence))
        _insert(sequence, build, (one is not None and one <= release for one in theirs))
    for build in sorted((build for build in others if releases[build.name] is None), key=lambda build: build.day):
        _insert(sequence, build, (other.day <= build.day for other in reversed(sequence)))
    return [build.name for build in sequence]


def follow(before: Mapping[str, str]) -> list[str]:
    """Return the names of a list of which is known which name stands before which.

    >>> follow({"2.0.3": "2.1.9", "2.2.0": "2.0.3"})
    ['2.1.9', '2.0.3', '2.2.0']
    """
    behind: dict[str, list[str]] = {}
    for name, other in before.items():
        behind.setdefault(other, []).append(name)
    sequence: dict[str, None] = {}
    waiting = [name for name in reversed(behind) if name not in before]
    while waiting:
        name = waiting.pop()
        sequence[name] = None
        waiting += reversed(behind.get(name, []))
    return list(sequence)


def _insert(sequence: list[DatedBuild], build: DatedBuild, earlier: Iterable[bool]) -> None:
    """Put a build behind the last of those that are before it, which is said of each, from the last to the first."""
    behind = next((place for place, is_earlier in enumerate(earlier) if is_earlier), len(sequence))
    sequence.insert(len(sequence) - behind, build)
