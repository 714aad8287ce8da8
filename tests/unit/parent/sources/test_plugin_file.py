"""Plugins: read, not run; their names stand for their code."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.param.config import Workloads
from opperf.param.names import Meaning
from opperf.parent.sources.plugin_file import declared_operators, named_side, plugin_file, with_plugins, workloads

PLUGIN = """
import opperf
raise SystemExit("this file must not be run here")

@opperf.operator(implements="softmax")
def fast(x): ...

def helper(x): ...

@other.thing
@opperf.operator()
def slow(x): ...
"""


WORKLOAD = """
import opperf.compat.param as param
raise SystemExit("this file must not be run here")

class Mine(param.ConfigIterator): ...
for name in ("not", "read"):
    param.register_config_iterator(name, Mine)
param.register_config_iterator("Mine", Mine)
if True:
    register_data_generator("Data", object)
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin with two operators."""
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    return path


def test_declared_functions_are_found_without_running_the_file(plugin: Path) -> None:
    assert list(declared_operators(plugin)) == ["fast", "slow"]


def test_a_name_stands_for_the_code_and_other_names_for_themselves(plugin: Path) -> None:
    assert with_plugins(["fast", "softmax"], [plugin], others=False) == (Code(f"{plugin}:fast"), "softmax")


def test_without_a_name_all_are_meant_unless_others_are(plugin: Path) -> None:
    assert with_plugins([], [plugin], others=False) == (Code(f"{plugin}:fast"), Code(f"{plugin}:slow"))
    assert with_plugins([], [plugin], others=True) == ()


def test_what_a_file_registers_is_found_without_running_it(plugin: Path, tmp_path: Path) -> None:
    path = tmp_path / "workload.py"
    path.write_text(WORKLOAD)
    own = {name: Meaning(None, f"{plugin}:{name}", ("x",), Code(f"{plugin}:{name}")) for name in ("fast", "slow")}
    assert workloads([plugin, path, path]) == Workloads(("Mine",), ("Data",), (plugin, path), own)
    assert with_plugins([], [path], others=False) == ()


def test_a_registered_name_that_is_taken_is_told(tmp_path: Path) -> None:
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(WORKLOAD)
    with pytest.raises(InputError, match=r"two\.py registers `Mine`, which is already registered"):
        workloads([tmp_path / "one.py", tmp_path / "two.py"])
    (tmp_path / "one.py").write_text("register_config_iterator('RangeConfigIterator', None)\n")
    with pytest.raises(InputError, match="registers `RangeConfigIterator`"):
        workloads([tmp_path / "one.py"])


def test_a_plugin_may_be_named_as_a_module(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(plugin.parent)
    assert plugin_file(Path("mine")) == plugin
    assert plugin_file(Path("other.py")) == Path("other.py")
    with pytest.raises(InputError, match="there is no module `their_own`"):
        plugin_file(Path("their_own"))


def test_a_file_that_declares_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="declares no operator"):
        with_plugins([], [tmp_path / "empty.py"], others=False)


def test_one_name_in_two_plugins_is_told(plugin: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(PLUGIN)
    with pytest.raises(InputError, match="`fast` is declared in"):
        with_plugins([], [plugin, other], others=False)


def test_a_missing_file_and_one_that_is_not_python_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        declared_operators(tmp_path / "none.py")
    (tmp_path / "bad.py").write_text("def f(:\n")
    with pytest.raises(InputError, match="not Python"):
        declared_operators(tmp_path / "bad.py")


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_one_message(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.py"
        path.write_text(text, encoding="utf-8", errors="replace")
        told = ""
        try:
            names = list(declared_operators(path))
        except InputError as error:
            names, told = [], error.message
        assert names == [] or "operator" in text
        assert told == "" or str(path) in told


def test_a_function_of_a_plugin_is_a_side_by_its_name_and_other_sides_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import opperf\n@opperf.operator()\ndef fast(x): ...\n@opperf.operator()\ndef torch(x): ...\n")
    assert named_side("fast", [path]) == f"{path}:fast"
    assert named_side(" fast ;threads=2", [path]) == f"{path}:fast;threads=2"
    for text in ("torch", "slow", "numpy==1.26.4;threads=2", "other.py:fast", ""):
        assert named_side(text, [path]) == text
    assert named_side("fast", []) == "fast"
