"""Tables and notes in any width: no line wider, no word broken that fits its column, no number broken at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from opperf.parent.reports import render
from opperf.parent.reports.document import Block, Cell, Column, Document, Legend, Level, Note, Row, Table
from opperf.parent.reports.layout import paragraph, wrap

COLUMNS: tuple[Column[object], ...] = (
    Column(title="operator", least=10, names=True),
    Column(title="inputs", least=14, lines=4, names=True),
    Column(title="side", least=10),
    Column(title="time", align="right"),
    Column(title="p90", align="right", rank=0),
    Column(title="why", least=20, below=True),
)
LONG = "python=/a/very/long/path/to/an/environment/that/nobody/would/type/bin/python"
INPUTS = " ".join(f"weight_{i}=1024x1024" for i in range(12))
WORDS = st.lists(st.text("abc/=_.:-[],x1", min_size=1, max_size=40), min_size=1, max_size=8).map(" ".join)


def row(operator: str = "add", inputs: str = "lhs=4", side: str = "torch", why: str = "") -> tuple[str, ...]:
    """Return a row of the table."""
    return (operator, inputs, side, "1.23 ms", "1.35 ms", why)


def grid(
    columns: Sequence[Column[object]], rows: Sequence[Sequence[str]], levels: Sequence[Level] = (), caption: str = ""
) -> Table:
    """Return a table of texts."""
    cells = [[Cell(cell, cell) for cell in row] for row in rows]
    plain: list[Level] = [""] * (len(rows) - len(levels))
    return Table(columns, [Row(row, level) for row, level in zip(cells, [*levels, *plain])], caption)


def text(blocks: Sequence[Block], *, width: int | None = None, color: bool = False) -> str:
    """Return blocks as the console shows them."""
    return render(Document("opperf", blocks), "console", width=width, color=color)


def table_lines(shown: str) -> list[str]:
    """Return the lines of the table alone."""
    lines = shown.splitlines()
    begin = next(i for i, line in enumerate(lines) if set(line) == {"-"}) + 1
    return lines[begin : lines.index("", begin) if "" in lines[begin:] else None]


def test_without_a_width_a_table_has_one_line_a_row_and_all_of_every_text() -> None:
    shown = text([grid(COLUMNS, [row(inputs=INPUTS, side=LONG, why="because"), row()])])
    assert len(table_lines(shown)) == 2
    assert INPUTS in shown
    assert LONG in shown
    assert "left out" not in shown


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [row("a_very_long_name_of_an_operator_that_goes_on", INPUTS, LONG, "too few pairs; " * 9), row()]
    shown = text([grid(COLUMNS, rows), Note("hint: " + "stop other programs, " * 12)], width=width)
    assert max(map(len, shown.splitlines())) <= width


@given(WORDS, st.integers(8, 60))
def test_words_stay_whole_unless_one_alone_is_wider(words: str, width: int) -> None:
    lines = wrap(words, width)
    assert max(map(len, lines)) <= width
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    pieces = " ".join(lines).split()
    assert all(word in pieces for word in words.split() if len(word) <= width)


@given(st.text(":#[ab]/=", max_size=60), st.integers(6, 20))
def test_no_line_begins_as_a_workflow_command_however_it_is_wrapped(words: str, width: int) -> None:
    for line in paragraph(words, width):
        assert not line.strip().startswith("::")
        assert "##[" not in line


def test_a_word_that_is_too_wide_breaks_after_a_separator() -> None:
    assert wrap("torch:code:/home/me/kernels.py:softmax", 16) == ["torch:code:/", "home/me/kernels.", "py:softmax"]
    assert wrap("null:steady;slowdown=1.3;threads=2", 21) == ["null:steady;", "slowdown=1.3;", "threads=2"]
    assert wrap("mat2=64x128:strides=1,64", 22) == ["mat2=64x128:", "strides=1,64"]
    assert wrap("target=32:int64:range=0..10", 22) == ["target=32:int64:", "range=0..10"]
    assert wrap("target=32:int64:range=0..10", 8) == ["target=", "32:", "int64:", "range=", "0..10"]


def test_rows_below_the_table_are_named_by_as_much_as_tells_them_apart() -> None:
    rows = [row(inputs=inputs, why=f"{inputs} is small") for inputs in ("lhs=4", "lhs=8")]
    lines = text([grid(COLUMNS, rows)], width=50).splitlines()
    assert lines[lines.index("why:") + 1 :] == ["  add lhs=4: lhs=4 is small", "  add lhs=8: lhs=8 is small"]


@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=4), st.integers(24, 40))
def test_no_number_in_a_word_is_broken(numbers: list[float], width: int) -> None:
    words = f"range={'..'.join(map(str, numbers))}"
    lines = wrap(words, width)
    assert "".join(lines) == words
    assert all(any(str(number) in line for line in lines) for number in numbers)


def test_a_narrow_column_breaks_sizes_between_their_numbers() -> None:
    columns: list[Column[object]] = [Column(title="inputs", least=8), Column(title="time")]
    lines = table_lines(text([grid(columns, [("weight=16384x16384x12345678", "1.23 ms")])], width=20))
    assert [line.split()[0] for line in lines] == ["weight=", "16384x", "16384x", "12345678"]


def test_reasons_stand_below_as_soon_as_they_would_be_folded() -> None:
    rows = [row(why="the interval is wide " * 3)]
    lines = text([grid(COLUMNS, rows)], width=90).splitlines()
    assert "why" not in lines[0]
    assert lines[lines.index("why:") + 1].startswith("  add: the interval is wide")


def test_people_read_columns_by_their_place_and_programs_as_declared() -> None:
    columns: list[Column[object]] = [Column("inputs", "inputs"), Column("ratio", "ratio", place=-1)]
    document = Document("opperf", [grid(columns, [("4x4", "1.05")])])
    assert render(document, "console").splitlines()[0].split() == ["ratio", "inputs"]
    assert render(document, "csv").splitlines()[0] == "inputs,ratio"


def test_reasons_move_below_a_table_that_is_too_wide_each_said_once() -> None:
    rows = [row(f"operator_{i}", inputs=INPUTS, why="the interval is wide") for i in range(9)]
    lines = text([grid(COLUMNS, rows), Note("9 rows")], width=70).splitlines()
    place = lines.index("why:")
    assert " ".join(" ".join(lines[place + 1 : place + 3]).split()).startswith(
        "operator_0, operator_1, operator_2, operator_3, operator_4, 4 more: the interval is wide"
    )


def test_columns_of_lesser_importance_are_left_out_first_and_named_with_where_they_are() -> None:
    rows = [row(inputs="a=1 b=2", side=side) for side in ("torch==2.12.0", "torch==2.13.0")]
    shown = text(
        [grid(COLUMNS, rows), Note("two rows"), Legend({"p90": "p90: a tenth is slower", "time": "time: x"})], width=48
    )
    assert "p90" not in shown.splitlines()[0]
    assert "left out at this width: p90" in shown
    assert "--format csv" in shown
    assert "a tenth" not in shown
    assert "time: x" in shown


def test_a_long_case_is_shortened_in_a_terminal_and_told_so() -> None:
    shown = text([grid(COLUMNS, [row(inputs=INPUTS)])], width=80)
    assert len(table_lines(shown)) == 4
    assert "…" in table_lines(shown)[-1]
    assert "… marks shortened text (`--format csv` has every column)" in shown


@pytest.mark.parametrize("width", [10, 40, 80])
def test_no_number_is_broken_at_any_width(width: int) -> None:
    columns: list[Column[object]] = [Column(title="operator", least=10), Column(title="spread")]
    assert "[4.05, 4.41] us" in text([grid(columns, [("add", "[4.05, 4.41] us")])], width=width)


def test_wide_characters_take_two_places() -> None:
    shown = text([grid(COLUMNS, [row("卷积" * 20, "lhs=4"), row()])], width=60)
    assert max(map(cell_len, shown.splitlines())) <= 60


def test_a_note_about_a_column_is_not_shown_without_it() -> None:
    shown = grid([Column(title="operator"), Column(title="memory")], [("add", "")])
    assert text([shown, Note("memory: counted", about="memory"), Note("one row")]).splitlines()[-1] == "one row"
    assert "counted" not in text([shown, Note("memory: counted", about="memory")])


def test_colour_takes_no_place() -> None:
    shown = grid(COLUMNS, [row(), row("exp")], ["failed", ""])
    plain, coloured = text([shown]), text([shown], color=True)
    assert plain != coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
