"""A team's server under load: 50 readers and 8 machines that add runs, on SQLite and on PostgreSQL as it comes.

The database has a month of made-up nights. `opperf serve` has two processes and its access log, as the unit in
`examples/serve` starts it. A reader opens a page, looks at it for two to six seconds, and opens another, of any
kind. A machine sends a run of twenty records, packed, about every five seconds, and each tenth run twice, as a machine
does that did not hear the answer. At the end, every run that the server took is in the database, whole.

    python benchmarks/served_load.py [SECONDS] [READERS] [MACHINES]
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from postgres import server as postgres_server
from report import publish

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.nights import archive

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import quantile
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries

SECONDS, READERS, MACHINES = 600.0, 50, 8
LIMIT = 300.0
TOKEN = "a-token-of-visitors-0123"
#: How long a reader looks at a page, and a machine rests between two runs. Seconds.
LOOK, REST = (2.0, 6.0), (2.5, 7.5)
#: Each so many runs is sent twice.
TWICE = 10
PAGES = (
    *("/", "/?framework=torch&build=2.12.dev20", "/changes", "/changes?category=matmul", "/operators"),
    *("/operators/matmul", "/operators/softmax?framework=torch", "/operators/add?metric=memory_peak", "/runs"),
    *("/runs/run-25", "/runs/night-29", "/beside?base=run-00&new=run-25", "/suites/small%20net", "/machines/1"),
    *("/search?q=mat", "/operators?format=json", "/runs/night-28?format=csv"),
)


@dataclass(frozen=True)
class Answers:
    """What visitors got: milliseconds by what they asked for, and what was wrong."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, what: str, seconds: float, error: str | None) -> None:
        """Note an answer."""
        with self.lock:
            self.times.setdefault(what, []).append(seconds * 1e3)
            if error is not None:
                self.errors.append(error)

    @property
    def all(self) -> list[float]:
        """All times, in order."""
        return sorted(value for times in self.times.values() for value in times)


def ask(connection: HTTPConnection, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int | str:
    """Return the status of an answer, which is read to its end, or what went wrong."""
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
    except (OSError, HTTPException) as error:
        connection.close()
        return type(error).__name__
    return answer.status


def read_pages(port: int, seed: int, stop: threading.Event, answers: Answers) -> None:
    """Open pages as a reader does."""
    draw, connection = random.Random(seed), HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip"}
    while not stop.wait(draw.uniform(*LOOK)):
        page = draw.choice(PAGES)
        begin = time.perf_counter()
        status = ask(connection, "GET", page, headers)
        answers.add(page, time.perf_counter() - begin, None if status == 200 else f"{page}: {status}")


def send_runs(port: int, name: str, document: dict[str, Any], stop: threading.Event, answers: Answers) -> None:
    """Send runs as a machine does."""
    draw, connection = random.Random(name), HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {token(name)}", "Content-Encoding": "gzip"}
    number = 0
    while not stop.wait(draw.uniform(*REST)):
        number += 1
        key = f"{name}-{number}"
        body = gzip.compress(json.dumps({**document, "run": {**document["run"], "id": key}}).encode(), 1)
        for expected in (201, 200) if number % TWICE == 0 else (201,):
            begin = time.perf_counter()
            status = ask(connection, "POST", "/api/runs", headers, body)
            what = "a run, added" if expected == 201 else "a run, again"
            error = None if status == expected else f"{key}: {status}, expected {expected}"
            answers.add(what, time.perf_counter() - begin, error)
        if error is None:
            with answers.lock:
                answers.runs.append(key)


def token(machine: str) -> str:
    """Return the token of a machine."""
    return f"a-token-of-{machine}-0123"


@contextmanager
def serving(address: str, machines: Sequence[str], log: Path) -> Iterator[tuple[int, psutil.Process]]:
    """Serve a database by the command, and yield its port and itself; what it writes to stderr goes into a file."""
    words = {"OPPERF_TOKEN": TOKEN, "OPPERF_MACHINES": " ".join(f"{name}={token(name)}" for name in machines)}
    command = [sys.executable, "-m", "opperf", "serve", "--database", address, "--port", "0"]
    command += ["--workers", "2", "--access-log"]
    with log.open("w") as stream:
        process = subprocess.Popen(command, env={**os.environ, **words}, stderr=stream, cwd=log.parent)
        try:
            while not (place := re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text())):
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            yield int(place[1]), psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait()


def busy(server: psutil.Process) -> float:
    """Return the CPU time that the processes of a server have taken, in seconds."""
    every = [process.cpu_times() for process in (server, *server.children())]
    return sum(times.user + times.system for times in every)


def load(
    address: str, folder: Path, seconds: float, readers: int, machines: int
) -> tuple[Answers, Answers, int, float]:
    """Load a server for so long.

    Return what readers and machines got, how many runs are lost or not whole, and the CPU time of the server.
    """
    with archive(address) as store:
        document = store.document_json("run-25")
    assert document is not None
    for record in document["records"]:  # type: ignore[attr-defined]
        record["samples"] = {}
    pages, runs, stop = Answers(), Answers(), threading.Event()
    names = [f"machine{number}" for number in range(machines)]
    with serving(address, names, folder / "access.log") as (port, server):
        begin = busy(server)
        visitors = [threading.Thread(target=read_pages, args=(port, seed, stop, pages)) for seed in range(readers)]
        visitors += [threading.Thread(target=send_runs, args=(port, name, document, stop, runs)) for name in names]
        for visitor in visitors:
            visitor.start()
        time.sleep(seconds)
        stop.set()
        for visitor in visitors:
            visitor.join()
        taken = busy(server) - begin
    rows = len(document["records"])  # type: ignore[arg-type]
    with Archive(Address.of(address)) as store:
        there = {entry.key: entry.rows for entry in entries(store)}
    return pages, runs, sum(there.get(key) != rows for key in runs.runs), taken


def row(system: str, who: str, seconds: float, answers: Answers) -> dict[str, Any]:
    """Return the line of readers or machines."""
    times = answers.all
    return {
        "system": system,
        "who": who,
        "seconds": seconds,
        "requests": len(times),
        "a second": len(times) / seconds,
        "median ms": median(times),
        "p99 ms": quantile(times, 0.99),
        "longest ms": times[-1],
        "errors": len(answers.errors),
    }


def main() -> None:
    """Load a server of each system."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    readers, machines = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((2, READERS), (3, MACHINES)))
    rows: list[dict[str, Any]] = []
    each: list[dict[str, Any]] = []
    cpu: list[dict[str, Any]] = []
    figures: dict[str, tuple[float, float, str]] = {}
    with tempfile.TemporaryDirectory() as name, postgres_server() as postgres:
        systems: dict[str, Callable[[], str]] = {"SQLite": lambda: f"{name}/load.db"}
        if postgres is not None:
            systems["PostgreSQL"] = lambda: str(postgres)
        for system, place in systems.items():
            pages, runs, lost, taken = load(place(), Path(name), seconds, readers, machines)
            cpu.append({"system": system, "CPU s": taken, "ms a request": 1e3 * taken / len([*pages.all, *runs.all])})
            rows += [
                row(system, f"{readers} readers", seconds, pages),
                row(system, f"{machines} machines", seconds, runs),
            ]
            for what, times in sorted({**pages.times, **runs.times}.items()):
                each.append({"system": system, "what": what, "median ms": median(times), "longest ms": max(times)})
            for error in (*pages.errors, *runs.errors)[:10]:
                print(f"{system}: {error}", file=sys.stderr)
            figures |= {
                f"{system}: errors": (len(pages.errors) + len(runs.errors), 0, ""),
                f"{system}: runs lost or not whole": (lost, 0, ""),
                f"{system}: p99 of pages": (quantile(pages.all, 0.99), LIMIT, "ms"),
                f"{system}: p99 of runs": (quantile(runs.all, 0.99), LIMIT, "ms"),
            }
    publish(
        "served_load",
        f"{readers} readers and {machines} machines",
        rows,
        figures,
        {"Each kind of request": each, "CPU time of the server": cpu},
    )


if __name__ == "__main__":
    main()
