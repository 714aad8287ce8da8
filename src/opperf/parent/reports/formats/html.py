"""A document as a piece of HTML that needs nothing else: notebooks show it, and a file of it opens anywhere.

The writer of elements escapes every text. The piece is plain ASCII, so no charset has to be declared; its style reaches
nothing outside it; every number carries its full precision as a tooltip.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from opperf.parent.reports.document import Block, Code, Document, Legend, Note, Screen, Section, Table
from opperf.parent.reports.text import one_line

#: Characters of a cell from which on it has several lines, and from which on it is as wide as a paragraph.
LONG, TEXT = 36, 150
STYLE = """
.opperf table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.opperf th, .opperf td { padding: 0.2em 0.8em; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }
.opperf td { white-space: nowrap; }
.opperf td.long { white-space: normal; min-width: 22em; }
.opperf td.text { white-space: normal; min-width: 50em; }
.opperf .right { text-align: right; white-space: nowrap; }
.opperf tr.failed td { color: #c0392b; }
.opperf tr.skipped td { opacity: 0.7; }
"""


def render(document: Document, _: Screen) -> str:
    """Return the piece of HTML, with a line break at the end."""
    page = document.page() if document.page is not None else document
    container = Element("div", {"class": "opperf"})
    SubElement(container, "style").text = STYLE
    if page.heading:
        _add(container, "h3", page.heading)
    _blocks(container, page.blocks)
    return _text(container)


def piece(document: Document) -> str:
    """Return the blocks of a document alone, for a page that has the style."""
    whole = Element("div", {"class": "opperf"})
    _blocks(whole, document.blocks)
    return _text(whole)


def _text(whole: Element) -> str:
    indent(whole, "")
    text: bytes = tostring(whole, encoding="us-ascii", method="html")
    return text.decode("ascii") + "\n"


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    element = SubElement(parent, tag, attributes)
    element.text = one_line(text) or None
    return element


def _blocks(parent: Element, blocks: Iterable[Block]) -> None:
    titles: Sequence[str] = ()
    for block in blocks:
        if isinstance(block, Table):
            titles = block.titles()
            _table(parent, block)
        elif isinstance(block, Section):
            _section(parent, block)
        elif isinstance(block, Code):
            SubElement(parent, "pre").text = "\n".join(map(one_line, block.lines))
        elif isinstance(block, Legend):
            if legend := block.text(titles):
                _add(parent, "p", legend)
        elif block.about is None or block.about in titles:
            _note(parent, "p" if not block.below else "div", block)


def _note(parent: Element, tag: str, note: Note) -> None:
    element = _add(parent, tag, f"{'hint: ' if note.kind == 'hint' else ''}{note.text}")
    if note.below:
        several = SubElement(element, "ul")
        for one in note.below:
            _note(several, "li", one)


def _section(parent: Element, section: Section) -> None:
    if section.folded:
        parent = SubElement(parent, "details")
        _add(parent, "summary", section.title)
    elif section.title:
        _add(SubElement(parent, "p"), "b", section.title)
    _blocks(parent, section.blocks)


def _table(parent: Element, table: Table) -> None:
    places = table.places()
    if not places:
        return
    if table.caption:
        _add(parent, "p", table.caption)
    element = SubElement(parent, "table")
    head = SubElement(SubElement(element, "thead"), "tr")
    for i in places:
        _add(head, "th", table.columns[i].title or "", **{"class": table.columns[i].align})
    body = SubElement(element, "tbody")
    for row in table.visible:
        line = SubElement(body, "tr", {"class": row.level} if row.level else {})
        for i in places:
            cell, column = row.cells[i], table.columns[i]
            exact = {"title": str(cell.raw)} if isinstance(cell.raw, (int, float)) else {}
            length = len(cell.text)
            width = f"{column.align}{' text' if length > TEXT else ' long' if length > LONG else ''}"
            if row.link and i == places[0]:
                _add(_add(line, "td", **{"class": width}), "a", cell.text, href=row.link)
            else:
                _add(line, "td", cell.text, **{"class": width}, **exact)
    if more := table.more():
        _add(parent, "p", more)
