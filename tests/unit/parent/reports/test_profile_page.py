"""The page of a profile as text: whole, escaped and bounded. `tests/browser` has what a browser makes of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import datetime, timezone
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Event, Profile, Reading, Stretch
from opperf.parent.reports import profile_page
from opperf.parent.reports.profile_page import flame, tables, timeline
from opperf.parent.reports.profile_page.tables import outside

#: Nanoseconds since 1970 when the profile of these tests begins.
EPOCH = 1_795_000_000_000_000_000
US = 1000
PLOTLY = profile_page._plotly


class Reader(HTMLParser):
    """Reads a page as a browser does: its elements with their attributes, the cells of its tables, its data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.text: dict[str, str] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element."""
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        """Take a text."""
        tag, attributes = self.elements[-1] if self.elements else ("", {})
        place = attributes.get("id") or tag
        self.text[place] = self.text.get(place, "") + data
        if tag in ("td", "button"):
            self.rows[-1][-1] += data.strip()

    @property
    def data(self) -> dict[str, Any]:
        """What the charts are drawn from."""
        result: dict[str, Any] = json.loads(self.text["data"])
        return result

    @property
    def shape(self) -> list[tuple[str, list[str]]]:
        """Every element with the names of its attributes."""
        return [(tag, list(attributes)) for tag, attributes in self.elements]


def operator(begin: int, duration: int, name: str = "add", **more: Any) -> Event:
    """Return a call of an operator; microseconds."""
    return Event(name, "operator", EPOCH + begin * US, duration * US, 7, "main", **more)


def step(begin: int, duration: int, name: str = "step") -> Event:
    """Return a step; microseconds."""
    return Event(name, "step", EPOCH + begin * US, duration * US, 7, "main")


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without the megabytes of plotly's script."""
    monkeypatch.setattr(profile_page, "_plotly", lambda: "")


def test_the_table_has_a_row_for_each_operator_and_empty_cells_for_what_is_not_known() -> None:
    events = (operator(0, 10, "add", allocated=64), operator(10, 30, "mul"), operator(40, 10, "add", allocated=64))
    page = Reader(profile_page.render(Profile(events)))
    head, *result = page.rows
    assert head == ["operator", "calls", "total", "self", "mean", "p50", "min", "max", "share", "allocated"]
    assert result == [
        ["mul", "1", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "60.0 %", ""],
        ["add", "2", "20.0 us", "20.0 us", "10.0 us", "10.0 us", "10.0 us", "10.0 us", "40.0 %", "128 B"],
    ]
    keys = [attributes["data-key"] for tag, attributes in page.elements if tag == "td"]
    assert [keys[place] for place in (0, 1, 3, 9, 19)] == ["mul", "1", "3e-05", "", "128"]


def test_a_table_is_there_for_each_grouping_that_says_more() -> None:
    plain = Reader(profile_page.render(Profile((operator(0, 5),))))
    assert plain.text["option"].split() == ["the", "whole", "profile,", "5.00", "us", "name"]
    kernel = Event("gemm", "kernel", EPOCH, 5, 7, "gpu")
    full = Profile((operator(0, 5, shapes=((2, 3), ())), operator(5, 5, module="Net.fc"), kernel))
    page = Reader(profile_page.render(full))
    tables = [attributes["id"] for tag, attributes in page.elements if attributes.get("class") == "wide"]
    assert tables == ["by-name", "by-shape", "by-module", "by-kernel"]
    assert [row[0] for row in page.rows if row[0] in ("operator", "module", "kernel")] == [
        *("operator", "operator", "module", "kernel")
    ]
    assert [row[0] for row in page.rows if "2x3 -" in row] == ["add"]


def test_seconds_of_a_process_are_told_with_their_unit() -> None:
    text = profile_page.render(Profile((operator(0, 5),), (), {7: {"framework": "torch", "waited": 0.0251}}))
    assert "25.1 ms" in text
    assert "0.0251" not in text


@each(
    "name",
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)',
        "' onmouseover='alert(1)",
        "<!--",
        "</title></style></textarea>",
        "{{ 7 * 7 }}",
        "\u2028&lt;b&gt;",
    ],
)
def test_a_name_is_a_text_wherever_it_stands(name: str) -> None:
    def page(word: str) -> Reader:
        facts = {"framework": word, "version": word, "command": [word], "note": word}
        events = (
            operator(0, 5, word, module=word, shapes=((2,),), stack=(word, f"{word}(1): {word}")),
            Event(word, "step", EPOCH, 9000, 7, word),
            Event(word, "kernel", EPOCH, 9000, 8, word),
        )
        return Reader(profile_page.render(Profile(events, (Reading(EPOCH, 7, word, 1),), {7: facts}, (word,))))

    odd, usual = page(name), page("add")
    assert odd.shape == usual.shape
    shown = name.replace("\u2028", "\\u2028")  # a line separator is written out
    assert shown in [row[0] for row in odd.rows]
    marked = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert odd.data["shares"]["name"]["names"] == [marked]
    assert odd.data["flame"]["names"][-2:] == [marked, marked]
    assert odd.data["time"]["memory"][0]["name"] == f"{marked} held by 7"
    texts = json.dumps(odd.data).replace("<br>", "")
    assert "<" not in texts


def test_the_page_names_nothing_outside_of_itself() -> None:
    page = Reader(profile_page.render(Profile((step(0, 10), operator(0, 5)))))
    links = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert links == ["data:,"]
    policies = [attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes]
    assert [(policy or "").startswith("default-src 'none';") for policy in policies] == [True]


def spans(data: dict[str, Any]) -> dict[str, tuple[str, int, int, int]]:
    """Return the kind, line, begin and length in nanoseconds of the spans of the page, each by its name."""
    time, result, begin = data["time"], {}, 0
    for place, after in enumerate(time["begin"]):
        begin += after
        name, kind, _ = time["whats"][time["what"][place]]
        result[name] = time["kinds"][kind], time["line"][place], begin, time["length"][place]
    return result


def test_the_page_has_the_longest_spans_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_SPANS", 3)
    events = (step(0, 100), *(operator(10 * place, place + 1, f"op{place}") for place in range(5)))
    time = Reader(profile_page.render(Profile(events))).data["time"]
    assert sorted(time["length"]) == [4000, 5000, 100_000]
    assert time["said"] == "3 spans of at most 4.00 us are only in the profile file."


def test_what_spans_say_is_bounded_by_the_characters_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_SAID", 100)
    events = tuple(operator(10 * place, 9 - place % 7, f"{place % 7}" * 50) for place in range(70))
    time = Reader(profile_page.render(Profile(events))).data["time"]
    assert (len(time["whats"]), len(time["begin"])) == (1, 10)
    assert time["said"].startswith("60 spans")


def test_calls_that_say_the_same_say_it_once() -> None:
    events = tuple(operator(10 * place, 5, allocated=place, shapes=((2, 3),), module="Net.fc") for place in range(9))
    time = Reader(profile_page.render(Profile(events))).data["time"]
    assert time["whats"] == [["add", 0, "operator<br>Net.fc<br>2x3"]]
    assert (time["allocated"], time["device"]) == (list(range(9)), [])


def test_rows_that_took_least_are_left_out_of_a_long_table_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", 2)
    events = tuple(operator(10 * place, place + 1, f"op{place}") for place in range(5))
    page = Reader(profile_page.render(Profile(events)))
    assert [row[0] for row in page.rows] == ["operator", "op4", "op3"]
    assert "3 rows by name that took less are not shown." in page.text["p"]


def test_steps_to_choose_from_are_spread_over_all_and_the_middling_one_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timeline, "MOST_STEPS", 8)
    events = tuple(step(1000 * place, 900 - place, f"step {place}") for place in range(20))
    page = Reader(profile_page.render(Profile(events)))
    options = [attributes for tag, attributes in page.elements if tag == "option" and "value" in attributes]
    assert len(options) == len(page.data["time"]["windows"]) == 8
    assert page.text["option"].startswith("the whole profile, 19.9 ms\nstep 0, 900 us")
    assert "step 18, 882 us" in page.text["option"]
    assert [place for place, attributes in enumerate(options) if "selected" in attributes] == [4]
    assert page.data["time"]["windows"][4] == [9_000_000, 891_000]
    assert "13 steps between these" in page.text["span"]


def test_what_came_before_the_first_step_can_be_chosen_by_itself() -> None:
    page = Reader(profile_page.render(Profile((operator(0, 300), step(400, 100), step(500, 90, "another")))))
    options = page.text["option"].splitlines()
    assert options[:4] == ["the whole profile, 590 us", "initialisation, 400 us", "step, 100 us", "another, 90.0 us"]
    assert page.data["time"]["windows"][1] == [0, 400 * US]
    chosen = [attributes["value"] for _, attributes in page.elements if "selected" in attributes]
    assert chosen == ["2"]


def test_steps_that_the_program_does_not_mark_can_be_chosen_too() -> None:
    loop = [Event("Net", "module", EPOCH + begin * US, 20 * US, 7, "main") for begin in (50, 80, 110)]
    page = Reader(profile_page.render(Profile((operator(0, 40), *loop))))
    assert page.text["option"].splitlines()[:5] == [
        "the whole profile, 130 us",
        "initialisation, 50.0 us",
        "step 0, 30.0 us",
        "step 1, 30.0 us",
        "step 2, 20.0 us",
    ]


def test_spans_of_several_processes_stand_on_threads_of_their_own() -> None:
    other = Event("mul", "operator", EPOCH + 12 * US, US, 8, "main")
    events = (operator(0, 10, "before"), step(10, 10), operator(15, 20, "longer"), other, operator(40, 1, "after"))
    data = Reader(profile_page.render(Profile(events))).data
    assert spans(data)["mul"] == ("operator", 2, 12 * US, US)
    assert data["time"]["threads"] == ["main of 7", "main (2) of 7", "main of 8"]
    assert data["time"]["windows"] == [[0, 41 * US], [0, 10 * US], [10 * US, 10 * US]]


def test_what_ran_backward_is_paired_with_the_innermost_call_that_began_where_it_says() -> None:
    events = (
        operator(0, 9, "linear"),
        operator(0, 5, "addmm"),
        operator(20, 5, "AddmmBackward0", backward=True, forward=EPOCH),
        operator(30, 5, "of another process", backward=True, forward=EPOCH + 8 * US),
        Event("mul", "operator", EPOCH + 8 * US, US, 8, "main"),
    )
    time = Reader(profile_page.render(Profile(events))).data["time"]
    assert [[time["whats"][time["what"][place]][0] for place in pair] for pair in time["flow"]] == [
        ["addmm", "AddmmBackward0"]
    ]


def test_spans_lie_on_lines_by_thread_and_depth() -> None:
    kernel = Event("gemm", "kernel", EPOCH + 3 * US, 9 * US, 7, "stream 7")
    events = (step(0, 20), operator(1, 10, "linear"), operator(2, 4, "addmm"), kernel, operator(12, 4, "relu"))
    data = Reader(profile_page.render(Profile(events))).data
    lines = {name: line for name, (_, line, _, _) in spans(data).items()}
    assert lines == {"step": 0, "linear": 1, "addmm": 2, "relu": 1, "gemm": 3}
    assert (data["time"]["tops"], data["time"]["threads"]) == ([0, 3, 4], ["main", "stream 7"])


def test_memory_is_there_for_each_device_with_the_extremes_of_many_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_READINGS", 8)
    held = [100, 900, 100, 100, 100, 5, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 3000]
    readings = [Reading(EPOCH + 2 * place, 7, "cpu/0", value) for place, value in enumerate(held)]
    profile = Profile((operator(0, 5),), (Reading(EPOCH + 1, 7, "cuda:0", 64), *readings))
    memory = {one["name"]: one for one in Reader(profile_page.render(profile)).data["time"]["memory"]}
    assert memory["cuda:0 held"] == {"name": "cuda:0 held", "time": [1, 4999], "held": [64, 64]}
    assert {900, 5, 3000} <= set(memory["cpu/0 held"]["held"])
    assert len(memory["cpu/0 held"]["held"]) == len(memory["cpu/0 held"]["time"]) <= 9
    assert sum(memory["cpu/0 held"]["time"]) == 5000


#: Lines of Python, innermost first.
OUTER = ("model.py(9): step", "main.py(1): <module>")
INNER = ("torch/nn/linear.py(130): forward", *OUTER)


def frames(events: tuple[Event, ...]) -> dict[str, tuple[str | None, int]]:
    """Return the frames of the page: the one around each, and how long it took."""
    drawn = Reader(profile_page.render(Profile(events))).data["flame"]
    names = drawn["names"]
    return {
        name: (None if outer < 0 else names[outer], took)
        for name, outer, took in zip(names, drawn["outer"], drawn["took"], strict=True)
    }


def test_a_line_of_python_is_as_wide_as_the_operators_that_it_called() -> None:
    events = (
        operator(0, 10, "linear", stack=INNER),
        operator(2, 6, "addmm", stack=INNER),
        operator(20, 5, "add", stack=OUTER),
        operator(30, 7, "mm", stack=INNER, backward=True),
        operator(40, 1, "rand"),
    )
    assert frames(events) == {
        "all operators": (None, 23 * US),
        "&lt;module&gt; main.py:1": ("all operators", 22 * US),
        "step model.py:9": ("&lt;module&gt; main.py:1", 22 * US),
        "forward linear.py:130": ("step model.py:9", 17 * US),
        "mm, backward": ("forward linear.py:130", 7 * US),
        "addmm": ("forward linear.py:130", 6 * US),
        "add": ("step model.py:9", 5 * US),
        "linear": ("forward linear.py:130", 4 * US),
        "(no stack)": ("all operators", 1 * US),
        "rand": ("(no stack)", 1 * US),
    }


def test_lines_that_took_least_are_joined_where_they_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flame, "MOST_FRAMES", 5)
    events = tuple(operator(10 * place, 9 - place, f"op{place}", stack=OUTER) for place in range(6))
    assert frames(events) == {
        "all operators": (None, 39 * US),
        "&lt;module&gt; main.py:1": ("all operators", 39 * US),
        "step model.py:9": ("&lt;module&gt; main.py:1", 39 * US),
        "op0": ("step model.py:9", 9 * US),
        "op1": ("step model.py:9", 8 * US),
        "4 others": ("step model.py:9", 22 * US),
    }


def test_without_stacks_there_is_no_flame_graph() -> None:
    page = Reader(profile_page.render(Profile((operator(0, 5),))))
    assert page.data["flame"] == {}
    assert "flame" not in [attributes.get("id") for _, attributes in page.elements]


def test_operators_with_small_shares_are_told_of_together() -> None:
    events = tuple(operator(100 * place, 50 - place, f"op{place}") for place in range(18))
    page = Reader(profile_page.render(Profile(events)))
    shares = page.data["shares"]["name"]["shares"]
    assert page.data["shares"]["name"]["names"] == [f"op{place}" for place in range(15)]
    assert all(one > other for one, other in pairwise(shares))
    assert sum(shares) == pytest.approx(1 - 102 / 747)
    assert page.data["shares"]["name"]["said"][0] == "6.69 %, 50.0 us"
    assert page.data["shares"]["name"]["others"] == "3 more operators took 13.7 %, 102 us."


def test_each_grouping_has_bars_of_its_own() -> None:
    events = (operator(0, 30, "mul", module="Net.a"), operator(40, 10, "add", module="Net.b", shapes=((2, 3),)))
    bars = Reader(profile_page.render(Profile(events))).data["shares"]
    assert {by: bars[by]["names"] for by in bars} == {
        "name": ["mul", "add"],
        "shape": ["mul", "add 2x3"],
        "module": ["Net.a", "Net.b"],
    }


def test_the_page_says_where_the_time_outside_of_operators_went() -> None:
    events = (
        step(0, 100),
        replace(operator(0, 60, "Net.a"), kind="module"),
        operator(10, 20),
        operator(25, 15),
        replace(operator(110, 10, "copy"), kind="task"),
        operator(190, 10),
    )
    (sentence,) = outside(Profile(events))
    assert sentence == (
        "operators ran in 40.0 us of 200 us (20.0 %); the rest: 10.0 us (5.00 %) in work of the framework's own, "
        "30.0 us (15.0 %) in modules, between their operators, 40.0 us (20.0 %) in steps, outside of modules, "
        "80.0 us (40.0 %) in not recorded: Python, other libraries, waiting."
    )
    assert sentence.partition("; the rest")[0] in Reader(profile_page.render(Profile(events))).text["li"]


def test_gaps_between_the_times_that_were_watched_are_no_part_of_any_share() -> None:
    events = (step(0, 100), operator(0, 50), step(5000, 100), operator(5000, 50))
    times = ((0, 100), (5000, 5100))
    stretches = tuple(Stretch(EPOCH + begin * US, EPOCH + end * US, events[0].process) for begin, end in times)
    (sentence,) = outside(Profile(events, stretches=stretches))
    assert sentence == (
        "operators ran in 100 us of 200 us (50.0 %); the rest: 100 us (50.0 %) in steps, outside of modules."
    )


def test_the_page_says_when_a_process_began_and_how_fast_its_machine_is() -> None:
    facts = {"framework": "torch", "machine": "EPYC, 2 cores", "threads": 2, "peak_flop_rate": 1.06e11}
    text = Reader(profile_page.render(Profile((operator(0, 5),), (), {7: facts}))).text["dd"]
    assert "EPYC, 2 cores" in text
    assert "106 GFLOP/s" in text
    assert f"{datetime.fromtimestamp(EPOCH / 1e9, timezone.utc):%Y-%m-%d %H:%M:%S} UTC" in text


def test_a_profile_without_anything_is_a_page_that_says_so() -> None:
    page = Reader(profile_page.render(Profile()))
    assert {"No operator was seen.", "No span was seen."} <= {line.strip() for line in page.text["p"].splitlines()}
    assert page.data["time"]["windows"] == []


def test_without_plotly_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_page, "_plotly", PLOTLY)
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(InputError, match="`pip install plotly`") as caught:
        profile_page.render(Profile())
    assert caught.value.slug == "no_package"
