"""The content of a report, before it has a format: tables, notes and legends, each value with its text.

A report makes a `Document`, a format renders any document as text. Nothing here is escaped or
folded: how wide a line may be and what must not act in it is for the format to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, Union

from opperf.domain.dataclass import dataclass
from opperf.domain.units import plural

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: Where everything is that a table does not show.
COMPLETE = "`--format csv` has every column"
Item = TypeVar("Item")
Raw: TypeAlias = Union[str, int, float, None]
#: What a row or a section is about, where that is a doubt or no result; formats may colour it.
Level: TypeAlias = Literal["", "failed", "skipped", "warning"]

#: What a test came to, and how loudly GitHub says so.
Outcome: TypeAlias = Literal["passed", "failure", "error", "skipped"]
Annotation: TypeAlias = Literal["", "notice", "warning", "error"]


def plain(value: object) -> str:
    """Write a value that needs no unit; what is not known is empty."""
    return "" if value is None else str(value)


@dataclass(frozen=True)
class Column(Generic[Item]):
    """One column: `read` takes its value from what a row is made of, `show` writes that for people.

    One with a `name` is in the formats for machines, at full precision, with the unit at its end; one with a `title` is
    in those for people. `presence` is `always` (if any row has a text), `varied` (only if rows differ in it; else it is
    said once of all of them, unless it is as `usual`), or `apart` (only if rows differ in it). With `within`, rows must
    differ that are alike in this.

    Where a table is too wide, the texts of a column that is `below` stand there, each with its rows by as many of the
    columns that are their `names` as tell them apart; columns of one `group` become one of that name where nothing else
    helps. `rank` orders what a narrow table goes without, lowest first; None is never left out. Without `least` cells
    are never folded; with it, they are down to that width, to no more than `lines`. People read columns in the order
    of their `place`, programs as they are declared.

    On pages that are part of a site a cell leads to its `link`, and its `picture` stands in place of its text.
    """

    name: str | None = None
    title: str | None = None
    read: Callable[[Item], object] = plain
    show: Callable[[Any], str] = plain
    align: Literal["left", "right"] = "left"
    presence: Literal["always", "varied", "apart"] = "always"
    rank: int | None = None
    least: int | None = None
    lines: int | None = None
    names: bool = False
    place: int = 0
    below: bool = False
    group: str | None = None
    usual: Raw = ""
    within: Callable[[Item], object] | None = None
    link: Callable[[Item], str] | None = None
    picture: Callable[[Item], Element | None] | None = None

    def cell(self, item: Item, raw: object) -> Cell:
        """Return the cell of an item of which this column has read `raw`."""
        return Cell(
            raw,
            self.show(raw),
            "" if self.link is None else self.link(item),
            None if self.picture is None else self.picture(item),
        )


@dataclass(frozen=True)
class Cell:
    """One value: as it is known, and as people read it."""

    raw: object
    text: str
    link: str = ""
    picture: Element | None = None


@dataclass(frozen=True)
class Row:
    """A cell for each column of a table; `link` is the target of the first cell on pages that are part of a site.

    `behind` returns what a page shows of a row that is opened.
    """

    cells: Sequence[Cell]
    level: Level = ""
    link: str = ""
    behind: Callable[[], Sequence[Block]] = field(default=tuple, compare=False)


@dataclass(frozen=True)
class Table:
    """Columns and rows; `caption` says what all rows have in common.

    People see the first `top` rows, in Markdown only those that fit in `characters`. `complete` says where everything
    is that is not shown.
    """

    columns: Sequence[Column[Any]]
    rows: Sequence[Row]
    caption: str = ""
    top: int | None = None
    complete: str = COMPLETE
    characters: int | None = None

    @property
    def visible(self) -> Sequence[Row]:
        """The rows that people are shown."""
        return self.rows[: self.top]

    def places(self) -> list[int]:
        """Return the places of the columns that people are shown: those with a title, and a text in any row."""
        places = [i for i, column in enumerate(self.columns) if column.title is not None]
        places.sort(key=lambda i: self.columns[i].place)
        return [i for i in places if any(row.cells[i].text for row in self.visible)]

    def titles(self) -> list[str]:
        """Return the titles of the columns that people are shown."""
        return [self.columns[i].title or "" for i in self.places()]

    def more(self) -> str:
        """Say how many rows people are not shown."""
        left = len(self.rows) - len(self.visible)
        return f"{plural(left, 'more row')}: without `--top` all are shown" if left else ""


def table(
    columns: Iterable[Column[Item]],
    items: Iterable[Item],
    level: Callable[[Item], Level] = lambda _: "",
    link: Callable[[Item], str] = lambda _: "",
    *,
    behind: Callable[[Item], Sequence[Block]] = lambda _: (),
    top: int | None = None,
    complete: str = COMPLETE,
    characters: int | None = None,
) -> Table:
    """Return the table of items: a hidden column loses its title, and moves above the table where allowed.

    >>> columns = [Column("name", "name", str), Column("length_cells", "length", len, presence="varied")]
    >>> short = table(columns, ["add", "mul"])
    >>> short.titles(), short.caption
    (['name'], 'length 3')
    """
    columns, items = list(columns), list(items)
    raws = [[column.read(item) for column in columns] for item in items]
    cells = [
        [column.cell(item, raw) for column, raw in zip(columns, row, strict=True)] for item, row in zip(items, raws)
    ]
    titles, facts = [], []
    for i, column in enumerate(columns):
        values = dict.fromkeys(row[i] for row in raws) if column.presence != "always" else {}
        if column.title is not None and column.presence != "always" and not _differ(column, values, items):
            titles.append(replace(column, title=None))
            if column.presence == "varied" and len(values) == 1 and next(iter(values)) != column.usual:
                facts.append(f"{column.title} {cells[0][i].text}")
        else:
            titles.append(column)
    rows = [Row(row, level(item), link(item), partial(behind, item)) for row, item in zip(cells, items, strict=True)]
    return Table(titles, rows, ", ".join(facts), top, complete, characters)


def _differ(column: Column[Item], values: Mapping[object, None], items: Sequence[Item]) -> bool:
    """Whether rows differ in a column, among rows that agree in its `within`, if set."""
    if column.within is None:
        return len(values) > 1
    pairs = {(column.within(item), column.read(item)) for item in items}
    return len(pairs) > len({alike for alike, _ in pairs})


def table_rows(table: Table) -> list[dict[str, object]]:
    """Return the rows of a table by the names of its columns, as programs read them."""
    return [
        {column.name: cell.raw for column, cell in zip(table.columns, row.cells, strict=True) if column.name}
        for row in table.rows
    ]


def pick(name: str) -> Callable[[Mapping[str, object]], object]:
    """Return the reader of a value of a row that is a mapping."""
    return lambda row: row.get(name)


@dataclass(frozen=True)
class Note:
    """A sentence, with notes on it `below`; `about` is the title of the column without which it is not shown.

    On pages that are part of a site `links` follow it: texts, and where they lead.
    """

    text: str
    below: Sequence[Note] = ()
    about: str | None = None
    kind: Literal["", "item", "hint"] = ""
    links: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Legend:
    """What columns say, by their titles; those that are not shown are not explained."""

    lines: Mapping[str, str]

    def text(self, titles: Iterable[str]) -> str:
        """Return the legend of the visible columns."""
        names = set(titles)
        return "; ".join(line for title, line in self.lines.items() if title in names)


@dataclass(frozen=True)
class Code:
    """Lines that can be typed as they stand."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Section:
    """Blocks under a title, or without one only apart from the others; `folded` where a page can fold them away."""

    title: str
    blocks: Sequence[Block] = ()
    level: Level = ""
    folded: bool = False


Block: TypeAlias = Union[Table, Note, Legend, Code, Section]


@dataclass(frozen=True)
class Check:
    """What a CI system shows of one thing that was checked: a test, and where it is news an annotation.

    `sides` says on what, `message` what came of it, and `kind` in a word; `numbers` are facts beside it. `seconds` is
    how long it took to find out. `rank` orders annotations, the worst first.
    """

    name: str
    sides: str
    subject: str
    kind: str
    message: str
    outcome: Outcome = "passed"
    annotation: Annotation = ""
    seconds: float | None = None
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    rank: tuple[float, ...] = ()


@dataclass(frozen=True)
class Document:
    """A report. `summary` is the line that a reader needs first, and `failed` whether it is bad news.

    `data` returns what JSON holds; without it, JSON holds the tables. `checks` are for CI systems. `heading` stands
    above a page, where there is one, and `page` returns the document for formats that are pages, where that differs.
    """

    title: str
    blocks: Sequence[Block]
    data: Callable[[], object] | None = None
    checks: Sequence[Check] = ()
    summary: str = ""
    failed: bool = False
    started: str = ""
    heading: str = ""
    page: Callable[[], Document] | None = None

    def tables(self) -> list[Table]:
        """Return all tables, those of sections too."""
        return [block for block in flatten(self.blocks) if isinstance(block, Table)]


def flatten(blocks: Iterable[Block]) -> Iterable[Block]:
    """Yield blocks, each section's own behind it."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from flatten(block.blocks)


@dataclass(frozen=True)
class Screen:
    """The medium of a report: `width` is None for unlimited lines, as in a file or a pipe."""

    width: int | None = None
    color: bool = False
