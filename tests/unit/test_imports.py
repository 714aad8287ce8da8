"""What opperf imports from outside: libraries where they belong, frameworks in backends and faces only."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path

from tests.each import each
from tests.source import statements, trees

import opperf
from opperf.parent.workers.package import AT_HOME

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(opperf.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
LIBRARIES = {re.split(r"[^\w-]", line)[0] for line in [*PROJECT["dependencies"], *OPTIONAL]}
#: What SQLAlchemy imports by the address of a database.
BY_ADDRESS = {"psycopg"}
FRAMEWORKS = {"torch", "jax", "mxnet", "numpy", "onnx", "onnxruntime", "tensorflow"}
#: What a process confines itself with, wherever it does.
CONFINES = {"landlockpy", "pyseccomp"}
#: Command lines of other systems are the parent's, though they stand beside what they run.
COMMAND_LINES = re.compile(r"compat/\w+/(__main__\.py|command/)")


@cache
def modules() -> list[str]:
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@cache
def imported() -> dict[str, frozenset[str]]:
    """Return the packages that each module imports, wherever in it, but for type checking."""
    return {path.as_posix(): frozenset(_outside(tree)) for path, tree in trees(PACKAGE).items()}


def outside(module: str) -> frozenset[str]:
    """Return the packages that a module imports."""
    return imported()[module]


def _outside(tree: ast.Module) -> Iterator[str]:
    own = [*statements(tree)]
    checks = [node for node in own if isinstance(node, ast.If) and "TYPE_CHECKING" in vars(node.test).values()]
    typing_only = {inner for node in checks for inner in statements(node)}
    for node in own:
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@each("library", sorted(LIBRARIES - BY_ADDRESS))
def test_a_library_is_imported_by_the_parent_and_by_what_confines_itself_only(library: str) -> None:
    importers = [module for module in modules() if library in outside(module)]
    assert importers
    homes = ("parent/", *(("confinement/",) if library in CONFINES else ()))
    assert [name for name in importers if not name.startswith(homes) and not COMMAND_LINES.match(name)] == []


@each("framework", sorted(FRAMEWORKS))
def test_a_framework_is_imported_by_backends_and_faces_only(framework: str) -> None:
    importers = [module for module in modules() if framework in outside(module)]
    assert importers
    # What judges computes with NumPy, whatever it judges.
    judges = ("child/judging/",) if framework == "numpy" else ()
    assert [name for name in importers if not name.startswith(("child/backends/", "compat/", *judges))] == []


def test_no_child_imports_what_its_folder_does_not_have() -> None:
    home = re.compile(rf"^\s*(from|import) opperf\.({'|'.join(AT_HOME)})\b", re.MULTILINE)
    children = [name for name in modules() if name.startswith("child/")]
    assert [name for name in children if home.search((PACKAGE / name).read_text(encoding="utf-8"))] == []
    assert home.search("    from opperf.param.configs import a")


def test_every_room_of_a_floor_exists() -> None:
    contracts = ConfigParser()
    contracts.read(Path(__file__).parents[2] / ".importlinter")
    rooms = re.findall(r"\w+", contracts["importlinter:contract:floors"]["layers"])
    modules = {path.stem for tower in ("parent", "child") for path in (PACKAGE / tower).iterdir()}
    assert [room for room in rooms if room not in modules] == []
