"""Say what a change is, and what came of all of them since a day."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

from opperf.domain.errors import InputError
from opperf.parent.analysis.triage import step_in
from opperf.parent.commands.history import Scope, read_triage, searches
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.documents.judgement import Judgement
from opperf.parent.documents.triage import Decision, Step, check_decision
from opperf.parent.reports.history import NamedChange
from opperf.parent.reports.week import Week
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.decisions import add_decisions, decisions
from opperf.parent.store.database.history import ratios, with_cases
from opperf.parent.store.database.listing import unmeasured
from opperf.parent.store.database.series import EVERYTHING, Filters

#: The fewest characters of a name that stand for it, where no other begins with them.
LEAST = 4
HINT = "`opperf history changes` names them"


def judge(archive: Archive, judgement: Judgement) -> Judgement:
    """Return a judgement in which findings have the names of their changes, and what is expected fails nothing."""
    return read_triage(archive).judge(judgement)


def decide(
    archive: Archive,
    names: Sequence[str],
    state: str,
    *,
    note: str = "",
    owner: str | None = None,
    link: str | None = None,
    author: str | None = None,
    filters: Filters = EVERYTHING,
) -> list[Decision]:
    """Add a decision on each change, and return them; owner and link stay those of the decision before.

    Raises `InputError` for a name that no change has, and for a state or a link that is none.
    """
    author = author or login()
    check_decision(state, note=note, owner=owner or "", link=link or "", author=author)
    former = {decision.change: decision for decision in decisions(archive)}
    steps = dict(_steps(archive, filters)) | {name: decision.step for name, decision in former.items()}
    now = datetime.now(timezone.utc)
    additions = []
    for name in dict.fromkeys(_full(name, steps) for name in names):
        before = former.get(name)
        owner_now = owner if owner is not None else before.owner if before else ""
        link_now = link if link is not None else before.link if before else ""
        additions.append(Decision(steps[name], state, note, owner_now, link_now, author, now, name))
    add_decisions(archive, additions)
    return additions


def login() -> str:
    """Return the name that the user logged in by."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in a container
        return "unknown"


def find(archive: Archive, name: str, filters: Filters = EVERYTHING) -> tuple[Step, list[NamedChange], list[Decision]]:
    """Return a change by its name: the step, where it is confirmed or not, and what was said of it, earliest first.

    Raises `InputError` where no change has the name.
    """
    search, imported = searches(archive, Scope(filters))
    rows = [change for change in (*search.changes, *imported.changes) if change.standing.name == name]
    history = [decision for decision in decisions(archive) if decision.change == name]
    if rows:
        change = rows[0].change
        return step_in(rows[0].series, change.before, change.after, change.size), rows, history
    if history:
        return history[-1].step, [], history
    steps = dict(_steps(archive, filters))
    return steps[_full(name, steps)], [], []


def week(archive: Archive, since: datetime) -> Week:
    """Return the week since a day: new, open, fixed and unconfirmed changes, and operators that were not measured."""
    search, imported = searches(archive)
    unconfirmed = with_cases(archive, search.open)
    return Week(since, (*search.changes, *imported.changes), unconfirmed, unmeasured(archive, since))


def _steps(archive: Archive, filters: Filters) -> Iterator[tuple[str, Step]]:
    """Yield every step that has a name: of comparisons that are slower or faster, then of changes.

    A change comes after its comparisons, whose size it knows better.
    """
    for series in ratios(archive, filters):
        for ratio in series.ratios:
            if ratio.verdict in CHANGES:
                step = step_in(series, ratio.base, ratio.new, ratio.estimate)
                yield step.name, step
    for change in (change for search in searches(archive, Scope(filters)) for change in reversed(search.changes)):
        what = change.change
        yield change.standing.name, step_in(change.series, what.before, what.after, what.size)


def _full(name: str, steps: dict[str, Step]) -> str:
    """Return the whole name that a user shortens; raises `InputError` where none or several begin with it."""
    if len(name) < LEAST:
        message = f"`{name}` names no change, expected {LEAST} characters or more of its name"
        raise InputError(message, hint=HINT, slug="missing")
    names = [name] if name in steps else [full for full in steps if full.startswith(name)]
    if len(names) == 1:
        return names[0]
    many = f"{len(names)} changes have names that begin with `{name}`"
    message = many if names else f"the database has no change `{name}`"
    raise InputError(message, hint=HINT, slug="missing")
