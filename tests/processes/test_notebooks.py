"""Functions as they are, measured from wherever Python reads its lines: a script, a pipe, IPython, a notebook."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: How long any of these may take before it is called hung, in seconds.
DEADLINE = 240
#: A function that lives in no file, a lambda that closes over a name, a framework's own, and its own process.
LINES = """\
import numpy as np, opperf

def doubled(x):
    return np.add(x, x)

factor = 3
x = np.random.rand(100)
options = {"inputs": [{"x": x}], "runs": 2, "direction": "forward", "framework": "numpy"}
print("own", [record.status for record in opperf.run([doubled, lambda x: x * factor], **options)])
print("sort", opperf.run(np.sort, inputs=[{"a": x}], runs=2, direction="forward")[0].status)
print("here", opperf.time(doubled, x)[0].time.median > 0)
"""
EXPECTED = ["own ['ok', 'ok']", "sort ok", "here True"]


def run(words: list[str], folder: Path, text: str | None = None) -> str:
    """Run a Python, and return what it printed."""
    command = [sys.executable, *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=DEADLINE, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_a_script(folder: Path) -> str:
    """Run the lines as a file."""
    (folder / "script.py").write_text(LINES)
    return run(["script.py"], folder)


def in_a_pipe(folder: Path) -> str:
    """Run the lines as Python reads them from a pipe."""
    return run(["-"], folder, LINES)


def in_ipython(folder: Path) -> str:
    """Run the lines in IPython, cell by cell."""
    return run(["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"], folder, LINES)


def in_a_notebook(folder: Path) -> str:
    """Run the lines in a notebook: each part between empty lines is a cell."""
    import nbformat
    from nbclient import NotebookClient

    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": str(number), "metadata": {}, "execution_count": None, "outputs": [], "source": cell}
        for number, cell in enumerate(LINES.split("\n\n"))
    ]
    notebook = nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(folder)}}
    limits: dict[str, Any] = {"timeout": DEADLINE, "startup_timeout": DEADLINE}
    NotebookClient(notebook, kernel_name="python3", resources=resources, **limits).execute()
    outputs = (output for cell in notebook.cells for output in cell.outputs)
    return "".join(output.get("text", "") for output in outputs if output.get("name") == "stdout")


@pytest.mark.parametrize("place", [in_a_script, in_a_pipe, in_ipython, in_a_notebook])
def test_functions_are_measured_as_they_are_wherever_they_are_defined(
    place: Callable[[Path], str], tmp_path: Path
) -> None:
    printed = place(tmp_path)
    assert [line for line in EXPECTED if line not in printed] == [], printed
