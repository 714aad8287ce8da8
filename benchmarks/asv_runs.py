"""NumPy's asv suite, or another, as asv itself finds and runs it, beside opperf's command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import count, product
from pathlib import Path
from typing import TypeAlias

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.sources.asv_folder import asv_folder
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.suite_library import LIBRARIES, library_folder

#: The release, and the four files of NumPy's suite that are compared with themselves: 571 cases.
ENVIRONMENT = "numpy==2.2.6 + packaging"
FILES = "^bench_(clip|creation|itemselection|reduce)"
#: A benchmark by asv's name, with the texts of its parameters.
Case: TypeAlias = tuple[str, tuple[str, ...]]
LISTING = """
import json, sys
sys.path.append(sys.argv[2])
from asv_runner._aux import update_sys_path
from asv_runner.discovery import disc_benchmarks
update_sys_path(sys.argv[1])
found = [[one.name, one.params] for one in disc_benchmarks(sys.argv[1])]
print("\\n" + json.dumps(found))
"""
#: How asv's empty repository is made: it wants one, and measures none of its commits here.
REPOSITORY = (
    ("init", "-q"),
    ("-c", "user.name=asv", "-c", "user.email=asv@localhost", "commit", "-q", "-m", "x", "--allow-empty"),
)


def opperf(*words: str, codes: Sequence[int] = (0,)) -> str:
    """Run a command, and return its data."""
    command = [sys.executable, "-m", "opperf", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def benchmark_folder(suite: str) -> Path:
    """Return the folder that holds the benchmarks."""
    return Path(asv_folder(suite).folder).resolve()


def listed(suite: str, environment: str) -> list[Case]:
    """Return the benchmarks that asv's library finds, with each combination of parameters."""
    python = interpreter(EnvironmentSpec.parse(environment), framework="numpy")
    command = [str(python), "-c", LISTING, str(benchmark_folder(suite)), library_folder("asv", print)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return [(name, texts) for name, params in found for texts in product(*params)]


class AsvRuns:
    """Runs asv in the environment that opperf measures, with asv's own library: without it asv finds nothing there."""

    def __init__(self, command: str, suite: str, environment: str, folder: Path) -> None:
        library = LIBRARIES["asv"]
        spec = EnvironmentSpec.parse(f"{environment} + {library.package}=={library.version}")
        self._python = interpreter(spec, framework="numpy")
        self._command, self._folder, self._numbers = command.split(), folder, count()
        repository = folder / "repository"
        repository.mkdir()
        for words in REPOSITORY:
            subprocess.run(["git", "-C", str(repository), *words], check=True)
        self._settings = {
            "version": 1,
            "project": "suite",
            "repo": str(repository),
            "branches": ["HEAD"],
            "benchmark_dir": str(benchmark_folder(suite)),
            "environment_type": "existing",
        }

    def medians(self, *selects: str) -> dict[Case, float]:
        """Run the cases that a regular expression is found in, and return the medians of those that are measured."""
        number = next(self._numbers)
        results, settings = self._folder / f"results{number}", self._folder / f"asv{number}.conf.json"
        settings.write_text(json.dumps({**self._settings, "results_dir": str(results)}))
        at_home = {**os.environ, "HOME": str(self._folder)}  # asv keeps there what it knows of the machine
        benches = [word for select in selects for word in ("--bench", select)]
        for words in (
            ["machine", "--yes"],
            ["run", "--environment", f"existing:{self._python}", *benches, "--set-commit-hash", "HEAD"],
        ):
            command = [*self._command, *words, "--config", str(settings)]
            subprocess.run(command, cwd=self._folder, env=at_home, check=False, stdout=sys.stderr)
        return _medians(results)


def _medians(folder: Path) -> dict[Case, float]:
    """Return the results of the only file that asv has written."""
    (path,) = (path for path in folder.glob("*/*.json") if path.name != "machine.json")
    result: dict[Case, float] = {}
    for name, (values, params, *_) in json.loads(path.read_text())["results"].items():
        cases = zip(product(*params), values or ())
        result |= {(name, texts): value for texts, value in cases if value and value == value}
    return result
