"""`opperf profile`: what cannot be understood ends with 2, one message and a hint, and no script runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.domain.profile.chrome import save
from opperf.domain.profile.event import Event
from opperf.domain.profile.event import Profile as ProfileOfCalls

Opperf: TypeAlias = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((), "no script given", "write `opperf profile SCRIPT.py` or `-m MODULE`"),
        (("-m",), "no script given", "write `opperf profile SCRIPT.py` or `-m MODULE`"),
        (("none.py",), "no script `none.py`", "write `-m` before a module's name"),
        (("--html", "none.py"), "no script `none.py`", "write `-m` before a module's name"),
        (("--html", "page.html", "none.py"), "no script `none.py`", "write `-m` before a module's name"),
        (("--by", "line", "train.py"), "no grouping `line`", "known: name, group, shape, module, stack, kernel"),
        (("--sort", "max", "train.py"), "no order `max`", "known: self, total, calls, mean"),
        (("--format", "xml", "train.py"), "no format `xml`", "known: console, json, csv, md"),
        (("--framework", "numpy", "train.py"), "the operators of numpy cannot be profiled", "known: torch, mxnet, jax"),
        (("--granularity", "fine", "train.py"), "no granularity `fine`", "known: bulk, operator"),
        (("--skip", 1, "train.py"), "`--skip` and `--calls` need `--function`", "with `--function MODULE:NAME`"),
        (
            ("--function", "step", "train.py"),
            "`--function` is `step`, expected",
            "write `__main__:step` for a function",
        ),
        (("--function", "__main__:stpe", "train.py"), "`train.py` has no function `stpe`", "did you mean `step`?"),
        (
            ("--diff", "--by", "stack", "a.json"),
            "`--diff` takes two profiles, got 1",
            "`opperf profile --diff A.json B.json`",
        ),
        (("--output", "train.py", "train.py"), "cannot write to `train.py`: File exists", "give a folder with"),
        (
            ("--diff", ".", "."),
            "`.` has no profile: no `profile.json`, and no `opperf_profile_*.json`",
            "name a folder",
        ),
        (("--read", "none.json"), "cannot read `none.json`: No such file or directory", ""),
        (("--read", "none.json", "--by", "shape"), "cannot read `none.json`", ""),
        (
            ("--html", "--output", "none", "--read", "a.json"),
            "cannot write `none/profile.html`",
            "a folder that exists",
        ),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_understood_is_refused_before_the_script_runs(
    words: tuple[object, ...], message: str, hint: str, opperf: Opperf, here: Path
) -> None:
    (here / "train.py").write_text("def step(): ...\nraise SystemExit(7)")
    done = opperf("profile", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert hint in done.err


def test_a_folder_stands_for_what_the_last_command_wrote_there(opperf: Opperf, here: Path) -> None:
    def write(place: str, length: int, moment: int) -> None:
        (here / place).parent.mkdir(exist_ok=True)
        save(ProfileOfCalls((Event("matmul", "operator", 0, length, length, "main"),)), here / place)
        os.utime(here / place, ns=(moment, moment))

    def differences(*folders: str) -> tuple[float, ...]:
        done = opperf("profile", "--diff", *folders, "--format", "json")
        assert (done.code, done.err) == (0, "")
        row = json.loads(done.out)["rows"][0]
        return tuple(round(1e9 * row[side]["self"]) for side in ("before", "after"))

    write("one/opperf_profile_41.json", 1000, 1)
    write("two/opperf_profile_7.json", 300, 1)
    write("two/opperf_profile_8.json", 400, 2)
    assert differences("one", "two") == (1000, 700)  # a Python started by each process wrote no file of all
    write("two/profile.json", 900, 3)
    assert differences("one", "two") == (1000, 900)
    assert differences("two", "one/opperf_profile_41.json") == (900, 1000)
    write("two/opperf_profile_9.json", 500, 4)
    assert differences("one", "two") == (1000, 500)  # of one process, and later
    assert "500 ns" in opperf("profile", "--read", "two").out


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("--html --read p.json", "profile.html"),
        ("--html --output out --read p.json", "out/profile.html"),
        ("--html page.html --output out --read p.json", "page.html"),
        ("--html=page --read p.json", "page"),
        ("--read p.json p.json --html sub/page.html", "sub/page.html"),
        ("--diff p.json p.json --html d.html", "d.html"),
        ("--html --output out --diff p.json p.json", "out/profile-diff.html"),
    ],
)
def test_a_page_has_the_name_after_the_option_or_its_own(words: str, page: str, opperf: Opperf, here: Path) -> None:
    save(ProfileOfCalls((Event("matmul", "operator", 0, 1000, 1, "main"),)), here / "p.json")
    for folder in ("out", "sub"):
        (here / folder).mkdir()
    done = opperf("profile", *words.split())
    assert (done.code, done.err) == (0, f"wrote {page}\n")
    assert "matmul" in (here / page).read_text()


def test_two_profiles_that_were_written_are_compared_operator_by_operator(opperf: Opperf, here: Path) -> None:
    for name, length in (("before.json", 1000), ("after.json", 1500)):
        save(ProfileOfCalls((Event("matmul", "operator", 0, length, 1, "main"),)), here / name)
    done = opperf("profile", "--diff", "before.json", "after.json")
    assert (done.code, done.err) == (0, "")
    for words in ("--diff --by name before.json after.json", "before.json --by name after.json --diff"):
        assert opperf("profile", *words.split()).out == done.out
    assert done.out.splitlines()[2].split() == [
        "matmul", "1", "1.00", "us", "->", "1.50", "us", "100", "%", "+500", "ns", "1.5", "+500", "ns", "1.5"
    ]  # fmt: skip
    by_self = opperf("profile", "--diff", "--sort", "self", "before.json", "after.json").out
    assert "rows are sorted by the difference in `self`" in by_self
