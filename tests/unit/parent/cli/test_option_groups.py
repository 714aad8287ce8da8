"""A class of options stands for its fields: on the command line they are options, in the command they are one value."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from typer.testing import CliRunner

from opperf.parent.cli.option_groups import grouped
from opperf.parent.sources.option import Option


@dataclass(frozen=True)
class Sizes:
    width: Annotated[int, Option("N", "How wide.")] = 3
    deep: Annotated[bool, Option("", "To the rock.", flag="very-deep")] = False


SEEN: list[tuple[str, Sizes, str]] = []


@grouped
def dig(
    place: Annotated[str, typer.Argument()],
    *,
    sizes: Sizes,
    tool: Annotated[str, typer.Option()] = "spade",
) -> None:
    """Dig a hole."""
    SEEN.append((place, sizes, tool))


def given(*words: str) -> Any:
    """Run the command; return what it was called with."""
    app = typer.Typer(rich_markup_mode=None)
    app.command()(dig)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return SEEN.pop()


def test_a_command_has_the_fields_of_a_class_as_options_where_the_class_stands() -> None:
    assert list(inspect.signature(dig).parameters) == ["place", "width", "deep", "tool"]


def test_fields_that_are_not_given_keep_their_defaults() -> None:
    assert given("garden") == ("garden", Sizes(), "spade")


def test_what_is_given_reaches_the_command_in_its_class() -> None:
    assert given("garden", "--width", "5", "--very-deep", "--tool", "hands") == ("garden", Sizes(5, deep=True), "hands")


def test_the_command_keeps_its_name_and_its_words() -> None:
    assert (dig.__name__, dig.__doc__) == ("dig", "Dig a hole.")
