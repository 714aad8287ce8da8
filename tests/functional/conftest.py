"""The command line as a user has it, run in this process to be quick; its children are real."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opperf.parent.cli.main import main

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
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["opperf", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
    code = left.value.code
    return Done(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@pytest.fixture
def opperf() -> Callable[..., Done]:
    """Run a command, in the folder and with the cache of the test."""
    return invoke


@pytest.fixture
def measure(opperf: Callable[..., Done]) -> Callable[..., list[dict[str, Any]]]:
    """Run a command on the null framework that must end well, and return its records."""

    def run(*words: object) -> list[dict[str, Any]]:
        done = opperf("run", *words, "--framework", "null", "--format", "json")
        assert done.code == 0, done.err
        return done.records

    return run
