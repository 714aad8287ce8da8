"""What tests of gates share: a quick `opperf`, and the kinds of what a gate finds."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from tests.functional.conftest import FEW

Opperf: TypeAlias = Callable[..., Any]

SAME = ("gate", "null:steady", "--base", "null", "--new", "null")
#: Five pairs stand out enough to decide alone; fewer are measured again.
SLOWER = ("gate", "null:steady", "--base", "null", "--new", "null;slowdown=1.10", "--pairs", "5")


@pytest.fixture
def opperf(opperf: Opperf) -> Opperf:
    """Run a command; where it compares sides that it names, with the fewest pairs unless told."""

    def run(*words: Any) -> Any:
        few = FEW if words[0] == "gate" and "--base" in words and not {"--pairs", "--settle"} & {*words} else ()
        return opperf(*words, *few)

    return run


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run in GitHub Actions themselves."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def kinds(done: Any) -> list[str]:
    """Return the kinds of the findings of a JSON document."""
    return [finding["kind"] for finding in json.loads(done.out)["gate"]["findings"]]


def interrupted_at(call: int, verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return the verb with Ctrl-C pressed at one of its calls."""
    calls = itertools.count(1)

    def run(*given: Any, **options: Any) -> Any:
        if next(calls) == call:
            raise KeyboardInterrupt
        return verb(*given, **options)

    return run
