"""How tables and texts fit into a width: the one place that knows it, for a terminal, a pipe or a log.

Without a width a table is as wide as it needs, one row a line: right for a pipe or a file. With one, no line is wider:
what explains a verdict stands below the table, columns of lesser importance are left out and named; then texts wrap
between words. A word is broken where it alone is wider than its column, and there after a separator. No number is ever
broken. What a column can bear, its declaration says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from opperf.domain.dataclass import dataclass
from opperf.parent.reports.document import Column, Level, Table
from opperf.parent.reports.text import one_line

GAP = 2
#: Columns are left out so that words up to this wide stay whole; a longer one may be broken.
WORD = 20
#: The width below which no text is folded.
NARROWEST = 6
#: Maximum number of rows to name for a text that moved below the table.
MOST_NAMES = 5
#: Select graphic rendition, ECMA-48.
_STYLES = {"bold": 1, "dim": 2, "red": 31, "yellow": 33}
LEVELS: Mapping[Level, str] = {"": "", "failed": "red", "skipped": "dim", "warning": "yellow"}
#: A number, which is never broken.
_NUMBER = re.compile(r"\d+(?:\.\d+)*(?:e[+-]?\d+)?")
_SEPARATORS = r"/,;:=_.+|)\]-"
#: Where a word may break: behind separators, but in no number, and before a sign; sizes (`64x64`) behind their `x`.
_BREAK = re.compile(
    rf"(?<=[/,;:=_|)\]])(?![{_SEPARATORS}])"
    rf"|(?<=\.)(?<!\.\.)(?!(?<=\d\.)\d)(?![{_SEPARATORS}])"
    rf"|(?<=[^=.,:\[(][+-])(?<!\de[+-])(?![{_SEPARATORS}])"
    r"|(?<=[=,:])(?=[+-]\d)|(?<=\dx)(?=\d)"
)
#: Where it breaks if that is enough: between the settings of a side; between the parts of a name, or of a tensor, whose
#: lists (`strides=1,64`), ranges and sizes stay whole.
_SETTING = re.compile(r"(?<=;)")
_PART = re.compile(
    rf"(?<=[/;:_|)\]])(?![{_SEPARATORS}])|(?<=,)(?![-+\d{_SEPARATORS}])"
    rf"|(?<=\.)(?<!\.\.)(?!(?<=\d\.)\d)(?![{_SEPARATORS}])"
)
#: Where it breaks only if nothing else is enough: within a range (`0..32000`).
_RANGE = re.compile(r"(?<=\.\.)")
_BREAKS = (_SETTING, _PART, _BREAK, _RANGE)


@dataclass(frozen=True)
class Grid:
    """A table as texts; `complete` says where everything is that a width leaves out."""

    columns: Sequence[Column[object]]
    rows: Sequence[Sequence[str]]
    styles: Sequence[str] = ()
    caption: str = ""
    complete: str = ""

    @property
    def titles(self) -> list[str]:
        """What columns are called."""
        return [column.title or "" for column in self.columns]


def grid(table: Table) -> Grid:
    """Return the part of a table that people are shown, fit for a terminal."""
    places = table.places()
    columns = [replace(table.columns[i], title=one_line(table.columns[i].title or "")) for i in places]
    rows = [[one_line(row.cells[i].text) for i in places] for row in table.visible]
    return Grid(columns, rows, [LEVELS[row.level] for row in table.visible], one_line(table.caption), table.complete)


def paragraph(words: str, width: int | None = None, indent: int = 0) -> list[str]:
    """Return a text as lines of a width, the first of them indented and the others two places more.

    >>> paragraph("hint: stop other programs", 20, indent=1)
    [' hint: stop other', '   programs']
    """
    words = one_line(words)
    if width is None or _cells(words) + indent <= width:
        return [" " * indent + words]
    first, *others = wrap(words, max(NARROWEST, width - indent))
    rest = wrap(" ".join(others), max(NARROWEST, width - indent - 2)) if others else []
    return [" " * indent + first, *(" " * (indent + 2) + line for line in rest)]


def wrap(words: str, width: int) -> list[str]:
    """Return a text as lines of a width, broken between words; within a word only where it alone is wider.

    >>> wrap("torch 2.13.0+cpu", 10), wrap("python=/opt/venv/bin/python", 12)
    (['torch', '2.13.0+cpu'], ['python=/opt/', 'venv/bin/', 'python'])
    """
    lines = [""]
    for word in words.split():
        if lines[-1] and _cells(lines[-1]) + 1 + _cells(word) <= width:
            lines[-1] += f" {word}"
            continue
        if lines[-1]:
            lines.append("")
        for piece in _pieces(word, width):
            if lines[-1] and _cells(lines[-1]) + _cells(piece) > width:
                lines.append("")
            lines[-1] += piece
    return lines


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield a word, or where it is too wide its pieces, none of them wider than the width."""
    pieces = [word]
    for pattern in _BREAKS:
        parts = ([piece] if _cells(piece) <= width else pattern.split(piece) for piece in pieces)
        pieces = [*filter(None, chain.from_iterable(parts))]
    for piece in pieces:
        rest = piece
        while _cells(rest) > width:
            end = max(1, next(i for i in range(len(rest), 0, -1) if i == 1 or _cells(rest[:i]) <= width))
            end = next((one.start() for one in _NUMBER.finditer(rest) if 0 < one.start() < end < one.end()), end)
            while end > 1 and rest[end] == ":":  # GitHub reads a line that begins with two as a command
                end -= 1
            yield rest[:end]
            rest = rest[end:]
        yield rest


@dataclass(frozen=True)
class TableFit:
    """A table that was made to fit."""

    grid: Grid
    widths: Sequence[int]
    left_out: Sequence[str] = ()
    below: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()

    def lines(self, width: int | None, color: bool) -> Iterator[str]:
        """Yield the caption, the titles, and the rows."""
        grid = self.grid
        if not grid.rows:
            return
        if grid.caption:
            yield from (*paragraph(grid.caption, width), "")
        yield from self._row(grid.titles, "bold", color)
        yield "-" * (sum(self.widths) + GAP * (len(self.widths) - 1))
        for i, row in enumerate(grid.rows):
            yield from self._row(row, grid.styles[i], color, limited=True)

    def notes(self, width: int | None) -> list[str]:
        """Return the notes on what the table does not show."""
        lines = []
        for title, texts in self.below:
            lines += [f"{title}:"]
            lines += [line for names, text in texts for line in paragraph(f"{names}: {text}", width, 2)]
        words = [f"left out at this width: {', '.join(self.left_out)}"] if self.left_out else []
        cells = (wrap(cell, w) for row in self.grid.rows for cell, w in zip(row, self.widths))
        limits = [heading.lines for _ in self.grid.rows for heading in self.grid.columns]
        if width is not None and any(most and len(cell) > most for cell, most in zip(cells, limits)):
            words.append("… marks shortened text")
        return [*lines, *(paragraph(f"{'; '.join(words)} ({self.grid.complete})", width) if words else [])]

    def _row(self, row: Sequence[str], style: str, color: bool, *, limited: bool = False) -> Iterator[str]:
        cells = []
        for cell, heading, width in zip(row, self.grid.columns, self.widths, strict=True):
            lines = [cell] if _cells(cell) <= width else wrap(cell, width)
            if limited and heading.lines is not None and len(lines) > heading.lines:
                lines = [*lines[: heading.lines - 1], "…"]
            cells.append(lines)
        for i in range(max(map(len, cells))):
            parts = []
            for lines, heading, width in zip(cells, self.grid.columns, self.widths, strict=True):
                part = lines[i] if i < len(lines) else ""
                space = " " * (width - _cells(part))
                parts.append(space + part if heading.align == "right" else part + space)
            yield style_line((" " * GAP).join(parts).rstrip(), style, color)


def _keep(grid: Grid, places: Sequence[int]) -> Grid:
    """Return the table with the columns at these places only."""
    rows = [[row[i] for i in places] for row in grid.rows]
    return replace(grid, columns=[grid.columns[i] for i in places], rows=rows)


def fit_table(grid: Grid, width: int | None) -> TableFit:
    """Move columns elsewhere or leave them out until the rest fits into the width."""
    if width is None or _total(_naturals(grid)) <= width:
        return TableFit(grid, _naturals(grid))
    narrow = _narrow(grid, width)
    if _total(_floors(narrow.grid, WORD)) > width and any(heading.group for heading in grid.columns):
        narrow = _narrow(_join(grid), width)
    return narrow


def _join(grid: Grid) -> Grid:
    """Return the table with each group of columns as one, in which every value has its title."""
    places = range(len(grid.columns))
    groups: dict[str, list[int]] = {}
    for i in places:
        if (group := grid.columns[i].group) is not None:
            groups.setdefault(group, []).append(i)
    rows = [list(row) for row in grid.rows]
    headings = list(grid.columns)
    for group, members in groups.items():
        headings[members[0]] = Column(title=one_line(group), least=WORD // 2)
        for row in rows:
            words = [f"{grid.titles[i]}={row[i]}" for i in members if row[i]]
            row[members[0]] = " ".join(words)
    others = {i for several in groups.values() for i in several[1:]}
    return _keep(replace(grid, columns=headings, rows=rows), [i for i in places if i not in others])


def _narrow(grid: Grid, width: int) -> TableFit:
    """Do without columns in their order until the others can be folded into the width."""
    places = list(range(len(grid.columns)))
    below, left_out = [], []
    for i in _dispensable(grid):
        is_explanation = grid.columns[i].below and grid.columns[i].rank is None
        if not is_explanation and _total(_floors(_keep(grid, places), WORD)) <= width:
            break
        places.remove(i)
        if grid.columns[i].below:
            below.append((grid.titles[i], _group(grid, i)))
        else:
            left_out.append(grid.titles[i])
    narrow = _keep(grid, places)
    return TableFit(narrow, _share_width(narrow, width), left_out, below)


def _dispensable(grid: Grid) -> list[int]:
    """Return the columns that a narrow table goes without, in the order in which they go."""
    places = range(len(grid.columns))
    below = [i for i in places if grid.columns[i].below and grid.columns[i].rank is None]
    order = sorted((rank, i) for i in places if (rank := grid.columns[i].rank) is not None)
    return list(dict.fromkeys([*below, *(i for _, i in order)]))


def _group(grid: Grid, place: int) -> list[tuple[str, str]]:
    """Return the distinct texts of a column, with the names of their rows."""
    groups: dict[str, list[str]] = {}
    for row, name in zip(grid.rows, _row_names(grid), strict=True):
        if row[place]:
            groups.setdefault(row[place], []).append(name)
    result = []
    for text, names in groups.items():
        unique = list(dict.fromkeys(names))
        more = [f"{len(unique) - MOST_NAMES} more"] if len(unique) > MOST_NAMES else []
        result.append((", ".join([*unique[:MOST_NAMES], *more]), text))
    return result


def _row_names(grid: Grid) -> list[str]:
    """Return the names that tell rows apart: of the columns that name them the first, and others until all differ."""
    places = [i for i, column in enumerate(grid.columns) if column.names] or [0]
    names = [[row[places[0]]] for row in grid.rows]
    for place in places[1:]:
        if len(set(map(tuple, names))) == len({tuple(row[i] for i in places) for row in grid.rows}):
            break
        several = {row[place] for row in grid.rows}
        names = [[*words, row[place]] if len(several) > 1 else words for words, row in zip(names, grid.rows)]
    return [" ".join(filter(None, words)) for words in names]


def _naturals(grid: Grid) -> list[int]:
    """Return the natural width of each column."""
    return [max([_cells(title), *(_cells(row[i]) for row in grid.rows)]) for i, title in enumerate(grid.titles)]


def _floors(grid: Grid, word: int | None) -> list[int]:
    """Return the width to which each column may be folded so that words up to one of `word` cells stay whole."""
    floors = []
    titles = _title_words(grid)
    for i, (heading, natural, title) in enumerate(zip(grid.columns, _naturals(grid), titles, strict=True)):
        if heading.least is None:
            floors.append(max([title, *(_cells(row[i]) for row in grid.rows)]))
            continue
        longest = max((_cells(part) for row in grid.rows for part in row[i].split()), default=0)
        whole = longest if word is None else max(_longest_number(grid, i), min(longest, word))
        floors.append(min(natural, max(title, heading.least, whole)))
    return floors


def _longest_number(grid: Grid, place: int) -> int:
    """Return the width of the longest number in a column, with the separator behind it."""
    return max((1 + len(number) for row in grid.rows for number in _NUMBER.findall(row[place])), default=0)


def _title_words(grid: Grid) -> list[int]:
    """Return the width of the longest word of each title."""
    return [max((_cells(part) for part in title.split()), default=0) for title in grid.titles]


def _share_width(grid: Grid, width: int) -> list[int]:
    """Share out the width: the widest gives way, first where no word breaks, then where long ones do."""
    widths = _naturals(grid)
    foldable = [heading.least is not None for heading in grid.columns]
    titles = _title_words(grid)
    narrowest = [
        max(title, min(w, NARROWEST), _longest_number(grid, i)) if may else w
        for i, (title, w, may) in enumerate(zip(titles, _floors(grid, 0), foldable, strict=True))
    ]
    for floors in (_floors(grid, None), _floors(grid, WORD), _floors(grid, 0), narrowest):
        while _total(widths) > width:
            wide = [i for i, floor in enumerate(floors) if widths[i] > floor]
            if not wide:
                break
            widths[max(wide, key=lambda i: widths[i])] -= 1
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _cells(words: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if words.isascii():
        return len(words)
    from rich.cells import cell_len  # it takes 0.1 s to import

    return cell_len(words)


def style_line(line: str, style: str, color: bool) -> str:
    """Return a line in a style, where colours are wanted."""
    return f"\x1b[{_STYLES[style]}m{line}\x1b[0m" if color and style and line else line
