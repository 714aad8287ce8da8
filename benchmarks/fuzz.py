"""Files with mistakes in them: configs and traces, drawn at random, read in this process and by the command line.

    python benchmarks/fuzz.py [EXAMPLES [SEED]]

Each is read, or refused in one message. Counted is what else happens: any other exception, or text that does not print;
a reader that does not come back; a file that is left half-written. The same strategies draw a few hundred in the tests.
"""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from report import publish

from opperf.errors import InputError
from opperf.sources.suite_file import read_suite
from opperf.store.run_file import read_run

#: What draws the files, and what must hold of whoever reads them, is the tests'.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
files: Any = importlib.import_module("tests.unit.sources.conftest")
EXAMPLES = 20_000
#: A command takes its start too, so it gets one of so many examples.
BY_COMMAND = 400
#: A config may have 100 000 cases, which take seconds to make. Longer than that: seconds of CPU time to read a file
#: here, and of anybody's for a whole command.
LONGEST_READ, LONGEST_COMMAND = 30.0, 120.0
NULL_CONFIG = {
    name: {
        "input_iterator": "RangeConfigIterator",
        "input_data_generator": "PyTorch:DefaultDataGenerator",
        "config": [
            {"input": [{"args": [{"type": "tensor", "dtype": "float", "shape": [[1, 3], 4], "__range__": ["shape"]}]}]}
        ],
    }
    for name in ("null:steady", "softmax")
}


class TooLong(BaseException):
    """A reader did not come back."""


@dataclass
class Tally:
    """What became of the files of one kind."""

    kind: str
    files: int = 0
    read: int = 0
    refused: int = 0
    broken: int = 0
    hung: int = 0
    half_written: int = 0


@dataclass(frozen=True)
class Fuzz:
    """Draws files into a folder; those that break something are kept beside it."""

    folder: Path
    kept: Path
    seed: int

    def run(self, kind: str, strategy: Any, read: Callable[[Path], bool], count: int) -> Tally:
        """Read so many files of one kind."""
        tally = Tally(kind)
        path = self.folder / "drawn.json"

        @seed(self.seed)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
        )
        @given(document=strategy)
        def each(document: Any) -> None:
            path.write_bytes(document if isinstance(document, bytes) else files.written(document))
            self._one(tally, path, read)

        each()
        return tally

    def _one(self, tally: Tally, path: Path, read: Callable[[Path], bool]) -> None:
        tally.files += 1
        try:
            with within(LONGEST_READ):
                was_read = read(path)
        except (TooLong, subprocess.TimeoutExpired):
            tally.hung += 1
        except HalfWritten:
            tally.half_written += 1
        except Exception:
            tally.broken += 1
            self._tell(tally, path)
        else:
            tally.read += was_read
            tally.refused += not was_read
            return
        self.kept.mkdir(exist_ok=True)
        (self.kept / f"{tally.kind.replace(' ', '_')}_{tally.files}.json").write_bytes(path.read_bytes())

    def _tell(self, tally: Tally, path: Path) -> None:
        if tally.broken == 1:
            print(f"the first of its kind ({tally.kind}), in {self.kept}:", file=sys.stderr)
            traceback.print_exc()


class HalfWritten(Exception):
    """A command left a file that cannot be read, or one that nobody asked for."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in what takes more CPU time; again each second, where the first one was caught on its way."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def command(path: Path, output: str, check: Callable[[Path], object], *words: str) -> bool:
    """Give a file to a command, which may write one; whether it was read."""
    with tempfile.TemporaryDirectory() as folder:
        whole = [sys.executable, "-m", "opperf", *words]
        done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, timeout=LONGEST_COMMAND)
        if done.returncode not in (0, 2, 3) or "Traceback" in done.stderr:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
        left = {one.name for one in Path(folder).iterdir()}
        if left - {output}:
            raise HalfWritten(sorted(left))
        if output in left:
            try:
                check(Path(folder, output))
            except InputError as error:
                raise HalfWritten(output) from error
        return done.returncode != 2


def checked(path: Path) -> bool:
    """Check a config."""
    return command(path, "", read_run, "config", "check", str(path))


def run(path: Path) -> bool:
    """Measure a config on the null framework, for a second at most, and write the records."""
    words = ("--framework", "null", "--runs", "1", "--budget", "1", "--output", "run.json")
    return command(path, "run.json", read_run, "run", "--config", str(path), *words)


def replayed(path: Path) -> bool:
    """Read a trace and write it as a suite, measuring nothing."""
    return command(path, "suite.json", read_suite, "replay", str(path), "--dry-run", "--save-suite", "suite.json")


def main() -> None:
    """Draw, read, publish."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    few = max(5, count // BY_COMMAND)
    config_words = [word for word in files.CONFIG_WORDS if not word.startswith(("torch", "aten", "mxnet"))]
    one_mistake = files.mutated(files.CONFIG, files.CONFIG_WORDS, most=1)
    null_configs = files.mutated(NULL_CONFIG, config_words, most=1)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.json")
        whole.write_bytes(files.written(files.TRACE))
        fuzz = Fuzz(Path(folder), Path.cwd() / "fuzz_failures", number)
        config, trace = files.read_or_refuse_config, files.read_or_refuse_trace
        tallies = [
            fuzz.run("config", files.CONFIGS, config, count * 2 // 10),
            fuzz.run("config, one mistake", one_mistake, config, count * 2 // 10),
            fuzz.run("config, bytes", files.damaged(files.CONFIG), config, count // 10),
            fuzz.run("trace", files.TRACES, trace, count * 3 // 10),
            fuzz.run("trace, bytes", files.damaged(files.TRACE), trace, count // 10),
            fuzz.run("Kineto trace", files.KINETOS, lambda path: bool(trace(whole, path)), count // 10),
        ]
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), Path.cwd() / "fuzz_failures", number)
        tallies += [
            fuzz.run("opperf config check", null_configs, checked, few),
            fuzz.run("opperf run --config", null_configs, run, few),
            fuzz.run("opperf replay", files.TRACES, replayed, few),
        ]
    publish(
        "fuzz",
        "files with mistakes in them",
        [vars(tally) for tally in tallies],
        {
            "files that end otherwise than read or refused": (sum(tally.broken for tally in tallies), 0, "files"),
            "readers that do not come back": (sum(tally.hung for tally in tallies), 0, "files"),
            "files that are left half-written": (sum(tally.half_written for tally in tallies), 0, "files"),
        },
    )


if __name__ == "__main__":
    main()
