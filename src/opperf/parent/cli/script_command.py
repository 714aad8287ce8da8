"""A command that runs a script: its options stand before the script or behind it, everything else is the script's."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

#: What a script's user asks the script for.
NOT_TAKEN = "--help"
#: Where the words that were taken from behind the script are found again.
TAKEN = "opperf.taken"


class ScriptCommand(TyperCommand):
    """Takes the long options that it knows from behind the script, up to `--`; what follows is the script's own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's options first, as one that stops at the script has them."""
        flags = {name: bool(getattr(one, "is_flag", False)) for one in self.params for name in _names(one)}
        before, script, behind = _split(args, flags)
        words: list[str] = []
        own: list[str] = []
        while behind:
            word = behind.pop(0)
            name, equals, _ = word.partition("=")
            if word == "--":
                own += behind
                break
            if not name.startswith("--") or name not in flags or name == NOT_TAKEN:
                own.append(word)
                continue
            words.append(word)
            if not flags[name] and not equals and behind:
                words.append(behind.pop(0))
        ctx.meta[TAKEN] = tuple(words)
        return super().parse_args(ctx, [*before, *words, *script, *own])


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


def _split(args: list[str], flags: dict[str, bool]) -> tuple[list[str], list[str], list[str]]:
    """Return what stands before the script, the script, and what stands behind it."""
    place = 0
    while place < len(args) and args[place].startswith("-"):
        if args[place] == "--":
            return args[:place], args[place + 1 : place + 2], ["--", *args[place + 2 :]]
        name, equals, _ = args[place].partition("=")
        place += 1 if equals or flags.get(name, True) else 2
    return args[:place], args[place : place + 1], args[place + 1 :]
