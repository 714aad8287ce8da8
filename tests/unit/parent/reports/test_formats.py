"""Each format's promises, whatever names and messages a run holds."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.measurement import Quantity
from opperf.domain.record import Run
from opperf.parent import reports
from opperf.parent.reports import render
from opperf.parent.reports.formats import FORMATS, check_format
from opperf.parent.reports.text import for_csv, for_markdown, one_line

#: What formats and terminals act on, and anything else.
MARKS = "|\\`*_<>&~[](){}#+-=!:;,\"'\n\r\t \x1b\x00\u2028\ud800aé1."
ODD = st.text(st.sampled_from(MARKS) | st.characters(), max_size=30)
#: The fixtures are pure functions, so that examples may share them.
UNCHECKED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SHARED = settings(suppress_health_check=UNCHECKED, deadline=None)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def markdown_rows(text: str) -> list[list[str]]:
    """Return the text of every table cell, as a reader of the rendered page sees it."""
    rows: list[list[str]] = []
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            rows.append([])
        if before.type in ("td_open", "th_open"):
            assert token.type == "inline"
            rows[-1].append("".join(child.content for child in token.children or ()).replace("\u200b", ""))
    return rows


def plain(text: str) -> str:
    """Return a text without what Markdown may take from it: backticks, and how wide its blanks are."""
    return " ".join(one_line(text).replace("`", "").split())


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_ends_with_one_line_break(run: Run, empty_run: Run, format: str) -> None:
    for shown in (run, empty_run):
        text = render(shown, format)
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


@pytest.mark.parametrize("format", ["console", "md", "csv", "html"])
@given(ODD, ODD)
@SHARED
def test_no_name_or_message_reaches_the_reader_unescaped(
    run_named: Callable[[str, str], Run], format: str, operator: str, message: str
) -> None:
    text = render(run_named(operator, message), format)
    assert all(char == "\n" or char.isprintable() for char in text)
    text.encode("utf-8")


def test_an_unknown_format_names_the_known_ones(run: Run) -> None:
    with pytest.raises(InputError) as caught:
        render(run, "xlsx")
    assert caught.value.slug == "unknown_format"
    assert "markdown" not in str(caught.value)
    assert "console, json, csv, md, html, junit, github" in str(caught.value)
    with pytest.raises(InputError, match=r"known: console, json, csv, md, html$"):
        check_format("junit", checks=False)


def test_no_format_is_imported_before_it_is_asked_for() -> None:
    module = ast.parse(Path(reports.__file__).read_text(encoding="utf-8"))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else ast.unparse(node)
        for node in module.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    assert imported == {
        "__future__",
        "importlib",
        "typing",
        "opperf.parent.reports.document",
        "opperf.parent.reports.formats",
    }


def test_json_is_read_back_as_the_same_run(run: Run) -> None:
    assert Run.from_json(json.loads(render(run, "json"))).to_json() == run.to_json()


def test_json_refuses_what_is_no_number_and_names_its_place(run_with_metrics: Callable[..., Run]) -> None:
    with pytest.raises(HarnessError, match=r"records\[0\]\.metrics\.flops\.value is `nan`"):
        render(run_with_metrics(flops=Quantity(math.nan)), "json")


def test_csv_has_a_line_for_each_record_and_full_precision(run: Run) -> None:
    time = run.records[0].time
    assert time is not None
    text = render(run, "csv")
    rows = rows_of(text)
    assert len(rows) == len(run.records) == text.count("\n") - 1
    assert float(rows[0]["time_median_s"]) == time.median
    assert rows[0]["memory_peak_B"] == "4194304"
    assert rows[-1]["time_median_s"] == ""


def test_csv_has_the_same_columns_whatever_the_run_holds(run: Run, empty_run: Run) -> None:
    assert render(run, "csv").split("\n")[0] == render(empty_run, "csv").split("\n")[0]


def test_csv_holds_both_ends_of_an_interval(run: Run) -> None:
    row = next(row for row in rows_of(render(run, "csv")) if row["time_interval_low_s"])
    assert (row["time_interval_low_s"], row["time_interval_high_s"]) == ("4.05e-06", "4.41e-06")


@given(ODD, ODD)
@SHARED
def test_csv_keeps_any_name_and_message_in_its_field(
    run_named: Callable[[str, str], Run], operator: str, message: str
) -> None:
    text = render(run_named(operator, message), "csv")
    assert text.count("\n") == 3
    ok, failed = rows_of(text)
    assert ok["operator"] == failed["operator"] == for_csv(operator)
    assert failed["reason_message"] == for_csv(message)
    assert str(for_csv(operator)).removeprefix("'") == one_line(operator).removeprefix("'")
    assert ok["direction"] == "forward"


@given(st.floats(allow_nan=False, allow_infinity=False))
@SHARED
def test_csv_reads_back_to_the_same_number(run_with_metrics: Callable[..., Run], value: float) -> None:
    (row,) = rows_of(render(run_with_metrics(flops=Quantity(value)), "csv"))
    assert float(row["flops_FLOP"]) == value


@given(ODD)
@example("::")
def test_markdown_shows_escaped_text_as_it_is(text: str) -> None:
    printed = f"| h |\n| --- |\n| x{for_markdown(one_line(text))}x |\n"
    assert [[plain(cell) for cell in row] for row in markdown_rows(printed)] == [["h"], [plain(f"x{one_line(text)}x")]]


@given(ODD, ODD)
@SHARED
def test_markdown_rows_have_as_many_cells_as_the_heading(
    run_named: Callable[[str, str], Run], operator: str, message: str
) -> None:
    text = render(run_named(operator, message), "md")
    heading, *rows = markdown_rows(text)
    assert len(rows) == 2
    assert all(len(row) == len(heading) for row in rows)
    assert text.count("\n| ") == 4


@given(ODD, ODD)
@SHARED
def test_markdown_remarks_are_paragraphs_tables_and_lists_only(
    run_named: Callable[[str, str], Run], operator: str, message: str
) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(render(run_named(operator, message), "md"))
    kinds = {token.type.removesuffix("_open") for token in tokens}
    assert not kinds & {"heading", "blockquote", "code_block", "fence", "html_block", "ordered_list", "hr"}


def test_markdown_keeps_what_can_be_typed_as_code() -> None:
    assert for_markdown("pin with `--cpus_list`, not a|b or __c__") == r"pin with `--cpus_list`, not a\|b or \_\_c\_\_"


@given(ODD, ODD)
@SHARED
def test_html_holds_no_markup_from_a_name_or_message(
    run_named: Callable[[str, str], Run], operator: str, message: str
) -> None:
    text = render(run_named(f"x{operator}", f"x{message}"), "html")
    known = render(run_named("plain", "plain"), "html")
    assert text.count("<") == known.count("<")
    assert text.isascii()


def test_html_escapes_a_script(run_named: Callable[[str, str], Run]) -> None:
    text = render(run_named("<script>alert(1)</script>", '"><img src=x>'), "html")
    assert "<script" not in text
    assert "<img" not in text


def test_console_without_a_width_has_a_line_for_each_record_and_every_value(run: Run) -> None:
    lines = render(run, "console").split("\n")
    assert len([line for line in lines if "forward" in line or "backward" in line][: len(run.records)]) == 7
    assert sum(line.startswith(("add ", "take ", "concat ")) for line in lines) == len(run.records)
    assert "3.35 GFLOP/s" in lines[4]


@pytest.mark.parametrize("width", [80, 100, 120, 160, 200])
def test_console_cuts_no_number_at_any_width(run: Run, width: int) -> None:
    text = render(run, "console", width=width)
    assert "…" not in text
    for number in ("313 us", "41.5 us", "±1.2 %", "[4.05, 4.41] us"):
        assert number in text


@pytest.mark.parametrize("width", [100, 120, 160, 200])
def test_console_table_fits_a_terminal_of_usual_width(run: Run, width: int) -> None:
    table = render(run, "console", width=width).split("\n\n")[1]
    assert max(len(line) for line in table.split("\n")) <= width


def test_console_names_the_columns_left_out(run: Run) -> None:
    assert "left out" not in render(run, "console")
    text = render(run, "console", width=120)
    (line,) = [line for line in text.split("\n") if line.startswith("left out at this width: min, p90")]
    assert "--format csv" in line


def test_console_has_no_colour_unless_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render(run, "console")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" in render(run, "console", color=True)


def test_console_does_not_read_markup_or_emoji_in_names(run_named: Callable[[str, str], Run]) -> None:
    assert "[red]:smile:[/red]" in render(run_named("[red]:smile:[/red]", "m"), "console")


def test_console_keeps_wide_characters_aligned(run_named: Callable[[str, str], Run]) -> None:
    lines = render(run_named("卷积", "m"), "console").split("\n")
    place = next(i for i, line in enumerate(lines) if line.startswith("卷积"))
    assert lines[place - 2].index("direction") == lines[place].index("forward") + 2


def test_nothing_depends_on_the_order_in_which_records_were_measured_within_a_group(run: Run) -> None:
    first, *others = run.records
    turned = replace(run, records=(first, *others[1:2], *others[:1], *others[2:]))
    assert render(turned, "csv").split("\n")[:3] == render(run, "csv").split("\n")[:3]
