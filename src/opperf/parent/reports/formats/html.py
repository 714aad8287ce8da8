"""A document as a piece of HTML that needs nothing else: notebooks show it, and a file of it opens anywhere.

The writer of elements escapes every text. The piece is plain ASCII, so no charset has to be declared; its style reaches
nothing outside it; every number carries its full precision as a tooltip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from opperf.parent.reports.document import Block, Code, Document, Legend, Note, Row, Screen, Section, Table
from opperf.parent.reports.text import one_line

#: Characters of a cell from which on it has several lines, and from which on it is as wide as a paragraph.
LONG, TEXT = 36, 150
STYLE = """
.opperf .scroll { overflow-x: auto; }
.opperf caption { text-align: left; padding: 0.2em 0; }
.opperf .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.opperf table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.opperf th, .opperf td { padding: 0.2em 0.8em; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }
.opperf td { white-space: nowrap; }
.opperf td.long { white-space: normal; min-width: 22em; }
.opperf td.text { white-space: normal; min-width: 50em; }
.opperf .right { text-align: right; white-space: nowrap; }
.opperf tr.failed td { color: #c0392b; }
.opperf tr.skipped td { opacity: 0.7; }
.opperf tr:has(+ .more) td { border-bottom: 0; padding-bottom: 0; }
.opperf tr.more td { white-space: normal; font-size: 0.9em; }
"""


def render(document: Document, _: Screen) -> str:
    """Return the piece of HTML, with a line break at the end."""
    container = Element("div", {"class": "opperf"})
    SubElement(container, "style").text = STYLE
    page = document.page() if document.page is not None else document
    if page.heading:
        _add(container, "h3", page.heading)
    _blocks(container, page.blocks, page.title)
    return _text(container)


def piece(document: Document) -> str:
    """Return the blocks of a document alone, for a page that has the style."""
    container = Element("div", {"class": "opperf"})
    page = document.page() if document.page is not None else document
    _blocks(container, page.blocks, page.title)
    return _text(container)


def _text(whole: Element) -> str:
    indent(whole, "")
    text: bytes = tostring(whole, encoding="us-ascii", method="html")
    return text.decode("ascii") + "\n"


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    element = SubElement(parent, tag, attributes)
    element.text = one_line(text) or None
    return element


def _blocks(parent: Element, blocks: Iterable[Block], title: str) -> None:
    """Add blocks; `title` is of what they stand in, and names tables that have no caption."""
    titles: Sequence[str] = ()
    for block in blocks:
        if isinstance(block, Table):
            titles = block.titles()
            add_table(parent, block, title)
        elif isinstance(block, Section):
            _section(parent, block, title)
        elif isinstance(block, Code):
            SubElement(parent, "pre").text = "\n".join(map(one_line, block.lines))
        elif isinstance(block, Legend):
            if legend := block.text(titles):
                _add(parent, "p", legend)
        elif block.about is None or block.about in titles:
            _note(parent, "p" if not block.below else "div", block)


def _note(parent: Element, tag: str, note: Note) -> None:
    element = SubElement(parent, tag)
    _write(element, f"{'hint: ' if note.kind == 'hint' else ''}{note.text}{' ' if note.links else ''}")
    for text, place in note.links:
        _add(element, "a", text, href=place).tail = " "
    if note.below:
        several = SubElement(element, "ul")
        for one in note.below:
            _note(several, "li", one)


def _write(element: Element, text: str) -> None:
    """Write a sentence; commands of opperf in it are code, which a page may offer to copy."""
    words, *parts = re.split(r"`(opperf [^`]+)`", one_line(text))
    element.text = words
    for command, rest in zip(parts[::2], parts[1::2]):
        code = SubElement(element, "code")
        code.text, code.tail = command, rest


def _section(parent: Element, section: Section, title: str) -> None:
    if section.folded:
        parent = SubElement(parent, "details")
        _add(parent, "summary", section.title)
    elif section.title:
        _add(SubElement(parent, "p"), "b", section.title)
    _blocks(parent, section.blocks, section.title or title)


def add_table(parent: Element, table: Table, title: str) -> None:
    """Add a table, named `title` where it has no caption."""
    every = table.places()
    places = [i for i in every if not table.columns[i].below]
    if not places:
        return
    element = SubElement(SubElement(parent, "div", {"class": "scroll"}), "table")
    caption = SubElement(element, "caption", {} if table.caption else {"class": "unseen"})
    _add(caption, "span", table.caption or title)
    head = SubElement(SubElement(element, "thead"), "tr")
    for i in places:
        _add(head, "th", table.columns[i].title or "", **{"class": table.columns[i].align, "scope": "col"})
    body = SubElement(element, "tbody")
    for row in table.visible:
        line = SubElement(body, "tr", {"class": row.level} if row.level else {})
        for i in places:
            cell, column = row.cells[i], table.columns[i]
            exact = {"title": str(cell.raw)} if isinstance(cell.raw, (int, float)) else {}
            length = len(cell.text)
            width = f"{column.align}{' text' if length > TEXT else ' long' if length > LONG else ''}"
            if target := cell.link or (row.link if i == places[0] else ""):
                _add(_add(line, "td", **{"class": width}), "a", cell.text, href=target)
            elif cell.picture is not None:
                SubElement(line, "td", {"class": "picture"}).append(cell.picture)
            else:
                _add(line, "td", cell.text, **{"class": width}, **exact)
        _more(body, row, "; ".join(filter(None, (row.cells[i].text for i in every if i not in places))), len(places))
    if more := table.more():
        _add(parent, "p", more)


def _more(body: Element, row: Row, text: str, width: int) -> None:
    """Add what is too long for a column below a row, which opens to what is behind it."""
    blocks = row.behind()
    if not text and not blocks:
        return
    line = SubElement(body, "tr", {"class": f"more {row.level}".rstrip()})
    place = SubElement(SubElement(line, "td", {"colspan": str(width)}), "div" if not blocks else "details")
    _add(place, "summary" if blocks else "span", text or "more")
    _blocks(place, blocks, "")
