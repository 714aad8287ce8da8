"""What all results of the library are: sequences that render in every format, with pictures, kept in databases."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_text
from opperf.domain.files.json_text import JsonDict
from opperf.domain.record import Run
from opperf.domain.units import plural
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.trace import Replay as ReplayDocument
from opperf.parent.reports import render
from opperf.parent.reports.document import Document

if TYPE_CHECKING:
    import pandas

    from opperf.parent.pages import figures

Item = TypeVar("Item", covariant=True)
#: How wide a table is where neither the terminal nor the variable `COLUMNS` says it.
COLUMNS = 120


class Report(Sequence[Item], Generic[Item]):
    """A sequence of results and their report: a table in a terminal, a notebook, pandas or a file."""

    #: What they are called where they are counted; without it the document says what there is.
    _noun = ""

    def __init__(self, items: Sequence[Item], document: Document) -> None:
        self._items = tuple(items)
        self._document = document

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        return self._items[place]

    def to_dict(self) -> JsonDict:
        """Return the document of a file; times are seconds, memory is bytes."""
        import json

        document: JsonDict = json.loads(self.to_json())
        return document

    def to_json(self) -> str:
        """Return the document as text."""
        return render(self._document, "json")

    def to_csv(self) -> str:
        """Return one row for each item, in full precision."""
        return render(self._document, "csv")

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        return render(self._document, "md")

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows of `to_csv` as a data frame; raises `InputError` where pandas is not installed."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise InputError("pandas is not installed", hint="`pip install pandas`", slug="no_package") from error

        return pandas.read_csv(io.StringIO(self.to_csv()))

    def save(self, path: str | Path) -> None:
        """Write the document to a file, which `opperf.load` reads."""
        write_text(Path(path), self.to_json())

    def __str__(self) -> str:
        return render(self._document, width=get_terminal_size((COLUMNS, 24)).columns).rstrip("\n")

    def __repr__(self) -> str:
        return f"<opperf.{type(self).__name__}: {self._summary()}>"

    def _summary(self) -> str:
        own = "" if self._noun else self._document.summary
        return own or plural(len(self), self._noun or "item")

    def _repr_html_(self) -> str:
        return render(self._document, "html")


class Pictured:
    """What is measured also becomes a page and a picture."""

    _result: figures.Result
    _document: Document

    def to_html(self) -> str:
        """Return a page with the charts and the tables, in one file that loads nothing."""
        from opperf.parent.pages.figures import charts
        from opperf.parent.pages.result_page import page

        return page(self._result, self._document, charts(self._result))

    def to_svg(self) -> str:
        """Return the charts as one picture; raises `InputError` where nothing was measured."""
        from opperf.parent.pages.charts import picture
        from opperf.parent.pages.figures import charts

        drawings = charts(self._result, still=True)
        if not drawings:
            raise InputError("no measurement to draw", hint="the records say why", slug="input")
        return picture(drawings)


class Measured(Pictured):
    """Measurements, which a database keeps, too."""

    _result: Run | ComparisonRun | NoiseRun | JudgedRun | ReplayDocument

    def add_to(self, database: str | None = None, *, samples: bool = False) -> str:
        """Add the run to a database, once however often, and return its id.

        Left out, the database is the one that `opperf history` uses. Raises `HarnessError` if it cannot be reached.
        """
        from opperf.parent.commands.history import archive

        result = self._result.run if isinstance(self._result, ReplayDocument) else self._result
        with archive(database, create=True) as store:
            return store.add(result, samples=samples).key
