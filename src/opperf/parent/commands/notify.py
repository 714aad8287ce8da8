"""Tell people of new regressions: each once to each place, with the evidence and the command that shows it again.

Messages wait in the database until they are sent. What cannot be sent is said; no verdict depends on it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.units import plural
from opperf.parent.commands.channels import Trouble, send_mail, send_webhook, write_comment
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.triage import FIXED, NEW, Decision, series_hash
from opperf.parent.reports.rerun import compare_command
from opperf.parent.reports.text import case_text
from opperf.parent.sources.notify_keys import Channels, Issue, Mail, Webhook
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.decisions import decisions
from opperf.parent.store.database.messages import SENDING, SENT, WAITING, claim, queue, sent_contents, settle

#: Regressions that a comment lists, at most: the latest.
MOST_IN_COMMENT = 50
#: Characters by which the database knows a message.
KEY = 16


def notify(archive: Archive, channels: Channels, judgement: Judgement, note: Callable[[str], None]) -> None:
    """Queue a message on each new regression, and send what waits; `note` gets what cannot be sent.

    Raises `HarnessError` for a database that cannot be reached.
    """
    if not channels.by_name:
        return
    latest = {decision.change: decision for decision in decisions(archive)}
    contents = {
        _key(change, latest.get(change)): _content(finding, change, judgement)
        for change, finding in _new(judgement, latest)
    }
    for name, channel in channels.by_name.items():
        if isinstance(channel, Issue):
            try:
                channel = channel.in_environment()
            except InputError as error:
                note(f"nothing sent by {name}: {error.message}")
                continue
        target = series_hash(name, "", {"to": repr(channel)}, "")
        queue(archive, name, target, contents)
        _send(archive, name, channel, target, note)


def _new(judgement: Judgement, latest: Mapping[str, Decision]) -> Iterator[tuple[str, Finding]]:
    """Yield the regressions that have a name, and no decision but that they were fixed: those are back."""
    for finding in judgement.of_kind("slower"):
        decision = latest.get(finding.change or "")
        if finding.change and (decision is None or decision.state in (NEW, FIXED)):
            yield finding.change, finding


def _key(change: str, decision: Decision | None) -> str:
    """Name a message, so that it is sent once: by its change, or by that one as it is back."""
    if decision is None or decision.state != FIXED:
        return change
    return series_hash(change, "", {"fixed": decision.moment.isoformat()}, "")[:KEY]


def _content(finding: Finding, change: str, judgement: Judgement) -> dict[str, object]:
    comparison = finding.comparison
    subject = " ".join(filter(None, (comparison.case.operator, comparison.direction, case_text(comparison.case))))
    versions = f"{comparison.new.framework} {comparison.base_version} to {comparison.new_version}"
    low, high = comparison.interval or (None, None)
    return {
        "title": f"{subject}: slower from {versions}",
        "evidence": finding.message,
        "ratio": comparison.ratio,
        "low": low,
        "high": high,
        "change": change,
        "command": compare_command(comparison, judgement.tolerances.of(comparison.case.operator)),
        "triage": shlex.join(["opperf", "history", "triage", change, "--state", "seen"]),
    }


def _send(
    archive: Archive, name: str, channel: Webhook | Mail | Issue, target: str, note: Callable[[str], None]
) -> None:
    """Send what waits for a place, and say what becomes of it."""
    messages = claim(archive, target)
    if not messages:
        return
    ids, count = [message.id for message in messages], plural(len(messages), "message")
    try:
        _deliver(archive, channel, target, [message.content for message in messages])
    except InputError as error:
        settle(archive, ids, WAITING, error.message)
        note(f"{count} by {name} not sent: {error.message}; they wait for the next time")
    except Trouble as trouble:
        # A comment is edited in place, so it may be written again.
        state = WAITING if trouble.is_certain or isinstance(channel, Issue) else SENDING
        settle(archive, ids, state, str(trouble))
        left = "wait for the next time" if state == WAITING else "may have arrived, so they are not sent again"
        note(f"{count} by {name} not sent: {trouble}; they {left}")
    else:
        settle(archive, ids, SENT)
        note(f"{count} sent by {name}")


def _deliver(archive: Archive, channel: Webhook | Mail | Issue, target: str, contents: Sequence[JsonObject]) -> None:
    if isinstance(channel, Webhook):
        send_webhook(channel, contents)
    elif isinstance(channel, Mail):
        send_mail(channel, contents)
    else:
        write_comment(channel, [*sent_contents(archive, target, MOST_IN_COMMENT), *contents])
