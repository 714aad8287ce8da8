"""`task.yml` of GPU MODE: its lists of files, tests and benchmarks, whose entries are written in one line each.

    tests:
      - {"size": 127, "seed": 4242}   # read as Python and JSON have it
      - size: 128                     # or by keys of lines of their own
        seed: 5236

There is no reader of YAML in the standard library, and a child has nothing else. The rest of the file is passed over.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text

LISTS = ("files", "tests", "benchmarks")
#: What YAML calls some values.
WORDS = {"true": True, "false": False, "null": None, "~": None}
_KEY = re.compile(r"([\w.-]+)\s*:\s*(.*)")


def read_task(path: Path) -> Mapping[str, list[dict[str, Any]]]:
    """Return the entries of each list; raises `InputError` that names the line."""
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in LISTS}
    section = ""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        where = f"{path}:{number}"
        if not line[0].isspace() and not text.startswith("-"):
            section = text.partition(":")[0]
        elif section in LISTS:
            _add(lists[section], text, where)
    return lists


def _add(entries: list[dict[str, Any]], text: str, where: str) -> None:
    """Take a line of a list: an entry, or a key of the last one."""
    if text.startswith("-"):
        entries.append({})
        text = text[1:].strip()
    if not entries:
        raise InputError(f"{where}: found `{text[:60]}`, expected an entry that begins with `-`")
    if text.startswith("{"):
        entries[-1].update(_mapping(text, where))
    elif match := _KEY.fullmatch(text):
        entries[-1][match[1]] = _value(match[2], where)
    elif text:
        raise InputError(
            f"{where}: found `{text[:60]}`, expected `{{...}}` or `key: value`",
            hint="write the entry in one line, as `- {size: 128, seed: 1}`",
        )


def _mapping(text: str, where: str) -> dict[str, Any]:
    """Return a mapping in braces; keys may stand without quotes."""
    inner, closing, _ = text.rpartition("}")
    quoted = re.sub(r"([{,]\s*)([A-Za-z_]\w*)(\s*:)", r'\1"\2"\3', inner + closing)
    value = _value(quoted, where)
    if not isinstance(value, dict):
        raise InputError(f"{where}: found `{text[:60]}`, expected a mapping in braces")
    return value


def _value(text: str, where: str) -> Any:
    """Return a value; a word is a string, as in YAML."""
    plain = re.sub(r"\s+#.*", "", text)
    if plain.lower() in WORDS:
        return WORDS[plain.lower()]
    words = re.sub(r"(?<=[:,\[ ])\s*(true|false|null)(?=\s*[,\]}])", lambda m: f" {WORDS[m[1]]}", plain)
    try:
        return ast.literal_eval(words)
    except (ValueError, SyntaxError):
        if re.fullmatch(r"[\w./@-]+", plain):
            return plain
        raise InputError(f"{where}: found `{text[:60]}`, expected a number, a string or a list") from None
