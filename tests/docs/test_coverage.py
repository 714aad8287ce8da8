"""What the code can say is documented: slugs, metrics, fields, dependencies, frameworks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import requires
from pathlib import Path

import pytest

from opperf.domain.backend import Backend
from opperf.domain.metric import METRICS
from opperf.domain.plan import Side
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.documents.candidates import STATUSES
from opperf.parent.measuring.judge.failing import CHEATING, DEATHS

SLUG = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
#: Calls whose positional argument at this place is a slug.
PLACES = {"Warning": 0, "Reason": 0, "_fail": 1, "Unfair": 0, "Evidence": 0, "Inspection": 1, "with_slug": 1}


def slugs(path: Path) -> Iterator[str]:
    """Yield every slug that a module writes down."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            place = PLACES.get(name)
            if place is not None and len(node.args) > place:
                yield from constants(node.args[place])
            for keyword in node.keywords:
                if keyword.arg == "slug" and not isinstance(keyword.value, ast.JoinedStr):
                    yield from constants(keyword.value)
            kind = node.args[0] if name in ("unknown", "check_known") and node.args else None
            kind = kind.values[0] if isinstance(kind, ast.JoinedStr) else kind
            if isinstance(kind, ast.Constant):
                yield f"unknown_{str(kind.value).split()[0]}"
        elif isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "slug" for target in node.targets):
            yield from constants(node.value)
        elif isinstance(node, ast.arguments):
            for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                if argument.arg == "slug" and default is not None:
                    yield from constants(default)


def constants(value: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression may be: itself, or the branches of a choice."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and SLUG.fullmatch(value.value):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from constants(value.body)
        yield from constants(value.orelse)


@pytest.fixture(scope="module")
def written(root: Path) -> set[str]:
    """Every slug in the source."""
    return {slug for path in (root / "src" / "opperf").rglob("*.py") for slug in slugs(path)}


def first_column(path: Path) -> set[str]:
    """Return every slug in the first column of the tables of a page."""
    rows = re.findall(r"^\| (`.*?) \|", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {slug for row in rows for slug in re.findall(r"`([a-z]\w+)`", row)}


@pytest.fixture(scope="module")
def messages(root: Path) -> set[str]:
    """Every slug of the page of messages."""
    return first_column(root / "docs" / "reference" / "messages.md")


@pytest.fixture(scope="module")
def causes(root: Path) -> set[str]:
    """Every cause of a judgement that is documented."""
    return first_column(root / "docs" / "reference" / "judgements.md")


def test_the_slugs_in_the_code_are_those_that_are_documented(
    written: set[str], messages: set[str], causes: set[str]
) -> None:
    assert messages == written - (causes - messages) | {"unknown_engine"}  # made by `unknown(option, ...)`


def test_every_cause_of_a_judgement_is_documented(root: Path, messages: set[str], causes: set[str]) -> None:
    judging = [
        *(root / "src/opperf/parent/measuring/judge").glob("*.py"),
        *(root / "src/opperf/child/judging").glob("*.py"),
    ]
    slugs_of_judging = {slug for path in judging for slug in slugs(path)}
    assert (slugs_of_judging | CHEATING | set(DEATHS.values()) | set(STATUSES)) - causes - messages == set()


def test_every_way_of_a_candidate_is_in_the_table_of_ways(root: Path) -> None:
    text = (root / "docs" / "explanation" / "judging.md").read_text(encoding="utf-8")
    ways = {path.stem for path in root.glob("tests/judge/cheats/*.py")} - {"__init__"}
    rows = "".join(re.findall(r"^\| \d.*\|$", text, re.MULTILINE))
    assert {way for way in ways if f"`{way}`" not in rows} == set()


def test_every_metric_is_documented(root: Path) -> None:
    text = (root / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    assert {name for name in METRICS if f"| `{name}` |" not in text} == set()


@pytest.mark.parametrize(
    ("where", "noun"),
    [
        ("metrics", Statistics),
        ("record", Record),
        ("record", Run),
        ("record", Side),
        ("record", Reason),
        ("record", Warning),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_field_of_a_result_file_is_documented(where: str, noun: type, root: Path) -> None:
    text = (root / "docs" / "reference" / f"{where}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"[\"`.](\w+)[\"`]", text))
    own = {field.name for field in fields(noun)} - {"trial"}  # its parts stand in the record itself
    assert own <= named


def test_every_preset_is_documented_with_its_requirements(root: Path) -> None:
    text = (root / "docs" / "reference" / "environments.md").read_text(encoding="utf-8")
    for known in FRAMEWORKS.values():
        for requirement in known.preset:
            assert f"`{requirement}`" in text


def test_every_verb_of_a_backend_is_in_the_recipe(root: Path) -> None:
    recipe = (root / "docs" / "how-to" / "add-a-backend.md").read_text(encoding="utf-8")
    verbs = [name for name, value in vars(Backend).items() if callable(value) or isinstance(value, property)]
    assert [name for name in verbs if not name.startswith("_") and f"`{name}`" not in recipe] == []


def test_every_dependency_is_explained(root: Path) -> None:
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    groups = [
        requirement
        for group in re.findall(r"^(?:test|lint) = \[(.*)\]", project, re.MULTILINE)
        for requirement in re.findall(r'"(.*?)"', group)
    ]
    assert groups
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in [*(requires("opperf") or ()), *groups]}
    stubs = {name for name in names if "stubs" in name or name.startswith("types-")}
    text = (root / "docs" / "explanation" / "dependencies.md").read_text(encoding="utf-8")
    assert {name for name in names - stubs if f"`{name}`" not in text} == set()
