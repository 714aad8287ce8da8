"""A document for a terminal, a pipe or a log: legible without colour, no line wider than the screen, no number cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opperf.parent.reports.document import Block, Code, Document, Legend, Note, Screen, Section, Table
from opperf.parent.reports.layout import LEVELS, fit_table, grid, paragraph, style_line
from opperf.parent.reports.text import one_line

_MARKS = {"": "", "item": "- ", "hint": "hint: "}


def render(document: Document, screen: Screen) -> str:
    """Return the text, with a line break at the end; a table and a section are followed by an empty line."""
    lines = [*([one_line(document.heading), ""] if document.heading else []), *_Page(screen).lines(document.blocks)]
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


class _Page:
    """Lines of blocks, which depend on the table that stands before them."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._titles: set[str] = set()
        #: What the last table does not show; printed after the notes on it.
        self._pending: list[str] = []

    def lines(self, blocks: Iterable[Block], indent: int = 0) -> list[str]:
        """Return the lines of blocks, each kind apart from the others by an empty line."""
        lines: list[str] = []
        for block in blocks:
            if isinstance(block, Table):
                lines += [*self._take_pending(), *self._table(block), "", *self._paragraph(block.more())]
            elif isinstance(block, Section):
                lines += [*self._take_pending(), "", *self._section(block), *self._take_pending(), ""]
            elif isinstance(block, Code):
                lines += [" " * indent + one_line(line) for line in block.lines]
            elif isinstance(block, Legend):
                lines += self._paragraph(block.text(self._titles), indent)
            elif block.about is None or block.about in self._titles:
                lines += self._note(block, indent)
        lines += self._take_pending()
        return [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]

    def _take_pending(self) -> list[str]:
        pending, self._pending = self._pending, []
        return [*pending, ""] if pending else []

    def _table(self, table: Table) -> Iterator[str]:
        fit = fit_table(grid(table), self._screen.width)
        self._titles, self._pending = set(fit.grid.titles), fit.notes(self._screen.width)
        yield from fit.lines(self._screen.width, self._screen.color)

    def _section(self, section: Section) -> list[str]:
        title = [style_line(line, LEVELS[section.level], self._screen.color) for line in self._paragraph(section.title)]
        return [*title, *self.lines(section.blocks, 2 if section.title else 0)]

    def _note(self, note: Note, indent: int) -> Iterator[str]:
        yield from self._paragraph(_MARKS[note.kind] + note.text, indent)
        for one in note.below:
            yield from self._note(one, indent + 2)

    def _paragraph(self, words: str, indent: int = 0) -> list[str]:
        return paragraph(words, self._screen.width, indent) if words else []
