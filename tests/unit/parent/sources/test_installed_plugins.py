"""Plugins that are installed: distributions on the path that name a module in the group `opperf.plugins`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opperf.domain.code import Code
from opperf.param.config import Workloads
from opperf.parent.sources.installed_plugins import installed_plugins
from opperf.parent.sources.plugin_file import installed_operators, with_plugins, workloads

OPERATORS = '''
import opperf
raise SystemExit("this module must not be run here")

@opperf.operator(implements="softmax")
def swift_softmax(x):
    """Compute the softmax.

    In a hurry.
    """
'''
Install = Callable[[str, str, "str | None"], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what lays a distribution with one entry point into a folder of the path, as an installer does."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    def lay(name: str, module: str, text: str | None) -> Path:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[opperf.plugins]\n{name} = {module}\n")
        file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        if text is not None:
            file.parent.mkdir(exist_ok=True)
            if file.parent != tmp_path:
                (file.parent / "__init__.py").write_text("raise SystemExit('a package must not be run here')\n")
            file.write_text(text)
        return file

    return lay


def test_a_module_is_found_within_its_package_without_running_either(install: Install) -> None:
    told: list[str] = []
    file = install("swift", "swift_kernels.declared", OPERATORS)
    assert installed_plugins(told.append)["swift"] == file
    assert told == []
    assert not {"swift_kernels", "swift_kernels.declared"} & set(sys.modules)


def test_its_operators_stand_for_their_code_and_say_what_their_file_says(install: Install) -> None:
    file = install("swift", "swift_kernels.declared", OPERATORS)
    assert with_plugins(["swift_softmax", "softmax"], [], others=False) == (Code(f"{file}:swift_softmax"), "softmax")
    result = installed_operators(print)["swift_softmax"]
    assert (result.arguments, result.summary) == (("x",), "Compute the softmax.")


def test_nothing_is_measured_of_it_unless_it_is_named(install: Install) -> None:
    install("swift", "swift_kernels.declared", OPERATORS)
    assert with_plugins([], [], others=False) == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "there is no module `broken_kernels`"), ("def f(:\n", "not Python"), ("x = 1\n", "declares no operator")],
)
def test_a_broken_one_is_one_line_and_the_others_are_there(install: Install, text: str | None, told: str) -> None:
    lines: list[str] = []
    install("broken", "broken_kernels", text)
    file = install("swift", "swift_kernels.declared", OPERATORS)
    assert with_plugins(["swift_softmax"], [], others=False, note=lines.append) == (Code(f"{file}:swift_softmax"),)
    (line,) = lines
    assert line.startswith("plugin `broken` is left out: ")
    assert told in line


def test_its_iterators_and_data_generators_are_there_where_they_are_looked_for(install: Install) -> None:
    lines: list[str] = []
    install("broken", "broken_workload", "def f(:\n")
    file = install("swift", "swift_workload", "register_config_iterator('Swift', None)\n")
    assert workloads([], installed=True, note=lines.append) == Workloads(("Swift",), (), (file,))
    assert [line.partition(": ")[0] for line in lines] == ["plugin `broken` is left out"]
    assert workloads([]) == Workloads()


def test_a_name_of_the_catalog_keeps_its_meaning_and_the_plugin_is_told(install: Install) -> None:
    lines: list[str] = []
    file = install("swift", "swift_kernels", OPERATORS.replace("def swift_softmax", "def softmax"))
    assert dict(installed_operators(lines.append)) == {}
    assert lines == [f"plugin `swift`: another operator is called `softmax`; call this one `{file}:softmax`"]


def test_a_file_named_on_the_command_line_goes_before_an_installed_one(install: Install, tmp_path: Path) -> None:
    install("swift", "swift_kernels.declared", OPERATORS)
    mine = tmp_path / "mine.py"
    mine.write_text(OPERATORS)
    assert with_plugins(["swift_softmax"], [mine], others=False) == (Code(f"{mine}:swift_softmax"),)


@pytest.mark.parametrize("module", ["../../x", "", "a..b", "x y", ".", "/etc/passwd"])
def test_an_entry_point_that_names_no_module_is_left_out_with_a_note(install: Install, module: str) -> None:
    install("swift", "swift_kernels.declared", OPERATORS)
    folder = install("evil", "evil_kernels", None).parent / "evil-1.0.dist-info"
    folder.joinpath("entry_points.txt").write_text(f"[opperf.plugins]\nevil = {module}\n")
    told: list[str] = []
    result = installed_plugins(told.append)
    assert "swift" in result
    assert "evil" not in result
    assert len(told) == 1
    assert "evil" in told[0]


@pytest.mark.parametrize("text", [b"[opperf.plugins]\nnothing to see\n", b"[opperf.plugins]\ng = \xff\n"])
def test_entry_points_that_python_cannot_read_stop_no_other_plugin(install: Install, text: bytes) -> None:
    install("swift", "swift_kernels.declared", OPERATORS)
    folder = install("evil", "evil_kernels", None).parent / "evil-1.0.dist-info"
    folder.joinpath("entry_points.txt").write_bytes(text)
    told: list[str] = []
    assert "swift" in installed_plugins(told.append)
    assert len(told) == 1
    assert "evil" in told[0]
