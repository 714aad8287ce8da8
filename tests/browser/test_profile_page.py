"""The page of a profile in a real browser: quiet, whole without a network, and what its controls do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from opperf.profile.event import Event, Profile
from opperf.reports.profile_page import render

#: Nanoseconds since 1970 when the profile of these tests begins.
EPOCH = 1_795_000_000_000_000_000
US = 1000
ODD = "</script><img src=x onerror=alert(1)>"


def profile() -> Profile:
    """Return three steps of a small network, with kernels on a stream, one operator of an odd name, and its memory."""
    steps = (step("step 0", 0, 1000), step("step 1", 1200, 400), step("step 2", 1700, 400))
    facts = {"framework": "torch", "version": "2.13.0", "command": ["train.py", "--epochs", "2"]}
    notes = ("no memory by device: it was not asked for",)
    return Profile(tuple(event for events in steps for event in events), (), {7: facts}, notes)


def step(name: str, begin: int, length: int) -> list[Event]:
    """Return the spans of a step; microseconds."""

    def span(name: str, kind: str, after: int, took: int, thread: str = "main", **more: Any) -> Event:
        return Event(name, kind, EPOCH + (begin + after) * US, took * US, 7, thread, **more)

    half = length // 2
    image: dict[str, Any] = {"shapes": ((8, 1, 28, 28),), "module": "Net.conv"}
    return [
        span(name, "step", 0, length),
        span("Net.conv", "module", 10, half),
        span("conv2d", "operator", 20, length // 3, allocated=4096, **image),
        span("mkldnn_convolution", "operator", 30, length // 4, **image),
        span("relu", "operator", half + 20, length // 10, shapes=((8, 20, 24, 24),)),
        span(ODD, "operator", half + 20 + length // 10, 10),
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
    page = browser.new_page()
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
    assert buttons == ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]
    assert opened.page.locator("#shares .modebar-btn").count() == 0


def test_the_charts_have_a_bar_for_each_operator_and_each_span(opened: Opened) -> None:
    assert opened.page.locator("#shares .bars .point").count() == 4
    assert opened.page.locator("#timeline .bars .point").count() == 7
    assert opened.page.locator("#timeline .legendtext").all_text_contents() == ["operator", "kernel", "module", "step"]
    assert opened.page.locator("#timeline .ytick text").all_text_contents() == ["main", "stream 7"]


def test_another_step_can_be_chosen(opened: Opened) -> None:
    drawn = opened.page.locator("#timeline .bars")
    assert opened.page.locator("#step option:checked").text_content() == "step 2, 400 us"
    assert "step 2" in "".join(drawn.all_text_contents())
    opened.page.locator("#step").select_option("step 0, 1.00 ms")
    assert "step 0" in "".join(drawn.all_text_contents())


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
    assert by.locator("option").all_inner_texts() == ["name", "shape", "module", "kernel"]
    by.select_option("kernel")
    assert opened.cells(0) == ["gemm_kernel"]
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
