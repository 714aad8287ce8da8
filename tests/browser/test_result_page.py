"""The page of one result in a real browser: quiet, whole without a network, for phones, keys and readers too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator
from tests.browser.conftest import barriers, new_page
from tests.nights import archive

from opperf.domain.record import Run
from opperf.parent.commands.load import read_value
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import page
from opperf.parent.reports import report_of


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that writes the page of a run of the nights, by its id."""
    folder = tmp_path_factory.mktemp("frozen")
    with archive(folder / "nights.db", nights=1) as store:
        results = {key: read_value(store.document_json(key), key) for key in ("run-00", "night-00")}

    def write(key: str) -> Path:
        result = results[key]
        assert isinstance(result, (Run, ComparisonRun))
        path = folder / f"{key}.html"
        path.write_text(page(result, report_of(result), charts(result)), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("key", ["run-00", "night-00"])
@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1500, "light")])
def test_a_page_needs_nobody_fits_its_window_and_keeps_nobody_out(
    key: str, width: int, scheme: Literal["light", "dark"], file: Callable[[str], Path], browser: Browser
) -> None:
    place = file(key).as_uri()
    window = new_page(browser, viewport={"width": width, "height": 900}, color_scheme=scheme)
    complaints: list[str] = []
    requests: list[str] = []
    window.on("console", lambda message: complaints.append(message.text))
    window.on("dialog", lambda dialog: complaints.append(dialog.message))
    window.on("request", lambda request: requests.append(request.url))
    window.goto(place)
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [place]
    assert window.evaluate("document.documentElement.scrollWidth") == width
    assert window.locator("figure:has(svg:visible)").count() == window.locator("figure").count() > 0
    paper = {"dark": "rgb(20, 24, 29)", "light": "rgb(255, 255, 255)"}[scheme]
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert barriers(window) == []
    assert window.evaluate("document.documentElement.scrollWidth") == width  # with everything open
    window.close()


def test_a_table_is_sorted_and_filtered_by_keys_alone(file: Callable[[str], Path], browser: Browser) -> None:
    window = new_page(browser, viewport={"width": 1500, "height": 900})
    window.goto(file("night-00").as_uri())
    table = window.locator("section table").first
    before = cells(table)
    head = table.get_by_role("button", name="ratio")
    head.focus()
    orders = []
    for _ in range(3):
        window.keyboard.press("Enter")
        orders.append((table.locator("th[aria-sort]").count(), cells(table)))
    ratios = [float(text) for text in before]
    assert [text for _, text in orders] == [
        [f"{one:.3f}" for one in sorted(ratios, reverse=True)],
        [f"{one:.3f}" for one in sorted(ratios)],
        before,
    ]
    assert [count for count, _ in orders] == [1, 1, 0]
    window.get_by_label("Filter").first.fill("TORCH soft")
    assert table.locator("tbody tr:visible:not(.more)").count() == 1
    assert window.get_by_text("1 of 20 rows").is_visible()
    window.close()


def cells(table: Locator) -> list[str]:
    """Return the ratios of a table, each of whose rows still has its own pairs below."""
    titles = table.locator("thead th").all_inner_texts()
    place = titles.index("ratio") + 1
    return table.locator(f"xpath=tbody/tr[not(contains(@class, 'more'))]/td[{place}]").all_inner_texts()


def test_a_row_opens_to_its_numbers_and_samples_without_a_script(file: Callable[[str], Path], browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 400, "height": 900})
    window = context.new_page()
    window.goto(file("run-00").as_uri())
    row = window.locator("details.row").first
    row.locator("summary").focus()
    window.keyboard.press("Enter")
    assert row.locator("table:visible tbody tr").count() == 2
    assert row.locator("svg:visible .hull").count() == 6
    context.close()
