"""The help of a command with many options has them in groups, each once."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from opperf.parent.cli.help import GROUPS, LEAST
from opperf.parent.cli.main import Commands, app


def sections(verb: str) -> dict[str, list[str]]:
    """Return the options under each title of the help."""
    text = CliRunner().invoke(app, [verb, "--help"], env={"COLUMNS": "80"}).output
    parts = re.split(r"^([A-Z][a-z ]+):\n", text, flags=re.MULTILINE)[1:]
    pairs = zip(parts[::2], parts[1::2])
    return {title: re.findall(r"^  (?:-h, )?(--[a-z-]+)", part, re.MULTILINE) for title, part in pairs}


@pytest.mark.parametrize("verb", ["run", "compare", "gate", "noise"])
def test_many_options_stand_in_the_same_groups_and_each_once(verb: str) -> None:
    groups = sections(verb)
    names = [name for several in groups.values() for name in several]
    params = [one for one in Commands()[verb].params if one.param_type_name == "option"]
    assert len(names) == len(set(names)) == len(params) + 1  # and `--help`
    assert [title for title in groups if title in GROUPS] == [*GROUPS]
    assert "--suite" in groups["What"]
    assert "--output" in groups["Output"]


def test_few_options_are_one_list() -> None:
    assert [*sections("show")] == ["Arguments", "Options"]
    assert len(sections("show")["Options"]) < LEAST
