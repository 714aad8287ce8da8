"""What holds for every page: its links lead somewhere, its generated parts are up to date, its figures are there."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from tests.docs.conftest import Page, of_each_page


@of_each_page
def test_links_lead_to_files_and_headings_that_exist(page: Page, pages: list[Page]) -> None:
    anchors = {other.path: other.anchors() for other in pages}
    for link in page.links():
        if re.match(r"https?:", link):
            continue
        target, _, anchor = link.partition("#")
        path = (page.path.parent / target).resolve() if target else page.path
        assert path.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors[path], f"{page.name}: {link}, of {sorted(anchors[path])}"


@pytest.fixture(scope="module")
def links(pages: list[Page]) -> set[tuple[Path, Path]]:
    """From which page to which file each link leads."""
    return {
        (page.path, (page.path.parent / link.partition("#")[0]).resolve())
        for page in pages
        for link in page.links()
        if not link.startswith(("http", "#"))
    }


@of_each_page
def test_every_page_is_linked_from_another(page: Page, links: set[tuple[Path, Path]]) -> None:
    linked = {there for here, there in links if here != page.path}
    assert page.path in linked or page.name in ("README.md", "docs/README.md")


@of_each_page
def test_generated_parts_are_what_the_code_says_now(page: Page, generate: ModuleType) -> None:
    assert page.text == generate.filled(page.text), "run `.venv/bin/python docs/generate.py`"


@of_each_page
def test_no_figure_of_our_benchmarks_is_still_missing(page: Page, generate: ModuleType) -> None:
    """Every benchmark that judges a figure shows it in the documentation, from its own results."""
    for name in re.findall(r"<!-- generated: figures (\w+)(?: \d+| first(?: \d+)?)? -->", page.text):
        command = generate.benchmark(name)
        assert f"`benchmarks/{command}` on " in page.text
        benchmarks = Path(__file__).parents[2] / "benchmarks"
        assert (benchmarks / command.split()[0]).is_file()
        assert (benchmarks / "results" / f"{name}.json").is_file()


def test_the_readme_shows_a_comparison_with_its_chart_first_and_then_a_run_with_its_output(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    compares = r"[^`#]+:\n\n```sh\nopperf compare [^`]+\n```\n\n!\[[^]]+\]\(docs/comparison.svg\)\n\n"
    runs = r"[^`#]+\n\n```sh\nopperf run [^\n]+\n```\n\n```text\n"
    assert re.match(rf"# opperf\n\nopperf (?:[^#\n]+\n){{1,3}}\n{compares}{runs}", text)
