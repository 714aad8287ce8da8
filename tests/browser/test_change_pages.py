"""Two profiles beside each other, and the staircase of a bisection, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.conftest import new_page
from tests.browser.test_profile_page import Opened, profile
from tests.unit.parent.pages.test_staircase import bisection

from opperf.domain.profile.event import Event, Profile
from opperf.parent.pages.figures import charts
from opperf.parent.pages.profile_page.change import render
from opperf.parent.pages.result_page import page
from opperf.parent.reports import report_of


def later() -> Profile:
    """Return the profile of the same network, whose convolution is slower and that has no relu any more."""

    def change(event: Event) -> Event:
        slower: dict[str, Any] = {"mkldnn_convolution": 1.2, "conv2d": 1.2}
        length = round(event.duration * slower.get(event.name, 1.0))
        return Event(**{**vars(event), "duration": length, "begin": event.begin + 5_000_000})

    return Profile(tuple(map(change, (event for event in profile().events if event.name != "relu"))))


@pytest.fixture(scope="module")
def window(browser: Browser) -> Any:
    """One window for every test."""
    page = new_page(browser, viewport={"width": 1280, "height": 900})
    opened = Opened(page)
    page.on("console", lambda message: opened.complaints.append(message.text))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    yield opened
    page.close()


def open_page(window: Opened, path: Path, text: str) -> Page:
    """Write a page and open it; it needs nobody else."""
    path.write_text(text, encoding="utf-8")
    window.requests.clear()
    window.page.goto(path.as_uri())
    assert [url for url in window.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    return window.page


def fits(page: Page) -> None:
    """Check that the page is no wider than its window, on a screen and on a phone."""
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.set_viewport_size({"width": 1280, "height": 900})


def test_two_profiles_have_one_tree_and_two_timelines_of_one_scale(window: Opened, tmp_path: Path) -> None:
    page = open_page(window, tmp_path / "diff.html", render(profile(), later(), ("a.json", "b.json")))
    page.wait_for_selector("#legend button")
    names = page.evaluate("charts.flame.lines.flat().map(charts.flame.name)")
    assert any(name.startswith("▲ mkldnn_convolution +") for name in names)
    assert any(name.startswith("\u2212 relu") for name in names)
    (slower,) = (name for name in names if "mkldnn" in name)
    assert window.point(slower, "flame")[1:] == [
        *("before: 300 us, 3 calls of its own", "after: 360 us, 3 calls of its own", "+60.0 us, 1.20 of it")
    ]
    assert window.labels() == ["main", "stream 7", "main", "stream 7"]
    assert page.evaluate("charts.timeline.whole[1]") == 400_000
    page.locator("#step").select_option("0")
    begins = page.evaluate("charts.timeline.lines.map(line => line.length ? charts.timeline.from[line[0]] : null)")
    assert begins[1] == begins[len(begins) // 2 + 1] == 0  # both begin at the left
    window.sort("operator")
    first = window.cells(0)
    assert first == sorted(first, key=str.lower)
    fits(page)
    page.emulate_media(color_scheme="dark")
    assert window.complaints == []


def test_without_a_script_bars_and_tables_of_two_profiles_are_there(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "diff.html"
    path.write_text(render(profile(), later()), encoding="utf-8")
    plain = new_page(browser, java_script_enabled=False)
    plain.goto(path.as_uri())
    expect(plain.locator("figure svg.wide")).to_be_visible()
    expect(plain.get_by_role("cell", name="relu").first).to_be_visible()
    plain.close()


def test_a_bisection_is_a_staircase(window: Opened, tmp_path: Path) -> None:
    found = bisection()
    opened = open_page(window, tmp_path / "bisect.html", page(found, report_of(found), charts(found)))
    assert opened.locator("svg:visible polyline.curve").count() == 1
    expect(opened.locator("svg:visible text", has_text="-40.0%")).to_be_visible()
    expect(opened.locator("svg:visible text", has_text="v1").first).to_be_visible()
    fits(opened)
