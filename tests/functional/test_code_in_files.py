"""No file says which code is run: every reader of files, with every spelling of code, by the commands that read it.

A function is planted where the user's own functions are looked for; whoever calls or imports it leaves a file behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.each import check_each
from tests.functional.conftest import Done

Opperf = Callable[..., Done]
#: Leaves a file behind when it is imported, and when it is called.
PLANTED = """
from pathlib import Path
Path(__file__).with_name("pwned").touch()

def run(*arguments, **named):
    Path(__file__).with_name("pwned").touch()
    return arguments
"""
SPELLINGS = (
    "code:planted:run",
    "code:planted.py:run",
    "code:os:system",
    "code:os:system.__call__",
    "null:code:planted:run",
    "numpy:code:planted:run",
    "torch:code:planted.py:run",
    "mxnet:code:planted:run",
    "jax:code:os:system",
    "onnxruntime:code:planted:run",
    "null:planted:run",
    "numpy:planted.py:run",
    "planted:run",
    "planted.py:run",
    "./planted.py:run",
    "os:system",
    "asv:.",
    "numpy:asv:planted",
)
#: What a case of the planted function gives it.
ARGUMENTS = {"attributes": {"command": "touch pwned"}}
SIDE = {"framework": "null", "environment": "current", "device": "cpu", "mode": "eager", "threads": 1}
LIVE = ("--base", "null", "--new", "null")


@pytest.fixture(autouse=True)
def planted(here: Path) -> Path:
    """The current folder, with the function in it."""
    (here / "planted.py").write_text(PLANTED)
    return here


def suite(name: str) -> dict[str, Any]:
    """A suite file."""
    return {"schema_version": 1, "cases": [{"case": {"operator": name, **ARGUMENTS}, "directions": ["forward"]}]}


def rows(name: str) -> dict[str, Any]:
    """Rows of inputs as MXNet's own benchmark has them."""
    return {name: [{"command": "touch pwned"}]}


def config(name: str) -> dict[str, Any]:
    """One of PARAM's configs."""
    arguments = {"kwargs": {"command": {"type": "str", "value": "touch pwned"}}}
    entry = {"input": [arguments]}
    return {name: {"config": [entry], "input_data_generator": "PyTorch:DefaultDataGenerator"}}


def trace(name: str) -> dict[str, Any]:
    """An execution trace whose one operator has the name in its schema."""
    inputs = {"values": ["touch pwned"], "shapes": [[]], "types": ["String"], "strides": [[]]}
    schema = {"name": "op_schema", "type": "string", "value": f"{name}(str command) -> int"}
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    node = {"id": 2, "name": "aten::add", "ctrl_deps": 1, "inputs": inputs, "attrs": [schema]}
    empty: dict[str, Any] = {"values": [], "shapes": [], "types": [], "strides": []}
    return {"schema": "1.1.1-chakra.0.0.4", "nodes": [{**root, "inputs": empty}, node]}


def expectations(name: str) -> dict[str, Any]:
    """A file of expectations, whose one trial has the name as its implementation."""
    trial = {"case": {"operator": "add", **ARGUMENTS}, "side": {**SIDE, "implementation": name}, "direction": "forward"}
    return {"schema_version": 1, "expectations": [{**trial, "times": [1.0, 1.0, 1.0]}]}


#: Each reader: what it reads, and the commands that do.
READERS: dict[str, tuple[Callable[[str], dict[str, Any]], tuple[tuple[str, ...], ...]]] = {
    "suite": (
        suite,
        (
            ("run", "--suite", "evil.json", "--framework", "null"),
            ("run", "--suite", "evil.json"),
            ("run", "--suite", "evil.json", "--dry-run", "--framework", "null"),
            ("compare", "--suite", "evil.json", *LIVE),
            ("noise", "--suite", "evil.json", "--framework", "null"),
            ("gate", "--suite", "evil.json", *LIVE),
        ),
    ),
    "rows": (rows, (("run", "--suite", "evil.json", "--framework", "null"),)),
    "config": (config, (("run", "--config", "evil.json", "--framework", "null"), ("config", "check", "evil.json"))),
    "trace": (
        trace,
        (
            ("replay", "evil.json"),
            ("replay", "evil.json", "--dry-run"),
            ("replay", "evil.json", "--save-suite", "suite.json", "--dry-run"),
        ),
    ),
}


def refused(done: Done, here: Path) -> None:
    """Hold that a command ended as bad input does, with nothing run and nothing written."""
    assert done.code == 2, (done.out, done.err)
    assert not (here / "pwned").exists()
    assert sorted(path.name for path in here.iterdir() if path.suffix == ".json") == ["evil.json"]
    assert "Traceback" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_code_in_a_file_is_refused_and_not_run(reader: str, opperf: Opperf, here: Path) -> None:
    document, commands = READERS[reader]

    def check(name: str) -> None:
        (here / "evil.json").write_text(json.dumps(document(name)))
        for command in commands:
            done = opperf(*command)
            refused(done, here)
            assert f"`{name}` is code, and a file does not say which code is run" in done.err, command
            assert "evil.json" in done.err

    check_each(SPELLINGS, check)


@pytest.mark.parametrize(
    "text",
    [
        'operators = ["NAME"]\nbase = "null"\nnew = "null"',
        'operators = ["add"]\nbase = "NAME"\nnew = "null"',
        'operators = ["add"]\nbase = "null"\nnew = ["NAME;framework=null"]',
        'suite = "evil.json"\nbase = "null"\nnew = "null"',
    ],
)
def test_code_in_a_gate_file_is_refused_and_not_run(text: str, opperf: Opperf, here: Path) -> None:
    def check(name: str) -> None:
        (here / "opperf.toml").write_text(text.replace("NAME", name))
        (here / "evil.json").write_text(json.dumps(suite(name)))
        refused(opperf("gate"), here)

    check_each(SPELLINGS, check)


@pytest.mark.parametrize("name", [name for name in SPELLINGS if name.startswith("code:")])
def test_an_expectation_of_code_is_refused_until_its_function_is_named(name: str, opperf: Opperf, here: Path) -> None:
    (here / "evil.json").write_text(json.dumps(expectations(name)))
    done = opperf("gate", "--expected", "evil.json")
    refused(done, here)
    assert "evil.json: expectations[0]" in done.err
    assert f"name it yourself: `{name.removeprefix('code:')}`" in done.err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"environment": "python=./planted.py"}, "name it yourself: `--environment python=./planted.py`"),
        ({"environment": "planted @ file:///planted.whl"}, "a file cannot choose the environment"),
        ({"environment": "torch @ file:///planted.whl"}, "a file cannot choose the environment"),
        ({"environment": "planted==1.0"}, "a file cannot choose the environment"),
        ({"settings": {"env.LD_PRELOAD": "./planted.so"}}, "a file cannot set environment variables"),
    ],
)
def test_an_expectation_names_no_program_to_run(changed: dict[str, Any], told: str, opperf: Opperf, here: Path) -> None:
    document = expectations("steady")
    document["expectations"][0]["side"] |= changed
    (here / "evil.json").write_text(json.dumps(document))
    (here / "planted.py").write_text(f"#!/bin/sh\ntouch {here}/pwned\n")
    (here / "planted.py").chmod(0o755)
    done = opperf("gate", "--expected", "evil.json")
    refused(done, here)
    assert told in done.err


@pytest.mark.parametrize("name", ["code:planted:run", "planted.py:run", "numpy:code:planted:run"])
def test_a_record_of_code_is_a_label_that_is_shown_and_never_run(name: str, opperf: Opperf, here: Path) -> None:
    assert opperf("run", "null:steady", "--framework", "null", "--output", "old.json").code == 0
    document = json.loads((here / "old.json").read_text())
    (record,) = document["records"]
    record["side"]["implementation"], record["case"] = name, {"operator": name, **ARGUMENTS}
    (here / "evil.json").write_text(json.dumps(document))
    assert opperf("show", "evil.json").code == 0
    assert opperf("compare", "evil.json", "evil.json").code == 0
    assert opperf("run", "null:steady", "--framework", "null", "--resume", "evil.json").code == 0
    assert not (here / "pwned").exists()
