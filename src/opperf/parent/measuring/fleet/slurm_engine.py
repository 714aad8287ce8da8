"""Slurm as the engine, by submitit: each job is a node for as long as the run lasts, and takes its pieces from files.

Head and jobs share a folder, as Slurm's users share their home. Each file appears whole, by a rename. A job ends with
Slurm's `scancel`, when the folder is gone, or when the head has not touched `alive` in a while: whatever ends the head,
nothing goes on measuring for nobody. submitit runs jobs on this machine where it is told to; the tests do that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.json_text import JsonDict
from opperf.parent.measuring.fleet.engine import Broken, Done, Event, Joined, Left, introduced
from opperf.parent.workers.package import cache_folder, ensure_folder

#: How often each side looks for files, in seconds: shared file systems show them about so late.
LOOK_EVERY = 0.1
#: How often the head asks Slurm for its jobs, and says that it is alive; and after how long a job gives it up. Seconds.
ASK_EVERY, GIVE_UP = 5.0, 120.0
#: How often Slurm itself is asked at least, in seconds; where jobs last for hours, submitit asks once in ten minutes.
ASK_SLURM_EVERY = 60.0
#: How long the other jobs are waited for when the first has started, in seconds. Later ones join the run.
START_LIMIT = 60.0
#: How often a job that ended by itself is submitted again.
MOST_AGAIN = 3
#: The longest that a job may take, in minutes, unless SBATCH_TIMELIMIT says otherwise.
TIME_LIMIT = 24 * 60


def parse_job_count(text: str) -> int:
    """Return how many jobs `slurm:JOBS` asks for; raises `InputError`."""
    if text.isdecimal() and 1 <= int(text) <= 10_000:
        return int(text)
    raise InputError(f"`--fleet slurm:{text[:20]}` has no number of jobs", hint="write, for example, `slurm:8`")


def serve(folder: str, job: str) -> None:
    """Carry out the orders for a job until nobody is there to give any; runs on a node."""
    from opperf.parent.measuring.fleet.node import Hands

    home, hands = Path(folder), Hands()
    host = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    _put(home / "out", f"{job}.joined", json.dumps({"host": host, **json.loads(hands.introduce())}))
    while _alive(home):
        orders = sorted((home / job).glob("*.order"))
        for path in orders:
            text = path.read_text(encoding="utf-8")
            path.unlink()
            try:
                name, answer = f"{path.stem}.done", hands.carry_out(text)
            except Exception as error:  # the head decides what comes of it
                name, answer = f"{path.stem}.broken", f"{type(error).__name__}: {error}"
            _put(home / "out", name, answer)
        if not orders:
            time.sleep(LOOK_EVERY)
    hands.close()


def _alive(home: Path) -> bool:
    try:
        return time.time() - (home / "alive").stat().st_mtime < GIVE_UP
    except OSError:
        return False


def _put(folder: Path, name: str, text: str) -> None:
    """Write a file that appears whole."""
    with contextlib.suppress(FileNotFoundError):  # the head has gone, and its folder with it
        unfinished = folder / f"{name}.unfinished"
        unfinished.write_text(text, encoding="utf-8")
        unfinished.rename(folder / name)


class SlurmEngine:
    """Jobs of Slurm, each a node."""

    def __init__(self, jobs: int, *, cluster: str | None = None) -> None:
        """Start nothing yet; raises `InputError` where submitit or Slurm is missing. `cluster` is submitit's word."""
        try:
            import submitit
        except ImportError as error:
            raise InputError(
                "`--fleet slurm` needs submitit, which is not installed",
                hint="`pip install submitit`",
                slug="no_engine",
            ) from error
        cluster = cluster or os.environ.get("OPPERF_SUBMITIT_CLUSTER") or "slurm"
        if cluster == "slurm" and shutil.which("sbatch") is None:
            raise InputError(
                "`--fleet slurm` needs `sbatch`, which is not on the path",
                hint="run this on a login node of the cluster",
                slug="no_engine",
            )
        self._home = Path(tempfile.mkdtemp(prefix="fleet-", dir=ensure_folder(cache_folder())))
        self._executor = submitit.AutoExecutor(folder=self._home / "logs", cluster=cluster)
        self._executor.update_parameters(name="opperf", timeout_min=TIME_LIMIT, slurm_exclusive=True)
        self._names = [f"job{number}" for number in range(jobs)]
        self._jobs: JsonDict = {}
        self._nodes: dict[str, str] = {}
        self._again = dict.fromkeys(self._names, 0)
        self._last_question = self._last_forced = 0.0

    def start(self) -> Sequence[Joined]:
        """Submit the jobs; return those that started within a while of the first."""
        (self._home / "out").mkdir()
        (self._home / "alive").touch()
        for name in self._names:
            self._submit_job(name)
        nodes: list[Joined] = []
        limit: float | None = None
        while len(nodes) < len(self._names) and (limit is None or time.monotonic() < limit):
            nodes += [event for event in self.events(1.0) if isinstance(event, Joined)]
            if not self._jobs:
                raise HarnessError(
                    "no job of the fleet has started", hint=f"see the logs in `{self._home / 'logs'}`", slug="no_node"
                )
            if nodes and limit is None:
                limit = time.monotonic() + START_LIMIT
        return nodes

    def _submit_job(self, name: str) -> None:
        shutil.rmtree(self._home / name, ignore_errors=True)
        (self._home / name).mkdir()
        self._jobs[name] = self._executor.submit(serve, str(self._home), name)

    def submit(self, ticket: int, node: str, order: str) -> None:
        """Leave an order where the job of a node looks."""
        for job, name in self._nodes.items():
            if name == node:
                _put(self._home / job, f"{ticket:09d}.order", order)

    def events(self, seconds: float) -> Sequence[Event]:
        """Return the events that jobs have written, and the jobs that are gone."""
        limit = time.monotonic() + seconds
        while True:
            events = [*self._read_events(), *self._read_ends()]
            if events or time.monotonic() >= limit:
                return events
            time.sleep(LOOK_EVERY)

    def _read_events(self) -> list[Event]:
        events: list[Event] = []
        for path in sorted((self._home / "out").iterdir()):
            if path.suffix not in (".joined", ".done", ".broken"):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            path.unlink()
            if path.suffix == ".joined" and path.stem in self._jobs:
                events += self._join(path.stem, text)
            elif path.suffix != ".joined" and path.stem.isdecimal():
                events.append((Done if path.suffix == ".done" else Broken)(int(path.stem), text))
        return events

    def _join(self, job: str, text: str) -> list[Event]:
        """Name the node of a job after its host; several jobs of one host are numbered. A job of none is cancelled."""
        try:
            node = introduced(text)
        except InputError:
            self._jobs.pop(job).cancel()
            return []
        name, number = f"node-{node.host}", 1
        while name in self._nodes.values():
            number += 1
            name = f"node-{node.host}.{number}"
        self._nodes[job] = name
        return [node.joined(name)]

    def _read_ends(self) -> list[Event]:
        """Return the nodes whose jobs have ended by themselves; they are submitted again."""
        if time.monotonic() - self._last_question < ASK_EVERY:
            return []
        self._last_question = now = time.monotonic()
        (self._home / "alive").touch()
        events: list[Event] = []
        forces = now - self._last_forced >= ASK_SLURM_EVERY
        if forces:
            self._last_forced = now
        for place, (name, job) in enumerate([*self._jobs.items()]):
            if not job.done(force_check=forces and place == 0):  # one answer of Slurm is of all jobs
                continue
            del self._jobs[name]
            node = self._nodes.pop(name, None)
            if node is not None:
                events.append(Left(node, f"its job {job.job_id} has ended ({job.state})"))
            if self._again[name] < MOST_AGAIN:
                self._again[name] += 1
                self._submit_job(name)
        return events

    def close(self) -> None:
        """Cancel the jobs, and take the folder away by which they see that the head has gone."""
        for job in self._jobs.values():
            with contextlib.suppress(OSError):
                job.cancel()
        self._jobs = {}
        shutil.rmtree(self._home, ignore_errors=True)
