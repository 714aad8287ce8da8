"""What is drawn of an operator over builds."""

from __future__ import annotations

from itertools import pairwise

from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec
from opperf.parent.pages.charts import NARROW, WIDE
from opperf.parent.pages.server.operator_charts import MOST_BUILDS, ratio_charts, side_charts
from opperf.parent.store.database.operator_history import Ratios
from opperf.parent.store.database.series import Series

CASE = Case("sum", {"data": TensorSpec((8,))}).to_json()
SERIES = Series(1, "sum", CASE, "forward", "numpy", {"mode": "eager", "device": "cpu", "threads": 1}, 1, "EPYC")


def compared(*ratios: float, framework: str = "numpy") -> Ratios:
    """Return comparisons of builds with 1.0, a ratio for each."""
    count = len(ratios)
    base = Series(2, "sum", CASE, "forward", framework, SERIES.side, 1, "EPYC")
    builds = tuple(f"1.{i}" for i in range(1, count + 1))
    nothing = (None,) * count
    runs = tuple(f"r{i}" for i in range(count))
    bounds = (tuple(ratio - 0.01 for ratio in ratios), tuple(ratio + 0.01 for ratio in ratios))
    days = tuple(range(count))
    return Ratios(
        SERIES, base, days, ("1.0",) * count, builds, runs, ("same",) * count, ratios, *bounds, (0.004,) * count,
        nothing, nothing,
    )  # fmt: skip


def test_a_change_is_drawn_between_the_builds_that_it_lies_between() -> None:
    (chart,) = ratio_charts([compared(1.0, 1.0, 1.0, 1.08, 1.08, 1.08)], {})
    (step,) = chart.steps
    assert (chart.builds[step.after - 1], chart.builds[step.after], step.level) == ("1.3", "1.4", "slower")
    drawing = chart.draw(WIDE).element
    (line,) = (one for one in drawing.iter("line") if "step" in (one.get("class") or ""))
    before, after = (
        next(float(dot.attrib["cx"]) for place, dot in enumerate(drawing.iter("circle")) if place == wanted)
        for wanted in (step.after - 1, step.after)
    )
    assert before < float(line.attrib["x1"]) < after


def test_a_build_that_no_other_confirms_is_marked() -> None:
    (chart,) = ratio_charts([compared(1.0, 1.0, 1.0, 1.0, 1.2)], {})
    assert [step.text[-1] for step in chart.steps] == ["?"]


def test_frameworks_against_each_other_are_no_history_of_builds() -> None:
    both = [compared(1.0, 1.2, framework="torch")]
    assert [*ratio_charts(both, {})] == []
    ((row,),) = (chart.rows for chart in side_charts(both))
    assert (row.label, row.value) == ("numpy 1.2 / torch 1.0", 1.2)


def test_of_many_builds_the_latest_are_drawn() -> None:
    (chart,) = ratio_charts([compared(*(1.0,) * (2 * MOST_BUILDS))], {})
    assert (len(chart.builds), chart.builds[-1]) == (MOST_BUILDS, f"1.{2 * MOST_BUILDS}")
    assert f"The latest {MOST_BUILDS} of {2 * MOST_BUILDS}." in chart.caption


def test_the_anchor_is_the_line_that_builds_are_held_against_and_none_of_them() -> None:
    (chart,) = ratio_charts([compared(1.0, 1.0, 1.08, 1.08)], {"numpy": ["0.9", "1.0", "1.1", "1.2", "1.3", "1.4"]})
    assert list(chart.builds) == ["1.1", "1.2", "1.3", "1.4"]
    assert chart.mark == 1.0
    assert "the dashed line at 1 is 1.0" in chart.caption


def test_what_changed_right_after_the_anchor_is_drawn_at_the_first_build() -> None:
    (chart,) = ratio_charts([compared(1.08, 1.08, 1.08)], {})
    assert [step.after for step in chart.steps] == [0]
    (line,) = (one for one in chart.draw(WIDE).element.iter("line") if "step" in (one.get("class") or ""))
    assert float(line.attrib["x1"]) > 72


def test_the_names_of_builds_do_not_lie_on_each_other() -> None:
    (chart,) = ratio_charts([compared(*(1.0,) * 40)], {})
    for width in (WIDE, NARROW):
        drawing = chart.draw(width)
        names = [one for one in drawing.element.iter("text") if float(one.attrib["y"]) > drawing.height - 15]
        spots = sorted(float(one.attrib["x"]) for one in names)
        assert len(spots) > 2
        assert min(after - before for before, after in pairwise(spots)) > 25


def test_a_change_within_what_its_series_moved_by_before_is_marked_and_grey() -> None:
    (chart,) = ratio_charts([compared(*([1.0] * 3 + [1.08] * 3) * 4)], {})
    first, last = chart.steps[0], chart.steps[-1]
    assert (first.text, first.level) == ("+8.00 %", "slower")
    assert (last.text, last.level) == ("+8.00 % ~", "inconclusive")
    assert "one with ~ is within what its series moved by before" in chart.caption


def test_where_builds_are_closer_than_a_pointer_the_one_that_stands_out_is_named() -> None:
    chart = next(ratio_charts([compared(*(1.0 + (i == 100) for i in range(MOST_BUILDS)))], {}))
    tips = {
        width: ["".join(one.itertext()) for one in chart.draw(width).element.iter("rect")] for width in (WIDE, NARROW)
    }
    assert len(tips[NARROW]) < len(tips[WIDE]) < MOST_BUILDS
    assert all(sum(tip.startswith("1.101\n") for tip in several) == 1 for several in tips.values())
