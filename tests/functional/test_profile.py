"""`opperf profile`: what cannot be understood ends with 2, one message and a hint, and no script runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Opperf: TypeAlias = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((), "no script is named", "write `opperf profile SCRIPT.py` or `-m MODULE`"),
        (("-m",), "no script is named", "write `opperf profile SCRIPT.py` or `-m MODULE`"),
        (("none.py",), "no script `none.py`", "write `-m` before a module's name"),
        (("--by", "line", "train.py"), "no grouping `line`", "known: name, shape, module, kernel"),
        (("--sort", "max", "train.py"), "no order `max`", "known: self, total, calls, mean"),
        (("--format", "xml", "train.py"), "no format `xml`", "known: console, json, csv, md"),
        (("--framework", "numpy", "train.py"), "the operators of numpy cannot be profiled", "known: torch, mxnet, jax"),
        (("--granularity", "fine", "train.py"), "no granularity `fine`", "known: bulk, operator"),
        (("--skip", 1, "train.py"), "`--skip` and `--calls` are of a function", "with `--function MODULE:NAME`"),
        (("--function", "step", "train.py"), "`--function` is `step`, expected", "write `__main__:step` for one"),
        (("--output", "train.py", "train.py"), "cannot write to `train.py`: File exists", "give a folder with"),
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
    (here / "train.py").write_text("raise SystemExit(7)")
    done = opperf("profile", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert hint in done.err
