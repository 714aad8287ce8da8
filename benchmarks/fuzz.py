"""Files with mistakes in them, of every kind that opperf reads: by each reader in this process, and by whole commands.

    python benchmarks/fuzz.py [EXAMPLES [SEED]]      # the seed is that of the day

Each is read, or refused in one message. Counted is what else happens: any other exception, or text that does not print;
an exit code that nobody promised; a reader that does not come back, or takes over 500 MB; a file that is left
half-written or lies elsewhere; code that is run. Configs and traces are drawn by the strategies of the tests, which
know their grammar; files of every kind are mutants of whole ones (`evil_files.py`).
"""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from database_readers import database_readers
from deadline import TooLong, within
from evil_files import mutant
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from mutants import MOST_MEMORY, Counts, counts_of
from readers import WHOLE, Reader, readers
from report import publish

from opperf.domain.errors import InputError
from opperf.parent.sources.suite_file import read_suite
from opperf.parent.store.documents import read_run

#: What draws the files, and what must hold of whoever reads them, is the tests'.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
files: Any = importlib.import_module("tests.unit.parent.sources.conftest")
EXAMPLES = 20_000
#: A command takes its start too, so it gets one of so many examples.
BY_COMMAND = 1000
#: Readers that work at a time.
WORKERS = 2
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


def command(path: Path, output: str, check: Callable[[Path], object], *words: str) -> bool:
    """Give a file to a command, which may write one; whether it was read. Beside it lies code that it must not run."""
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder, "canary.py")
        canary.write_text("import pathlib\npathlib.Path('pwned').touch()\ndef touch(*a, **b): pass\n")
        whole = [sys.executable, "-m", "opperf", *words]
        done = subprocess.run(whole, cwd=folder, capture_output=True, text=True, timeout=LONGEST_COMMAND)
        if done.returncode not in (0, 2, 3) or "Traceback" in done.stderr or WRONG in done.stderr:
            raise AssertionError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
        left = {one.name for one in Path(folder).iterdir()} - {canary.name}
        if left - {output, f"{output}.journal"}:
            raise HalfWritten(sorted(left))
        if output in left:
            try:
                check(Path(folder, output))
            except InputError as error:
                raise HalfWritten(output) from error
        return done.returncode != 2


#: What a command says that met an error which nobody foresaw.
WRONG = "what opperf did wrong"
NULL_RUN = ("--framework", "null", "--runs", "1", "--budget", "1", "--output", "run.json")


def checked(path: Path) -> bool:
    """Check a config."""
    return command(path, "", read_run, "config", "check", str(path))


def run(path: Path) -> bool:
    """Measure a config on the null framework, for a second at most, and write the records."""
    return command(path, "run.json", read_run, "run", "--config", str(path), *NULL_RUN)


def run_suite(path: Path) -> bool:
    """Measure a suite on the null framework, for a second at most, and write the records."""
    return command(path, "run.json", read_run, "run", "--suite", str(path), *NULL_RUN)


def resume(path: Path) -> bool:
    """Go on with a run that a file says was begun."""
    words = ("run", "null:steady", "--framework", "null", "--budget", "1", "--resume", str(path))
    return command(path, "run.json", read_run, *words, "--output", "run.json")


def show(path: Path) -> bool:
    """Print a result file."""
    return command(path, "", read_run, "show", str(path))


def replay(path: Path) -> bool:
    """Read a trace and write it as a suite, measuring nothing."""
    return command(path, "suite.json", read_suite, "replay", str(path), "--dry-run", "--save-suite", "suite.json")


def every_reader(folder: Path) -> list[Reader]:
    """Return what reads each kind of file; what is read beside it lies in a folder."""
    return [*readers(folder), *database_readers(folder)]


def of_every_reader(number: int, count: int) -> list[Counts]:
    """Read so many mutants of whole files, as many by each reader."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = [one.kind for one in every_reader(Path(folder))]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as workers:
        return list(workers.map(_of_one_reader, kinds, [number] * len(kinds), [count // len(kinds) + 1] * len(kinds)))


def _of_one_reader(kind: str, number: int, count: int) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        reader = next(one for one in every_reader(Path(folder)) if one.kind == kind)
        return counts_of(reader, number, count, Path(folder))


def mutants_of(name: str) -> Any:
    """Return a strategy of the mutants of a whole file."""
    whole = WHOLE[name]()
    return strategies.integers(0, 1 << 30).map(lambda seed: mutant(whole, random.Random(seed), packed=False)[0])


def main() -> None:
    """Draw, read, publish."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    number = int(sys.argv[2]) if len(sys.argv) > 2 else int(f"{date.today():%Y%m%d}")
    drawn, few = count // 5, max(5, count // BY_COMMAND)
    config_words = [word for word in files.CONFIG_WORDS if not word.startswith(("torch", "aten", "mxnet"))]
    one_mistake = files.mutated(files.CONFIG, files.CONFIG_WORDS, most=1)
    null_configs = files.mutated(NULL_CONFIG, config_words, most=1)
    counted = of_every_reader(number, count - drawn)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "whole.json")
        whole.write_bytes(files.written(files.TRACE))
        fuzz = Fuzz(Path(folder), Path.cwd() / "fuzz_failures", number)
        config, trace = files.read_or_refuse_config, files.read_or_refuse_trace
        tallies = [
            fuzz.run("config", files.CONFIGS, config, drawn * 2 // 10),
            fuzz.run("config, one mistake", one_mistake, config, drawn * 2 // 10),
            fuzz.run("config, bytes", files.damaged(files.CONFIG), config, drawn // 10),
            fuzz.run("trace", files.TRACES, trace, drawn * 3 // 10),
            fuzz.run("trace, bytes", files.damaged(files.TRACE), trace, drawn // 10),
            fuzz.run("Kineto trace", files.KINETOS, lambda path: bool(trace(whole, path)), drawn // 10),
        ]
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), Path.cwd() / "fuzz_failures", number)
        tallies += [
            fuzz.run("opperf config check", null_configs, checked, few),
            fuzz.run("opperf run --config", null_configs, run, few),
            fuzz.run("opperf replay", files.TRACES, replay, few),
            fuzz.run("opperf show", mutants_of("record"), show, few),
            fuzz.run("opperf run --resume", mutants_of("record"), resume, few),
            fuzz.run("opperf run --suite", mutants_of("suite"), run_suite, few),
        ]
    rows = [vars(one) for one in counted]
    publish(
        "fuzz",
        f"mutants of whole files, by every reader, seed {number}",
        rows,
        {
            "files that end otherwise than read or refused": (_sum(tallies, counted, "broken"), 0, "files"),
            "exit codes that nobody promised": (_sum((), counted, "wrong_code"), 0, "files"),
            "readers that do not come back": (_sum(tallies, counted, "hung"), 0, "files"),
            "files that are left half-written, or elsewhere": (
                _sum(tallies, (), "half_written") + _sum((), counted, "outside"),
                0,
                "files",
            ),
            "files that had code run": (_sum((), counted, "code_run"), 0, "files"),
            "memory of a reader": (max(one.megabytes for one in counted), MOST_MEMORY / 1e6, "MB"),
        },
        {"files by their grammar, and whole commands": [vars(tally) for tally in tallies]},
    )


def _sum(tallies: Sequence[Tally], counted: Sequence[Counts], what: str) -> int:
    return sum(getattr(one, what) for one in (*tallies, *counted))


if __name__ == "__main__":
    main()
