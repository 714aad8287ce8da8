"""Send the runs of a database to a server of a team: each once, as `POST /api/runs` of `opperf serve` takes them.

Runs wait in the database until they are sent, as messages do. The server knows a run by its id, so one that may have
arrived is sent again. What a server refuses for good is said, and not sent again.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, JsonObject, NotJSON, value_of
from opperf.parent.commands.channels import Trouble, ask
from opperf.parent.documents.triage import series_hash
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.messages import (
    REFUSED,
    SENDING,
    SENT,
    WAITING,
    QueuedMessage,
    claim,
    queue_runs,
    settle,
)

Outcome: TypeAlias = Literal["added", "there", "refused", "removed"]
#: The name of the queue.
CHANNEL = "push"
#: How long a server may take for a run: it checks each record. Seconds.
PATIENCE = 120.0
#: What a server answers of the run itself, which the next time would not change.
FOR_GOOD = (400, 409, 413, 415, 422)
#: What it answers where it will take the run later.
LATER = (429, 503)
#: How long to wait before each attempt to send a run again, in seconds, and at most where the server says how long.
PAUSES, LONGEST = (1.0, 2.0, 4.0), 60.0


@dataclass(frozen=True)
class Pushed:
    """The number of runs by what became of each; those that wait for the next time, and why."""

    counts: Counter[Outcome]
    waiting: int = 0
    trouble: str = ""


def push(
    archive: Archive,
    server: str,
    token: str,
    *,
    note: Callable[[str], None],
    progress: Callable[[int, int], None] = lambda count, total: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Pushed:
    """Send each run that the server has not got yet; `note` gets what it refuses, `progress` how many are sent.

    Raises `InputError` for an address that is none, and for a token that the server does not know.
    """
    place = address(server)
    target = series_hash(CHANNEL, "", {"to": place}, "")
    queue_runs(archive, CHANNEL, target)
    messages = claim(archive, target, (WAITING, SENDING))
    counts: Counter[Outcome] = Counter()
    for number, message in enumerate(messages):
        progress(number, len(messages))
        try:
            counts[_settle(archive, message, f"{place}/api/runs", token, note, sleep)] += 1
        except Trouble as trouble:
            left = [later.id for later in messages[number:]]
            settle(archive, left, WAITING, str(trouble))
            if trouble.status == 401:
                hint = "give the token of a machine: `OPPERF_MACHINE_TOKEN`"
                raise InputError("the server does not know this token", hint=hint, slug="token") from None
            return Pushed(counts, len(left), str(trouble))
    progress(len(messages), len(messages))
    return Pushed(counts)


def address(server: str) -> str:
    """Return the address of a server without what a path ends in; raises `InputError` for one that is none.

    >>> address("https://perf.example.com/")
    'https://perf.example.com'
    """
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        hint = "write, for example, `https://perf.example.com`"
        raise InputError("the address of the server is not one of the web", hint=hint, slug="push")
    if parts.username is not None or parts.query or parts.fragment:
        hint = "give the token as `OPPERF_MACHINE_TOKEN`"
        message = "the address of the server has more than a host and a path"
        raise InputError(message, hint=hint, slug="push")
    return server.rstrip("/")


def _settle(
    archive: Archive,
    message: QueuedMessage,
    place: str,
    token: str,
    note: Callable[[str], None],
    sleep: Callable[[float], None],
) -> Outcome:
    """Send a run, and say what became of it in the queue; raises `Trouble` where it has to wait."""
    key = str(message.content["run"])
    try:
        document = archive.document_json(key)
        if document is None:
            settle(archive, [message.id], REFUSED, "it was removed before it was sent")
            return "removed"
        answer = _send(document, place, token, sleep)
    except InputError as error:  # it was stored before what is stored was checked
        reason = error.message
    except Trouble as trouble:
        if trouble.status not in FOR_GOOD:
            raise
        reason = _reason(trouble)
    else:
        settle(archive, [message.id], SENT)
        return "there" if answer.get("outcome") == "there" else "added"
    settle(archive, [message.id], REFUSED, reason)
    note(f"run {key} refused: {reason}")
    return "refused"


def _send(document: JsonDict, place: str, token: str, sleep: Callable[[float], None]) -> JsonObject:
    """Send a run, again after a pause where that may help; raises `Trouble`."""
    data = gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0)
    headers = {"Authorization": f"Bearer {token}", "Content-Encoding": "gzip"}
    for pause in (*PAUSES, None):
        try:
            answer = ask("POST", place, data, headers, patience=PATIENCE)
        except Trouble as trouble:
            if pause is None or trouble.status not in (None, *LATER):
                raise
            sleep(pause if trouble.wait is None else min(trouble.wait, LONGEST))
        else:
            if isinstance(answer, dict) and answer.get("run") == document["run"]["id"]:
                return answer
            raise Trouble("what answers there is no server of opperf")
    raise AssertionError("the last attempt returns or raises")


def _reason(trouble: Trouble) -> str:
    """Return the words of a server that refuses a run."""
    try:
        answer = value_of(trouble.body)
    except NotJSON:
        answer = None
    return str(answer["error"]) if isinstance(answer, dict) and "error" in answer else str(trouble)
