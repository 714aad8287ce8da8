"""What is imported when: opperf itself brings in nothing heavy, and its nouns no more than Python has."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FRAMEWORKS = {"torch", "mxnet", "jax", "numpy", "tensorflow"}
HEAVY = FRAMEWORKS | {"typer", "rich", "scipy", "pandas", "jinja2", "psutil", "uv", "platformdirs", "filelock", "click"}


def imported_by(statement: str) -> set[str]:
    """Return the packages that a fresh interpreter holds after a statement."""
    script = f"import sys, json\n{statement}\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_opperf_imports_nothing_but_itself() -> None:
    assert imported_by("import opperf") & HEAVY == set()


@pytest.mark.parametrize("statement", ["opperf.Case", "opperf.TensorSpec", "opperf.Settings", "opperf.InputError"])
def test_the_nouns_need_the_standard_library_alone(statement: str) -> None:
    assert imported_by(f"import opperf\n{statement}") & HEAVY == set()


@pytest.mark.parametrize(
    "module",
    [
        "opperf.child.__main__",
        "opperf.child.worker.handler",
        "opperf.child.measure.engine",
        "opperf.child.backends.null.runtime",
        "opperf.catalog",
        "opperf.domain.stats.significance",
    ],
)
def test_what_runs_in_a_child_needs_the_standard_library_alone(module: str) -> None:
    assert imported_by(f"import {module}") & HEAVY == set()


def test_the_catalog_imports_no_framework() -> None:
    assert imported_by("from opperf.catalog import catalog; assert catalog()") & HEAVY == set()


@pytest.mark.parametrize(
    "module", ["opperf.parent.measuring.session", "opperf.parent.library.results", "opperf.parent.cli.main"]
)
def test_the_parent_imports_no_framework(module: str) -> None:
    assert imported_by(f"import {module}") & FRAMEWORKS == set()


def test_the_command_line_answers_before_anything_heavy_is_imported() -> None:
    """Help and completion wait for these imports, so commands import what they run inside their functions."""
    heavy = {
        "rich",
        "psutil",
        "scipy",
        "sqlalchemy",
        "alembic",
        "starlette",
        "uvicorn",
        "jinja2",
        "uv",
        "filelock",
        "platformdirs",
        "landlockpy",
        "pyseccomp",
    }
    assert imported_by("import opperf.parent.cli.main") & heavy == set()


@pytest.mark.parametrize(
    "modules", ["opperf.parent.measuring.session, opperf.parent.cli.main", "opperf.compat.param.command.running"]
)
def test_the_parent_does_not_import_what_runs_in_a_child(modules: str) -> None:
    script = f"import {modules}, sys\nprint([n for n in sys.modules if '.child' in n])"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip() == "[]"
