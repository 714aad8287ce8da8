"""The pages of `opperf serve` in a real browser: quiet, narrow enough for a phone, quick, and used by keys alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect
from tests.browser.conftest import barriers, new_page
from tests.functional.test_serve import EVERY
from tests.nights import archive, serving

from opperf.parent.commands.demo import fill
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

#: Every page, those of noise floors and of errors too.
PATHS = (*EVERY, "/runs/floors", "/beside?base=torch+2.11.0&new=torch+2.12.dev29", "/nowhere")


def laid_out(chromium: CDPSession) -> int:
    """Return how often Chromium has laid a page out."""
    metrics = {one["name"]: one["value"] for one in chromium.send("Performance.getMetrics")["metrics"]}
    return int(metrics["LayoutCount"])


@dataclass
class Visit:
    """A window, where the pages are, and what the browser complained of or asked for."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page."""
        self.page.goto(f"{self.address}{path}")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the pages of thirty nights are."""
    with serving(archive(tmp_path_factory.mktemp("nights") / "nights.db")) as address:
        yield address


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """A window of its own for each test."""
    page = new_page(browser, viewport={"width": 1500, "height": 1000})
    visit = Visit(page, address)
    page.on("console", lambda message: visit.complaints.append(message.text))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))
    page.on("request", lambda request: visit.requests.append(request.url))
    yield visit
    page.close()


def test_every_page_is_quiet_asks_nobody_else_fits_its_window_and_keeps_nobody_out(visit: Visit) -> None:
    for path in PATHS:
        visit.requests.clear()
        visit.go(path)
        for width in (400, 1500):  # the style alone says how wide anything is
            visit.page.set_viewport_size({"width": width, "height": 900})
            assert (path, visit.page.evaluate("document.documentElement.scrollWidth")) == (path, width)
        assert (path, barriers(visit.page)) == (path, [])
        assert {url.split("?")[0] for url in visit.requests if not url.startswith("data:")} == {
            f"{visit.address}{one}" for one in (path.split("?")[0], "/style.css", "/script.js")
        }
    (missing,) = visit.complaints
    assert "404" in missing


def test_each_chart_is_seen_once_in_the_drawing_that_fits(visit: Visit) -> None:
    visit.go("/operators/matmul")
    for width, seen in ((1500, ".wide"), (400, ".narrow")):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert visit.page.locator("figure svg:visible").count() == visit.page.locator("figure").count()
        assert visit.page.locator(f"figure svg{seen}:visible").count() == visit.page.locator("figure").count()


def test_a_build_tells_its_ratio_where_one_points_at_it(visit: Visit) -> None:
    visit.go("/operators/matmul?framework=torch")
    tip = visit.page.locator("#tip")
    expect(tip).to_be_hidden()
    visit.page.locator("figure svg:visible").first.locator("[data-tip]").last.hover()
    expect(tip).to_contain_text("2.12.dev29")
    expect(tip).to_contain_text("of 2.11.0")


def test_the_builds_of_a_chart_are_gone_through_by_arrow_keys(visit: Visit) -> None:
    visit.go("/operators/matmul?framework=torch")
    visit.page.locator("figure svg:visible").first.focus()
    visit.page.keyboard.press("ArrowRight")
    expect(visit.page.locator("#tip")).to_contain_text("2.12.dev00")
    visit.page.keyboard.press("ArrowRight")
    expect(visit.page.locator("#tip")).to_contain_text("2.12.dev01")


def test_a_choice_is_in_the_url_and_back_undoes_it(visit: Visit) -> None:
    visit.go("/")
    with visit.page.expect_navigation():
        visit.page.get_by_label("verdict").select_option("slower")
    assert visit.page.url == f"{visit.address}/?verdict=slower"
    rows = visit.page.locator("table").first.locator("tbody tr")
    expect(rows).to_have_count(1)
    visit.page.go_back()
    expect(rows).to_have_count(10)


def test_the_search_is_one_key_away(visit: Visit) -> None:
    visit.go("/runs")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("soft")
    with visit.page.expect_navigation():
        visit.page.keyboard.press("Enter")
    assert visit.page.get_by_role("link", name="softmax").count() == 1


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 24, 29)")])
def test_pages_follow_the_colours_of_the_system(scheme: Literal["light", "dark"], paper: str, visit: Visit) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    visit.go("/")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


def test_a_page_of_500_operators_is_laid_out_a_few_times(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    many = tuple(f"operator_{i}" for i in range(500))
    store = archive(tmp_path_factory.mktemp("many") / "many.db", nights=2, operators=many, runs=False)
    with serving(store) as address:
        page = new_page(browser)
        page.goto(f"{address}/search")
        chromium = page.context.new_cdp_session(page)
        chromium.send("Performance.enable")
        before = laid_out(chromium)
        page.goto(f"{address}/?page=all")
        assert page.locator("table").first.locator("tbody tr").count() == 500
        assert 0 < laid_out(chromium) - before < 100  # anew for each of its rows, a table takes minutes
        page.close()


def test_a_command_is_taken_and_a_decision_made_on_the_page_of_a_change(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = "a-token-of-32-characters-or-so"
    store = Archive(Address.of(str(tmp_path_factory.mktemp("write") / "demo.db")))
    fill(store)
    with serving(store, token=token, write=True) as address:
        page = new_page(browser)
        page.goto(f"{address}/changes?token={token}")
        with page.expect_navigation():
            page.locator("table").first.locator("tbody a").first.click()
        command = page.locator("code").first.text_content()
        page.get_by_role("button", name=f"Copy {command}", exact=True).click()
        assert page.evaluate("getSelection().toString()") == command
        assert barriers(page) == []
        page.get_by_label("state").select_option("expected")
        page.get_by_label("note").fill("checks its input")
        page.get_by_label("who says so").fill("ann")
        page.get_by_role("button", name="Decide").click()
        expect(page.locator("dl")).to_contain_text("expected")
        expect(page.get_by_role("table", name="Decisions")).to_contain_text("checks its input")
        page.close()
