"""What needs a package that few install says so in a sentence, with what installs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.each import each

import opperf
from opperf.domain.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Opperf: TypeAlias = Callable[..., Any]

#: What fails without an extra: a module of its packages, and what asks for it on the command line or in Python.
NEEDS: dict[str, tuple[str, tuple[str, ...] | Callable[[], object]]] = {
    "pandas": ("pandas", lambda: opperf.run("add", framework="null", size="small", runs=3).to_pandas()),
    "postgres": ("psycopg", ("history", "list", "--database", "postgresql+psycopg://ann@127.0.0.1/perf")),
    "ray": ("ray", ("run", "add", "--framework", "null", "--fleet", "ray")),
    "serve": ("starlette.applications", ("serve", "--database", "none.db")),
    "slurm": ("submitit", ("run", "add", "--framework", "null", "--fleet", "slurm:2")),
}


def extras() -> dict[str, list[str]]:
    """Return the requirements of each extra."""
    file = Path(__file__).parents[2] / "pyproject.toml"
    return dict(tomllib.loads(file.read_text())["project"]["optional-dependencies"])


@each("extra", sorted(extras()))
def test_a_package_that_is_not_there_is_named_with_what_installs_it(
    extra: str, opperf: Opperf, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, asks = NEEDS[extra]
    monkeypatch.setitem(sys.modules, module, None)
    for name in [one for one in sys.modules if one.startswith("opperf.parent.pages.server")]:
        monkeypatch.delitem(sys.modules, name)
    if isinstance(asks, tuple):
        text = opperf(*asks).err
    else:
        with pytest.raises(InputError) as caught:
            asks()
        text = str(caught.value)
    assert "Traceback" not in text
    assert "\n\nhint: `pip install " in text
    assert all(one.partition(">=")[0].partition("[")[0] in text.lower() for one in extras()[extra])
