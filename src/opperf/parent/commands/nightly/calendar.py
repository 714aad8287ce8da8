"""The builds of nights: which the database has, in which order, and which may be measured again.

Whoever may add to a database writes its labels, and a side says which interpreter, variables and options a child gets.
So a label is never read as a side. It is run where the user names the very same side, in `opperf.toml` or on the
command line, or where it is one public version of a framework, with the options of a side that they name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.measuring.progress import Progress
from opperf.parent.sources.gate_file import NightlyFile
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.build_order import DatedBuild, arrange
from opperf.parent.store.database.history import entries

#: The labels by which the runs of nights are known.
NAME, BUILD, ANCHOR = "nightly", "build", "anchor"


@dataclass(frozen=True)
class FormerNight:
    """A night that a database has, by its labels: which build, against which anchor."""

    build: str
    anchor: str
    run: str
    started: datetime


def former_nights(store: Archive, name: str) -> list[FormerNight]:
    """Return the nights of one name, the latest first; a run without the labels of a night is none."""
    return [
        FormerNight(entry.labels[BUILD], entry.labels[ANCHOR], entry.key, entry.started)
        for entry in entries(store, label=(NAME, name))
        if BUILD in entry.labels and ANCHOR in entry.labels
    ]


def runnable(text: str, declared: Collection[str], where: str) -> str | None:
    """Return the side to measure a build on again that a database names; `declared` are the sides of the user.

    None for an interpreter that the user no longer names: it may be another build by now. Raises `InputError` for all
    else that is more than a version: variables, paths, options that the user does not give.
    """
    if text in declared:
        return text
    version, _, options = text.partition(";")
    if options in {side.partition(";")[2] for side in declared} and _is_version(version):
        return text
    if text.startswith("python="):
        return None
    raise InputError(
        f"{where} is `{text}`: a build is a version, not a side",
        hint="name the side in `opperf.toml`, where you decide what it runs; or `opperf history remove` the run",
        slug="code_in_file",
    )


def _is_version(text: str) -> bool:
    """Whether a text is one public version of a framework.

    >>> [_is_version(text) for text in ("numpy==2.2.6", "numpy", "numpy @ file:///x.whl", "python=/usr/bin/python3")]
    [True, False, False, False]
    """
    with suppress(InputError):
        spec = EnvironmentSpec.parse(text)
        return spec.kind == "requirement" and spec.is_public
    return False


def version_of(side: str) -> str | None:
    """Return the version that a side names, that of its first package; None where it names none.

    >>> [version_of(text) for text in ("numpy==2.2.6 + numba==0.61", "null;version=1.1", "python=/a/python")]
    ['2.2.6', '1.1', None]
    """
    match = re.search(r"^[^;@]*?==([^;,\s]+)|;version=([^;]+)", side)
    return None if match is None else match[1] or match[2]


class Calendar:
    """The builds of a file and of the nights before, in their order; `sides` are those of the file, pinned."""

    def __init__(
        self, file: NightlyFile, store: Archive, anchor: str, sides: Sequence[str], progress: Progress
    ) -> None:
        self._name, self._store, self._anchor, self._sides = file.name, store, anchor, sides
        self._own = {anchor, file.anchor, *file.builds, *sides}
        self._note = progress.note
        self._nights = former_nights(store, file.name)

    def former_anchor(self, *, overlap: bool) -> str | None:
        """Return the previous anchor, None without one.

        Raises `InputError` where nothing would join the new anchor to the nights before.
        """
        if not self._nights or any(self._anchor in (night.anchor, night.build) for night in self._nights):
            return None
        latest = self._nights[0]
        if not overlap:
            raise InputError(
                f"no night of `{self._name}` was compared with the anchor `{self._anchor}`",
                hint=f"add `--overlap` to compare the new anchor with the previous one, `{latest.anchor}`, once",
                slug="anchor",
            )
        side = runnable(latest.anchor, self._own, self._place(latest, ANCHOR))
        if side is None:
            raise InputError(
                f"the previous anchor, `{latest.anchor}`, is an interpreter that `opperf.toml` does not name",
                hint="name it in `builds`",
                slug="anchor",
            )
        return side

    def plan(self, *, again: bool) -> Iterator[tuple[str, bool]]:
        """Yield each build to measure, and whether it was measured before and has a new predecessor now.

        A build that was yielded is in the database when the next is asked for.
        """
        for place, build in enumerate(self._sides):
            if build == self._anchor:
                self._note(f"{build} is the anchor, so it is not measured separately")
                continue
            if not again and self._is_there(build):
                self._note(f"{build} is in the database, so it is not measured again")
                continue
            waiting = {other for other in self._sides[place + 1 :] if again or not self._is_there(other)}
            fills_gap = all(build != night.build for night in self._nights)
            successor = self._successor(build, waiting) if fills_gap else None
            yield build, False
            self._nights = former_nights(self._store, self._name)
            if successor is not None:
                yield successor, True

    def count(self, *, again: bool) -> int:
        """Return how many builds of the file are to be measured."""
        return sum(build != self._anchor and (again or not self._is_there(build)) for build in self._sides)

    def predecessor(self, build: str) -> str:
        """Return the build that a build is judged by: the one before it that can be measured, else the anchor."""
        sequence = self._sequence()
        for earlier in reversed(sequence[: sequence.index(build)]):
            if earlier == self._anchor:
                break
            side = self._runnable(earlier)
            if side is not None:
                return side
        return self._anchor

    def lists(self, *builds: str) -> bool:
        """Whether the file lists all of these builds, and so says how they follow each other."""
        return len(self._sides) > 1 and all(build in self._sides for build in builds)

    def _successor(self, build: str, waiting: Collection[str]) -> str | None:
        """Return the build behind one that fills a gap, unless it is yet to be measured; None for the last one."""
        sequence = self._sequence()
        behind = sequence[sequence.index(build) + 1 :]
        if not behind or behind[0] in waiting or behind[0] == self._anchor:
            return None
        side = self._runnable(behind[0])
        if side is not None:
            self._note(f"{side} is judged again, by {build} before it")
        return side

    def _sequence(self) -> list[str]:
        """Return the builds in their order: the file's, those of former nights, and the anchor."""
        firsts: dict[str, datetime] = {}
        for night in reversed(self._nights):
            firsts.setdefault(night.anchor, night.started)
            firsts.setdefault(night.build, night.started)
        now = datetime.now(timezone.utc)
        texts = dict.fromkeys((self._anchor, *firsts, *self._sides))
        builds = (DatedBuild(text, version_of(text), firsts.get(text, now)) for text in texts)
        return arrange(builds, self._sides if len(self._sides) > 1 else ())

    def _runnable(self, build: str) -> str | None:
        """Return the side of a build; a note says why one cannot be measured. Raises `InputError`."""
        night = next((night for night in self._nights if night.build == build), None)
        label = BUILD if night is not None else ANCHOR
        night = night or next((night for night in self._nights if night.anchor == build), None)
        side = build if night is None else runnable(build, self._own, self._place(night, label))
        if side is None:
            self._note(f"{build} cannot be measured again: `opperf.toml` does not name it")
        return side

    def _is_there(self, build: str) -> bool:
        """Whether a build was compared with the anchor; one at a path may be another by now."""
        pairs = {(night.build, night.anchor) for night in self._nights}
        return not build.startswith("python=") and (build, self._anchor) in pairs

    def _place(self, night: FormerNight, label: str) -> str:
        return f"{self._store.address}: run {night.run}: the label `{label}`"
