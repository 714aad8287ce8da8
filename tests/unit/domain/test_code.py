"""Code is a type that only what a user names becomes."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import pytest
from tests.each import each

import opperf
from opperf.catalog import operator
from opperf.domain.code import Code, check_name, own_name, read_operator, refusal
from opperf.domain.errors import InputError
from opperf.domain.message.own_code import decode_trial, encode_trial, read_name
from opperf.domain.plan import Side, Trial
from opperf.parent.planning.side_text import parse_side, read_side

SOURCES = Path(opperf.__file__).parent
TRIAL = Trial(operator("add").case("small"), Side("null"), "forward")


@cache
def nodes() -> list[tuple[Path, list[ast.AST]]]:
    """Return the syntax of every module that imports from `opperf.domain.code`, and of that one."""
    own = SOURCES / "domain" / "code.py"
    texts = [(path, path.read_text()) for path in SOURCES.rglob("*.py")]
    return [(path, list(ast.walk(ast.parse(text)))) for path, text in texts if path == own or "domain.code" in text]


def makers(function: str) -> set[str]:
    """Return the modules that call a function by its name, imported from `opperf.domain.code`."""
    result = set()
    for path, every in nodes():
        imported = any(
            isinstance(node, ast.ImportFrom)
            and node.module == "opperf.domain.code"
            and function in [one.name for one in node.names]
            for node in every
        )
        names = {node.id for node in every if isinstance(node, ast.Name)}
        calls = {node.func.id for node in every if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        used = calls if function == "Code" else names
        if (imported or path == SOURCES / "domain" / "code.py") and function in used:
            result.add(str(path.relative_to(SOURCES)))
    return result


def test_code_is_made_of_what_a_user_names_of_plugins_and_of_the_parents_word_alone() -> None:
    assert makers("Code") == {
        "domain/code.py",
        "domain/message/own_code.py",
        "parent/measuring/judge/candidates.py",
        "parent/measuring/judge/submissions.py",
        "parent/sources/plugin_file.py",
    }
    assert makers("read_operator") == {
        "domain/code.py",
        "parent/commands/capture.py",
        "parent/measuring/judge/candidates.py",
        "parent/library/programs.py",
        "parent/planning/side_text.py",
        "parent/planning/request.py",
    }


def test_sources_to_judge_are_read_of_orders_alone() -> None:
    texts = {str(path.relative_to(SOURCES)): path.read_text() for path in SOURCES.rglob("*.py")}
    fleet = {f"parent/measuring/fleet/{name}.py" for name in ("dispatch", "engine", "judging")}
    assert {place for place, text in texts.items() if "JudgedSource" in text} == fleet
    assert {place for place, text in texts.items() if "Order.from_json" in text} == {"parent/measuring/fleet/node.py"}


@pytest.mark.parametrize("value", [{"name": "mine.py:f"}, {"code": "mine.py:f"}, ["code:mine.py:f"]])
def test_no_json_makes_code(value: object) -> None:
    with pytest.raises(InputError, match=r"implementation: found .* expected a string"):
        Side.from_json({"framework": "null", "implementation": value})
    assert Side.from_json({"framework": "null", "implementation": "code:mine.py:f"}).implementation == "code:mine.py:f"


def test_a_side_of_code_is_written_as_a_label_and_equals_the_side_that_is_read_back() -> None:
    side = Side("null", implementation=Code("mine.py:f"))
    back = Side.from_json(json.loads(json.dumps(side.to_json())))
    assert back.implementation == "code:mine.py:f"
    assert back.key == side.key
    assert own_name(back.implementation) == own_name(side.implementation) == "mine.py:f"


def test_a_trial_of_code_is_told_as_such_and_a_label_is_not() -> None:
    own = Trial(TRIAL.case, Side("null", implementation=Code("mine.py:f")), "forward")
    label = Trial(TRIAL.case, Side("null", implementation="code:mine.py:f"), "forward")
    for trial in (own, label):
        assert decode_trial(encode_trial(trial), "trial") == trial
        assert decode_trial(encode_trial(trial), "trial").side.implementation == trial.side.implementation
        assert Trial.from_json(encode_trial(trial)).side.implementation == "code:mine.py:f"


@pytest.mark.parametrize("value", [{"code": 3}, {"code": "mine.py:f", "more": 1}, {"name": "mine.py:f"}, ["mine.py:f"]])
def test_what_is_neither_a_name_nor_code_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="expected a name or code"):
        read_name(value, "describe.name")


@each(
    "name",
    ["code:a:b", "code:", "torch:code:a:b", "a:b", "a.b:c.d", "a.py:f", "/x/a.py:f", "numpy:a:b"],
)
def test_what_a_file_spells_as_code_is_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(InputError) as caught:
        check_name(name, "suite.json: cases[0]")
    assert caught.value.message.startswith(f"suite.json: cases[0]: `{name}` is code")
    assert caught.value.slug == "code_in_file"
    assert "--plugin FILE" in (caught.value.hint or "")


@each("name", ["add", "torch:aten::add.Tensor", "aten::add", "mxnet:nd.dot", "opinfo::svd", "x::y"])
def test_names_of_operators_are_not_code(name: str) -> None:
    assert refusal(name) is None
    assert read_operator(name) == name


def test_a_side_of_a_file_is_never_code_and_one_that_a_user_names_may_be() -> None:
    with pytest.raises(InputError, match="is code, and a file does not say"):
        read_side("torch:code:mine.py:f")
    assert parse_side("torch:code:mine.py:f;threads=2").side.implementation == Code("mine.py:f")
    assert parse_side("torch:aten::mm").side.implementation == read_side("torch:aten::mm").side.implementation
