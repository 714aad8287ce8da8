"""The page of a profile in a real browser: quiet, whole without a network, and what its controls do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect
from tests.browser.conftest import barriers, new_page

from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Block, Event, Profile, Reading, in_time
from opperf.parent.pages.profile_page import render, timeline

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


#: Where a span of a chart is: the page's own figures, scrolled to.
PLACE = """([id, name]) => {
    const chart = charts[id];
    chart.canvas.scrollIntoView({block: "center"});
    chart.draw();
    const span = chart.from.findIndex((from, one) => chart.name(one) === name
        && chart.lines.some(line => line.includes(one)) && chart.until[one] >= chart.view[0] && from <= chart.view[1]);
    const line = chart.lines.findIndex(spans => spans.includes(span));
    const box = chart.canvas.getBoundingClientRect();
    const ends = [Math.max(chart.from[span], chart.view[0]), Math.min(chart.until[span], chart.view[1])];
    return [box.x + (chart.x(ends[0]) + chart.x(ends[1])) / 2, box.y + (line + 0.5) * chart.row];
}"""
#: The colours of a line of a chart, from left to right, that its spans have.
COLORS = """([id, line]) => {
    const chart = charts[id];
    chart.draw();
    const y = Math.round((line + 0.5) * chart.row * devicePixelRatio);
    const row = chart.pen.getImageData(0, y, chart.canvas.width, 1).data;
    const colors = new Set();
    const left = Math.ceil(chart.gutterNow * devicePixelRatio);
    for (let place = 4 * left; place < row.length; place += 4) colors.add(row.slice(place, place + 3).join(" "));
    return [...colors];
}"""
Spot: TypeAlias = tuple[float, float]


@dataclass
class Opened:
    """The page in a browser, and what that complained of or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def cells(self, place: int) -> list[str]:
        """Return one column of the table that is shown, from its rows that are shown."""
        return self.page.locator(f".scroll:visible tbody tr:visible td:nth-child({place + 1})").all_inner_texts()

    def spot(self, name: str, chart: str = "timeline") -> Spot:
        """Return where a span is."""
        x, y = self.page.evaluate(PLACE, [chart, name])
        return x, y

    def point(self, name: str, chart: str = "timeline") -> list[str]:
        """Point at a span, and return the lines that the page says of it."""
        self.page.mouse.move(0, 0)
        self.page.mouse.move(*self.spot(name, chart))
        expect(self.page.locator("#words")).to_be_visible()
        return self.page.locator("#words").inner_text().splitlines()

    def press(self, name: str, chart: str = "timeline") -> None:
        """Press a span."""
        self.page.mouse.click(*self.spot(name, chart))

    def view(self, chart: str = "timeline") -> list[float]:
        """Return the stretch that is seen, in microseconds of the axis."""
        return [value / 1000 for value in self.page.evaluate("id => charts[id].view", chart)]

    def labels(self) -> list[str]:
        """Return the threads that stand at the left."""
        result: list[str] = self.page.evaluate("charts.timeline.labels.map(([, title]) => title)")
        return result

    def names(self) -> set[str]:
        """Return what the spans of the chosen window are called."""
        return set(self.page.evaluate("charts.timeline.lines.flat().map(charts.timeline.name)"))

    def sort(self, title: str) -> None:
        """Press the head of a column."""
        self.page.locator(".scroll:visible").get_by_role("button", name=title, exact=True).click()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, as a file."""
    path = tmp_path_factory.mktemp("page") / "profile.html"
    path.write_text(render(profile()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Opened]:
    """One window for every test."""
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
    window.page.wait_for_selector("#legend button")
    return window


def test_nothing_is_asked_of_a_network_nothing_goes_wrong_and_nobody_is_kept_out(opened: Opened, file: Path) -> None:
    opened.page.locator("#step").select_option("0")
    opened.page.emulate_media(color_scheme="dark")
    assert barriers(opened.page) == []
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("data:", "blob:"))] == [file.as_uri()]


def test_the_charts_have_a_bar_for_each_operator_and_each_span(opened: Opened) -> None:
    assert opened.page.locator("svg.wide:visible .bar").count() == 4
    assert opened.page.evaluate("charts.timeline.lines.flat().length") == 7
    assert opened.page.locator("#legend button").all_text_contents() == [
        *("step", "module", "operator", "kernel", "cpu/0 held")
    ]
    assert opened.labels() == ["main", "stream 7"]


def test_a_span_says_what_it_was_where_one_points(opened: Opened) -> None:
    assert opened.point("conv2d") == [
        *("conv2d", "133 us, from 20.0 us on", "operator", "Net.conv", "8x1x28x28", "allocated 4.10 kB")
    ]
    assert opened.point(ODD)[0] == ODD
    opened.page.locator("h1").hover()
    expect(opened.page.locator("#words")).to_be_hidden()


def test_another_step_can_be_chosen(opened: Opened) -> None:
    assert opened.page.locator("#step option:checked").text_content() == "step 2, 400 us"
    assert "step 2" in opened.names()
    opened.page.locator("#step").select_option("step 0, 1.00 ms")
    assert "step 0" in opened.names()
    assert "step 2" not in opened.names()


def test_memory_over_time_has_the_axis_of_the_spans(opened: Opened) -> None:
    x, _ = opened.spot("step 2")  # its middle is at 200 us, and the last reading at 1950 us of the profile
    box = opened.page.locator("#timeline").bounding_box()
    assert box is not None
    bottom = opened.page.evaluate("charts.timeline.bottom")
    opened.page.mouse.move(x, box["y"] + bottom + 60)
    assert opened.page.locator("#words").inner_text().splitlines() == ["at 200 us", "cpu/0 held: 12.3 kB"]
    ground = (
        "charts.timeline.pen.getImageData(Math.round(charts.timeline.x(399000)), charts.timeline.bottom + 129, 1, 1)"
    )
    held = opened.page.evaluate(f"[...{ground}.data].join()")
    opened.page.get_by_role("button", name="cpu/0 held").click()
    opened.page.wait_for_function("before => (" + f"[...{ground}.data].join()" + ") !== before", arg=held)


def test_what_was_alive_at_the_peak_stays_whatever_rows_are_shown(opened: Opened, tmp_path: Path) -> None:
    block = Block(7, "cpu/0", EPOCH + 200 * US, 16384, EPOCH, "conv2d", "Net.conv", "", (64, 64), "float32")
    path = tmp_path / "peak.html"
    path.write_text(render(replace(profile(), blocks=(block,))), encoding="utf-8")
    opened.page.goto(path.as_uri())
    table = opened.page.get_by_role("region", name="What was alive at the peak of memory")
    for by in ("name", "module"):
        opened.page.get_by_label("Group by").select_option(by)
        expect(table.get_by_role("cell", name="64x64:float32")).to_be_visible()


def test_a_kind_is_hidden_when_its_colour_is_pressed(opened: Opened) -> None:
    line = opened.page.evaluate(
        "charts.timeline.lines.findIndex(line => line.some(one => charts.timeline.name(one) === 'gemm_kernel'))"
    )
    assert "230 159 0" in opened.page.evaluate(COLORS, ["timeline", line])
    opened.page.get_by_role("button", name="kernel").click()
    expect(opened.page.get_by_role("button", name="kernel")).to_have_attribute("aria-pressed", "false")
    assert "230 159 0" not in opened.page.evaluate(COLORS, ["timeline", line])
    x, y = opened.spot("gemm_kernel")
    opened.page.mouse.move(x, y)
    expect(opened.page.locator("#words")).to_be_hidden()


def test_a_line_leads_from_an_operator_to_where_it_ran_backward(opened: Opened) -> None:
    opened.point("mkldnn_convolution")
    pair = "charts.timeline.flows(charts.timeline.pointed)[0].map(charts.timeline.name)"
    assert opened.page.evaluate(pair) == ["mkldnn_convolution", ODD]
    plain = opened.page.evaluate("charts.timeline.canvas.toDataURL()")
    opened.page.locator("h1").hover()
    opened.page.wait_for_function("before => charts.timeline.canvas.toDataURL() !== before", arg=plain)
    opened.press("mkldnn_convolution")
    opened.page.wait_for_function("() => charts.timeline.view[0] > 0")
    begin, end = opened.view()
    assert 20 < begin < 30
    assert 270 < end < 280


def test_a_line_of_python_is_enlarged_when_it_is_pressed(opened: Opened) -> None:
    assert opened.page.evaluate("charts.flame.lines.slice(0, 2).map(line => line.map(charts.flame.name))") == [
        ["all operators"],
        ["<module> train.py:3", "(no stack)"],
    ]
    assert opened.point("forward conv.py:9", "flame")[0] == "conv.py(9): forward"
    whole = opened.view("flame")
    opened.press("forward conv.py:9", "flame")
    begin, end = opened.view("flame")
    assert begin == whole[0]
    assert end < whole[1]
    opened.press("all operators", "flame")
    assert opened.view("flame") == whole


def test_the_chart_is_moved_by_buttons_by_keys_and_by_the_wheel(opened: Opened) -> None:
    chart = opened.page.locator("#timeline")
    for name, stretch in (("Enlarge", [100, 300]), ("Later", [200, 400]), ("Earlier", [100, 300]), ("Whole", [0, 400])):
        group = opened.page.get_by_role("group", name="Move the chart").first
        group.get_by_title("Show all of it" if name == "Whole" else name, exact=True).click()
        assert opened.view() == pytest.approx(stretch)
    chart.press("+")
    assert opened.view() == pytest.approx([100, 300])
    chart.press("ArrowRight")
    assert opened.view() == pytest.approx([140, 340])
    chart.press("0")
    opened.page.mouse.move(*opened.spot("step 2"))
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -300)
    opened.page.keyboard.up("Control")
    opened.page.wait_for_function("() => charts.timeline.view[0] > 0")
    assert opened.view() == pytest.approx([100, 300], abs=5)


def test_the_timeline_is_saved_as_a_file_that_opperf_and_perfetto_read(opened: Opened, tmp_path: Path) -> None:
    with opened.page.expect_download() as download:
        opened.page.get_by_role("button", name="Save for Perfetto").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "timeline.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes()))
    assert from_trace(document, "page").events == tuple(
        replace(event, stack=()) for event in sorted(profile().events, key=in_time)
    )


def test_a_chart_is_saved_as_a_picture(opened: Opened, tmp_path: Path) -> None:
    with opened.page.expect_download() as download:
        opened.page.get_by_role("group", name="Move the chart").first.get_by_title("Save as a picture").click()
    download.value.save_as(tmp_path / "chart.png")
    assert download.value.suggested_filename == "timeline.png"
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_is_sorted_by_a_column_and_back_with_what_is_not_known_last(opened: Opened) -> None:
    assert opened.cells(0) == ["mkldnn_convolution", "relu", "conv2d", ODD]
    opened.sort("operator")
    assert opened.cells(0) == [ODD, "conv2d", "mkldnn_convolution", "relu"]
    opened.sort("operator")
    assert opened.cells(0) == ["relu", "mkldnn_convolution", "conv2d", ODD]
    titles = opened.page.locator(".scroll:visible th").all_inner_texts()
    for _ in range(2):
        opened.sort("allocated")
        assert opened.cells(titles.index("allocated")) == ["12.3 kB", "", "", ""]
    opened.sort("total")
    assert opened.cells(0)[:2] == ["conv2d", "mkldnn_convolution"]
    assert opened.page.locator(".scroll:visible th[aria-sort]").all_inner_texts() == ["total"]


def test_the_table_is_searched_as_one_types(opened: Opened) -> None:
    search = opened.page.get_by_label("Search")
    search.fill("CONV net")
    assert opened.cells(0) == ["mkldnn_convolution", "conv2d"]
    assert opened.page.locator("#count").inner_text() == "2 of 4 rows"
    search.fill("")
    assert opened.page.locator("#count").inner_text() == "4 of 4 rows"


def test_rows_stand_for_what_is_chosen(opened: Opened) -> None:
    by = opened.page.get_by_label("Group by")
    assert by.locator("option").all_inner_texts() == ["name", "group", "shape", "module", "stack", "kernel"]
    assert opened.page.locator("svg.wide:visible .bar").count() == 4
    by.select_option("kernel")
    assert opened.cells(0) == ["gemm_kernel"]
    assert opened.page.locator("svg.wide:visible .bar").count() == 1
    by.select_option("module")
    assert opened.cells(0) == ["Net.conv", "(no module)"]


def test_the_controls_can_be_reached_and_used_by_keys_alone(opened: Opened) -> None:
    opened.page.get_by_label("Search").focus()
    opened.page.keyboard.press("Tab")  # a table that fits is no stop
    opened.page.keyboard.press("Enter")
    assert opened.cells(0) == [ODD, "conv2d", "mkldnn_convolution", "relu"]


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
def test_the_page_follows_the_colours_of_the_system(
    opened: Opened, scheme: Literal["light", "dark"], paper: str
) -> None:
    opened.page.emulate_media(color_scheme="dark" if scheme == "light" else "light")
    opened.page.emulate_media(color_scheme=scheme)
    expect(opened.page.locator("body")).to_have_css("background-color", paper)
    shown = """paper => {
        const {canvas, pen} = charts.timeline;
        charts.timeline.draw();
        const corner = pen.getImageData(canvas.width - 1, canvas.height - 1, 1, 1).data;
        return `rgb(${[...corner].slice(0, 3).join(", ")})` === paper;
    }"""
    opened.page.wait_for_function(shown, arg=paper)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_its_window(opened: Opened, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 800})
    opened.page.reload()
    opened.page.wait_for_selector("#legend button")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of long spans, and behind them many short ones within a tenth of the time."""

    def span(name: str, begin: int, length: int) -> Event:
        return Event(name, "operator", EPOCH + begin, length, 7, "main")

    longs = [span("long", place * 100_000, 90_000) for place in range(2000)]
    shorts = [span(f"short {place}", 200_000_000 + place * 6000, 500) for place in range(3000)]
    path = tmp_path_factory.mktemp("page") / "crowded.html"
    path.write_text(render(Profile((*longs, *shorts))), encoding="utf-8")
    return path


def drag(page: Page, begin: float, end: float, *, key: str | None = None) -> None:
    """Drag over a part of the chart, from one share of its width to another."""
    chart = page.locator("#timeline")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    left = page.evaluate("charts.timeline.gutterNow")
    assert box is not None
    width = box["width"] - left
    if key is not None:
        page.keyboard.down(key)
    page.mouse.move(box["x"] + left + begin * width, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + left + (begin + end) / 2 * width, box["y"] + 10)
    page.mouse.move(box["x"] + left + end * width, box["y"] + 10)
    page.mouse.up()
    if key is not None:
        page.keyboard.up(key)


def test_short_spans_are_told_apart_once_one_comes_close_and_a_double_click_goes_back(
    window: Opened, crowded: Path
) -> None:
    page = window.page
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(crowded.as_uri())
    page.wait_for_selector("#legend button")
    whole = window.view()
    drag(page, 0.94, 0.98)
    low, high = window.view()
    assert (low / whole[1], high / whole[1]) == pytest.approx((0.94, 0.98), abs=0.002)
    drag(page, 0.4, 0.42)
    assert window.point("short 1420")[:2] == ["short 1420", "500 ns, from 209 ms on"]
    before = window.view()
    drag(page, 0.2, 0.7, key="Shift")
    assert window.view()[0] == pytest.approx(before[0] - (before[1] - before[0]) / 2, rel=1e-3)
    page.locator("#timeline").dblclick(position={"x": 600, "y": 10})
    assert window.view() == whole


@pytest.fixture
def vast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of more spans than it may hold, each of a name of its own, with as much memory and many stacks.

    It may hold a tenth of what others may: they are all alike.
    """
    for limit in ("MOST_SPANS", "MOST_READINGS"):
        monkeypatch.setattr(timeline, limit, getattr(timeline, limit) // 10)

    def span(place: int) -> Event:
        kind = "task" if place % 10 else "operator"
        stack = tuple(f"module_{place // 10}.py({line}): function" for line in range(20))
        begin = EPOCH + 1000 * place
        return Event(f"span {place}", kind, begin, 700 + place % 256, 7, "main", stack=stack, allocated=4096)

    events = tuple(span(place) for place in range(21_000))
    readings = tuple(Reading(event.begin, 7, "cpu/0", 10**9 + event.begin % 977) for event in events)
    path = tmp_path / "vast.html"
    path.write_text(render(Profile(events, readings)), encoding="utf-8")
    return path


def test_a_vast_profile_is_a_page_of_bounded_size_that_answers_at_once(window: Opened, vast: Path) -> None:
    assert vast.stat().st_size <= 2e6
    page = window.page
    page.goto(vast.as_uri())
    page.wait_for_selector("#legend button")
    assert page.evaluate("charts.timeline.from.length") == 20_000
    # What is drawn is bounded by the pixels, and not by the spans.
    boxes = "(() => { let count = 0; charts.timeline.box = () => count++; charts.timeline.draw(); return count; })()"
    width = page.evaluate("charts.timeline.width")
    assert 100 < page.evaluate(boxes) < 2 * width
    page.evaluate("charts.timeline.look([5e6, 5.01e6])")
    assert 10 < page.evaluate(boxes) < 40


def test_a_long_stretch_in_which_nothing_ran_is_narrow_and_says_how_long_it_was(opened: Opened, tmp_path: Path) -> None:
    events = (
        Event("mul", "operator", EPOCH, 1000 * US, 7, "main"),
        Event("add", "operator", EPOCH + 9000 * US, 1000 * US, 7, "main"),
    )
    path = tmp_path / "idle.html"
    path.write_text(render(Profile(events)), encoding="utf-8")
    opened.page.goto(path.as_uri())
    opened.page.wait_for_selector("#legend button")
    assert opened.complaints == []
    assert opened.page.evaluate("charts.timeline.from.length") == 2
    # 8 of 10 ms are drawn as a fiftieth of them.
    assert [round(begin / 1000) for begin in opened.page.evaluate("[...charts.timeline.from]")] == [0, 1200]
    ticks = opened.page.evaluate("charts.timeline.ticks(...charts.timeline.view).map(([, text]) => text)")
    assert "10.0 ms" in ticks
    assert "5.00 ms" not in ticks
    texts = """(() => {
        const all = [];
        charts.timeline.write = text => all.push(text);
        charts.timeline.draw();
        return all;
    })()"""
    assert "8.00 ms empty" in opened.page.evaluate(texts)
    opened.page.evaluate("charts.timeline.look([1.3e6, 2.0e6])")
    assert opened.view() == [1300, 2000]
    assert "8.00 ms empty" in opened.page.evaluate(texts)


def test_spans_lie_on_lines_by_thread_and_depth_of_each_process(opened: Opened, tmp_path: Path) -> None:
    def span(name: str, begin: int, length: int, thread: str = "main", process: int = 7) -> Event:
        return Event(name, "operator", EPOCH + begin * US, length * US, process, thread)

    events = (
        *(span("step", 0, 20), span("linear", 1, 10), span("addmm", 2, 4), span("gemm", 3, 9, "stream 7")),
        *(span("relu", 12, 4), span("overlaps", 15, 20), span("mul", 12, 1, process=8)),
    )
    path = tmp_path / "lines.html"
    path.write_text(render(Profile(events)), encoding="utf-8")
    opened.page.goto(path.as_uri())
    opened.page.wait_for_selector("#legend button")
    assert opened.labels() == ["main of 7", "main (2) of 7", "stream 7 of 7", "main of 8"]
    lines = opened.page.evaluate("charts.timeline.lines.map(line => line.map(charts.timeline.name))")
    assert lines == [["step"], ["linear", "relu"], ["addmm"], ["overlaps"], ["gemm"], ["mul"]]
