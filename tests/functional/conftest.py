"""The command line as a user has it, run in this process to be quick; its children are real."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from runpy import run_module
from typing import Any

import pytest
from tests.functional.nodes import Lie, Lying, machine
from tests.in_process import InProcess

from opperf.domain.node import Node
from opperf.parent.cli.main import main
from opperf.parent.measuring.fleet import dispatch
from opperf.parent.measuring.fleet.engine import Engine, Joined
from opperf.parent.measuring.fleet.node import Hands

#: The fewest pairs, of the null framework, whose times do not vary.
FEW = ("--pairs", "3")


@dataclass(frozen=True)
class Done:
    """What a command left: its exit code, its data and its talk."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of a JSON document on stdout."""
        result: list[dict[str, Any]] = json.loads(self.out)["records"]
        return result


@pytest.fixture(autouse=True)
def here(one_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and a cache that is not the user's."""
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(one_cache))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@contextmanager
def current(folder: Path, cache: Path) -> Iterator[Path]:
    """Make a folder the current one, with a cache that is not the user's, for what several tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(cache))
        patch.chdir(folder)
        yield folder


def invoke(*words: object) -> Done:
    """Run a command: `invoke("run", "add", "--framework", "null")`."""
    return _ended(main, *words)


def invoke_module(name: str, *words: object) -> Done:
    """Run a module to its end, as `python -m NAME` does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # another test may have imported it
        return _ended(partial(run_module, name, run_name="__main__"), *words)


def _ended(main: Callable[[], object], *words: object) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["opperf", *map(str, words)])
        patch.setenv("COLUMNS", os.environ.get("COLUMNS", "9999"))  # as wide as tables need, unless the test says it
        with pytest.raises(SystemExit) as left:
            main()
    code = left.value.code
    return Done(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@pytest.fixture
def opperf() -> Callable[..., Done]:
    """Run a command, in the folder and with the cache of the test."""
    return invoke


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., InProcess]]:
    """Have `--fleet` mean nodes of these CPUs, some of which die."""

    all_hands: list[Hands] = []

    def begin(*cpus: str, deaths: dict[str, int] | None = None, lie: Lie | None = None) -> InProcess:
        nodes = {
            f"n{place}": Joined(Node(f"n{place}", f"{cpu}, 8 cores"), machine(cpu)) for place, cpu in enumerate(cpus)
        }
        all_hands.append(Hands())
        engine = InProcess(nodes, all_hands[-1], deaths) if lie is None else Lying(nodes, all_hands[-1], lie)

        def named(text: str) -> Engine:
            return engine

        monkeypatch.setattr(dispatch, "parse_engine", named)
        return engine

    yield begin
    for hands in all_hands:
        hands.close()


@pytest.fixture
def measure(opperf: Callable[..., Done]) -> Callable[..., list[dict[str, Any]]]:
    """Run a command on the null framework that must end well, and return its records."""

    def run(*words: object) -> list[dict[str, Any]]:
        done = opperf("run", *words, "--framework", "null", "--format", "json")
        assert done.code == 0, done.err
        return done.records

    return run
