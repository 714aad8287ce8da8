"""The table of a profile, made by hand, in every format."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Event, Profile, Stretch
from opperf.domain.profile.rows import Row
from opperf.parent.reports import render

MILLI = 1_000_000
FACTS = {"framework": "torch", "version": "2.13.0", "command": "train.py --lr 0.1"}


def operator(name: str, begin: int, duration: int, **more: object) -> Event:
    """Return a call, its times in milliseconds."""
    return Event(name, "operator", begin * MILLI, duration * MILLI, 7, "main", **more)  # type: ignore[arg-type]


#: A layer that calls a product, twice; a sum of a graph in between, of which only the device's time is known.
EVENTS = (
    operator("linear", 0, 10, module="Net.dense"),
    operator("addmm", 2, 6, module="Net.dense", shapes=((10,), (), (64, 10)), allocated=2560, peak=4096, flops=3000),
    operator("fused_sum", 12, 4, module="Net", fused=True, device=3 * MILLI),
    operator("linear", 20, 12, module="Net.dense"),
    operator("addmm", 24, 6, module="Net.dense", shapes=((10,), (), (64, 10)), allocated=2560, peak=2048, flops=3000),
    Event("Net", "module", 0, 40 * MILLI, 7, "main"),
)
PROFILE = Profile(EVENTS, (), {7: FACTS}, ("stacks are not told",))


def test_gaps_that_were_not_profiled_are_told_and_are_no_part_of_the_time() -> None:
    calls = tuple(Event("add", "operator", begin, 1_000_000, 7, "main") for begin in (0, 9_000_000))
    stretches = tuple(Stretch(call.begin, call.end, 7) for call in calls)
    text = render(Profile(calls, processes={7: {}}, stretches=stretches), "console")
    assert "2.00 ms from the first span to the end of the last, without 8.00 ms that were not profiled\n" in text


def test_a_table_for_people_has_every_fact_that_is_known_and_no_empty_column() -> None:
    assert render(PROFILE, "console") == (
        "operator   calls  total    self     mean     p50      min      max      share   allocated  peak     device   "
        "FLOPs       FLOP/s       module     notes\n" + 150 * "-" + "\n"
        "addmm      2      12.0 ms  12.0 ms  6.00 ms  6.00 ms  6.00 ms  6.00 ms  46.2 %  5.12 kB    4.10 kB           "
        "6.00 kFLOP  500 kFLOP/s  Net.dense\n"
        "linear     2      22.0 ms  10.0 ms  11.0 ms  11.0 ms  10.0 ms  12.0 ms  38.5 %                               "
        "                         Net.dense\n"
        "fused_sum  1      4.00 ms  4.00 ms  4.00 ms  4.00 ms  4.00 ms  4.00 ms  15.4 %                      3.00 ms  "
        "                         Net        fused\n"
        "\n"
        "process 7: torch 2.13.0: train.py --lr 0.1\n"
        "5 calls, 26.0 ms of self; 40.0 ms from the first span to the end of the last\n"
        "note: stacks are not told\n"
        "total, mean, p50, min, max: with the operators called inside; self: without the operators called inside; "
        "share: of the sum of self; allocated: in all calls; peak: the most memory held at once in one call; "
        "device: time on the device; FLOP/s: of calls whose FLOPs are known\n"
    )


def test_markdown_has_the_same_cells() -> None:
    lines = render(PROFILE, "md").splitlines()
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[:5]]
    console = [line.split() for line in render(PROFILE, "console").splitlines()[:5]]
    assert cells[0] == console[0]
    assert [row[0] for row in cells[2:]] == ["addmm", "linear", "fused_sum"]
    assert cells[2][1:4] == ["2", "12.0 ms", "12.0 ms"]
    assert "- note: stacks are not told" in lines


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("self", ["addmm", "linear", "fused_sum"]),
        ("total", ["linear", "addmm", "fused_sum"]),
        ("calls", ["addmm", "linear", "fused_sum"]),
        ("mean", ["linear", "addmm", "fused_sum"]),
    ],
)
def test_rows_are_sorted_by_what_is_asked_for(sort: str, names: list[str]) -> None:
    assert [row["name"] for row in json.loads(render(PROFILE, "json", sort=sort))["rows"]] == names


def test_rows_of_shapes_show_them_with_a_dash_for_what_is_no_tensor() -> None:
    lines = render(PROFILE, "console", by="shape").splitlines()
    assert "10 - 64x10" in lines[2]


def test_rows_of_modules_hold_what_their_operators_took_by_themselves() -> None:
    lines = render(PROFILE, "console", by="module").splitlines()
    assert lines[0].split()[:3] == ["module", "calls", "self"]
    assert lines[2].split()[:4] == ["Net.dense", "4", "22.0", "ms"]


def test_processes_of_one_command_are_told_apart_by_their_names() -> None:
    facts = {7: {**FACTS, "name": "train.py"}, 8: {**FACTS, "name": "worker 1"}}
    assert render(Profile(processes=facts), "md").splitlines() == [
        "- process 7: torch 2.13.0: train.py --lr 0.1",
        "- process 8 (worker 1): torch 2.13.0: train.py --lr 0.1",
        "- no operator was recorded",
    ]


def test_a_profile_without_rows_says_so() -> None:
    assert render(PROFILE, "md", by="kernel").splitlines()[:2] == [
        "- process 7: torch 2.13.0: train.py --lr 0.1",
        "- no kernel was recorded",
    ]
    assert render(Profile(), "console") == "no operator was recorded\n"


def test_rows_for_people_are_bounded_and_those_for_programs_are_not() -> None:
    lines = render(PROFILE, "console", top=1).splitlines()
    assert lines[2].startswith("addmm")
    assert lines[3:5] == ["", "2 more rows: without `--top` all are shown"]
    assert len(json.loads(render(PROFILE, "json", top=1))["rows"]) == 3
    assert len(render(PROFILE, "csv", top=1).splitlines()) == 4


def test_a_narrow_terminal_goes_without_the_least_telling_columns() -> None:
    lines = render(PROFILE, "console", width=90).splitlines()
    assert " ".join(lines[0].split()) == "operator calls total self mean share allocated peak device notes"
    assert max(map(len, lines[:5])) <= 90
    assert " ".join(" ".join(lines[-2:]).split()) == (
        "left out at this width: min, max, p50, FLOPs, module, FLOP/s (`--format csv` has every column)"
    )
    assert render(PROFILE, "console", by="module", width=20).startswith("module ")
    assert render(PROFILE, "console", width=300) == render(PROFILE, "console")


def test_json_has_seconds_bytes_and_null_for_what_is_not_known() -> None:
    document = json.loads(render(PROFILE, "json"))
    assert {name: document[name] for name in ("schema_version", "by", "notes", "processes")} == {
        "schema_version": 1,
        "by": "name",
        "notes": ["stacks are not told"],
        "processes": {"7": FACTS},
    }
    first = document["rows"][0]
    assert {"own" if name == "self" else name for name in first} == {field.name for field in fields(Row)}
    assert (first["total"], first["self"], first["allocated"], first["device"]) == (0.012, 0.012, 5120, None)


def loop(*durations: int, begin: int = 0, process: int = 7) -> tuple[Event, ...]:
    """Return marked steps of so many milliseconds, one after another, with an operator before and in each."""
    events = [Event("add", "operator", 0, MILLI, process, "main")]
    for duration in durations:
        events.append(Event("train", "step", begin * MILLI, duration * MILLI, process, "main"))
        events.append(Event("add", "operator", begin * MILLI, MILLI, process, "main"))
        begin += duration
    return tuple(events)


@each(
    ("events", "told"),
    [
        (loop(12, 13, 11, begin=24), ["3 steps with a median of 12.0 ms; 24.0 ms before the first, 40 % of the time"]),
        (loop(12, 12), ["2 steps with a median of 12.0 ms"]),
        (loop(12), ["1 step of 12.0 ms"]),
        (loop(20, 10, 10), ["3 steps with a median of 10.0 ms"]),
        (
            loop(45, 10, 10),
            [
                "3 steps with a median of 10.0 ms",
                "the first step took 45.0 ms, 4.50 times the median of the others; the table counts it, too",
            ],
        ),
        (
            (*loop(5, 5, begin=10), *loop(9, 3, process=8)),
            [
                "process 7: 2 steps with a median of 5.00 ms; 10.0 ms before the first, 50 % of the time",
                "process 8: 2 steps with a median of 6.00 ms",
                "process 8: the first step took 9.00 ms, 3 times the median of the others; the table counts it, too",
            ],
        ),
    ],
)
def test_the_report_says_how_the_steps_went(events: tuple[Event, ...], told: list[str]) -> None:
    lines = render(Profile(events), "console").splitlines()
    assert [line for line in lines if " step" in line] == told


def test_json_says_of_each_process_how_its_steps_went() -> None:
    assert json.loads(render(PROFILE, "json"))["steps"] == []
    assert json.loads(render(Profile(loop(30, 12, 13, 11, begin=34)), "json"))["steps"] == [
        {
            "process": 7,
            "count": 4,
            "median": 0.0125,
            "first": 0.03,
            "others": 0.012,
            "initialisation": 0.034,
            "share": 0.34,
        }
    ]


def test_only_the_steps_of_the_first_of_many_processes_are_told() -> None:
    many = Profile(tuple(event for process in range(6) for event in loop(5, process=process)))
    told = [line for line in render(many, "console").splitlines() if " step" in line]
    assert [line[:9] for line in told[:-1]] == ["process 0", "process 1", "process 2", "process 3"]
    assert told[-1] == "2 more processes have steps; `--format json` lists all of them"


def test_csv_has_every_column_with_its_unit() -> None:
    header, first, *_ = csv.reader(io.StringIO(render(PROFILE, "csv", by="shape")))
    named = dict(zip(header, first))
    names = ["own" if name == "self" else name for name in (*json.loads(render(PROFILE, "json"))["rows"][0],)]
    assert names == [field.name for field in fields(Row)]
    assert all(title.removeprefix("self").startswith(name.removeprefix("own")) for title, name in zip(header, names))
    assert len(header) == len(names)
    assert (named["name"], named["total_s"], named["shapes"], named["device_s"]) == ("addmm", "0.012", "10 - 64x10", "")


def short_and(*long: int, name: str = "sqrt", begin: int = 0, **more: object) -> list[Event]:
    """Return 997 calls of a millisecond and some long ones, one after another."""
    ends = [begin]
    for duration in [*[1] * 997, *long]:
        ends.append(ends[-1] + duration)
    return [operator(name, begin, end - begin, **more) for begin, end in pairwise(ends)]


def test_a_row_that_few_calls_make_up_is_marked_and_explained() -> None:
    told = render(Profile(tuple(short_and(3000, 3000, 5470))), "console").splitlines()
    assert told[2].startswith("sqrt      1000   12.5 s  12.5 s  12.5 ms  1.00 ms")
    assert told[2].endswith("few long calls")
    assert (
        "note: 3 of 1,000 calls of `sqrt` took 92 % of its self time: "
        "a first call, the machine or larger inputs (`--shapes` shows) made them long"
    ) in told
    (row,) = json.loads(render(Profile(tuple(short_and(3000, 3000, 5470))), "json"))["rows"]
    assert (row["long_calls"], row["long_share"]) == (3, 11470 / 12467)


def test_larger_inputs_made_no_call_long_where_shapes_are_known() -> None:
    note = render(Profile(tuple(short_and(3000, shapes=((10,),)))), "md").splitlines()[-2]
    assert note == (
        "- note: 1 of 998 calls of `sqrt` took 75 % of its self time: a first call or the machine made them long"
    )


def test_a_row_of_no_weight_is_marked_but_not_explained() -> None:
    whole = operator("matmul", 10_000, 1_000_000)
    told = render(Profile((*short_and(3000), whole)), "console")
    assert "few long calls" in told
    assert "made them long" not in told


def test_only_the_first_of_many_rows_with_few_long_calls_are_explained() -> None:
    many = Profile(
        tuple(event for i, name in enumerate("abcdef") for event in short_and(3000, name=name, begin=4000 * i))
    )
    notes = [line for line in render(many, "console").splitlines() if line.startswith("note: ")]
    assert [line.split("`")[1] for line in notes[:-1]] == ["a", "b", "c", "d"]
    assert notes[-1] == "note: few long calls make up 2 more rows"
    assert "more rows" not in render(many, "console", top=4).split("note:", 1)[1]


def test_only_the_first_of_many_processes_are_named() -> None:
    many = Profile(EVENTS, (), dict.fromkeys(range(9), FACTS))
    lines = render(many, "console").splitlines()
    assert lines[-4:-2] == ["process 3: torch 2.13.0: train.py --lr 0.1", "5 more processes"]


def test_names_of_operators_cannot_break_the_table() -> None:
    lines = render(Profile((operator("a\nb\x1b[31m|c", 0, 1),)), "md").splitlines()
    assert lines[2].startswith(r"| a\\nb\\x1b[31m\|c | 1 |")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"format": "xml"}, "no format `xml`"),
        ({"format": "console", "by": "nam"}, "no grouping `nam`"),
        ({"format": "console", "sort": "totl"}, "no order `totl`"),
    ],
)
def test_what_is_not_known_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        render(PROFILE, **given)
