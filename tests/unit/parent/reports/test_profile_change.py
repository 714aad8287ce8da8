"""Two profiles operator by operator, in every format."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Event, Profile
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


def test_what_differs_most_comes_first_with_operators_that_are_gone_or_new() -> None:
    result = changes(BEFORE, AFTER)
    assert [change.name for change in result] == ["sqrt", "matmul", "gone", "fresh"]
    sqrt, matmul, gone, fresh = result
    assert (matmul.ratio, matmul.ratio_of_call) == (1.5, 1.5)
    assert (gone.after, gone.ratio, fresh.before, fresh.ratio) == (None, None, None, None)
    assert fresh.difference == pytest.approx(100e-9)
    assert (sqrt.ratio, sqrt.ratio_of_call) == (3.0, 1.0)


def test_a_table_for_people_has_calls_times_shares_and_ratios() -> None:
    assert render(BEFORE, AFTER, "console", top=3) == (
        "operator  calls      self                share             difference  ratio  one call\n"
        "--------------------------------------------------------------------------------------\n"
        "sqrt      3          3.00 us -> 9.00 us  26.1 % -> 42.7 %  +6.00 us    3      1\n"
        "matmul    2          8.00 us -> 12.0 us  69.6 % -> 56.9 %  +4.00 us    1.5    1.5\n"
        "gone      1 -> none  500 ns -> none      4.35 % -> none    -500 ns\n"
        "\n"
        "1 more row: without `--top` all are shown\n"
        "total self time: 11.5 us before, 21.1 us after (1.83 of it)\n"
        "self, difference, ratio: of all calls, without the operators called inside; share: of the sum of self; "
        "one call: the ratio of the medians (p50), which a few disturbed calls do not change\n"
    )


def test_markdown_csv_and_json_have_every_row() -> None:
    lines = render(BEFORE, AFTER, "md").splitlines()
    assert lines[2] == "| sqrt | 3 | 3.00 us -> 9.00 us | 26.1 % -> 42.7 % | +6.00 us | 3 | 1 |"
    (first, *_) = csv.DictReader(io.StringIO(render(BEFORE, AFTER, "csv")))
    assert (first["name"], float(first["before_self_s"]), float(first["ratio"])) == ("sqrt", 3e-6, 3.0)
    document = json.loads(render(BEFORE, AFTER, "json"))
    assert document["rows"][2]["after"] is None
    assert document["rows"][1]["before"] == {"calls": 2, "self": 8e-6, "p50": 4e-6, "share": pytest.approx(8 / 11.5)}


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
