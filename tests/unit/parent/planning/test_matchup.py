"""What sides are implementations of, and how a user's own functions stand on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.each import each

from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Side
from opperf.parent.commands.compare import base_of, parse_sides
from opperf.parent.planning.implementations import comparison_selection
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import parse_side, read_side
from opperf.parent.sources.plugin_file import framework_of

FILE = """
import numpy as np
import opperf

@opperf.operator(framework="jax")
def declared(x):
    return x

def plain(x):
    return x
"""


class Answers:
    """A child that knows one function that implements `softmax`, and one of a framework's that does."""

    def describe(self, side: Side, name: str | Code) -> Meaning:
        known = str(name) in ("code:mine.py:fast", "torch.softmax")
        return Meaning(str(name), "softmax" if known else None)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of functions."""
    (tmp_path / "mine.py").write_text(FILE)
    (tmp_path / "torchy.py").write_text("import numpy\nfrom torch import nn\ndef f(x):\n    return x\n")
    (tmp_path / "bare.py").write_text("def f(x):\n    return x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each(
    ("base", "new", "operators"),
    [
        ("numpy:code:mine.py:fast", ["numpy:code:mine.py:plain"], ("softmax",)),
        ("numpy:code:mine.py:plain", ["numpy:code:mine.py:fast"], ("softmax",)),
        ("numpy:code:mine.py:plain", ["numpy:code:mine.py:declared"], (Code("mine.py:plain"),)),
        ("torch:torch.softmax", ["torch:aten::softmax"], ("softmax",)),
        ("torch:aten::mm", ["torch:torch.mm"], ("torch:aten::mm",)),
        ("numpy", ["numpy:code:mine.py:fast"], ("softmax",)),
    ],
)
def test_sides_that_are_implementations_tell_the_operator(
    base: str, new: list[str], operators: tuple[str | Code, ...]
) -> None:
    sides = [parse_side(text) for text in (base, *new)]
    assert comparison_selection(Selection(), sides, Answers().describe).operators == operators


def test_operators_that_are_named_are_what_is_compared_and_code_of_sides_is_known_by_name() -> None:
    sides = [parse_side("numpy"), parse_side("numpy:code:mine.py:plain")]
    result = comparison_selection(Selection(operators=("relu",)), sides, Answers().describe)
    assert result.operators == ("relu",)
    assert result.code("mine.py:plain") == Code("mine.py:plain")


@pytest.mark.parametrize("new", ["numpy", "numpy:code:mine.py:plain"])
def test_sides_that_do_not_tell_the_operator_are_refused(new: str) -> None:
    with pytest.raises(InputError, match=r"nothing to compare|cannot tell which operator"):
        comparison_selection(Selection(), [read_side("numpy"), parse_side(new)], Answers().describe)


def test_one_implementation_and_a_new_side_are_base_and_new() -> None:
    assert base_of(["mine.py:f"], None, ["mine.py:g"]) == ([], "mine.py:f")
    assert base_of(["torch:aten::mm"], None, ["torch:torch.mm"]) == ([], "torch:aten::mm")
    assert base_of(["softmax"], None, ["jax"]) == (["softmax"], None)
    assert base_of(["mine.py:f"], "numpy", ["jax"]) == (["mine.py:f"], "numpy")
    assert base_of(["old.json", "new.json"], None, ()) == (["old.json", "new.json"], None)


@pytest.mark.parametrize(
    ("texts", "frameworks"),
    [
        (["mine.py:plain", "mine.py:declared"], ["numpy", "jax"]),
        (["torchy.py:f", "torch"], ["torch", "torch"]),
        (["bare.py:f", "torch;threads=2"], ["torch", "torch"]),
        (["bare.py:f;framework=mxnet", "bare.py:f"], ["mxnet", "mxnet"]),
        (["jax:code:bare.py:f", "mine:plain"], ["jax", "numpy"]),
    ],
)
def test_code_is_of_the_framework_that_is_said_declared_imported_or_on_the_other_side(
    texts: list[str], frameworks: list[str]
) -> None:
    sides = [text.side for text in parse_sides(texts)]
    assert [side.framework for side in sides] == frameworks
    assert all(isinstance(side.implementation, Code) for side, text in zip(sides, texts) if ":" in text)


def test_code_that_nothing_tells_the_framework_of_is_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.parent.commands.compare.importable", lambda: ("numpy", "torch"))
    with pytest.raises(InputError, match="does not name its framework") as caught:
        parse_sides(["bare.py:f", "bare.py:f"])
    assert caught.value.hint == "add `;framework=torch`"


def test_a_file_that_imports_a_framework_beside_numpy_is_of_that_one() -> None:
    assert framework_of(Code("torchy.py:f")) == "torch"
    assert framework_of(Code("bare.py:f")) is None
