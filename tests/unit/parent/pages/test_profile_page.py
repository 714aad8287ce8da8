"""The page of a profile as text: whole, escaped and bounded. `tests/browser` has what a browser makes of it."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from datetime import datetime, timezone
from html.parser import HTMLParser
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from tests.each import each

from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Event, Profile, Reading, Stretch
from opperf.parent.pages import profile_page
from opperf.parent.pages.profile_page import flame, tables, timeline
from opperf.parent.pages.profile_page.tables import groupings, outside

#: Nanoseconds since 1970 when the profile of these tests begins.
EPOCH = 1_795_000_000_000_000_000
US = 1000


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
        if tag in ("td", "button") and self.rows:
            self.rows[-1][-1] += data.strip()

    @property
    def data(self) -> dict[str, Any]:
        """The stretches of time that can be chosen, and the frames of the flame graph."""
        result: dict[str, Any] = json.loads(self.text["data"])
        return result

    @property
    def trace(self) -> dict[str, Any]:
        """What the timeline is drawn from, as Perfetto reads it."""
        result: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(self.text["trace"])))
        return result

    @property
    def timeline(self) -> Profile:
        """The profile that the page has."""
        return from_trace(self.trace, "page")

    @property
    def note(self) -> str:
        """What the page says of what it leaves out."""
        return " ".join(self.text["span"].split())

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
    tables = [attributes["id"] for tag, attributes in page.elements if attributes.get("class") == "scroll"]
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

    shown = name.replace("\u2028", "\\u2028")  # a line separator is written out
    odd, usual = page(name), page("a" * len(shown))  # names of one length are cut alike
    assert odd.shape == usual.shape
    assert shown in [row[0] for row in odd.rows]
    assert odd.data["flame"]["names"][-2:] == [shown, shown]
    assert {event.name for event in odd.timeline.events} == {name}


def test_the_page_names_nothing_outside_of_itself() -> None:
    page = Reader(profile_page.render(Profile((step(0, 10), operator(0, 5)))))
    links = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert links == ["data:,"]
    policies = [attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes]
    assert [(policy or "").startswith("default-src 'none';") for policy in policies] == [True]


def test_the_page_has_the_longest_spans_and_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_SPANS", 3)
    events = (step(0, 100), *(operator(10 * place, place + 1, f"op{place}") for place in range(5)))
    page = Reader(profile_page.render(Profile(events)))
    assert sorted(event.duration for event in page.timeline.events) == [4000, 5000, 100_000]
    assert "3 spans of at most 4.00 us are only in the profile file." in page.note


def test_what_spans_are_called_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_SAID", 100)
    events = tuple(operator(10 * place, 9 - place % 7, f"{place % 7}" * 40, module="Net.fc") for place in range(70))
    page = Reader(profile_page.render(Profile(events)))
    assert len(page.timeline.events) == 2
    assert "68 spans" in page.note


def test_the_timeline_of_a_page_is_the_profile_as_it_is_written_without_stacks() -> None:
    event = operator(3, 5, "linear", allocated=64, shapes=((2, 3), ()), module="Net.fc")
    profile = Profile((step(0, 9), replace(event, stack=("a.py(1): f",))), (Reading(EPOCH, 7, "cpu/0", 4096),), {7: {}})
    page = Reader(profile_page.render(profile))
    assert page.timeline == replace(profile, events=(step(0, 9), event))


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
    assert len(options) == len(page.data["windows"]) == 8
    assert page.text["option"].startswith("the whole profile, 19.9 ms\nstep 0, 900 us")
    assert "step 18, 882 us" in page.text["option"]
    assert [place for place, attributes in enumerate(options) if "selected" in attributes] == [4]
    assert page.data["windows"][4] == [9_000_000, 891_000]
    assert "13 steps between these" in page.note


def test_what_came_before_the_first_step_can_be_chosen_by_itself() -> None:
    page = Reader(profile_page.render(Profile((operator(0, 300), step(400, 100), step(500, 90, "another")))))
    options = page.text["option"].splitlines()
    assert options[:4] == ["the whole profile, 590 us", "initialisation, 400 us", "step, 100 us", "another, 90.0 us"]
    assert page.data["windows"][1] == [0, 400 * US]
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


def test_times_of_windows_count_from_the_first_time_of_the_trace() -> None:
    reading = Reading(EPOCH - 5 * US, 7, "cpu/0", 64)
    events = (operator(0, 10, "before"), step(10, 10), operator(40, 1, "after"))
    data = Reader(profile_page.render(Profile(events, (reading,)))).data
    assert data["windows"] == [[5 * US, 41 * US], [5 * US, 10 * US], [15 * US, 10 * US]]


def test_memory_is_there_for_each_device_with_the_extremes_of_many_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_READINGS", 8)
    held = [100, 900, 100, 100, 100, 5, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 3000]
    readings = [Reading(EPOCH + 2 * place, 7, "cpu/0", value) for place, value in enumerate(held)]
    profile = Profile((operator(0, 5),), (Reading(EPOCH + 1, 7, "cuda:0", 64), *readings))
    memory = Reader(profile_page.render(profile)).timeline.readings
    sizes = [reading.size for reading in memory if reading.device == "cpu/0"]
    assert [reading.size for reading in memory if reading.device == "cuda:0"] == [64]
    assert {900, 5, 3000} <= set(sizes)
    assert len(sizes) <= 8


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
        "<module> main.py:1": ("all operators", 22 * US),
        "step model.py:9": ("<module> main.py:1", 22 * US),
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
        "<module> main.py:1": ("all operators", 39 * US),
        "step model.py:9": ("<module> main.py:1", 39 * US),
        "op0": ("step model.py:9", 9 * US),
        "op1": ("step model.py:9", 8 * US),
        "4 others": ("step model.py:9", 22 * US),
    }


def test_without_stacks_there_is_no_flame_graph() -> None:
    page = Reader(profile_page.render(Profile((operator(0, 5),))))
    assert page.data["flame"] == {}
    assert "flame" not in [attributes.get("id") for _, attributes in page.elements]


def bars(profile: Profile) -> dict[str, list[str]]:
    """Return the texts of the bars of each grouping, as they stand on a screen."""
    result: dict[str, list[str]] = {}
    for one in groupings(profile):
        figure = fromstring(str(one["bars"]))
        drawing = next(part for part in figure if "wide" in part.attrib.get("class", ""))
        result[str(one["by"])] = [part.text or "" for part in drawing.iter() if part.tag.endswith("text")]
    return result


def test_operators_with_small_shares_are_told_of_together() -> None:
    events = tuple(operator(100 * place, 50 - place, f"op{place}") for place in range(18))
    texts = bars(Profile(events))["name"]
    assert texts[::2] == [f"op{place}" for place in range(15)]
    assert texts[1] == "6.69 %, 50.0 us"
    page = Reader(profile_page.render(Profile(events)))
    assert page.text["figcaption"].endswith("3 more operators took 13.7 %, 102 us.")


def test_each_grouping_has_bars_of_its_own() -> None:
    events = (operator(0, 30, "mul", module="Net.a"), operator(40, 10, "add", module="Net.b", shapes=((2, 3),)))
    shares = "75.0 %, 30.0 us", "25.0 %, 10.0 us"
    assert bars(Profile(events)) == {
        "name": ["mul", shares[0], "add", shares[1]],
        "shape": ["mul", shares[0], "add", "2x3", shares[1]],
        "module": ["Net.a", shares[0], "Net.b", shares[1]],
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
    assert page.data["windows"] == []
