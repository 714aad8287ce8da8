"""The folder of an asv suite: the one that is named, or the one that its `asv.conf.json` names.

Of that file only `benchmark_dir` is read. Its commands build a project, and nobody has named them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from opperf.domain.errors import InputError

#: What asv's file of settings is called.
CONFIGURATION = "asv.conf.json"
#: What asv allows beside JSON: comments, and then a comma behind the last value; strings are kept.
_BESIDE_JSON = tuple(
    re.compile(r'"(?:\\.|[^"\\])*"|' + other, re.DOTALL) for other in (r"//[^\n]*|/\*.*?\*/", r",(?=\s*[\]}])")
)


def benchmark_folder(path: str) -> str:
    """Return the folder that holds the benchmarks of a suite; raises `InputError` for one that is none."""
    folder = Path(path)
    file = folder if folder.is_file() else folder / CONFIGURATION
    if file.is_file():
        name = _settings(file).get("benchmark_dir", "benchmarks")
        if not isinstance(name, str):
            raise InputError(f"{file}: benchmark_dir: found {name!r}, expected a folder")
        folder = file.parent / name
    if not folder.is_dir():
        where = f", which {file} names" if file.is_file() else ""
        raise InputError(f"there is no folder `{folder}`{where}", hint="name the folder of an asv suite: `asv:FOLDER`")
    if not any(folder.rglob("*.py")):
        hint = f"name the folder with the benchmarks, or with `{CONFIGURATION}`"
        raise InputError(f"`{folder}` holds no Python files, expected the benchmarks of asv", hint=hint)
    return str(folder)


def _settings(file: Path) -> Mapping[str, object]:
    """Return the settings in a file; raises `InputError` with the place of what is no JSON with comments."""
    try:
        text = file.read_text(encoding="utf-8")
        for pattern in _BESIDE_JSON:
            text = pattern.sub(_blank, text)
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}:{error.colno}: {error.msg}, expected JSON with comments") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{file}: found {type(value).__name__}, expected an object of asv's settings")
    return value


def _blank(match: re.Match[str]) -> str:
    """Return a string as it is, and anything else as blanks, so that errors have their lines."""
    return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])
