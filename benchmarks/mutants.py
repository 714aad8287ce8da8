"""Every reader of opperf on mutants of its files: read within bounds, or refused in one message.

Counted is what else happens: any other exception; a wrong exit code; a reader that takes longer than 20 s, or over
500 MB; a file that is written; code that is run. Readers work in a child of their own, where Python tells of both.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadline import TooLong, within
from evil_files import mutant
from readers import REFUSED, Reader, WrongCode

from opperf.domain.errors import OpperfError

#: Mutants that one child reads. Memory is told for each batch: what one mutant took is not told of the next batch's.
BATCH = 250
#: Seconds of CPU time for one mutant, and bytes of its reader's process; the limit of the address space is no figure,
#: and only keeps the machine alive.
LONGEST_MUTANT, MOST_MEMORY, MOST_MEMORY_SPACE = 20.0, 500e6, 6 << 30
#: Where mutants are kept that were neither read nor refused.
FAILURES = Path.cwd() / "fuzz_failures"


@dataclass(frozen=True)
class Fate:
    """What became of one mutant; `told` is the last line of what was raised."""

    fate: str
    told: str = ""


#: What no reader does: it runs nothing, and writes nothing anywhere.
RUNS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "subprocess.Popen",
    "pty.spawn",
    "os.startfile",
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Watch:
    """Sees what Python does on behalf of a file: code that is run, and files that are written outside a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.seen: dict[str, str] = {}
        sys.addaudithook(self._heard)

    def _heard(self, event: str, given: tuple[Any, ...]) -> None:
        if event in RUNS or (event == "import" and str(given[0]).startswith("canary")):
            self.seen["code run"] = f"{event} {given[:2]}"
        elif event == "open" and isinstance(given[0], (str, bytes)) and isinstance(given[2], int) and given[2] & WRITES:
            path = os.fsdecode(given[0])
            if path != os.devnull and not os.path.abspath(path).startswith(self._folder):
                self.seen["outside"] = path


def fates(reader: Reader, number: int, count: int, folder: Path) -> Iterator[tuple[int, Fate, int]]:
    """Yield what became of each mutant, with its number and the memory that the reader's process has taken so far.

    Mutants are read in a child, so that one that kills its reader costs itself alone.
    """
    begin = 0
    while begin < count:
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            status = 1
            try:
                _read_all(reader, number, range(begin, count), folder, theirs)
                status = 0
            finally:
                os._exit(status)
        os.close(theirs)
        with os.fdopen(ours) as told:
            for line in told:
                place, fate, message, memory = json.loads(line)
                yield place, Fate(fate, message), memory
                begin = place + 1
        os.waitpid(child, 0)
        if begin < count and begin % BATCH:
            yield begin, Fate("broken", "its reader was killed"), 0
            begin += 1


def _read_all(reader: Reader, number: int, places: range, folder: Path, told: int) -> None:
    """Read mutants one after another, and tell of each; leaves after a batch, so that memory is each batch's own."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_SPACE, MOST_MEMORY_SPACE))
    watch = Watch(folder)
    for place in places:
        draw = random.Random(f"{number}:{reader.kind}:{place}")
        content, ending = mutant(reader.whole, draw, packed=reader.packed)
        name = f"drawn{reader.ending if '/' not in reader.ending else ''}{ending}"
        path = folder / (reader.ending.strip("/") if "/" in reader.ending else name)
        path.write_bytes(content)
        watch.seen.clear()
        fate = _fate(reader, path)
        for what, said in watch.seen.items():
            fate = Fate(what, said)
        left = {one.name for one in folder.iterdir()} - {path.name, "cache"}
        if any(not one.startswith("whole_") for one in left):
            fate = Fate("outside", str(sorted(left)))
        if fate.fate not in ("read", "refused"):
            kept = Path(FAILURES, f"{reader.kind.replace(' ', '_').replace(',', '')}_{place}{path.suffix}")
            kept.write_bytes(content)
        path.unlink(missing_ok=True)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        os.write(told, (json.dumps([place, fate.fate, fate.told[-300:], memory]) + "\n").encode())
        if (place + 1) % BATCH == 0:
            return


def _fate(reader: Reader, path: Path) -> Fate:
    try:
        with within(LONGEST_MUTANT):
            read = reader.read(path)
    except TooLong:
        return Fate("hung")
    except OpperfError as error:
        if error.exit_code != REFUSED:
            return Fate("wrong code", f"{error.exit_code}: {error}")
        return Fate("refused")
    except WrongCode as error:
        return Fate("wrong code", str(error))
    except BaseException as error:  # whatever a reader raises is what is counted
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return Fate("broken", f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})")
    return Fate("refused" if read is False else "read")


@dataclass
class Counts:
    """What became of the mutants of one reader."""

    kind: str
    files: int = 0
    read: int = 0
    refused: int = 0
    broken: int = 0
    wrong_code: int = 0
    hung: int = 0
    outside: int = 0
    code_run: int = 0
    megabytes: float = 0.0


def counts_of(reader: Reader, number: int, count: int, folder: Path) -> Counts:
    """Read so many mutants, and count; the first of each fault is told."""
    FAILURES.mkdir(exist_ok=True)
    counted: Counter[str] = Counter()
    most = 0
    for place, fate, memory in fates(reader, number, count, folder):
        counted[fate.fate] += 1
        most = max(most, memory)
        if fate.fate not in ("read", "refused"):
            print(f"{reader.kind} {place}: {fate.fate}: {fate.told}", file=sys.stderr)
    return Counts(
        kind=reader.kind,
        files=counted.total(),
        read=counted["read"],
        refused=counted["refused"],
        broken=counted["broken"],
        wrong_code=counted["wrong code"],
        hung=counted["hung"],
        outside=counted["outside"],
        code_run=counted["code run"],
        megabytes=round(most / 1e6),
    )
