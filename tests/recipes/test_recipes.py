"""The recipes for contributors, each followed to the letter in a copy of the project.

A `diff` block changes the file that its first line names: its lines are looked for without those with a `+`, and are
there once. A block of Python that begins with `# PATH` is that file. A block of `sh` is run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
#: What Python has compiled stays: it is as old as its sources, which `copytree` copies with their times.
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", ".*_cache", ".hypothesis")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project, whose `.venv` has the same packages."""
    copied = tmp_path / "opperf"
    shutil.copytree(ROOT, copied, ignore=LEFT_OUT)
    (copied / ".venv" / "bin").mkdir(parents=True)
    for name in ("lib", "pyvenv.cfg"):
        (copied / ".venv" / name).symlink_to(ROOT / ".venv" / name)
    for program in (ROOT / ".venv" / "bin").iterdir():
        (copied / ".venv" / "bin" / program.name).symlink_to(program)
    ready = copied / ".venv" / "bin" / ".ready"
    ready.unlink(missing_ok=True)
    ready.touch()
    return copied


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each block of a page."""
    for token in MarkdownIt().parse((ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")):
        if token.type == "fence":
            yield token.info, token.content


def changed(text: str, hunk: str) -> str:
    """Return a text after a change."""
    lines = [(line[:1], line[1:]) for line in hunk.splitlines(keepends=True)]
    before, after = ("".join(line for sign, line in lines if sign != other) for other in "+-")
    assert text.count(before) == 1, f"not there once:\n{before}"
    return text.replace(before, after)


def run(script: str, copy: Path) -> None:
    """Run a script in the copy, whose package comes before the one that is installed."""
    path = f"{copy}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy / "src"), "VIRTUAL_ENV": str(copy / ".venv"), "PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"


@pytest.fixture
def follow(copy: Path, record_property: Callable[[str, object], None]) -> Callable[[str], dict[str, int]]:
    """Do what a page says; return how many lines were added to each file. How long it took is told after all tests."""

    def steps(page: str) -> dict[str, int]:
        began, added = time.monotonic(), {}
        for language, text in blocks(page):
            title, _, rest = text.partition("\n")
            if language == "diff":
                file = copy / title.removeprefix("--- ")
                for hunk in rest.split("@@\n"):
                    file.write_text(changed(file.read_text(encoding="utf-8"), hunk), encoding="utf-8")
                added[title] = len(re.findall(r"^\+", rest, re.MULTILINE))
            elif language == "python" and (named := re.fullmatch(r"# ([\w/.-]+\.py)", title)):
                file = copy / named[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
                added[title] = text.count("\n")
            elif language == "sh":
                run(text, copy)
        record_property("took", f"{time.monotonic() - began:.0f} s")
        return added

    return steps


def test_the_recipe_of_an_operator_makes_one_in_five_files_and_another_by_one_line(
    follow: Callable[[str], dict[str, int]], copy: Path
) -> None:
    added = follow("add-an-operator.md")
    assert added.pop("--- src/opperf/catalog/elementwise.py") == 1  # all that one of the own name needs
    assert len(added) == 5  # a declaration, two frameworks, what the others share, and the changelog
    assert sum(added.values()) < 20
    page = (copy / "docs" / "reference" / "support.md").read_text(encoding="utf-8")
    directions = "forward, backward"
    assert "| nextafter | elementwise_binary | forward | forward | missing: not bound yet | forward | forward |" in page
    assert f"| squareplus | activation | {' | '.join([directions] * 4)} | forward |" in page
    # The rest of it is the project's own page, as the frameworks have it now.
    rest = [line for line in page.splitlines(True) if not line.startswith(("| nextafter |", "| squareplus |"))]
    own = (ROOT / "docs" / "reference" / "support.md").read_text(encoding="utf-8")
    assert "".join(rest) == own, "run `python docs/support.py`"


def test_the_recipe_of_a_report_and_a_format_makes_each_in_one_file(
    follow: Callable[[str], dict[str, int]], copy: Path
) -> None:
    added = follow("add-a-report.md")
    assert [lines for file, lines in added.items() if file.startswith("---")] == [1, 1]
    assert {file.rpartition("/")[2] for file in added if file.startswith("#")} == {"tallies.py", "tsv.py"}
    page = (copy / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert "console, json, csv, md, html or tsv." in page


def test_the_recipe_of_a_backend_shows_parts_of_its_one_file_and_measures_with_it(
    follow: Callable[[str], dict[str, int]], copy: Path
) -> None:
    follow("add-a-backend.md")
    file = (copy / "examples" / "backends" / "mlx_backend.py").read_text(encoding="utf-8")
    assert [text for language, text in blocks("add-a-backend.md") if language == "py" and text not in file] == []
