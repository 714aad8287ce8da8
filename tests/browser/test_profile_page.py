"""The page of a profile in a real browser: quiet, whole without a network, and what its controls do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from tests.browser.conftest import new_page

from opperf.domain.profile.event import Event, Profile, Reading
from opperf.parent.reports.profile_page import render

#: Nanoseconds since 1970 when the profile of these tests begins.
EPOCH = 1_795_000_000_000_000_000
US = 1000
ODD = "</script><img src=x onerror=alert(1)>"


def profile() -> Profile:
    """Return three steps of a small network, with kernels on a stream, one operator of an odd name, and its memory."""
    steps = (step("step 0", 0, 1000), step("step 1", 1200, 400), step("step 2", 1700, 400))
    facts = {"framework": "torch", "version": "2.13.0", "command": ["train.py", "--epochs", "2"]}
    notes = ("no memory by device: it was not asked for",)
    readings = tuple(Reading(EPOCH + place * 50 * US, 7, "cpu/0", 4096 * (place % 5)) for place in range(40))
    return Profile(tuple(event for events in steps for event in events), readings, {7: facts}, notes)


def step(name: str, begin: int, length: int) -> list[Event]:
    """Return the spans of a step; microseconds."""

    def span(name: str, kind: str, after: int, took: int, thread: str = "main", **more: Any) -> Event:
        return Event(name, kind, EPOCH + (begin + after) * US, took * US, 7, thread, **more)

    half = length // 2
    stack = ("conv.py(9): forward", "train.py(3): <module>")
    image: dict[str, Any] = {"shapes": ((8, 1, 28, 28),), "module": "Net.conv", "stack": stack}
    return [
        span(name, "step", 0, length),
        span("Net.conv", "module", 10, half),
        span("conv2d", "operator", 20, length // 3, allocated=4096, **image),
        span("mkldnn_convolution", "operator", 30, length // 4, **image),
        span("relu", "operator", half + 20, length // 10, shapes=((8, 20, 24, 24),)),
        span(ODD, "operator", half + 20 + length // 10, 10, forward=EPOCH + (begin + 30) * US),
        span("gemm_kernel", "kernel", 60, length // 4, "stream 7"),
    ]


@dataclass
class Opened:
    """The page in a browser, and what that complained of or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def cells(self, place: int) -> list[str]:
        """Return one column of the table that is shown, from its rows that are shown."""
        return self.page.locator(f".wide:visible tbody tr:visible td:nth-child({place + 1})").all_inner_texts()

    def sort(self, title: str) -> None:
        """Press the head of a column."""
        self.page.locator(".wide:visible").get_by_role("button", name=title, exact=True).click()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, as a file."""
    path = tmp_path_factory.mktemp("page") / "profile.html"
    path.write_text(render(profile()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Opened]:
    """One window for every test: another one would read the script of the charts anew, which takes seconds."""
    page = new_page(browser)
    seen = Opened(page)

    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.complaints.append(message.text)

    page.on("console", said)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    yield seen
    page.close()


@pytest.fixture
def opened(window: Opened, file: Path) -> Opened:
    """The page, as it is before anything is pressed."""
    window.complaints.clear()
    window.requests.clear()
    window.page.set_viewport_size({"width": 1280, "height": 900})
    window.page.goto(file.as_uri())
    window.page.wait_for_selector("#timeline .bars .point")
    return window


def test_nothing_is_asked_of_a_network_and_nothing_goes_wrong(opened: Opened, file: Path) -> None:
    opened.page.locator("#step").select_option("0")
    opened.page.emulate_media(color_scheme="dark")
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


def test_no_button_of_a_chart_sends_it_to_anybody(opened: Opened) -> None:
    buttons = opened.page.locator("#timeline .modebar-btn").evaluate_all("all => all.map(one => one.dataset.title)")
    assert buttons == ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Show all of it"]
    assert opened.page.locator("#shares .modebar-btn").count() == 0


def test_the_charts_have_a_bar_for_each_operator_and_each_span(opened: Opened) -> None:
    assert opened.page.locator("#shares .bars .point").count() == 4
    assert opened.page.locator("#timeline .bars .point").count() == 7
    assert opened.page.locator("#timeline .legendtext").all_text_contents() == [
        *("operator", "kernel", "module", "step", "cpu/0 held")
    ]
    assert opened.page.locator("#timeline .ytick text").all_text_contents() == ["main", "stream 7"]


def test_another_step_can_be_chosen(opened: Opened) -> None:
    drawn = opened.page.locator("#timeline .bars")
    assert opened.page.locator("#step option:checked").text_content() == "step 2, 400 us"
    assert "step 2" in "".join(drawn.all_text_contents())
    opened.page.locator("#step").select_option("step 0, 1.00 ms")
    assert "step 0" in "".join(drawn.all_text_contents())


def test_memory_over_time_has_the_axis_of_the_spans(opened: Opened) -> None:
    drawn = opened.page.locator("#timeline .scatterlayer .trace")
    assert drawn.count() == 1
    assert opened.page.locator("#timeline .y2tick text").all_text_contents()[0] == "0B"
    held = "JSON.stringify(document.getElementById('timeline').data.filter(one => one.type === 'scatter'))"
    (memory,) = json.loads(opened.page.evaluate(held))
    # Step 2 lasts from 1700 to 2100 us; what was held before is held at its beginning, and until its end.
    assert (memory["x"][0], memory["x"][-1]) == (0, 400e-6)
    assert memory["y"] == [4096 * (place % 5) for place in [*range(34, 40), 39, 39]]


def test_a_line_leads_from_an_operator_to_where_it_ran_backward(opened: Opened) -> None:
    lines = opened.page.locator("#timeline .shapelayer path")
    assert lines.count() == 0
    opened.page.locator("#timeline .bars .point", has_text="mkldnn").hover(force=True)
    expect(lines).to_have_count(3)  # a frame around either, and what leads from one to the other
    shapes = opened.page.evaluate("document.getElementById('timeline').layout.shapes")
    assert [round(1e6 * shapes[2][key]) for key in ("x0", "x1")] == [130, 260]
    opened.page.locator("h1").hover()
    expect(lines).to_have_count(0)
    opened.page.locator("#timeline .bars .point", has_text="mkldnn").click(force=True)
    expect(lines).to_have_count(3)
    begin, end = opened.page.evaluate("document.getElementById('timeline').layout.xaxis.range")
    assert 20e-6 < begin < 30e-6
    assert 270e-6 < end < 280e-6


def test_a_line_of_python_is_enlarged_when_it_is_pressed(opened: Opened) -> None:
    frames = opened.page.locator("#flame .slice")
    told = [text for text in frames.all_text_contents() if text]
    assert told[:3] == ["all operators", "<module> train.py:3", "(no stack)"]
    whole = opened.page.locator("#flame .slice", has_text="conv.py:9").bounding_box()
    opened.page.locator("#flame .slice", has_text="conv.py:9").click()
    opened.page.wait_for_timeout(1500)  # as long as the chart moves
    near = opened.page.locator("#flame .slice:not(.pathbar)", has_text="conv.py:9").bounding_box()
    assert whole is not None
    assert near is not None
    assert near["width"] > 1.02 * whole["width"]


def test_the_table_is_sorted_by_a_column_and_back_with_what_is_not_known_last(opened: Opened) -> None:
    assert opened.cells(0) == ["mkldnn_convolution", "relu", "conv2d", ODD]
    opened.sort("operator")
    assert opened.cells(0) == [ODD, "conv2d", "mkldnn_convolution", "relu"]
    opened.sort("operator")
    assert opened.cells(0) == ["relu", "mkldnn_convolution", "conv2d", ODD]
    titles = opened.page.locator(".wide:visible th").all_inner_texts()
    for _ in range(2):
        opened.sort("allocated")
        assert opened.cells(titles.index("allocated")) == ["12.3 kB", "", "", ""]
    opened.sort("total")
    assert opened.cells(0)[:2] == ["conv2d", "mkldnn_convolution"]
    assert opened.page.locator(".wide:visible th[aria-sort]").all_inner_texts() == ["total"]


def test_the_table_is_searched_as_one_types(opened: Opened) -> None:
    search = opened.page.get_by_label("Search")
    search.fill("CONV net")
    assert opened.cells(0) == ["mkldnn_convolution", "conv2d"]
    assert opened.page.locator("#count").inner_text() == "2 of 4 rows"
    search.fill("")
    assert opened.page.locator("#count").inner_text() == "4 of 4 rows"


def test_rows_stand_for_what_is_chosen(opened: Opened) -> None:
    by = opened.page.get_by_label("Group by")
    assert by.locator("option").all_inner_texts() == ["name", "shape", "module", "stack", "kernel"]
    assert opened.page.locator("#shares .bars .point").count() == 4
    by.select_option("kernel")
    assert opened.cells(0) == ["gemm_kernel"]
    assert opened.page.locator("#shares .bars .point").count() == 1
    by.select_option("module")
    assert opened.cells(0) == ["Net.conv", "(no module)"]


def test_the_controls_can_be_reached_and_used_by_keys_alone(opened: Opened) -> None:
    opened.page.get_by_label("Search").focus()
    opened.page.keyboard.press("Tab")  # the table itself, which arrows move
    opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("Enter")
    assert opened.cells(0) == [ODD, "conv2d", "mkldnn_convolution", "relu"]


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
def test_the_page_follows_the_colours_of_the_system(
    opened: Opened, scheme: Literal["light", "dark"], paper: str
) -> None:
    opened.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    opened.page.emulate_media(color_scheme=scheme)
    expect(opened.page.locator("body")).to_have_css("background-color", paper)
    expect(opened.page.locator("#timeline .main-svg").first).to_have_css("background-color", paper)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_its_window(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.page.reload()
    opened.page.wait_for_selector("#timeline .bars .point")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


#: Spans of a page in which most are too short to be drawn at first.
SHORT = 3000


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 2,000 long spans, and behind them many short ones within a tenth of the time."""

    def span(name: str, begin: int, length: int) -> Event:
        return Event(name, "operator", EPOCH + begin, length, 7, "main")

    longs = [span("long", place * 100_000, 90_000) for place in range(2000)]
    shorts = [span("short", 200_000_000 + place * 6000, 500) for place in range(SHORT)]
    path = tmp_path_factory.mktemp("page") / "crowded.html"
    path.write_text(render(Profile((*longs, *shorts))), encoding="utf-8")
    return path


def drag(page: Page, begin: float, end: float) -> None:
    """Enlarge a part of the chart, from one share of its width to another."""
    chart = page.locator("#timeline .nsewdrag").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + begin * box["width"], box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + (begin + end) / 2 * box["width"], box["y"] + 10)
    page.mouse.move(box["x"] + end * box["width"], box["y"] + 10)
    page.mouse.up()


def test_short_spans_are_drawn_once_one_comes_close_and_a_double_click_goes_back(window: Opened, crowded: Path) -> None:
    page = window.page
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(crowded.as_uri())
    page.wait_for_selector("#timeline .bars .point")
    points, said = page.locator("#timeline .bars .point"), page.locator("#not-drawn")
    shown = "new Set(document.getElementById('timeline').data.flatMap(one => one.text))"
    assert points.count() == 2000
    assert said.inner_text() == f"{SHORT} spans of at most 500 ns are not drawn: enlarge to see them."
    assert page.evaluate(f"[...{shown}]") == ["long"]
    drag(page, 0.94, 0.98)
    expect(said).to_have_text("")
    assert page.evaluate(f"{shown}.has('short')")
    assert 1000 < points.count() <= 2000
    assert said.inner_text() == ""
    page.locator("#timeline .nsewdrag").first.dblclick()
    expect(points).to_have_count(2000)
    assert page.evaluate(f"[...{shown}]") == ["long"]


@pytest.fixture(scope="module")
def vast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of more spans than it may hold, each of a name of its own, with as much memory and many stacks."""

    def span(place: int) -> Event:
        kind = "task" if place % 10 else "operator"
        stack = tuple(f"module_{place // 10}.py({line}): function" for line in range(20))
        begin = EPOCH + 1000 * place
        return Event(f"span {place}", kind, begin, 700 + place % 256, 7, "main", stack=stack, allocated=4096)

    events = tuple(span(place) for place in range(210_000))
    readings = tuple(Reading(event.begin, 7, "cpu/0", 10**9 + event.begin % 977) for event in events)
    path = tmp_path_factory.mktemp("page") / "vast.html"
    path.write_text(render(Profile(events, readings)), encoding="utf-8")
    return path


def test_a_vast_profile_is_a_page_of_bounded_size_that_answers_at_once(window: Opened, vast: Path) -> None:
    assert vast.stat().st_size <= 20e6
    page = window.page
    page.goto(vast.as_uri())
    page.wait_for_selector("#timeline .bars .point", state="attached")
    assert page.evaluate("time.begin.length") > 150_000
    for stretch in ("", "[0.05, 0.1]", "[0.05, 0.05001]"):
        draw = f"(() => {{ const at = Date.now(); drawTime({stretch}); return Date.now() - at; }})()"
        # What looks at each span for each pixel takes minutes; others on the machine take time as well.
        assert min(page.evaluate(draw) for _ in range(3)) < 20_000
    assert page.locator("#timeline .bars .point").count() == 10


def test_a_long_stretch_in_which_nothing_ran_is_narrow_and_says_how_long_it_was(opened: Opened, tmp_path: Path) -> None:
    events = (
        Event("mul", "operator", EPOCH, 1000 * US, 7, "main"),
        Event("add", "operator", EPOCH + 9000 * US, 1000 * US, 7, "main"),
    )
    path = tmp_path / "idle.html"
    path.write_text(render(Profile(events)), encoding="utf-8")
    opened.page.goto(path.as_uri())
    opened.page.wait_for_selector("#timeline .bars .point")
    assert opened.complaints == []
    assert opened.page.locator("#timeline .annotation-text").all_text_contents() == ["8.00 ms empty"]
    bars = json.loads(opened.page.evaluate("JSON.stringify(document.getElementById('timeline').data)"))
    (begins,) = (bar["base"] for bar in bars if bar["type"] == "bar" and bar["base"])
    # 8 of 10 ms are drawn as a fiftieth of them.
    assert [round(1e6 * begin) for begin in begins] == [0, 1200]
    ticks = opened.page.locator("#timeline .xtick text").all_text_contents()
    assert "10.0 ms" in ticks
    assert "5.00 ms" not in ticks


def test_a_part_of_a_narrowed_timeline_can_be_enlarged(opened: Opened, tmp_path: Path) -> None:
    events = tuple(Event("mul", "operator", EPOCH + begin * US, 1000 * US, 7, "main") for begin in (0, 9000))
    path = tmp_path / "idle.html"
    path.write_text(render(Profile(events)), encoding="utf-8")
    opened.page.goto(path.as_uri())
    opened.page.wait_for_selector("#timeline .bars .point")
    back = "[axisOf('0').back(axisOf('0').at(EPOCH)), axisOf('0').back(0.0017)]".replace("EPOCH", "9.4e6")
    value, within = opened.page.evaluate(back)
    assert value == pytest.approx(9.4e6)
    assert within == pytest.approx(9.5e6)
    opened.page.evaluate("drawTime([0.0013, 0.0020])")
    assert opened.page.locator("#timeline .bars .point").count() == 1
