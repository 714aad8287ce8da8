"""What charts of results hold, read back from the SVG that they are."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import pytest
from tests.each import each
from tests.unit.parent.reports.conftest import ADD, NUMPY, TORCH, records, run_of, statistics

from opperf.domain.case import Case
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Side, Trial
from opperf.domain.record import Record, Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.pages.charts import NARROW, WIDE, Chart, figure, picture
from opperf.parent.pages.charts.drawing import Axis, Drawing
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import page
from opperf.parent.reports import report_of

BOTH = ((TORCH, 1e-6), (NUMPY, 2e-6))


def parts(chart: Chart, tag: str, name: str, width: int = WIDE) -> list[Element]:
    """Return the elements of a chart with a tag, and a word in their class."""
    result = chart.draw(width).element.iter(tag)
    return [element for element in result if name in (element.get("class") or "").split()]


def place(element: Element, name: str) -> float:
    """Return a coordinate."""
    return float(element.attrib[name])


def chart_of(run: Run | ComparisonRun, title: str) -> Chart:
    """Return the one chart of a picture with these words in its title."""
    (chart,) = (chart for chart in charts(run, still=True) if title in chart.title)
    return chart


def compared(*ratios: float) -> ComparisonRun:
    """Return a comparison for each ratio, of an operator that is called as the verdict."""

    def one(ratio: float) -> Comparison:
        word = "slower" if ratio > 1 else "faster"
        verdict = Verdict(word, ratio, (ratio - 0.02, ratio + 0.02), "both stages agree", 5)
        case = Case(word, {"data": TensorSpec((8,))})
        return Comparison(case, "forward", NUMPY, TORCH, verdict, 1e-3, ratio * 1e-3, log_ratios=((-0.01, 0.0, 0.01),))

    return ComparisonRun(run_of(), tuple(one(ratio) for ratio in ratios))


def measured(case: Case, seconds: float, **more: Any) -> Record:
    """Return a record with a time."""
    facts = {"metrics": {"time": statistics(seconds), **more.pop("metrics", {})}, **more}
    return Record(Trial(case, TORCH, "forward"), "ok", **facts)


def samples(*walls: Sequence[int]) -> dict[str, list[object]]:
    """Return the samples of processes, in nanoseconds."""
    return {
        "time": [
            {"overhead_ns": 0.0, "calls": [1] * len(wall), "wall_ns": list(wall), "cpu_ns": list(wall)}
            for wall in walls
        ]
    }


def test_a_slower_side_stands_right_of_one_and_a_faster_one_left() -> None:
    chart = chart_of(compared(1.2, 0.7), "Ratios")
    mark = parts(chart, "line", "zero")[0]
    slower, faster = (
        next(one for one in parts(chart, "circle", word) if "dot" not in one.attrib["class"])
        for word in ("slower", "faster")
    )
    assert place(faster, "cx") < place(mark, "x1") < place(slower, "cx")


def test_a_comparison_has_a_dot_for_each_pair_and_its_interval() -> None:
    chart = chart_of(compared(1.2), "Ratios")
    assert len(parts(chart, "circle", "dot")) == 3
    (interval,) = parts(chart, "line", "width")
    middle = next(one for one in parts(chart, "circle", "slower") if "dot" not in one.attrib["class"])
    assert place(interval, "x1") < place(middle, "cx") < place(interval, "x2")


def test_a_comparison_without_a_ratio_has_no_row() -> None:
    run = compared(1.2)
    failed = replace(run.comparisons[0], verdict=Verdict("failed", None, None, "it crashed", 0), status="failed")
    assert charts(ComparisonRun(run.run, (failed,))) == []


def test_each_process_has_a_shape_of_its_own_around_its_median() -> None:
    slow, quick = [1100] * 20, [900] * 20
    chart = chart_of(run_of(measured(ADD, 1e-6, samples=samples(slow, quick))), "Samples")
    assert len(parts(chart, "polygon", "hull")) == 2
    first, second = (place(mark, "x1") for mark in parts(chart, "line", "width"))
    assert first > second
    told = [text for element in parts(chart, "rect", "hit") for text in element.itertext()]
    assert told[0].startswith("process 1: median 1.10 us of 20 samples")


def test_the_frameworks_of_a_case_stand_on_one_row_each_with_its_time_beside_it() -> None:
    both = [replace(measured(ADD, seconds), trial=Trial(ADD, side, "forward")) for side, seconds in BOTH]
    chart = chart_of(run_of(*both), "Times")
    assert len(parts(chart, "rect", "hit")) == 1
    slow, quick = (element for element in parts(chart, "text", "beside"))
    assert {slow.text, quick.text} == {"2.00 us", "1.00 us"}
    dots = [place(dot, "cx") for dot in parts(chart, "circle", "s0")[1:] + parts(chart, "circle", "s1")[1:]]
    assert {place(slow, "x") < min(dots), place(quick, "x") > max(dots)} == {True}
    (tip,) = ("".join(element.itertext()) for element in parts(chart, "rect", "hit"))
    assert [line.split(":")[0] for line in tip.split("\n")] == ["torch", "numpy==1.26.4"]


def test_many_rows_fold_into_groups_that_say_who_is_fastest() -> None:
    cases = [Case(name, {"data": TensorSpec((size,))}) for name in ("sum", "matmul") for size in range(1, 13)]
    every = [
        replace(measured(case, seconds), trial=Trial(case, side, "forward")) for case in cases for side, seconds in BOTH
    ]
    few, many = (figure(chart_of(run_of(*every[:count]), "Times")) for count in (24, 48))
    assert 'class="group"' not in few
    assert re.findall(r'<details class="group"[^>]*><summary>(.*?)</summary>', many) == [
        f"{group}: 12 rows; fastest or within 10% of it, of 12 cases: torch in 12"
        for group in ("reductions", "products")
    ]


def test_a_run_without_samples_has_no_chart_of_them() -> None:
    assert [chart.title for chart in charts(run_of(measured(ADD, 1e-6)))] == ["Times of one call"]


def test_a_run_that_measured_nothing_has_no_chart() -> None:
    assert charts(run_of()) == []


def test_time_is_drawn_against_size_where_an_operator_has_three_sizes() -> None:
    cases = [Case("add", {"lhs": TensorSpec((size,))}) for size in (10, 100, 1000)]
    few = run_of(*(measured(case, 1e-6) for case in cases[:2]))
    assert not any("size" in chart.title for chart in charts(few))
    chart = chart_of(run_of(*(measured(case, 1e-6 * 10**i) for i, case in enumerate(cases))), "Time against size: add")
    spots = [(place(dot, "cx"), place(dot, "cy")) for dot in parts(chart, "circle", "s0")[1:]]
    assert len(spots) == 3
    assert spots == sorted(spots, key=lambda spot: (spot[0], -spot[1]))


def test_an_operator_stands_as_far_below_its_limit_as_it_is_from_it() -> None:
    work = {"flops": Quantity(1e6), "bytes": Quantity(1e6)}
    facts = {"roofline": {"seconds": 1e-3, "bound": "memory"}}
    half = measured(ADD, 2e-3, metrics=work, facts=facts)
    at = measured(Case("exp", ADD.inputs), 1e-3, metrics=work, facts=facts)
    chart = chart_of(run_of(half, at), "Roofline")
    limits = {place(line, "y2") for line in parts(chart, "line", "zero")}
    assert len(limits) == 1
    heights = sorted(place(dot, "cy") for dot in parts(chart, "circle", "s0")[1:])
    assert heights[0] == pytest.approx(limits.pop())
    assert heights[1] > heights[0]


def test_the_operators_of_a_suite_have_bars_as_long_as_their_shares() -> None:
    often = replace(measured(ADD, 1e-3), trial=replace(Trial(ADD, TORCH, "forward"), count=3))
    chart = chart_of(run_of(often, measured(Case("exp", ADD.inputs), 1e-3)), "Shares")
    first, second = (place(bar, "width") for bar in parts(chart, "rect", "bar"))
    assert first == pytest.approx(3 * second, rel=0.01)


def calls(act: Callable[[], object]) -> int:
    """Return how many calls an act makes: what it costs on every machine."""
    count = itertools.count()
    before = sys.getprofile()
    sys.setprofile(lambda *_: next(count))
    try:
        act()
    finally:
        sys.setprofile(before)
    return next(count)


def test_the_charts_of_ten_times_as_many_records_are_not_a_hundred_times_the_work() -> None:
    record = measured(ADD, 1e-3, facts={"suite": {"total": 1.0, "share": 0.5, "cumulative": 0.5}})
    records = [replace(record, trial=replace(record.trial, side=Side("torch", f"{i}"))) for i in range(1000)]
    few, many = (calls(partial(charts, run_of(*records[:count]))) for count in (100, 1000))
    assert 1000 < many < 12 * few


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_of_a_chart_lies_beyond_its_width(width: int) -> None:
    cases = [
        measured(Case("add", {"lhs": TensorSpec((10**i,))}), 10.0**-i, samples=samples([900, 1100])) for i in range(5)
    ]
    for chart in (*charts(run_of(*cases)), *charts(compared(1.2, 0.7))):
        drawing = chart.draw(width)
        for element in drawing.element.iter():
            for name in ("x", "x1", "x2", "cx"):
                assert 0 <= float(element.get(name, 0)) <= width
            for name in ("y", "y1", "y2", "cy"):
                assert 0 <= float(element.get(name, 0)) <= drawing.height


@each(("low", "high"), [(1e-9, 1e3), (0.93, 1.12), (1.0, 7.9), (1e-6, 1.0001e-6), (0.999, 1.001), (3.0, 3.0)])
@each("log", [True, False])
def test_an_axis_has_round_numbers_and_room_for_their_labels(low: float, high: float, log: bool) -> None:
    axis = Axis.of([low, high], 0, 360, str, log=log)
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 6
    assert all(axis.low <= tick <= axis.high for tick in ticks)
    assert all(0 <= axis.at(value) <= 360 for value in (low, high))


def test_a_page_needs_nothing_else_and_forbids_itself_to_load_anything() -> None:
    run = run_of(*records())
    made = page(run, report_of(run), charts(run))
    assert "default-src 'none'" in made
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in made
    assert not re.search(r"<script [^>]|<link (?!rel=\"icon\" href=\"data:)|\ssrc=|\sstyle=|@import", made)
    assert set(re.findall(r"https?://[^\s\"]+", made)) == {"http://www.w3.org/2000/svg"}


def test_a_picture_brings_its_style_along_and_has_every_chart() -> None:
    several = charts(run_of(*records()), still=True)
    whole = fromstring(picture(several))
    texts = [element.text for element in whole.iter() if element.get("class") == "heading"]
    assert texts == [chart.title for chart in several]
    assert "prefers-color-scheme: dark" in "".join(whole.itertext())


def test_words_of_a_label_that_have_no_room_stand_below_it() -> None:
    drawing = Drawing(400, 40, "names")
    drawing.two_lines(0, "dtype='int64' array_type=('sorted', 10)", "", (190, 190))
    drawing.two_lines(0, "a label of many words that is cut at its end", "detail", (190, 190))
    assert [text.text for text in drawing.element] == [
        *("dtype='int64'", "array_type=('sorted', 10)"),
        *("a label of many words that is…", "detail"),
    ]
