"""A solution of FlashInfer-Bench and SOL-ExecBench: a candidate with its sources, in one JSON file.

FlashInfer-Bench has one `language` in its `spec`, SOL-ExecBench a list of `languages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import show
from opperf.domain.files.text_file import read_json

#: Languages whose sources Python loads. Others are compiled first, which opperf does not.
LANGUAGES = ("python", "pytorch", "triton", "cute_dsl", "cutile", "tilelang")


@dataclass(frozen=True)
class Solution:
    """A solution: the sources by path, and the `function` of `file` that is called.

    One that `fills` takes its results behind its arguments and writes into them.
    """

    name: str
    sources: Mapping[str, str]
    file: str
    function: str
    fills: bool


def read(path: Path) -> Solution:
    """Return the solution in a file; raises `InputError` that names the place."""
    data = read_json(path, hint="a solution has `name`, `definition`, `spec` and `sources`")
    spec = _field(data, "spec", dict, f"{path}")
    languages = spec.get("languages") or [spec.get("language", "python")]
    compiled = [str(one) for one in languages if one not in LANGUAGES] if isinstance(languages, list) else []
    if compiled:
        raise InputError(
            f"{path}: spec: written in {', '.join(compiled)}, expected one of {', '.join(LANGUAGES)}",
            hint="opperf builds no extensions: build it yourself, and name a Python file that loads it",
        )
    entry = _field(spec, "entry_point", str, f"{path}: spec")
    file, colons, function = entry.partition("::")
    sources = {}
    for number, source in enumerate(_field(data, "sources", list, f"{path}")):
        where = f"{path}: sources[{number}]"
        name = _field(source, "path", str, where)
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or "\\" in name:
            raise InputError(f"{where}: found the path {show(name)}, expected one inside the solution")
        sources[name] = _field(source, "content", str, where)
    if not colons or not function.isidentifier() or file not in sources:
        raise InputError(
            f"{path}: spec.entry_point: found {show(entry)}, expected `FILE::FUNCTION` of a file among the sources",
            hint=f"the sources are {', '.join(sources) or 'empty'}",
        )
    fills = spec.get("destination_passing_style", True)
    if not isinstance(fills, bool):
        raise InputError(f"{path}: spec.destination_passing_style: found {show(fills)}, expected true or false")
    return Solution(_field(data, "name", str, f"{path}"), sources, file, function, fills)


def _field(data: Any, name: str, kind: type[Any], where: str) -> Any:
    words: dict[type[Any], str] = {dict: "an object", str: "a string", list: "a list"}
    if not isinstance(data, dict):
        raise InputError(f"{where}: found {show(data)}, expected an object")
    if not isinstance(data.get(name), kind):
        raise InputError(f"{where}.{name}: found {show(data.get(name))}, expected {words[kind]}")
    return data[name]
