r"""A run as GitHub Markdown: a table, then its legend, failures and warnings.

Whatever a name or a message holds is text: characters that Markdown or a table would act on are escaped with a
backslash. Only what stands between two backticks, as opperf writes what can be typed, stays code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from opperf.reports import remarks, shares
from opperf.reports.table import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opperf.record import Run
    from opperf.reports.remarks import Remark
    from opperf.reports.table import Table

#: What starts markup inside a line. An underscore between letters (`log_softmax`) and a bracket that no `(` or `[`
#: follows (`[1.20, 1.24] ms`) start none, and stay readable.
_MARKUP = re.compile(r"[\\`*<&|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
_CODE = re.compile(r"(`[^`|\\]+`)")
#: What starts a heading, a quotation or a list at the beginning of a line.
_BLOCK = re.compile(r"^([0-9]*)([-#+.)=>])")


def escape(text: str) -> str:
    r"""Return text that Markdown shows as it is.

    >>> escape("a|b log_softmax __add__")
    'a\\|b log_softmax \\_\\_add\\_\\_'
    """
    parts = _CODE.split(text)
    parts[::2] = [_MARKUP.sub(lambda found: f"\\{found[0]}", part) for part in parts[::2]]
    return "".join(parts)


def render(run: Run) -> str:
    """Return the Markdown, with a line break at the end."""
    blocks = _blocks(run)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(run: Run) -> Iterator[str]:
    table = table_of(run.records)
    seen = table.for_people()
    yield _start(remarks.caption(table))
    if seen.rows:
        yield "\n".join(_table(seen))
    yield "\n".join(
        f"- {_start(line)}" for line in [remarks.tally(run.records), *shares.lines(run), *remarks.legend(seen)]
    )
    for section in remarks.sections(run.records):
        yield f"**{section.title}**"
        yield "\n".join(line for remark in section.remarks for line in _remark(remark))
    yield _start(remarks.more(run.records))


def _table(table: Table) -> Iterator[str]:
    yield _line(column.title or "" for column in table.columns)
    yield _line("---:" if column.align == "right" else ":---" for column in table.columns)
    for row in table.rows:
        yield _line(escape(cell.text) for cell in row.cells)


def _start(text: str) -> str:
    """Return text that begins a line."""
    return _BLOCK.sub(r"\1\\\2", escape(text.strip()))


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _remark(remark: Remark) -> Iterator[str]:
    yield f"- {_start(remark.slug)} ({remark.count}): {escape('; '.join(remark.wordings))}"
    for hint in remark.hints:
        yield f"  - hint: {escape(hint)}"
    for trial in remark.named:
        yield f"  - {_start(trial)}"
