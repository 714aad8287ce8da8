"""Functions that change their inputs: in every framework that allows it, no call gets what another has left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("changing_functions.py")
#: The functions of each framework that are called: own ones, and what the catalog says to change inputs.
CALLED = {"numpy": 41, "torch": 39, "mxnet": 29, "array_api:array_api_strict": 13, "array_api:dpnp": 14}


def run(framework: str) -> dict[str, object]:
    """Return what the script reports of a framework."""
    report: dict[str, object] = json.loads(printed(framework, SCRIPT, framework).splitlines()[-1])
    return report


@pytest.mark.parametrize("framework", CALLED)
def test_every_call_gets_its_inputs_as_they_were_made(framework: str) -> None:
    assert run(framework) == {"called": CALLED[framework], "unsteady": []}


def test_a_library_that_computes_late_and_is_written_into_is_not_measured() -> None:
    assert run("array_api:dask.array") == {"refused": ["a part", "an item", "fewer items"]}
