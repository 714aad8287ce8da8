"""Errors of the library as a Python program spells it: `base=...` for `--base SIDE`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TypeVar

from opperf.domain.errors import OpperfError

Error = TypeVar("Error", bound=OpperfError)

#: An option in backticks, with or without a value; whole commands stay as they are.
_OPTION = re.compile(r"`--(?P<name>[a-z][a-z-]*)(?:[ =](?P<value>[^`]+))?`")
#: Options that Python has under another name, and those that are there to leave something out.
_OTHERWISE = {"input": "inputs", "attribute": "attributes", "label": "labels", "candidates": "many"}
_NEGATED = {"no-samples": "keep_samples"}
_FLAGS = frozenset({"settle", "all", "force", "resume", "explain", "error_rate", "layout", "update_expected"})


def in_python(error: Error, names: Collection[str]) -> Error:
    """Return the error with the options that a function takes, by their `names`, as its arguments.

    >>> from opperf.domain.errors import InputError
    >>> in_python(InputError("needs both `--base SIDE` and `--new SIDE`"), {"base", "new"}).message
    'needs both `base` and `new`'
    >>> in_python(InputError("", hint="`--device cuda:0`, `--no-check` or `--debug`"), {"device", "check"}).hint
    '`device="cuda:0"`, `check=False` or `--debug`'
    """

    def spell(match: re.Match[str]) -> str:
        option, value = match["name"], match["value"]
        negated = option.startswith("no-")
        name = _NEGATED.get(option) or _OTHERWISE.get(option, option.removeprefix("no-")).replace("-", "_")
        if name not in names:
            return match[0]
        if negated:
            return f"`{name}=False`"
        if value is None:
            return f"`{name}=True`" if name in _FLAGS else f"`{name}`"
        is_placeholder = value.isupper() or "=" in value
        return f"`{name}`" if is_placeholder else f'`{name}="{value}"`'

    error.message = _OPTION.sub(spell, error.message)
    error.hint = None if error.hint is None else _OPTION.sub(spell, error.hint)
    return error
