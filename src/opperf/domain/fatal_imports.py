"""Files whose import ends the process that imports them: found out once, then left alone by all processes of a side.

The process that looks for benchmarks notes which file it imports next. Where it ends there, the note is left for
whoever has started it, who knows how; the next process of the side leaves that file out. So files that are all right
are imported in one process, as if there were no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from opperf.domain.errors import WorkerFailure
from opperf.domain.reason import Reason

#: In the folder of a side: the note on the file that is imported, and the reasons of those that have ended a process.
NOTE, REASONS = "importing", "fatal.json"
HINT = "let it do that in a `setup`, in what is measured, or only where `__name__` is `__main__`"
#: How the interpreter begins to tell that a time is over, and where each frame is, the innermost first.
OVER = "Timeout ("
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)')


def note_of(name: str, limit: float | None) -> str:
    """Return the note on a file that may be imported for so many seconds; the interpreter adds where it ended."""
    return f"{limit or 0:g} {name}\n"


def fatal_imports(folder: Path) -> dict[str, Reason]:
    """Return why files are left out on a side, by their names."""
    file = folder / REASONS
    reasons = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: Reason.from_json(reason, f"{file}: {name}") for name, reason in reasons.items()}


def blame_import(shared: Path, lost: WorkerFailure) -> Reason | None:
    """Have the file left out during whose import a process was lost, and say why; None where it imported none.

    `shared` is the folder of all sides. One of them is asked at a time.
    """
    note = next(shared.glob(f"*/{NOTE}"), None)
    if note is None:
        return None
    first, _, picture = note.read_text(encoding="utf-8", errors="replace").partition("\n")
    note.unlink()
    limit, _, name = first.partition(" ")
    reasons = fatal_imports(note.parent)
    if not name or name in reasons or lost.slug == "timeout":  # all together have taken too long then
        return None
    reasons[name] = _reason(name, limit, picture, lost)
    texts = {name: reason.to_json() for name, reason in reasons.items()}
    (note.parent / REASONS).write_text(json.dumps(texts), encoding="utf-8")
    return reasons[name]


def fatal_reason(name: str, reasons: Mapping[str, Reason]) -> Reason | None:
    """Return why a file, or the file of a benchmark, is left out; None for any other.

    >>> leaves = Reason("fatal_import", "importing `bench.deep` ended the process")
    >>> fatal_reason("bench.deep.Sort.time_it", {"bench.deep": leaves}) is leaves
    True
    >>> fatal_reason("bench.deeper.time_it", {"bench.deep": leaves}) is None
    True
    """
    files = (file for file in reasons if name == file or name.startswith((f"{file}.", f"{file}::")))
    return next(map(reasons.__getitem__, files), None)


def _reason(name: str, limit: str, picture: str, lost: WorkerFailure) -> Reason:
    place = _place(name, picture)
    if picture.startswith(OVER):
        message = f"importing `{name}` is not over after {limit} s, the limit of `--timeout`{place}"
        return Reason("fatal_import", message, f"{HINT}; or give it longer by `--timeout`", stderr=lost.stderr)
    message = f"importing `{name}` ended the process{place}: {lost.message}"
    return Reason("fatal_import", message, lost.hint or HINT, signal=lost.signal, stderr=lost.stderr)


def _place(name: str, picture: str) -> str:
    """Return the line of a file that a picture of the stack shows, empty where it shows none.

    >>> _place("deep.bench", 'File "/x/other.py", line 7 in wait, File "/x/deep/bench.py", line 3 in <module>')
    ', at bench.py:3'
    """
    end = f"/{name.removesuffix('.py').replace('.', '/')}"
    for text, line in _FRAME.findall(picture):
        file = Path(text)
        if str(file.with_suffix("")).endswith(end) or str(file.parent).endswith(end):  # the file, or in the folder
            return f", at {file.name}:{line}"
    return ""
