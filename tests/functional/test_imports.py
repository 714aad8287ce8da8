"""What a command or an import loads: no framework, and nothing heavy that it does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FRAMEWORKS = {"torch", "mxnet", "jax", "jaxlib", "onnx", "onnxruntime", "numpy"}
HEAVY = {"typer", "click", "rich", "scipy", "pandas", "jinja2", "psutil", "uv", "filelock"}

# Runs a command, and prints the top of every module that is loaded at its end on the last line.
_COMMAND = """
import json, sys
sys.argv = ["opperf", *sys.argv[1:]]
from opperf.parent.cli.main import main
try:
    main()
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
_IMPORT = """
import json, sys
import opperf
for name in sys.argv[1:]:
    getattr(opperf, name)
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def _loaded(code: str, *words: object) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_opperf_loads_nothing_but_the_standard_library() -> None:
    assert _loaded(_IMPORT) - sys.stdlib_module_names - _at_start() == {"opperf"}


def test_importing_the_profiler_loads_no_other_module_of_opperf() -> None:
    code = "import json, sys, opperf.profiler; print(json.dumps([name for name in sys.modules if 'opperf' in name]))"
    assert {name for name in _loaded(code) if name.startswith("opperf")} == {"opperf", "opperf.profiler"}


@pytest.mark.parametrize("name", ["Case", "InputError", "Settings", "TensorSpec"])
def test_a_noun_of_the_package_loads_nothing_heavy(name: str) -> None:
    assert not _loaded(_IMPORT, name) & (FRAMEWORKS | HEAVY)


def test_the_function_that_measures_loads_no_framework_and_no_command_line() -> None:
    assert not _loaded(_IMPORT, "run", "Results") & (FRAMEWORKS | {"typer", "click", "scipy", "pandas", "jinja2", "uv"})


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("operators",),
        ("env", "list"),
        ("run", "add", "--framework", "numpy", "--dry-run"),
        ("run", "add", "--framework", "null", "--framework", "numpy", "--size", "small", "--runs", "3"),
        ("doctor", "--framework", "numpy"),
    ],
    ids=" ".join,
)
def test_a_command_imports_no_framework(words: tuple[str, ...]) -> None:
    loaded = _loaded(_COMMAND, *words)
    assert "opperf" in loaded
    assert not loaded & (FRAMEWORKS | {"scipy", "pandas"})


def test_showing_a_file_imports_no_framework(here: Path) -> None:
    _loaded(_COMMAND, "run", "null:steady", "--runs", "3", "--output", "k.json")
    for name in ("console", "json", "csv", "md"):
        assert not _loaded(_COMMAND, "show", "k.json", "--format", name) & (FRAMEWORKS | {"scipy", "pandas"})


def _at_start() -> set[str]:
    """Return what Python itself has loaded before it does anything (`.pth` files of an editable install, say)."""
    return _loaded("import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))")
