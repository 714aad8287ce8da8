"""A profile as a file, which Perfetto and `opperf profile` read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from opperf.domain.files.destination import write_parts
from opperf.domain.profile.chrome import Frames, entries, rest
from opperf.domain.profile.event import Profile

#: So many trace events become text at once.
TOGETHER = 1000


def save(profile: Profile, path: Path) -> None:
    """Write a profile as Chrome trace events, whole or not at all; raises `InputError` when it cannot be written.

    Perfetto shows the escapes of JSON as they are written, so names have none. Only half characters do, as a command
    may have that is no UTF-8.
    """
    write_parts(path, (part.encode("utf-8", "backslashreplace") for part in _parts(profile)))


def _parts(profile: Profile) -> Iterator[str]:
    """Yield the text of the document bit by bit: as a whole it takes several times what the profile does."""
    stacks = Frames()
    items = entries(profile, stacks)
    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    separator = ""
    while some := list(islice(items, TOGETHER)):
        yield separator + json.dumps(some, ensure_ascii=False)[1:-1]
        separator = ", "
    yield "], " + json.dumps(rest(profile, stacks), ensure_ascii=False)[1:] + "\n"
