"""Being told of modules, and of names of a script, as soon as they are there."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from opperf.child.profiling.hook import Imports, when_bound


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Write modules that can be imported, and are forgotten with the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(name: str, text: str) -> None:
        path = tmp_path / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        importlib.invalidate_caches()

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Wait for modules, and return the list of what each held of `READY` when it was told of."""

    def wait(*names: str) -> list[str]:
        result: list[str] = []
        hook = Imports(names, lambda name: result.append(f"{name} {sys.modules[name].READY}"))
        monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
        return result

    return wait


def test_a_module_is_told_of_when_it_is_whole_and_once(
    module: Callable[[str, str], None], told: Callable[..., list[str]]
) -> None:
    module("awaited/__init__", "from awaited import part\nREADY = part.READY + 1")
    module("awaited/part", "READY = 1")
    module("other", "READY = 7")
    result = told("awaited")
    importlib.import_module("other")
    assert result == []
    importlib.import_module("awaited.part")
    assert result == ["awaited 2"]
    importlib.reload(sys.modules["awaited"])
    assert result == ["awaited 2"]


def test_who_imports_it_goes_on_after_it_was_told_of(
    module: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    module("awaited", "VALUE = 1")
    hook = Imports(["awaited"], lambda name: setattr(sys.modules[name], "VALUE", 2))
    monkeypatch.setattr(sys, "meta_path", [hook, *sys.meta_path])
    assert importlib.import_module("awaited").VALUE == 2


def test_a_module_that_is_looked_for_is_not_told_of(
    module: Callable[[str, str], None], told: Callable[..., list[str]]
) -> None:
    module("awaited", "READY = 1")
    result = told("awaited", "nowhere_to_be_found")
    assert find_spec("awaited") is not None
    assert find_spec("nowhere_to_be_found") is None
    assert result == []
    importlib.import_module("awaited")
    assert result == ["awaited 1"]


def test_a_module_that_cannot_be_imported_raises_its_own_error_and_is_waited_for_still(
    module: Callable[[str, str], None], told: Callable[..., list[str]]
) -> None:
    module("awaited", "raise KeyError('broken')")
    result = told("awaited")
    with pytest.raises(KeyError, match="broken"):
        importlib.import_module("awaited")
    assert result == []
    module("awaited", "READY = 'mended'")
    importlib.import_module("awaited")
    assert result == ["awaited mended"]


def test_a_module_keeps_the_loader_that_python_gave_it(
    module: Callable[[str, str], None], told: Callable[..., list[str]]
) -> None:
    module("awaited", "READY = 1")
    told("awaited")
    loader = importlib.import_module("awaited").__loader__
    assert type(loader).__name__ == "SourceFileLoader"
    assert "exec_module" not in vars(loader)


SCRIPT = """
def helper():
    return [0 for _ in range(3)]
helper()
order.append("before")
def step():
    order.append("step")
step()
order.append("after")
"""


def test_a_name_of_the_script_is_told_of_before_its_next_line() -> None:
    order: list[str] = []
    space: dict[str, Any] = {"order": order}
    before = sys.gettrace()
    try:
        when_bound(space, "step", lambda: order.append("bound"))
        exec(compile(SCRIPT, "script.py", "exec"), space)
        traced = sys.gettrace()
    finally:
        sys.settrace(before)
    assert order == ["before", "bound", "step", "after"]
    assert traced is None
