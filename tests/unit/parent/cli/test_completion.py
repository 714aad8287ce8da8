"""What a shell completes, and the help that fits a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest
import typer.main
from tests.each import each
from typer.testing import CliRunner

from opperf.parent.cli import completion
from opperf.parent.cli.main import app

COMMAND: Any = typer.main.get_command(app)


def commands(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, groups too."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


def printed(*words: str) -> tuple[object, str]:
    """Return how a command leaves and what it prints; typer's own runner would build all commands for each."""
    with redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as left:
        COMMAND.main([*words], prog_name="opperf")
    return left.value.code, out.getvalue()


@each("words", list(commands(COMMAND)))
def test_every_verb_has_its_help_under_both_names(words: tuple[str, ...]) -> None:
    code, text = printed(*words, "--help")
    assert (code, text.startswith("Usage: opperf")) == (0, True)
    assert printed(*words, "-h") == (code, text)


@pytest.mark.parametrize("words", [words for words in commands(COMMAND) if words in ((), ("env",), ("config",))])
def test_summaries_of_commands_are_whole_on_eighty_columns(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output
    summaries = said.partition("Commands:")[2].strip().splitlines()
    assert len(summaries) > 1
    assert [line for line in summaries if not line.endswith(".") or line.endswith("...")] == []


@each(
    ("words", "expected"),
    [
        ("run softma", ["softmax"]),
        ("run tor", ["torch:"]),
        ("compare matmul_t", ["matmul_transposed"]),
        ("operators softma", ["softmax"]),
        ("run --framework onn", ["onnxruntime"]),
        ("run --environment re", ["reference"]),
        ("run --size int", ["int64"]),
        ("run --dtype bf", ["bfloat16", "bf16"]),
    ],
)
def test_a_shell_completes_names(words: str, expected: list[str]) -> None:
    asked = {
        "_OPPERF_COMPLETE": "complete_bash",
        "COMP_WORDS": f"opperf {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    said = CliRunner().invoke(app, [], prog_name="opperf", env=asked)
    assert said.output.split() == expected


def test_a_shell_can_be_shown_how_it_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Typer asks for the shell that started it, which is what ran the tests and may be one that completes nothing.
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    assert "_OPPERF_COMPLETE" in CliRunner().invoke(app, ["--show-completion"], prog_name="opperf").output


def test_every_name_that_is_completed_is_one_that_is_known() -> None:
    assert "add" in completion.operators("")
    assert "null:" not in completion.operators("")
    assert set(completion.directions("")) == {"forward", "backward", "forward_backward"}
