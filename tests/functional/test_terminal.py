"""Every table in a real terminal of 80, 100 and 120 columns: no line wider, no word broken that need not be."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import shutil
import struct
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.cli.main import main
from opperf.parent.cli.output import screen
from opperf.parent.reports import render

WIDTHS = (80, 100, 120)
#: What a word may be broken behind.
SEPARATORS = "/,;:=_.-+|)]"
LONG_PATH = "python=/home/somebody/projects/a-long-name/envs/torch-nightly/bin/python3.11"
LONG_NAME = "torch:aten::_scaled_dot_product_flash_attention_for_cpu_backward.overload"
TWELVE = {f"weight_of_layer_{i}": TensorSpec((1024, 1024), "bfloat16") for i in range(12)}


class Terminal:
    """The command line, run in this process with stdout, and stderr where it is asked for, in a pseudo-terminal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def lines(self, *words: object, columns: int | None, both: bool = False, **variables: str) -> list[str]:
        """Run a command in a terminal of so many columns, None in a pipe; return the lines that it shows."""
        reads, writes = os.pipe() if columns is None else pty.openpty()
        if columns is not None:
            fcntl.ioctl(writes, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        seen: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(reads, seen))
        reader.start()
        with self._monkeypatch.context() as changed, open(writes, "w", encoding="utf-8") as place:
            changed.delenv("COLUMNS", raising=False)
            changed.setenv("TERM", "xterm")
            for name, value in variables.items():
                changed.setenv(name, value)
            changed.setattr(sys, "argv", ["opperf", *map(str, words)])
            changed.setattr(sys, "stdout", place)
            changed.setattr(sys, "stderr", place if both else io.StringIO())
            with pytest.raises(SystemExit) as left:
                main()
        reader.join(timeout=300)
        os.close(reads)
        assert left.value.code in (None, 0, 1, 4), seen
        text = b"".join(seen).decode().replace("\r\n", "\n")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()


def _drain(reads: int, seen: list[bytes]) -> None:
    """Read until the last writer is gone, which of a terminal Linux tells as an error."""
    with suppress(OSError):
        while part := os.read(reads, 65536):
            seen.append(part)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal for commands."""
    return Terminal(monkeypatch)


def table(lines: Sequence[str]) -> list[str]:
    """Return the lines of the first table, with its titles."""
    rule = next(i for i, line in enumerate(lines) if line and set(line) == {"-"})
    end = next((i for i in range(rule, len(lines)) if not lines[i]), len(lines))
    begin = max((i for i in range(rule) if not lines[i]), default=-1)
    return [line for line in lines[begin + 1 : end] if set(line) != {"-"}]


def check(narrow: Sequence[str], wide: Sequence[str], columns: int) -> None:
    """Assert that lines fit, and that each word of the table is one of the wide table or a piece between separators."""
    assert max(map(len, narrow)) <= columns, max(narrow, key=len)
    words = {word for line in wide for word in line.split()}
    words |= {"side"} | {
        f"{title}={word}" for title in ("device", "mode", "threads", "settings", "environment") for word in words
    }
    for part in {part for line in table(narrow) for part in line.split()} - {"…"} - words:
        assert any(is_piece(part, word) for word in words), f"{part!r} is broken in the middle"


def is_piece(part: str, word: str) -> bool:
    """Whether a part of a word begins and ends where a separator is."""
    places = (result.start() for result in re.finditer(f"(?={re.escape(part)})", word))
    return any(
        all(
            place in (0, len(word)) or {*word[place - 1 : place + 1]} & {*SEPARATORS} or is_size(word, place)
            for place in (at, at + len(part))
        )
        for at in places
    )


def is_size(word: str, place: int) -> bool:
    """Whether a size goes on at this place, behind its `x`."""
    return bool(re.search(r"\dx$", word[:place])) and word[place : place + 1].isdigit()


def statistics(median: float) -> Statistics:
    """Return a plausible summary."""
    return Statistics(
        mean=median, median=median, p90=median, p99=median, min=median, max=median, stdev=0.0,
        interval=(median * 0.99, median * 1.01), interval_reason=None, precision=None, samples=300,
        calls_per_sample=3, discarded=12, processes=3, sync="block", cache="hot",
    )  # fmt: skip


def recorded(seconds: float = 1e-3, *, suite: bool = False) -> Run:
    """Return a run with long names of everything, on sides that differ in everything."""
    sides = (
        Side("torch", LONG_PATH, implementation=LONG_NAME),
        Side("numpy", "numpy==1.26.4,scipy==1.11.4,something-else==12.34", threads=2),
        Side("jax", "jax", device="cuda:0", mode="compiled", settings={"engine": "threaded", "matmul": "highest"}),
    )
    cases = (Case(LONG_NAME, TWELVE), Case("softmax", {"data": TensorSpec((4,))}, {"axis": -1}))
    share = {"suite": {"total": seconds * 7, "share": 0.419, "cumulative": 0.5}} if suite else {}
    records = [
        Record(
            replace(Trial(case, side, direction), count=7 if suite else 1),
            "ok",
            metrics={"time": statistics(seconds), "latency": statistics(seconds), "cpu_time": statistics(seconds)},
            warnings=(Warning("busy_machine", f"{i} of 300 samples were disturbed", "stop other programs"),),
            facts={"implementation": LONG_NAME, "version": "2.13.0+cpu", **share},
        )
        for i, case in enumerate(cases)
        for side in sides
        for direction in ("forward", "forward_backward")
    ]
    why = Reason("raised", f"RuntimeError: expected scalar type Float but found BFloat16 in {LONG_NAME}", "use float32")
    records.append(Record(Trial(cases[0], sides[0], "backward"), "failed", why))
    return Run("r1", "2026-11-21T08:00:00+00:00", ("run",), Settings(), {}, {}, tuple(records))


FILES = ("old", "new", "suite", "profile", "config", "many", "usual")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of results, a profile and a config."""
    folder = tmp_path_factory.mktemp("written")
    many = recorded()
    crowd = [
        replace(record, trial=replace(record.trial, case=Case(f"softmax_{i}")))
        for i in range(30)
        for record in many.records
    ]
    texts = {
        "old": render(many, "json"),
        "new": render(recorded(1.1e-3), "json"),
        "suite": render(recorded(suite=True), "json"),
        "many": render(replace(many, records=tuple(crowd)), "json"),
        "usual": render(replace(many, records=tuple(usual())), "json"),
        "profile": json.dumps(to_trace(Profile(tuple(map(span, range(12))), (), {7: {}}, ()))),
        "config": json.dumps({"torch.add": {"config": [{"input": [{"args": [64], "kwargs": {}}]}]}}),
    }
    for name in FILES:
        (folder / f"{name}.json").write_text(texts[name])
    return folder


@pytest.fixture
def files(written: Path, here: Path) -> dict[str, Path]:
    """Those files in the current folder."""
    return {name: Path(shutil.copy(written / f"{name}.json", here)) for name in FILES}


def usual() -> Iterator[Record]:
    """Yield what two frameworks make of two operators."""
    cases = (Case("conv2d", {"data": TensorSpec((8, 64, 56, 56)), "weight": TensorSpec((64, 64, 3, 3))}), Case("add"))
    for case in cases:
        for name, version in (("torch", "2.13.0+cpu"), ("numpy", "2.4.6")):
            for direction in ("forward", "backward"):
                trial = Trial(case, Side(name), direction)
                yield Record(trial, "ok", metrics={"time": statistics(1e-3)}, facts={"version": version})


def span(place: int) -> Event:
    """Return a call of an operator with a long name."""
    name = f"{LONG_NAME}_{place}" if place % 2 else "aten::add"
    return Event(name, "operator", 10_000 * place, 9000, 7, "main", module="Net.encoder.layers.0.attention.projection")


TABLES: dict[str, Callable[[dict[str, Path]], tuple[object, ...]]] = {
    "show": lambda files: ("show", files["old"]),
    "show of a suite": lambda files: ("show", files["suite"]),
    "show of several": lambda files: ("show", files["old"], files["new"]),
    "compare of files": lambda files: ("compare", files["old"], files["new"]),
    "operators": lambda files: ("operators", "*norm*"),
    "env list": lambda files: ("env", "list"),
    "profile": lambda files: ("profile", "--read", files["profile"]),
    "plan": lambda files: ("run", "softmax", "add", "--framework", "null", "--dry-run"),
    "support": lambda files: ("operators", "a*", "--framework", "null"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_its_terminal_and_breaks_words_where_separators_are(
    name: str, files: dict[str, Path], terminal: Terminal
) -> None:
    words = TABLES[name](files)
    wide = terminal.lines(*words, columns=None, COLUMNS="9999")
    for columns in WIDTHS:
        check(terminal.lines(*words, columns=columns), wide, columns)


#: What measures takes its time: one width each.
LIVE = {
    "run": (80, ("run", "add", "null:noisy", "null:crash", "--framework", "null", "--runs", "9")),
    "compare": (80, ("compare", "add", "--base", "null", "--new", "null;slowdown=1.05", "--pairs", "3")),
    "gate": (100, ("gate", "add", "exp", "--base", "null", "--new", "null;slowdown=1.05", "--pairs", "3")),
    "noise": (80, ("noise", "add", "--framework", "null", "--pairs", "3", "--repeats", "1")),
    "doctor": (80, ("doctor", "--framework", "null")),
}


@pytest.mark.parametrize("name", LIVE)
def test_what_is_measured_and_what_is_said_meanwhile_fit_the_terminal(name: str, terminal: Terminal) -> None:
    columns, words = LIVE[name]
    lines = terminal.lines(*words, columns=columns, both=name != "run")
    assert lines
    assert max(map(len, lines)) <= columns, max(lines, key=len)


@pytest.mark.parametrize("columns", WIDTHS)
def test_words_of_a_usual_run_are_whole_at_any_width(columns: int, files: dict[str, Path], terminal: Terminal) -> None:
    wide = terminal.lines("show", files["usual"], columns=None, COLUMNS="9999")
    words = {word for line in wide for word in line.split()}
    lines = terminal.lines("show", files["usual"], columns=columns)
    assert max(map(len, lines)) <= columns
    assert {word for line in table(lines) for word in line.split()} <= words
    assert sum("2.13.0+cpu" in line for line in table(lines)) == 4


def test_the_table_beside_a_file_fits_the_terminal_and_the_file_has_everything(
    files: dict[str, Path], terminal: Terminal
) -> None:
    lines = terminal.lines("show", files["old"], "--output", "copy.json", columns=80)
    assert max(map(len, lines)) <= 80
    assert json.loads(Path("copy.json").read_text()) == json.loads(files["old"].read_text())


def test_columns_says_how_wide_a_pipe_is(files: dict[str, Path], terminal: Terminal) -> None:
    wide = terminal.lines("show", files["old"], columns=None, COLUMNS="9999")
    assert max(map(len, wide)) > 200
    for columns in WIDTHS:
        check(terminal.lines("show", files["old"], columns=None, COLUMNS=str(columns)), wide, columns)


@pytest.mark.parametrize("variables", [{}, {"GITHUB_ACTIONS": "true"}, {"COLUMNS": "no number"}])
def test_a_table_in_a_pipe_has_120_columns_where_nothing_says_how_wide_it_is(
    variables: dict[str, Any], files: dict[str, Path], terminal: Terminal
) -> None:
    lines = terminal.lines("show", files["old"], columns=None, **variables)
    assert lines == terminal.lines("show", files["old"], columns=120)


def test_warnings_and_failures_of_a_large_run_are_summed_up_in_a_few_lines(
    files: dict[str, Path], terminal: Terminal
) -> None:
    lines = terminal.lines("show", files["many"], columns=None)
    below = lines[lines.index("failed") :]
    assert len(below) < 30
    assert any("busy_machine (360)" in line for line in below)
    assert any("`--format csv`" in line for line in below)


def test_the_first_rows_are_shown_and_the_others_counted(files: dict[str, Path], terminal: Terminal) -> None:
    lines = terminal.lines("show", files["many"], "--top", "5", columns=None, COLUMNS="9999")
    assert len(table(lines)) == 6
    assert "385 more rows: without `--top` all are shown" in lines


def test_colours_are_of_terminals_alone_and_only_where_they_are_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    reads, writes = pty.openpty()
    with open(writes, "w") as stream:
        assert screen(stream).color
        monkeypatch.setenv("NO_COLOR", "1")
        assert not screen(stream).color
    os.close(reads)
