"""A profile as a file, which Perfetto and `opperf profile` read."""

from __future__ import annotations

import json
from pathlib import Path

from opperf.destination import write_text
from opperf.profile.chrome import to_trace
from opperf.profile.event import Profile


def save(profile: Profile, path: Path) -> None:
    """Write a profile as Chrome trace events, whole or not at all; raises `InputError` when it cannot be written.

    Perfetto shows the escapes of JSON as they are written, so names have none. Only half characters do, as a command
    may have that is no UTF-8.
    """
    text = json.dumps(to_trace(profile), ensure_ascii=False)
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
