r"""A document as GitHub Markdown: tables, lists of notes, sections under bold titles or folded away.

Names come from other people's files, and a page renders HTML, mentions and tables: all of it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

from opperf.parent.reports.document import Block, Code, Document, Legend, Note, Screen, Section, Table
from opperf.parent.reports.text import for_markdown, for_markdown_line, one_line


def render(document: Document, _: Screen) -> str:
    """Return the Markdown, with a line break at the end."""
    page = document.page() if document.page is not None else document
    heading = [f"### {for_markdown(page.heading)}"] if page.heading else []
    return "\n\n".join([*heading, *_parts(page.blocks)]) + "\n"


def _parts(blocks: Iterable[Block], *, in_list: bool = True) -> list[str]:
    """Return the separate parts; consecutive notes are one list if they are `in_list`."""
    parts: list[str] = []
    notes: list[str] = []
    titles: list[str] = []
    for block in blocks:
        if isinstance(block, Note):
            if block.about is None or block.about in titles:
                notes += _note(block, in_list=in_list)
            continue
        if isinstance(block, Legend):
            notes += _note(Note(legend)) if (legend := block.text(titles)) else []
            continue
        parts += ["\n".join(notes)] if notes else []
        notes = []
        if isinstance(block, Table):
            titles = block.titles()
            parts += _table(block)
        elif isinstance(block, Section):
            parts += _section(block)
        else:
            parts.append(_code(block))
    return [*parts, *(["\n".join(notes)] if notes else [])]


def _note(note: Note, indent: int = 0, *, in_list: bool = True) -> Iterator[str]:
    mark = "- " if in_list or note.kind == "item" else ""
    hint = "hint: " if note.kind == "hint" else ""
    yield f"{' ' * indent}{mark}{hint}{for_markdown_line(note.text)}"
    for one in note.below:
        yield from _note(one, indent + 2)


def _section(section: Section) -> list[str]:
    if section.folded:
        title = f"<details><summary>{for_markdown(section.title)}</summary>"
        return [title, *_parts(section.blocks), "</details>"]
    bold = [f"**{for_markdown(section.title)}**"] if section.title else []
    return [*bold, *_parts(section.blocks, in_list=bool(section.title))]


def _table(table: Table) -> list[str]:
    places = table.places()
    if not places:
        return []
    rows = [_line(for_markdown(row.cells[i].text) for i in places) for row in table.visible]
    room = len("".join(rows)) + len(rows) if table.characters is None else table.characters
    count = sum(end <= room for end in accumulate(len(row) + 1 for row in rows))
    marks = ("---:" if table.columns[i].align == "right" else "---" for i in places)
    lines = [_line(map(for_markdown, table.titles())), _line(marks), *rows[:count]]
    more = f"{len(rows) - count} more rows: {table.complete}" if count < len(rows) else table.more()
    return [part for part in (for_markdown_line(table.caption), "\n".join(lines), for_markdown_line(more)) if part]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(code: Code) -> str:
    text = "\n".join(map(one_line, code.lines))
    longest = max((len(marks) for marks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{text}\n{fence}"
