"""Wrong words on a command line, told as every other bad input: what was found, what is expected, what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.domain.errors import near

if TYPE_CHECKING:
    from typer._click import exceptions
    from typer._click.exceptions import UsageError

#: What a type of a parameter is called.
TYPES = {"integer": "a whole number", "int": "a whole number", "float": "a number", "path": "a file"}
#: The fewest names that are too many to list.
MANY = 12


def describe(error: UsageError) -> str:
    """Say what is wrong with a command line, with a hint."""
    from typer._click import exceptions

    command = "opperf" if error.ctx is None else error.ctx.command_path
    hint = f"`{command} --help` lists its options"
    if isinstance(error, exceptions.NoSuchOption):
        options = [] if error.ctx is None else [one for parameter in error.ctx.command.params for one in parameter.opts]
        by_word = {option.lstrip("-"): option for option in options}  # that all begin with dashes makes none alike
        close = [by_word[word] for word in near(error.option_name.lstrip("-"), by_word, most=2)]
        return _message(f"`{command}` has no option `{error.option_name}`", _did_you_mean(close) or hint)
    if isinstance(error, exceptions.MissingParameter):
        return _message(f"`{command}` needs {_name(error)}".rstrip(), f"`{command} --help` shows how it is called")
    if isinstance(error, exceptions.BadParameter) and error.param is not None:
        name, kind = error.param.opts[0], TYPES.get(error.param.type.name, "")
        if kind and "not a valid" in error.message:
            value = error.message.partition(" is not a valid")[0].strip("'")
            return _message(f"`{name}` is `{value}`, expected {kind}", hint)
        return _message(f"`{name}`: {_lower(error.message)}", hint)
    if error.message.startswith("No such command ") and error.ctx is not None:
        word = error.message.removeprefix("No such command ").partition(".")[0].strip("'")
        names = _commands(error)
        others = f"known: {', '.join(names)}" if len(names) < MANY else f"`{command} --help` lists all"
        return _message(f"`{command}` has no command `{word}`", _did_you_mean(near(word, names)) or others)
    if isinstance(error, exceptions.BadOptionUsage):
        needs = "takes no" if "does not take" in error.message else "needs a"
        return _message(f"`{error.option_name}` {needs} value", hint)
    return _message(_lower(error.message), hint)


def _name(error: exceptions.MissingParameter) -> str:
    """Return the name of a parameter on a command line: `--against`, or FILE."""
    if error.param is None:
        return ""
    first = error.param.opts[0]
    return f"`{first}`" if first.startswith("-") else error.param.human_readable_name.rstrip(".")


def _commands(error: UsageError) -> list[str]:
    lists = getattr(error.ctx and error.ctx.command, "list_commands", None)
    return [] if lists is None else list(lists(error.ctx))


def _did_you_mean(names: list[str]) -> str:
    return f"did you mean {', '.join(f'`{name}`' for name in names)}?" if names else ""


def _lower(text: str) -> str:
    """Return a sentence as a message has it: it begins small, and no full stop ends it."""
    line = " ".join(text.split()).rstrip(".")
    return line[:1].lower() + line[1:]


def _message(text: str, hint: str) -> str:
    return f"{text}\n\nhint: {hint}"
