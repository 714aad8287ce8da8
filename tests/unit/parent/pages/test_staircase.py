"""The staircase of a bisection, read back from the SVG that it is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.unit.parent.pages.test_charts import parts, place
from tests.unit.parent.reports.conftest import ADD, NUMPY, run_of

from opperf.parent.documents.bisection import Answer, Bisection, Commit, LeftOut, Probe, Step
from opperf.parent.pages.bisect_figures import staircases
from opperf.parent.pages.charts import NARROW, WIDE
from opperf.parent.pages.charts.staircase import Staircase
from opperf.parent.reports import render

BUILDS = ("v1", *(f"{number:010x}" for number in range(1, 39)), "main")
BEFORE, AFTER, BROKEN, FAR = BUILDS[19], BUILDS[21], BUILDS[20], BUILDS[10]


def bisection() -> Bisection:
    """Return an answer: half of the time is gone after a commit that cannot be built, and a third later."""
    probes = (
        Probe("v1", "main", math.log(0.4), 0.01, 2),
        Probe("v1", FAR, 0.0, 0.01, 2),
        Probe("v1", BEFORE, 0.01, 0.01, 4),
        Probe("main", AFTER, math.log(0.6 / 0.4), 0.01, 2),  # compared with the bad one alone
        Probe(BEFORE, AFTER, math.log(0.6), 0.01, 4),
        Probe(AFTER, BUILDS[30], 0.0, 0.01, 2),
        Probe(BUILDS[30], BUILDS[31], math.log(2 / 3), 0.01, 2),
    )
    steps = (
        Step(BEFORE, AFTER, 0.6, (0.58, 0.62), 4, (BROKEN,)),
        Step(BUILDS[30], BUILDS[31], 0.667, (0.65, 0.69), 2),
    )
    answer = Answer(ADD, "forward", "steps", "two steps", 0.4, (0.39, 0.41), steps, 0.99, probes=probes)
    commits = tuple(
        Commit(build, f"{build:0<40}", f"Change {build}", "Ada", "2026-11-02T10:00:00+01:00", "v2")
        for build in ("v1", BEFORE, AFTER, "main")
    )
    built = ("v1", FAR, BEFORE, AFTER, BUILDS[30], BUILDS[31], "main")
    return Bisection(run_of(), NUMPY, BUILDS, built, (LeftOut(BROKEN, "does not compile"),), (answer,), commits)


def chart() -> Staircase:
    """Return the one staircase."""
    (staircase,) = staircases(bisection())
    return staircase


def test_builds_stand_in_their_order_and_those_that_nobody_measured_take_one_place() -> None:
    names = [(one.name, one.count, one.failed) for one in chart().places]
    assert names[:3] == [("v1", 1, False), (f"{BUILDS[1]} to {BUILDS[9]}", 9, False), (FAR, 1, False)]
    assert (BROKEN, 1, True) in names
    assert sum(count for _, count, _ in names) == len(BUILDS)
    dots = parts(chart(), "circle", "s0")
    assert len(dots) == 7
    assert [place(dot, "cx") for dot in dots] == sorted(place(dot, "cx") for dot in dots)


def test_a_build_that_was_compared_with_the_bad_one_alone_stands_at_its_level_of_the_good_one() -> None:
    values = {one.name: one.value for one in chart().places}
    assert values["v1"] == 1.0
    assert values[AFTER] == pytest.approx(0.6, rel=0.01)
    assert values[BUILDS[31]] == pytest.approx(0.4, rel=0.01)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_the_line_steps_where_the_answer_says_and_the_text_says_by_how_much(width: int) -> None:
    (line,) = parts(chart(), "polyline", "curve", width)
    heights = [float(point.split(",")[1]) for point in line.attrib["points"].split()]
    assert len(heights) == 6
    assert heights[0] < heights[2] < heights[4]
    texts = [text.text for text in parts(chart(), "text", "faster", width)]
    assert texts == ["-40.0%", "-33.3%"]
    assert len(parts(chart(), "line", "slower", width)) == 2  # the cross
    svg = chart().draw(width).element
    assert all(float(dot.attrib["cx"]) < width for dot in svg.iter("circle"))


def test_where_no_step_is_named_the_builds_that_it_lies_between_are_shaded() -> None:
    one = bisection()
    answer = replace(one.answers[0], kind="inconclusive", steps=(), between=(BEFORE, "main"))
    (staircase,) = staircases(replace(one, answers=(answer,)))
    assert not parts(staircase, "polyline", "curve")
    assert len(parts(staircase, "rect", "band")) == 1


def test_the_report_has_a_row_for_each_step_and_says_which_commit_it_is() -> None:
    text = render(bisection())
    rows = [line for line in text.splitlines() if " found " in line]
    assert [("0.600" in row, "0.667" in row) for row in rows] == [(True, False), (False, True)]
    assert f'{AFTER}: "Change {AFTER}" by Ada, 2026-11-02, in v2 and later' in text
    assert text.count("two steps") == 1
    assert "v1 to main: 7 of 40 builds were needed." in text
