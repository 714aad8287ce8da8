"""The pages of the documentation, read once: their fenced blocks, headings and links."""

from __future__ import annotations

import importlib.util
import inspect
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt
from tests.each import check_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is written in, its text, and the line where it begins."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def tokens(self) -> list[Token]:
        return MarkdownIt().enable("table").parse(self.text)

    def blocks(self, *languages: str) -> list[Block]:
        return [
            Block(token.info, token.content, (token.map or [0])[0] + 2)
            for token in self.tokens
            if token.type == "fence" and token.info in languages
        ]

    def anchors(self) -> set[str]:
        """Return what links into the page may name, by the rule of the usual hosts."""
        tokens = self.tokens
        titles = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
        plain = (re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()) for title in titles)
        return {title.strip().replace(" ", "-") for title in plain}

    def links(self) -> Iterator[str]:
        for token in self.tokens:
            for child in token.children or ():
                if child.type == "link_open":
                    yield str(child.attrs["href"])


def _pages() -> list[Page]:
    beside = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "examples/README.md")
    files = [*(ROOT / name for name in beside), *sorted(ROOT.glob("docs/**/*.md"))]
    return [Page(path, path.read_text(encoding="utf-8")) for path in files]


PAGES = _pages()


def of_each_page(test: Callable[..., None]) -> Callable[..., None]:
    """Make one test of a test of a page: it lists every page that fails."""

    def run(**fixtures: Any) -> None:
        check_each(PAGES, lambda page: test(page, **fixtures), lambda page: page.name)

    _, *rest = inspect.signature(test).parameters.values()
    run.__signature__ = inspect.Signature(rest)  # type: ignore[attr-defined]
    run.__doc__ = test.__doc__
    return run


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    return PAGES


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def generate() -> ModuleType:
    """The script that writes the generated parts."""
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
