"""The folder of an asv suite, and what the `asv.conf.json` beside it says that opperf takes.

That is where the benchmarks are, which packages an environment for them has (of each in its `matrix` the first
version), and the repository of the project. Its commands are not read: they build a project, and nobody has named them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject

#: What asv's file of settings is called.
CONFIGURATION = "asv.conf.json"
#: What asv allows beside JSON: comments, and then a comma behind the last value; strings are kept.
_BESIDE_JSON = tuple(
    re.compile(r'"(?:\\.|[^"\\])*"|' + other, re.DOTALL) for other in (r"//[^\n]*|/\*.*?\*/", r",(?=\s*[\]}])")
)
#: The parts of a matrix; without one of them it is all packages.
PACKAGES, PARTS = "req", ("req", "env", "env_nobuild")
# A package and its versions: nothing that an installer could take for an option or a place.
_VERSION = r"(===|==|~=|!=|<=|>=|<|>)[A-Za-z0-9.*+!_-]+"
_REQUIREMENT = re.compile(rf"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?({_VERSION}(,{_VERSION})*)?")


@dataclass(frozen=True)
class AsvFolder:
    """A suite: its `folder`, and what its settings say, where there are some.

    `packages` are requirements, `repository` is a folder of this machine, `unread` has what of the settings does not
    hold here, and `commands` are the settings that would build a commit.
    """

    folder: str
    settings: Path | None = None
    project: str | None = None
    packages: tuple[str, ...] = ()
    repository: Path | None = None
    unread: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def asv_folder(path: str) -> AsvFolder:
    """Return the suite that a path names: its folder, or the folder or file of its settings.

    Raises `InputError` where there is none, and with the place for settings that cannot be read.
    """
    place = Path(path)
    file = place if place.is_file() else place / CONFIGURATION
    settings = _settings(file) if file.is_file() else None
    folder = place if settings is None else _benchmarks(settings, file)
    if not folder.is_dir():
        where = "" if settings is None else f", which {file} names"
        raise InputError(f"there is no folder `{folder}`{where}", hint="name the folder of an asv suite: `asv:FOLDER`")
    if not any(folder.rglob("*.py")):
        hint = f"name the folder with the benchmarks, or with `{CONFIGURATION}`"
        raise InputError(f"`{folder}` holds no Python files, expected the benchmarks of asv", hint=hint)
    if settings is None:  # those one folder up may be of this suite
        file = folder.resolve().parent / CONFIGURATION
        settings = _settings(file) if file.is_file() else None
        if settings is not None and _benchmarks(settings, file).resolve() != folder.resolve():
            settings = None
    return AsvFolder(str(folder)) if settings is None else _with_settings(str(folder), file, settings)


def _benchmarks(settings: JsonObject, file: Path) -> Path:
    return file.parent / _text(settings, "benchmark_dir", file, "benchmarks")


def _with_settings(folder: str, file: Path, settings: JsonObject) -> AsvFolder:
    """Return a suite with what its settings say."""
    repository = _text(settings, "repo", file, "")
    place = file.parent / repository
    is_here = bool(repository) and "://" not in repository and place.is_dir()
    packages, unread = _packages(settings.get("matrix", {}), file)
    commands = [name for name in ("build_command", "install_command") if name in settings]
    return AsvFolder(
        folder,
        file,
        _text(settings, "project", file, "") or None,
        packages,
        place if is_here else None,
        unread,
        tuple(commands),
    )


def _packages(matrix: object, file: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the first version of each package in a matrix, and what of the matrix is not taken."""
    if not isinstance(matrix, dict):
        raise InputError(f"{file}: matrix: found {matrix!r}, expected an object")
    is_whole = not set(matrix) <= {*PARTS} or not matrix
    packages = matrix if is_whole else matrix.get(PACKAGES, {})
    for part in (packages, *(() if is_whole else (matrix.get(name, {}) for name in PARTS[1:]))):
        if not isinstance(part, dict):
            raise InputError(f"{file}: matrix: found {part!r}, expected an object")
    variables = [] if is_whole else [name for part in PARTS[1:] for name in matrix.get(part, {})]
    requirements, unread = [], []
    for name, versions in packages.items():
        choices = versions if isinstance(versions, list) and versions else [versions or ""]
        requirement = _requirement(name, choices[0], file)
        if requirement is not None and not _REQUIREMENT.fullmatch(requirement):
            unread.append(f"`{requirement}` of its matrix is not taken, which is no package with a version")
            requirement = None
        requirements += [] if requirement is None else [requirement]
        if len(choices) > 1:
            first = "none" if requirement is None else requirement
            unread.append(f"of `{name}` the first of {len(choices)} versions is taken: {first}")
    if variables:
        hint = f"set them as in `--base 'numpy;env.{variables[0]}=1'`"
        unread.append(f"its variables ({', '.join(variables)}) are not set: {hint}")
    return tuple(requirements), tuple(unread)


def _requirement(name: str, version: object, file: Path) -> str | None:
    """Return a package with its version, None for one that asv leaves out; raises `InputError` for what is no text."""
    if version is None:
        return None
    if not isinstance(version, str):
        raise InputError(f"{file}: matrix: {name}: found {version!r}, expected a version")
    return f"{name.removeprefix('pip+')}{'==' if version[:1].isalnum() else ''}{version}"


def _text(settings: JsonObject, key: str, file: Path, usual: str) -> str:
    value = settings.get(key, usual)
    if not isinstance(value, str):
        raise InputError(f"{file}: {key}: found {value!r}, expected a text")
    return value


def _settings(file: Path) -> JsonObject:
    """Return the settings in a file; raises `InputError` with the place of what is no JSON with comments."""
    try:
        text = file.read_text(encoding="utf-8")
        for pattern in _BESIDE_JSON:
            text = pattern.sub(_blank, text)
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}:{error.colno}: {error.msg}, expected JSON with comments") from error
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{file}: found {type(value).__name__}, expected an object of asv's settings")
    return value


def _blank(match: re.Match[str]) -> str:
    """Return a string as it is, and anything else as blanks, so that errors have their lines."""
    return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])
