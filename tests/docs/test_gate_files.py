"""Gate files in pages and examples can be read, and every key and field is documented."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from tests.docs.conftest import Page, of_each_page

from opperf.parent.documents.judgement import Expectation
from opperf.parent.planning.side_text import read_side
from opperf.parent.sources.gate_file import GateFile, gate_file, nightly_file, read_gate_file, read_nightly_file
from opperf.parent.sources.gate_keys import EXPECTED_KEYS, KEYS, NIGHTLY_KEYS
from opperf.parent.sources.notify_keys import NOTIFY_KEYS
from opperf.parent.sources.suite_file import read_suite


def sides(result: GateFile) -> list[str]:
    """Return the sides of a gate file."""
    return [*([result.base] if result.base else []), *result.new]


@of_each_page
def test_gate_files_in_pages_can_be_read(page: Page) -> None:
    for block in page.blocks("toml"):
        if block.text.startswith("[project"):  # what a package says of itself
            continue
        name = "pyproject.toml" if "[tool." in block.text else "opperf.toml"
        for text in sides(gate_file(block.text, Path(name))):
            read_side(text)
        if "[nightly]" in block.text:
            file = nightly_file(block.text, Path(name))
            for text in (file.anchor, *file.builds):
                read_side(text)


def test_the_example_of_nights_can_be_read(root: Path) -> None:
    file = read_nightly_file(root / "examples" / "nightly" / "opperf.toml")
    assert len(file.builds) == 3
    assert file.database == str(root / "examples" / "nightly" / "nights.db")


def test_the_example_can_be_read_with_its_suite(root: Path) -> None:
    result = read_gate_file(root / "examples" / "ci" / "opperf.toml")
    assert isinstance(result.suite, Path)
    assert len(read_suite(result.suite).cases) == 4
    assert [read_side(text).side.framework for text in sides(result)] == ["torch", "torch"]


def test_every_key_of_a_gate_file_is_documented(root: Path) -> None:
    text = (root / "docs" / "reference" / "gate-file.md").read_text(encoding="utf-8")
    keys = {*KEYS, *EXPECTED_KEYS, *NIGHTLY_KEYS, "url", *(key for _, keys in NOTIFY_KEYS.values() for key in keys)}
    assert [key for key in keys if f"| `{key}` |" not in text] == []
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == keys


def test_every_field_of_an_expectation_is_documented(root: Path) -> None:
    text = (root / "docs" / "reference" / "expected-file.md").read_text(encoding="utf-8")
    own = {field.name for field in fields(Expectation)} - {"trial"}  # its parts stand in the expectation itself
    assert own <= set(re.findall(r"\"(\w+)\"", text))
