"""The page of a profile as text: whole, escaped and bounded. `tests/browser` has what a browser makes of it."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from opperf.errors import InputError
from opperf.profile.event import Event, Profile
from opperf.reports import profile_page

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
        found: dict[str, Any] = json.loads(self.text["data"])
        return found

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
    head, *found = page.rows
    assert head == ["operator", "calls", "total", "self", "mean", "p50", "min", "max", "share", "allocated"]
    assert found == [
        ["mul", "1", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "30.0 us", "60.0 %", ""],
        ["add", "2", "20.0 us", "20.0 us", "10.0 us", "10.0 us", "10.0 us", "10.0 us", "40.0 %", "128 B"],
    ]
    keys = [attributes["data-key"] for tag, attributes in page.elements if tag == "td"]
    assert [keys[place] for place in (0, 1, 3, 9, 19)] == ["mul", "1", "3e-05", "", "128"]


def test_a_table_is_there_for_each_grouping_that_says_more() -> None:
    plain = Reader(profile_page.render(Profile((operator(0, 5),))))
    assert plain.text["option"].split() == ["the", "whole", "profile", "name"]
    kernel = Event("gemm", "kernel", EPOCH, 5, 7, "gpu")
    full = Profile((operator(0, 5, shapes=((2, 3), ())), operator(5, 5, module="Net.fc"), kernel))
    page = Reader(profile_page.render(full))
    tables = [attributes["id"] for tag, attributes in page.elements if attributes.get("class") == "wide"]
    assert tables == ["by-name", "by-shape", "by-module", "by-kernel"]
    assert [row[0] for row in page.rows if row[0] in ("operator", "module", "kernel")] == [
        *("operator", "operator", "module", "kernel")
    ]
    assert [row[0] for row in page.rows if "2x3 -" in row] == ["add"]


@pytest.mark.parametrize(
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
            operator(0, 5, word, module=word, shapes=((2,),)),
            Event(word, "step", EPOCH, 9000, 7, word),
            Event(word, "kernel", EPOCH, 9000, 8, word),
        )
        return Reader(profile_page.render(Profile(events, (), {7: facts}, (word,))))

    odd, usual = page(name), page("add")
    assert odd.shape == usual.shape
    shown = name.replace("\u2028", "\\u2028")  # a line separator is written out
    assert shown in [row[0] for row in odd.rows]
    assert odd.data["shares"]["names"] == [shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")]


def test_the_page_names_nothing_outside_of_itself() -> None:
    page = Reader(profile_page.render(Profile((step(0, 10), operator(0, 5)))))
    links = [value for _, attributes in page.elements for name, value in attributes.items() if name in ("src", "href")]
    assert links == ["data:,"]
    policies = [attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes]
    assert [(policy or "").startswith("default-src 'none';") for policy in policies] == [True]


def test_only_the_longest_spans_are_drawn_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_page, "MOST_SPANS", 3)
    events = (step(0, 100), *(operator(10 * place, place + 1) for place in range(5)))
    (only,) = Reader(profile_page.render(Profile(events))).data["steps"]
    assert sorted(length for bars in only["spans"].values() for length in bars["length"]) == [4e-6, 5e-6, 1e-4]
    assert only["said"] == "3 spans of at most 4.00 us are not drawn."


def test_rows_that_took_least_are_left_out_of_a_long_table_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profile_page, "MOST_ROWS", 2)
    events = tuple(operator(10 * place, place + 1, f"op{place}") for place in range(5))
    page = Reader(profile_page.render(Profile(events)))
    assert [row[0] for row in page.rows] == ["operator", "op4", "op3"]
    assert "3 rows by name that took less are left out." in page.text["p"]


def test_steps_to_choose_from_are_spread_over_all_and_the_middling_one_is_shown() -> None:
    events = tuple(step(1000 * place, 900 - place, f"step {place}") for place in range(20))
    page = Reader(profile_page.render(Profile(events)))
    options = [attributes for tag, attributes in page.elements if tag == "option" and "value" in attributes]
    assert len(options) == len(page.data["steps"]) == 7
    assert page.text["option"].split(", ")[0] == "step 0"
    assert "step 18, 882 us" in page.text["option"]
    assert [place for place, attributes in enumerate(options) if "selected" in attributes] == [3]
    assert "13 steps between these" in page.text["span"]


def test_a_step_has_what_ran_within_it_in_any_process_and_nothing_else() -> None:
    other = Event("mul", "operator", EPOCH + 12 * US, US, 8, "main")
    events = (operator(0, 10, "before"), step(10, 10), operator(15, 20, "longer"), other, operator(40, 1, "after"))
    (only,) = Reader(profile_page.render(Profile(events))).data["steps"]
    assert {kind: bars["name"] for kind, bars in only["spans"].items()} == {
        "step": ["step"],
        "operator": ["mul", "longer"],
    }
    assert only["spans"]["operator"]["begin"] == [2e-6, 5e-6]
    assert (only["length"], only["threads"]) == (1e-5, ["main of 7", "main (2) of 7", "main of 8"])


def test_spans_lie_on_lines_by_thread_and_depth() -> None:
    kernel = Event("gemm", "kernel", EPOCH + 3 * US, 9 * US, 7, "stream 7")
    events = (step(0, 20), operator(1, 10, "linear"), operator(2, 4, "addmm"), kernel, operator(12, 4, "relu"))
    (only,) = Reader(profile_page.render(Profile(events))).data["steps"]
    lines = {
        name: line for bars in only["spans"].values() for name, line in zip(bars["name"], bars["line"], strict=True)
    }
    assert lines == {"step": 0, "linear": 1, "addmm": 2, "relu": 1, "gemm": 3}
    assert (only["height"], only["tops"], only["threads"]) == (4, [0, 3], ["main", "stream 7"])


def test_operators_with_small_shares_are_told_of_together() -> None:
    events = tuple(operator(100 * place, 50 - place, f"op{place}") for place in range(18))
    page = Reader(profile_page.render(Profile(events)))
    shares = page.data["shares"]["shares"]
    assert page.data["shares"]["names"] == [f"op{place}" for place in range(15)]
    assert all(one > other for one, other in pairwise(shares))
    assert sum(shares) == pytest.approx(1 - 102 / 747)
    assert page.data["shares"]["said"][0] == "6.69 %, 50.0 us"
    assert "3 more operators took 13.7 %, 102 us." in page.text["p"]


def test_a_profile_without_anything_is_a_page_that_says_so() -> None:
    page = Reader(profile_page.render(Profile()))
    assert {"No operator was seen.", "No span was seen."} <= {line.strip() for line in page.text["p"].splitlines()}
    assert page.data["steps"] == []


def test_without_plotly_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_page, "_plotly", PLOTLY)
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(InputError, match=r'pip install "opperf\[html\]"') as caught:
        profile_page.render(Profile())
    assert caught.value.slug == "no_package"
