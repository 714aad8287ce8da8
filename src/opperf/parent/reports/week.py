"""What became of changes since a day: what is new, what is open, fixed or unconfirmed, and what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from opperf.domain.dataclass import dataclass
from opperf.parent.documents.triage import FIXED, NEW, QUIET, SEEN
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, Section, table, table_rows
from opperf.parent.reports.history import CHANGES, LEGEND, NamedChange, next_commands, open_notes

if TYPE_CHECKING:
    from opperf.parent.store.database.history import Ratios
    from opperf.parent.store.database.listing import Unmeasured


TITLE = "opperf history report"


@dataclass(frozen=True)
class Week:
    """The changes of a database, the series that one more build may confirm, and what was not measured since a day."""

    since: datetime
    changes: Sequence[NamedChange]
    unconfirmed: Sequence[Ratios]
    unmeasured: Sequence[Unmeasured]

    @property
    def certain(self) -> list[NamedChange]:
        """The changes that are confirmed, and larger than what their series moved by before."""
        return [one for one in self.changes if one.change.confirmed and not one.change.usual]

    @property
    def new(self) -> list[NamedChange]:
        """The changes without a decision, of builds that were first measured since the day, and those that are back."""
        return [
            one for one in self.certain if one.standing.state == NEW and (self._is_late(one) or one.standing.remark)
        ]

    @property
    def open(self) -> list[NamedChange]:
        """The changes that somebody looks at, and those from before that nobody does."""
        news = self.new
        return [one for one in self.certain if one.standing.state in (NEW, SEEN) and one not in news]

    @property
    def fixed(self) -> list[NamedChange]:
        """The changes that were called fixed since the day."""
        decided = ((one, one.standing.decision) for one in self.certain if one.standing.state == FIXED)
        return [one for one, decision in decided if decision is not None and decision.moment >= self.since]

    @property
    def waiting(self) -> list[NamedChange]:
        """The changes that one build has shown, and nobody has decided on."""
        return [one for one in self.changes if not one.change.confirmed and one.standing.state in (NEW, SEEN)]

    def _is_late(self, change: NamedChange) -> bool:
        return change.first is not None and change.first >= self.since


def document(week: Week) -> Document:
    """Return the report: a section for each of the lists, with what to do about the new ones."""
    lists = {"New": week.new, "Open": week.open, "Fixed": week.fixed, "Unconfirmed": week.waiting}
    notes, missing = open_notes(week.unconfirmed), table(UNMEASURED, week.unmeasured)
    counts = {title: len(rows) for title, rows in lists.items()}
    counts["Unconfirmed"] += len(week.unconfirmed)
    blocks: dict[str, list[Block]] = {title: [table(CHANGES, rows)] if rows else [] for title, rows in lists.items()}
    blocks["Unconfirmed"] += notes
    counts["Not measured"], blocks["Not measured"] = len(week.unmeasured), [missing] if week.unmeasured else []
    blocks["New"] += [Note(command, kind="item") for command in next_commands(week.new)]
    summary = ", ".join(f"{count} {title.lower()}" for title, count in counts.items())

    def data() -> dict[str, object]:
        return {
            "title": TITLE,
            "since": week.since.isoformat(),
            **{title.lower(): table_rows(table(CHANGES, rows)) for title, rows in lists.items()},
            "not_confirmed_yet": [note.text for note in notes],
            "not_measured": table_rows(missing),
        }

    sections = [Section(f"{title}: {counts[title]}", several) for title, several in blocks.items()]
    return Document(
        TITLE,
        [*sections, *_left_out(week), Legend(LEGEND)],
        data,
        summary=summary,
        heading=f"Changes since {week.since:%Y-%m-%d}: {summary}",
    )


def _left_out(week: Week) -> list[Note]:
    """Say what is in no list."""
    quiet = sum(one.standing.state in QUIET for one in week.changes)
    usual = sum(one.change.usual for one in week.changes)
    words = [f"{quiet} expected or not a change"] if quiet else []
    words += [f"{usual} within what the series moved by before"] if usual else []
    return [Note(f"not listed: {', '.join(words)}")] if words else []


UNMEASURED: tuple[Column[Unmeasured], ...] = (
    Column("operator", "operator", lambda one: one.operator, least=10),
    Column("framework", "framework", lambda one: one.framework, presence="varied"),
    Column("version", "version", lambda one: one.version),
    Column("outcome", "outcome", lambda one: one.outcome),
    Column("count", "times", lambda one: one.count, align="right"),
    Column("reason", "reason", lambda one: one.reason, least=20),
    Column("run", "run", lambda one: one.run, rank=1),
)
