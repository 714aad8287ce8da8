"""Two profiles operator by operator, in every format."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Event, Profile, Slice
from opperf.domain.profile.rows import changes
from opperf.parent import reports
from opperf.parent.reports.profile_change import document


def profile(**durations: list[int]) -> Profile:
    """Return a profile of calls one after another, by their operators' names, in nanoseconds."""
    calls, time = [], 0
    for name, lengths in durations.items():
        for length in lengths:
            calls.append(Event(name, "operator", time, length, 1, "main"))
            time += length
    return Profile(tuple(calls))


def render(before: Profile, after: Profile, format: str, **options: Any) -> str:
    """Return what differs, in a format."""
    return reports.render(document(before, after, **options), format)


BEFORE = profile(matmul=[4000, 4000], gone=[500], sqrt=[1000, 1000, 1000])
AFTER = profile(matmul=[6000, 6000], sqrt=[1000, 1000, 7000], fresh=[100])


def test_the_operators_whose_typical_call_changed_most_come_first_with_those_that_are_gone_or_new() -> None:
    result = changes(BEFORE, AFTER)
    assert [change.name for change in result] == ["matmul", "gone", "fresh", "sqrt"]
    matmul, gone, fresh, sqrt = result
    assert [change.typical for change in result] == pytest.approx([4e-6, -500e-9, 100e-9, 0.0])
    assert (matmul.ratio, matmul.ratio_of_call) == (1.5, 1.5)
    assert (gone.after, gone.ratio, fresh.before, fresh.ratio) == (None, None, None, None)
    assert fresh.difference == pytest.approx(100e-9)
    assert (sqrt.ratio, sqrt.ratio_of_call) == (3.0, 1.0)


def test_a_table_for_people_has_calls_times_shares_and_ratios() -> None:
    assert render(BEFORE, AFTER, "console", top=3) == (
        "operator  calls      self                share             change    one call  difference  ratio\n"
        "------------------------------------------------------------------------------------------------\n"
        "matmul    2          8.00 us -> 12.0 us  69.6 % -> 56.9 %  +4.00 us  1.5       +4.00 us    1.5\n"
        "gone      1 -> none  500 ns -> none      4.35 % -> none    -500 ns             -500 ns\n"
        "fresh     none -> 1  none -> 100 ns      none -> 0.474 %   +100 ns             +100 ns\n"
        "\n"
        "1 more row: without `--top` all are shown\n"
        "total self time: 11.5 us before, 21.1 us after (1.83 of it)\n"
        "change: of as many median calls, without waiting for a CPU; rows are sorted by it; "
        "self, difference, ratio: of all calls, without the operators called inside; share: of the sum of self; "
        "one call: the ratio of the medians (p50), which a few disturbed calls do not change\n"
    )


def test_rows_are_sorted_by_how_much_a_column_changed() -> None:
    rows = json.loads(render(BEFORE, AFTER, "json", sort="self"))["rows"]
    assert [row["name"] for row in rows] == ["sqrt", "matmul", "gone", "fresh"]
    assert "sorted by the difference in `self`" in render(BEFORE, AFTER, "console", sort="self")
    with pytest.raises(InputError, match="order"):
        document(BEFORE, AFTER, sort="p50")


def test_time_that_the_process_waited_for_a_processor_changes_no_operator() -> None:
    quiet = replace(profile(bmm=[100] * 9, gelu=[50] * 9), slices=(Slice(0, 1350, 1, 1350, 0),))
    busy = replace(profile(bmm=[200] * 9, gelu=[150] * 9), slices=(Slice(0, 3150, 1, 1575, 1575),))
    first, second = changes(quiet, busy)
    assert [first.name, second.name] == ["gelu", "bmm"]
    assert [first.typical, second.typical] == pytest.approx([225e-9, 0.0])
    assert [first.difference, second.difference] == pytest.approx([900e-9, 900e-9])
    lines = render(quiet, busy, "console").splitlines()
    assert "total self time: 1.35 us before, 3.15 us after (2.33 of it)" in lines
    assert "without waiting for a CPU: 1.35 us before, 1.57 us after (1.17 of it)" in lines


def test_calls_of_different_modules_are_different_calls() -> None:
    def mm(large: int) -> Profile:
        lengths = [(module, length) for module, length in (("a", 10), ("b", large)) for _ in range(9)]
        spans = [Event("mm", "operator", i * 1000, n, 1, "main", module=m) for i, (m, n) in enumerate(lengths)]
        return Profile(tuple(spans))

    (change,) = changes(mm(400), mm(800))
    assert change.typical == pytest.approx(9 * 400e-9)


def test_markdown_csv_and_json_have_every_row() -> None:
    lines = render(BEFORE, AFTER, "md").splitlines()
    assert lines[2] == "| matmul | 2 | 8.00 us -> 12.0 us | 69.6 % -> 56.9 % | +4.00 us | 1.5 | +4.00 us | 1.5 |"
    (*_, last) = csv.DictReader(io.StringIO(render(BEFORE, AFTER, "csv")))
    assert (last["name"], float(last["before_self_s"]), float(last["ratio"])) == ("sqrt", 3e-6, 3.0)
    assert float(last["typical_difference_s"]) == 0
    document = json.loads(render(BEFORE, AFTER, "json"))
    assert document["rows"][1]["after"] is None
    assert document["rows"][0]["before"] == {"calls": 2, "self": 8e-6, "p50": 4e-6, "share": pytest.approx(8 / 11.5)}


def test_rows_of_shapes_are_compared_with_those_of_the_same_shapes() -> None:
    small = Event("add", "operator", 0, 10, 1, "main", shapes=((10,),))
    large = Event("add", "operator", 10, 20, 1, "main", shapes=((20,),))
    (change,) = [one for one in changes(Profile((small, large)), Profile((large,)), "shape") if one.shapes == ((20,),)]
    assert change.ratio == 1.0


@pytest.mark.parametrize(
    ("by", "title"),
    [("name", "operator"), ("shape", "operator"), ("module", "module"), ("stack", "stack")],
)
def test_the_first_column_is_named_as_in_the_table_of_one_profile(by: str, title: str) -> None:
    assert render(BEFORE, AFTER, "console", by=by).split()[0] == title


def test_a_profile_with_nothing_is_compared_too() -> None:
    assert render(Profile(), Profile(), "console") == "total self time: 0 s before, 0 s after\n"


@pytest.mark.parametrize(("format", "by"), [("xml", "name"), ("csv", "line")])
def test_what_is_not_known_is_refused(format: str, by: str) -> None:
    with pytest.raises(InputError):
        render(BEFORE, AFTER, format, by=by)
