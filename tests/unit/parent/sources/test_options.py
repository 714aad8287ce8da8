"""Options are declared once: the command line, the library, settings and files have their names from one table."""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest

import opperf
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings
from opperf.parent.cli.main import Commands
from opperf.parent.commands.gate import Gate
from opperf.parent.documents.tolerances import TOLERANCE, Tolerances
from opperf.parent.sources.gate_file import GateFile
from opperf.parent.sources.gate_keys import EXPECTED_KEYS, KEYS, keys_of
from opperf.parent.sources.option import SECONDS, Only, Overrides, declarations, group_of, option, overrides_of
from opperf.parent.sources.options import Deciding, GateOptions, How, Judging, Names, Sampling, What, Where

ROOT = Path(opperf.__file__).parent
TABLE = "parent/sources/options.py"
#: What is written from the table.
WRITTEN = "parent/library/keywords.py"
BETWEEN = (
    *(TABLE, "domain/plan.py", "parent/planning/request.py", "parent/planning/selection.py"),
    *("parent/sources/gate_file.py", "parent/sources/gate_keys.py"),
)
#: Options of the same name that mean something else: pairs of `compare`.
OTHERS = {
    "processes": {"parent/cli/compare.py", "parent/library/measurements.py"},
}


def declared(module: ast.Module) -> Iterator[str]:
    """Yield the names of parameters with a type, and of fields: what a module declares, and not what it only uses."""
    for node in ast.walk(module):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def homes(name: str) -> set[str]:
    """Return the modules of both ways in, and of what lies between them and a child, that declare an option."""
    rooms = [path for room in ("cli", "library") for path in (ROOT / "parent" / room).rglob("*.py")]
    between = [*map(ROOT.joinpath, BETWEEN), *rooms]
    modules = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in between}
    return {path for path, module in modules.items() if name in declared(module)} - {WRITTEN}


def plain(hint: object) -> object:
    """Return a type without what is said of it."""
    return plain(get_args(hint)[0]) if get_origin(hint) is Annotated else hint


@pytest.mark.parametrize("name", [one.name for group in (Sampling, How) for one in declarations(group)])
def test_an_option_of_run_that_reaches_the_child_is_declared_in_the_table_and_in_the_settings(name: str) -> None:
    """What a child does with it is a third file, or a third and a fourth; pages and keywords are written."""
    assert homes(name) == {TABLE, "domain/plan.py"} | OTHERS.get(name, set())


@pytest.mark.parametrize("group", [Sampling, How])
def test_options_that_are_settings_have_their_type_and_default(group: type) -> None:
    hints, own = get_type_hints(Settings, include_extras=True), {one.name: one for one in fields(Settings)}
    for one in declarations(group):
        assert one.default == own[one.name].default, one.name
        kinds = {plain(kind) for kind in (hints[one.name], *get_args(hints[one.name]))}
        assert one.item in kinds or one.name == "cpus", one.name


def test_what_run_takes_on_a_command_line_the_library_takes_too() -> None:
    words = {one.name for one in Commands()["run"].params}
    keywords = set(inspect.signature(opperf.run).parameters)
    of_a_terminal = {
        "format",
        "html",
        "plot",
        "database",
        "top",
        "strict",
        "dry_run",
        "debug",
        "by",
        "replacement",
        "asv_results",
    }
    assert words - keywords - of_a_terminal == {"no_check", "no_samples"}
    assert keywords - words == {"memory", "latency", "memory_limit", "keep_samples", "progress", "replace"}


def test_the_keywords_of_the_library_are_those_of_the_table() -> None:
    script = ROOT.parents[1] / "docs" / "keywords.py"
    spec = importlib.util.spec_from_file_location("keywords_script", script)
    assert spec is not None
    assert spec.loader is not None
    module = ModuleType("keywords_script")
    spec.loader.exec_module(module)
    assert module.text() == (ROOT / WRITTEN).read_text(), "run `make generate`"


def test_a_value_is_read_alike_from_a_text_and_from_a_number() -> None:
    assert group_of(Judging, {"tolerance": "3%"}) == group_of(Judging, {"tolerance": 0.03})
    assert group_of(Deciding, {"trial_budget": "200ms"}) == Deciding(trial_budget=0.2)
    assert group_of(What, {"category": "reduction", "plugin": "a.py"}) == What(("reduction",), plugin=(Path("a.py"),))
    assert group_of(Where, {"device": ["cpu", "cuda:0"], "threads": None}) == Where(device=("cpu", "cuda:0"))


def test_a_text_that_cannot_be_read_is_told_by_the_name_of_its_option() -> None:
    with pytest.raises(InputError, match="`--trial-budget` is `soon`, expected a number and a unit"):
        group_of(Sampling, {"trial_budget": "soon"})


def test_a_verb_takes_a_part_of_a_class() -> None:
    assert [one.name for one in declarations(Annotated[Where, Only("device", "threads")])] == ["device", "threads"]


def test_overrides_have_no_defaults_and_only_what_is_there() -> None:
    assert {one.default for one in declarations(Overrides[GateOptions])} == {None}
    overrides = overrides_of(GateOptions, {"tolerance": 0.05, "pairs": None})
    assert overrides.values == {"tolerance": Tolerances(0.05)}
    assert overrides.has("tolerance")
    assert not overrides.has("pairs")


@dataclass(frozen=True)
class More(GateOptions):
    """The options of a gate, and two that nobody has declared yet."""

    library: Names = option((), "NAME", "Libraries.")
    patience: float = option(1.0, "SECONDS", "How long to wait.", SECONDS)


def test_every_option_in_place_of_a_gate_file_is_a_key_of_it_as_soon_as_it_is_declared() -> None:
    keys = keys_of(More)
    assert {*keys} - {"libraries", "patience"} <= {*KEYS, *EXPECTED_KEYS}
    assert keys["libraries"][1]("a", Path()) == ("a",)
    assert keys["patience"][1]("2ms", Path()) == 0.002
    assert {field for field, _ in [*KEYS.values(), *EXPECTED_KEYS.values()]} <= {one.name for one in fields(GateFile)}


def test_a_tolerance_for_each_operator_is_read_alike_from_a_file_and_in_python() -> None:
    shares = {"conv*": "3%", "softmax": 0.05}
    assert group_of(Judging, {"tolerance": shares}).tolerance == Tolerances(TOLERANCE, {"conv*": 0.03, "softmax": 0.05})
    with pytest.raises(InputError, match=r"`conv\*`: `--tolerance` is `wide`, expected a percentage"):
        group_of(Judging, {"tolerance": {"conv*": "wide"}})


def test_a_gate_file_compares_as_the_command_line_does_by_default() -> None:
    assert GateFile().tolerance == Deciding().tolerance == Tolerances(TOLERANCE)
    assert {one.name: one.default for one in declarations(GateFile)}.items() >= {
        one.name: one.default for one in declarations(How)
    }.items()


def test_a_gate_samples_as_settings_say_whatever_its_pairs_do() -> None:
    rule = Gate(GateFile(trial_budget=0.1, precision=None, timeout=7.0)).settings()
    assert (rule.precision, rule.trial_budget, rule.timeout) == (Settings.precision, Settings.trial_budget, 7.0)


def test_no_dictionary_of_anything_lies_between_a_way_in_and_a_use_case() -> None:
    rooms = ("parent/cli", "parent/library")
    paths = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    text = {path: path.read_text() for path in [ROOT / "parent/planning/request.py", *paths]}
    assert [path.name for path, source in text.items() if "Mapping[str, Any]" in source] == []
    assert [path.name for path, source in text.items() if "JsonDict" in source] == ["report.py"]
