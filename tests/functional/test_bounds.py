"""Numbers beyond all reason are refused at once, with a message, where they would fill the memory or never end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from opperf.parent.workers.process import Worker

if TYPE_CHECKING:
    from tests.functional.conftest import Done

RUN = ("run", "null:steady", "--framework", "null")
COMPARE = ("compare", "null:steady", "--base", "null", "--new", "null")
GATE = ("gate", "null:steady", "--base", "null", "--new", "null")


@pytest.fixture(autouse=True)
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make starting a child an error."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", refuse)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RUN, "--runs", 10**9), "`--runs` is 1000000000, expected 1000000 at most"),
        ((*RUN, "--warmup", 10**10), "`--warmup` is 10000000000, expected 1000000000 at most"),
        ((*RUN, "--processes", 10**9), "`--processes` is 1000000000, expected 1000 at most"),
        ((*RUN, "--threads", 10**9), "`--threads` is 1000000000, expected 4096 at most"),
        (("run", "add", "--framework", "null", "--random", 10**6), "`--random` is 1000000, expected 10000 at most"),
        ((*RUN, "--timeout", "1e300"), "`--timeout` is 1e+300, expected 1e+09 s at most"),
        ((*RUN, "--budget", "1e300"), "`--budget` is 1e+300, expected 1e+09 s at most"),
        ((*RUN, "--trial-budget", "1e300"), "`--trial-budget` is 1e+300, expected 1e+09 s at most"),
        ((*RUN, "--cpus", "0-9999999999"), "`--cpus` names CPU"),
        ((*RUN, "--cpus", "9" * 5000), "expected a list of CPUs"),
        ((*COMPARE, "--pairs", 10**9), "`--pairs` is 1000000000, expected 1000 at most"),
        ((*COMPARE, "--settle", "--max-pairs", 10**9), "`--max-pairs` is 1000000000, expected 1000 at most"),
        ((*COMPARE[:-1], "null;threads=1000000000"), "`threads` is 1000000000, expected 4096 at most"),
        ((*COMPARE[:-1], f"null;threads={'9' * 5000}"), "expected a whole number >= 1"),
        ((*GATE, "--pairs", 10**9), "`--pairs` is 1000000000, expected 1000 at most"),
        ((*GATE, "--timeout", "1e300"), "`--timeout` is 1e+300, expected 1e+09 s at most"),
        (("noise", *RUN[1:], "--repeats", 10**9), "`--repeats` is 1000000000, expected 1000 at most"),
        (("capture", "mine:step", "--timeout", "1e300"), "`--timeout` is 1e+300, expected 1e+09 s at most"),
    ],
)
def test_a_number_beyond_all_reason_is_refused(words: tuple[str, ...], said: str, opperf: Callable[..., Done]) -> None:
    done = opperf(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert said in done.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('cpus = "0-9999999999"', "`cpus`: `--cpus` names CPU"),
        ("timeout = 1e11", "`timeout`: `--timeout` is 1e+11, expected 1e+09 s at most"),
        ("budget = 1e11", "`budget`: `--budget` is 1e+11, expected 1e+09 s at most"),
        ("pairs = 1000000000", "`--pairs` is 1000000000, expected 1000 at most"),
        ("[expected]\nprocesses = 1000000000\nfile = 'expected.json'", "expected 1000 at most"),
    ],
)
def test_a_number_beyond_all_reason_in_a_gate_file_is_refused(
    line: str, said: str, here: Path, opperf: Callable[..., Done]
) -> None:
    sides = "" if "expected" in line else 'base = "null"\nnew = "null"\n'
    (here / "opperf.toml").write_text(f'operators = ["null:steady"]\n{sides}{line}\n')
    (here / "expected.json").write_text('{"schema_version": 1, "expectations": []}')
    done = opperf("gate")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("words", "length"), [((*RUN, "--runs", "3"), 250), (GATE, 256)])
def test_a_name_that_is_too_long_for_its_journal_or_itself_is_refused(
    words: tuple[str, ...], length: int, here: Path, opperf: Callable[..., Done]
) -> None:
    done = opperf(*words, "--output", "n" * length)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("File name too long\n\nhint: give a shorter name\n")
    assert list(here.iterdir()) == []
