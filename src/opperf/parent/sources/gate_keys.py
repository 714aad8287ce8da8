"""The keys of a gate file: the field that each fills, and how its value is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from opperf.catalog import DIRECTIONS, INT64, SIZES, categories
from opperf.domain.code import check_name
from opperf.domain.errors import InputError, at_place, check_known
from opperf.domain.metric import compared_names
from opperf.domain.plan import COMPILE_CACHES, INSTRUCTIONS, LONGEST, MODES
from opperf.domain.registry import framework, parse_device, split_implementation
from opperf.domain.tensor import parse_dtype
from opperf.domain.units import parse_duration, parse_jobs, parse_percent
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.documents.judgement import POLICIES
from opperf.parent.documents.tolerances import THRESHOLD, TOLERANCE, Tolerances
from opperf.parent.sources.value_choice import ValueChoice

#: The fewest pairs and processes that a gate may judge by.
LEAST = 3

#: Reads one value of a key; raises `InputError` that says what was expected. The folder is that of the file.
Reader: TypeAlias = Callable[[object, Path], object]


def wrong(value: object, expected: str, hint: str | None = None) -> InputError:
    """Return the error for a value that is not as expected."""
    return InputError(f"found {value!r}, expected {expected}", hint=hint, slug="gate_file")


def string(value: object, _: Path) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(value, "a string")
    return value


def _jobs(value: object, _: Path) -> int:
    """Return a number of jobs, 0 for `auto`."""
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        with suppress(InputError):
            return parse_jobs(str(value), name="the value")
    raise wrong(value, "`auto` or a whole number >= 1")


def _path(value: object, folder: Path) -> Path:
    text = string(value, folder)
    if "\0" in text:
        raise wrong(value, "a path")
    return folder / text


def _whole(least: int) -> Reader:
    def read(value: object, _: Path) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise wrong(value, f"a whole number >= {least}")
        return value

    return read


def _yes_or_no(value: object, _: Path) -> bool:
    if not isinstance(value, bool):
        raise wrong(value, "true or false")
    return value


def _percent(value: object, folder: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise wrong(value, "a percentage or a fraction below 1", 'write, for example, `"2%"`')
    return parse_percent(value, name="the value")


def _tolerances(usual: float) -> Reader:
    """Read one percentage for all operators, or a table of them by name or pattern; `*` is what is usual."""

    def read(value: object, folder: Path) -> Tolerances:
        if isinstance(value, Tolerances):  # of the command line, which has read it
            return value
        if not isinstance(value, dict):
            return Tolerances(_percent(value, folder))
        by_pattern: dict[str, float] = {}
        for pattern, share in value.items():
            with at_place(f"`{pattern}`"):
                by_pattern[pattern] = _percent(share, folder)
        return Tolerances(by_pattern.pop("*", usual), by_pattern)

    return read


def _duration(value: object, folder: Path) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        read = value
    else:
        read = parse_duration(string(value, folder), name="the value")
    if not 0 < read <= LONGEST:
        raise wrong(value, f"a time above 0, of {LONGEST:g} s at most")
    return float(read)


def one_of(names: Sequence[str]) -> Reader:
    """Return the reader of a word that is one of some."""

    def read(value: object, _: Path) -> str:
        if value not in names:
            raise wrong(value, " or ".join(f"`{word}`" for word in names))
        return str(value)

    return read


def names(check: Callable[[str], object]) -> Callable[[object, Path], tuple[str, ...]]:
    """Read a list of names, or one name, each of which `check` must know."""

    def read(value: object, folder: Path) -> tuple[str, ...]:
        words = value if isinstance(value, list) else [value]
        if not words:
            raise wrong(value, "one name at least")
        for word in words:
            check(string(word, folder))
        return tuple(words)

    return read


def name_of(kind: str, members: Callable[[], Sequence[str]]) -> Callable[[str], None]:
    """Return a check that raises `InputError` for a name that is none of the members of a kind."""

    def check(name: str) -> None:
        check_known(kind, name, members())

    return check


def _operator(name: str) -> None:
    """Raise for code; a framework's own names only the framework knows, and other names may be those of plugins."""
    check_name(name, "an operator")
    split_implementation(name)


def _arguments(value: object, _: Path) -> Mapping[str, object]:
    """Read arguments by name, each as `--input` and `--attribute` read it or as TOML has it."""
    if not isinstance(value, dict) or not value or any(isinstance(one, dict) for one in value.values()):
        raise wrong(value, "a table of arguments by name", 'write, for example, `{lhs = "64x64", rhs = [64, 64]}`')
    return {name: tuple(one) if isinstance(one, list) else one for name, one in value.items()}


def _inputs(value: object, folder: Path) -> tuple[Mapping[str, object], ...]:
    """Read a table of inputs, or a list of them: each makes one case of every operator."""
    return tuple(_arguments(one, folder) for one in (value if isinstance(value, list) else [value]))


def _places(value: object, folder: Path) -> tuple[str, ...]:
    """Read sides or environments; `python=PATH` is relative to the file too."""
    words = names(lambda _: None)(value, folder)
    return tuple(_place(word, folder) for word in words)


def _place(word: str, folder: Path) -> str:
    path, _, rest = word.removeprefix("python=").partition(";")
    if not word.startswith("python=") or Path(path).is_absolute():
        return word
    return f"python={(folder / path).absolute()}" + (f";{rest}" if rest else "")


def _environments(value: object, folder: Path) -> tuple[str, ...]:
    words = _places(value, folder)
    for word in words:
        EnvironmentSpec.parse(word)
    return words


def _side(value: object, folder: Path) -> str:
    return _place(string(value, folder), folder)


def _database(value: object, folder: Path) -> str:
    """Read an address; a file is relative to this one."""
    text = string(value, folder)
    return text if "://" in text else str((folder / text).absolute())


#: The keys of the file, each with the field that it fills and how its value is read.
KEYS: Mapping[str, tuple[str, Reader]] = {
    "suite": ("suite", _path),
    "operators": ("operators", names(_operator)),
    "categories": ("category", names(name_of("category", categories))),
    "skip": ("skip", names(lambda _: None)),
    "sizes": ("size", names(name_of("size", lambda: (*SIZES, INT64)))),
    "dtypes": ("dtype", names(parse_dtype)),
    "directions": ("direction", names(name_of("direction", lambda: DIRECTIONS))),
    "values": ("values", names(ValueChoice.parse)),
    "random": ("random", _whole(1)),
    "inputs": ("inputs", _inputs),
    "attributes": ("attributes", _arguments),
    "base": ("base", _side),
    "new": ("new", _places),
    "tolerance": ("tolerance", _tolerances(TOLERANCE)),
    "pairs": ("pairs", _whole(LEAST)),
    "settle": ("settle", _yes_or_no),
    "max_pairs": ("max_pairs", _whole(LEAST)),
    "trial_budget": ("trial_budget", _duration),
    "precision": ("precision", _percent),
    "budget": ("budget", _duration),
    "timeout": ("timeout", _duration),
    "inconclusive": ("inconclusive", one_of(POLICIES)),
    "seed": ("seed", _whole(0)),
    "cpus": ("cpus", string),
    "share_device": ("share_device", _yes_or_no),
    "jobs": ("jobs", _jobs),
    "metric": ("metric", one_of(tuple(compared_names()))),
    "clock": ("clock", one_of(("wall", INSTRUCTIONS))),
    "compile_cache": ("compile_cache", one_of(COMPILE_CACHES)),
    "repo": ("repo", _path),
    "build": ("build", string),
}
_NOT_NIGHTLY = ("base", "new", "jobs", "repo", "build")
#: The keys of the table `[nightly]`: those of a gate but for its sides and jobs, and its own.
NIGHTLY_KEYS: Mapping[str, tuple[str, Reader]] = {
    **{name: both for name, both in KEYS.items() if name not in _NOT_NIGHTLY},
    "build": ("builds", _places),
    "builds": ("builds", _places),
    "anchor": ("anchor", _side),
    "index": ("index", string),
    "name": ("name", string),
}
#: The keys of the table `[expected]`.
EXPECTED_KEYS: Mapping[str, tuple[str, Reader]] = {
    "file": ("expected", _path),
    "threshold": ("threshold", _tolerances(THRESHOLD)),
    "processes": ("processes", _whole(LEAST)),
    "frameworks": ("framework", names(framework)),
    "environments": ("environment", _environments),
    "devices": ("device", names(parse_device)),
    "modes": ("modes", names(name_of("mode", lambda: MODES))),
}
#: The keys of the table `[database]`.
DATABASE_KEYS: Mapping[str, tuple[str, Reader]] = {"url": ("url", _database)}
