"""What a page shows, before it is HTML, JSON or CSV: a report, its charts, and what can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias
from urllib.parse import quote, urlencode

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.parent.pages.charts import Chart
from opperf.parent.reports.document import Document, Note, Table
from opperf.parent.reports.history import NamedChange

#: The rows of a table on a page; the others are on the next ones.
PAGE = 200
#: What the URL of a page of a table says, and what it says for all rows.
NUMBER, WHOLE = "page", "all"
#: What one sees first of a change.
FIRST = ("operator", "ratio", "change", "status", "state")
#: What is said of a change in sentences.
SENTENCES = ("decision",)
#: The query of a URL.
Query: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """A filter of a page: its name in the URL, what can be chosen, and what is; a day is written, not chosen.

    `usual` says what is shown where nothing is chosen, and `labels` how options are called that have another name.
    """

    name: str
    options: Sequence[str]
    value: str
    day: bool = False
    usual: str = "all"
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, options: Iterable[str], query: Query, usual: str = "all") -> Choice:
        """Return the filter as a URL has it; a value that is not offered stays one of the options."""
        value = query.get(name, "")
        return cls(name, sorted({*filter(None, options), *filter(None, [value])}), value, usual=usual)


@dataclass(frozen=True)
class Link:
    """A text that leads to a page."""

    text: str
    place: str


@dataclass(frozen=True)
class Part:
    """The part of a table that is on a page: `most` rows after `start`; None is all of them."""

    start: int = 0
    most: int | None = None

    @classmethod
    def of(cls, query: Query) -> Part:
        """Return the part that a URL asks for, the first one where it does not say; raises `InputError`.

        >>> Part.of({"page": "2"}), Part.of({"page": "all"})
        (Part(start=200, most=200), Part(start=0, most=None))
        """
        text = query.get(NUMBER, "1")
        if text == WHOLE:
            return cls()
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
            raise InputError(f"no page `{text}`", hint=f"a number from 1 on, or `{WHOLE}`", slug="input")
        return cls((int(text) - 1) * PAGE, PAGE)

    @property
    def rows(self) -> slice:
        """The rows of the part."""
        return slice(self.start, None if self.most is None else self.start + self.most)

    def notes(self, query: Query, count: int, what: str = "rows") -> list[Note]:
        """Say which of so many rows are on the page, with links to the others; nothing where all fit on one."""
        if count <= PAGE and not self.start:
            return []
        if self.most is None:
            return [Note(f"All {count:,} {what}:", links=[_page(f"{PAGE} on a page", query, 1)])]
        end, number = min(count, self.start + self.most), self.start // self.most + 1
        links = [("all on one page", f"?{urlencode({**query, NUMBER: WHOLE})}")]
        if number > 1:
            links.insert(0, _page(f"previous {self.most}", query, min(number - 1, -(-count // self.most))))
        if end < count:
            links.insert(0, _page(f"next {min(self.most, count - end)}", query, number + 1))
        first = f"{self.start + 1:,} to {end:,}" if self.start < count else "None"
        return [Note(f"{first} of {count:,} {what}:", links=links)]


def _page(text: str, query: Query, number: int) -> tuple[str, str]:
    """Return the link to a page of the table that a URL is of."""
    return text, f"?{urlencode({**query, NUMBER: max(number, 1)})}"


@dataclass(frozen=True)
class Form:
    """What a visitor may say of a change, where the server writes: a state, and what each text is now.

    `about` says what follows, and `most` is how many characters a text may have.
    """

    states: Sequence[str]
    state: str
    texts: Mapping[str, str]
    about: str
    most: int


@dataclass(frozen=True)
class View:
    """A page: its report with its charts, the facts above them, its filters, and what can be said on it.

    `whole` returns the report with everything, for JSON and CSV, where the page shows only the beginning.
    """

    document: Document
    charts: Sequence[Chart] = ()
    choices: Sequence[Choice] = ()
    facts: Mapping[str, str | Link] = field(default_factory=dict)
    whole: Callable[[], Document] | None = None
    form: Form | None = None

    @property
    def open_choices(self) -> list[Choice]:
        """The filters that leave something to choose."""
        return [choice for choice in self.choices if choice.day or choice.value or len(choice.options) > 1]


def path(*parts: str, **query: str) -> str:
    """Return the address of a page.

    >>> path("operators", "aten::add/x", framework="torch")
    '/operators/aten%3A%3Aadd/x?framework=torch'
    """
    return f"/{'/'.join(quote(part) for part in parts)}{'?' if query else ''}{urlencode(query)}"


def leading(block: Table, titles: Sequence[str] = FIRST) -> Table:
    """Return a table with the columns of these titles first, in this order: a phone shows hardly more at once.

    Sentences stand below the rows, or a screen would not show the columns behind them.
    """
    places = {title: place - len(titles) for place, title in enumerate(titles)}
    columns = [
        replace(
            column,
            place=places.get(column.title or "", column.place),
            below=column.below or column.title in SENTENCES,
        )
        for column in block.columns
    ]
    return replace(block, columns=columns)


def change_place(change: NamedChange) -> str:
    """Return the address of the page of a change."""
    return path("changes", change.standing.name, operator=change.series.case.operator)
