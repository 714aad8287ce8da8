"""The pages of `opperf serve`, asked for as a browser does, and who is kept out."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests.functional.test_history import EXP, compared, night
from tests.nights import BEGIN, CHANGE, ODD, OPERATORS, SIZE, archive, case

from opperf.domain.plan import Side
from opperf.domain.stats.significance import Estimate
from opperf.parent.commands.demo import EPISODES, NOTICE, fill
from opperf.parent.documents.floor import series_side
from opperf.parent.documents.triage import Step, series_hash
from opperf.parent.pages.charts import NARROW
from opperf.parent.pages.server import changes, details, view, visits
from opperf.parent.pages.server.app import PAGES, application
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

#: The change of `matmul` that the nights have.
CHANGED = Step(
    series_hash(case("matmul").id, "forward", series_side(Side("torch", "torch")), "time"),
    *("matmul", "torch", "2.12.dev09", f"2.12.dev{CHANGE}", Estimate(math.log(SIZE), 0.01)),
).name
TOKEN = "a-token-of-32-characters-or-so"
EVERY = (
    *(
        "/",
        "/changes",
        f"/changes/{CHANGED}",
        "/operators",
        "/operators/matmul",
        "/runs",
        "/runs/run-25",
        "/runs/night-29",
        "/beside",
        "/suites",
    ),
    *("/beside?base=run-00&new=run-25", "/suites/small%20net", "/machines", "/machines/1", "/search?q=mat"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """A database of thirty nights."""
    with archive(tmp_path_factory.mktemp("nights") / "nights.db") as store:
        yield store


@pytest.fixture(scope="module")
def client(store: Archive) -> TestClient:
    """A visitor."""
    return TestClient(application(store, hosts=["testserver"]))


def visitor(store: Archive, **more: Any) -> TestClient:
    """Return a visitor who follows no redirection."""
    return TestClient(application(store, hosts=["testserver"], **more), follow_redirects=False)


def rows(client: TestClient, path: str) -> list[dict[str, Any]]:
    """Return the rows of a page in JSON."""
    answer = client.get(f"{path}{'&' if '?' in path else '?'}format=json")
    assert answer.status_code == 200
    result: list[dict[str, Any]] = answer.json()["rows"]
    return result


def first_cells(page: str) -> list[str]:
    """Return the texts of the first cells of the first table of a page."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return re.findall(r"<tr[^>]*>\s*<td[^>]*>(?:<a[^>]*>)?([^<]*)", body)


class Tags(HTMLParser):
    """The tags of a page, and where its links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        assert not {name for name, _ in attributes if name == "style" or name.startswith("on")}
        self.links += [text for name, text in attributes if name in ("href", "src") and text]


def test_the_paths_above_lead_to_every_page() -> None:
    places = {path.partition("?")[0].rsplit("/", 1 if path.count("/") > 1 else 0)[0] for path in EVERY}
    assert {page.partition("/{")[0] for page in PAGES} <= {*places, *EVERY, "/search"}


@pytest.mark.parametrize("path", EVERY)
def test_a_page_answers_and_nothing_in_it_acts_or_leads_elsewhere(path: str, client: TestClient) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    page = Tags(answer.text)
    assert "img" not in page.tags
    assert all(link.startswith(("/", "?", "#", "data:,")) and not link.startswith("//") for link in page.links)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", EVERY)
def test_every_page_also_answers_in_json_and_csv(path: str, client: TestClient) -> None:
    for form, kind in (("json", "application/json"), ("csv", "text/csv; charset=utf-8")):
        answer = client.get(path + ("&" if "?" in path else "?") + f"format={form}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)


def test_every_page_of_a_database_that_commands_made_opens(opperf: Any, here: Path) -> None:
    pair = ("--base", "null", "--new", "null;slowdown=1.05", "--pairs", "3", "--direction", "forward")
    (here / "zeros.py").write_text("def f(lhs, rhs):\n    return 0 * lhs\n")
    for words in (
        ("run", "add", "--framework", "null"),
        ("compare", "add", *pair),
        ("gate", "add", *pair),
        ("noise", "add", "--framework", "null", "--pairs", "3", "--direction", "forward"),
        ("judge", "zeros.py:f", "--against", "add", "--framework", "numpy", "--input", "8x8"),
    ):
        assert opperf(*words, "--database", here / "own.db").code in (0, 1, 3)
    with Archive(Address.of(str(here / "own.db"))) as store:
        client, judged = TestClient(application(store, hosts=["testserver"])), False
        left, opened = set(PAGES) - {path for path in PAGES if "{" in path}, set()
        while left:
            path = left.pop()
            answer = client.get(path)
            assert (path, answer.status_code) == (path, 200)
            opened.add(path)
            left |= {link for link in Tags(answer.text).links if link.startswith("/")} - opened
            judged = judged or "smallest failing case" in answer.text
    assert any(path.startswith("/machines/") for path in opened)
    assert judged


def test_facts_of_any_type_that_are_stored_already_are_shown(opperf: Any, here: Path) -> None:
    assert opperf("run", "add", "--framework", "null", "--database", here / "odd.db").code == 0
    odd = {"load": "high", "turbo": [1], "memory_total": "64 GB", "cores_logical": "two", "swap_used": {}}
    with Archive(Address.of(str(here / "odd.db"))) as store:
        with store.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE machines SET facts = ?", (json.dumps(odd),))
        answer = TestClient(application(store, hosts=["testserver"])).get("/machines/1")
    assert (answer.status_code, "64 GB" in answer.text) == (200, True)


@pytest.mark.parametrize(
    ("place", "facts", "message"),
    [
        ("machine", {"memory_total": "64 GB"}, 'machine.memory_total: found "64 GB", expected a whole number >= 0'),
        ("machine", {"gpus": 5}, "machine.gpus: found 5, expected a list"),
        ("machine", "a fast one", 'machine: found "a fast one", expected an object'),
        ("frameworks", [{"version": "1"}], "frameworks[0]: no `framework`, expected a string"),
        (
            "nodes",
            {"n": {"machine": {"cores_logical": []}}},
            "machine.cores_logical: found [], expected a whole number",
        ),
    ],
)
def test_facts_that_are_not_of_their_type_are_refused_with_their_place(
    place: str, facts: object, message: str, opperf: Any, here: Path
) -> None:
    document = json.loads(opperf("run", "add", "--framework", "null", "--format", "json").out)
    document["run"]["environment"][place] = facts
    (here / "odd.json").write_text(json.dumps(document))
    for command in (("history", "add", "odd.json", "--database", here / "odd.db"), ("show", "odd.json")):
        done = opperf(*command)
        assert done.code == 2
        assert message in done.err


def test_an_unexpected_error_is_a_page_with_the_way_back_and_one_line_on_stderr(
    store: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by\nnothing")

    monkeypatch.setitem(PAGES, "/runs", fail)
    lines: list[str] = []
    client = TestClient(application(store, hosts=["testserver"], tell=lines.append))
    answer = client.get("/runs?token=secret")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert '<a href="/">the first page</a>' in answer.text
    (line,) = lines
    assert line.startswith("GET /runs: ZeroDivisionError: by")
    assert line.endswith("(test_serve.py:" + line.rpartition(":")[2])
    assert "\n" not in line
    assert "secret" not in line
    assert client.get("/runs?format=json").json()["title"] == "This cannot be shown"


@pytest.mark.parametrize(
    ("place", "status", "message", "hint"),
    [
        ("/?page=0", 400, "no page `0`", "hint: a number from 1 on"),
        ("/?framework=nope", 404, "no build of `nope`", "hint: there are: "),
        ("/search?q=%00", 404, "a byte of zero", ""),
        ("/operators/%00", 404, "a byte of zero", ""),
    ],
)
def test_an_address_that_says_nothing_is_answered_in_words_with_a_hint_of_its_own(
    place: str, status: int, message: str, hint: str, client: TestClient
) -> None:
    answer = client.get(place)
    assert (answer.status_code, message in answer.text, hint in answer.text) == (status, True, True)
    assert "\\n" not in answer.text.partition("<main")[2]


def test_a_page_that_there_is_not_leads_back(client: TestClient) -> None:
    answer = client.get("/nowhere/at/all")
    assert (answer.status_code, '<a href="/">the first page</a>' in answer.text) == (404, True)


@pytest.mark.parametrize("path", ["//elsewhere.example/x", "///elsewhere.example", "/\\elsewhere.example"])
def test_a_redirection_stays_on_this_host(path: str, store: Archive) -> None:
    there = visitor(store, token=TOKEN).get(f"http://testserver{path}?token={TOKEN}").headers["location"]
    assert there.startswith("/")
    assert there[1:2] not in ("/", "\\")


def test_every_link_of_a_page_leads_to_a_page(client: TestClient) -> None:
    links = {link for path in EVERY for link in Tags(client.get(path).text).links if link.startswith("/")}
    assert {link for link in links if client.get(link).status_code != 200} == set()
    assert any(link.startswith("/operators/%3Cimg") for link in links)


def test_the_overview_begins_with_the_largest_change_of_the_latest_build(client: TestClient) -> None:
    first, second, *_ = rows(client, "/?framework=torch")
    assert (first["operator"], first["verdict"], second["verdict"]) == ("matmul", "slower", "same")
    assert first["ratio"] == pytest.approx(SIZE, rel=0.02)
    page = client.get("/?framework=torch").text
    assert "torch 2.12.dev29 against 2.11.0" in page
    assert "2.12.dev29, measured 2026-10-30" in page
    assert "2.11.0, measured 2026-10-01 to 2026-10-30" in page


@pytest.mark.parametrize(
    ("name", "value", "count"),
    [("framework", "numpy", 10), ("build", "2.12.dev20", 10), ("verdict", "slower", 1), ("category", "matmul", 1)],
)
def test_the_overview_is_narrowed_by_its_url(name: str, value: str, count: int, client: TestClient) -> None:
    answer = client.get("/", params={"framework": "torch", name: value, "format": "csv"})
    table, *_ = answer.text.split("\n\n")
    assert len([*csv.DictReader(io.StringIO(table))]) == count
    assert f'<option selected value="{value}">' in client.get("/", params={"framework": "torch", name: value}).text


def test_every_change_of_a_database_is_on_one_page(client: TestClient) -> None:
    result = {(one["framework"], one["operator"], one["before"], one["after"]) for one in rows(client, "/changes")}
    assert result == {
        (framework, "matmul", f"{start}{CHANGE - 1:02}", f"{start}{CHANGE:02}")
        for framework, start in (("torch", "2.12.dev"), ("numpy", "2.3.dev"))
    }
    page = client.get("/changes").text
    assert "20 series of ratios between builds, 2 changes" in page
    assert f'href="/changes/{CHANGED}?operator=matmul"' in page
    assert 'href="/operators/matmul?framework=torch"' in client.get(f"/changes/{CHANGED}?operator=matmul").text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("framework=torch", 1),
        ("category=matmul", 2),
        ("category=softmax", 0),
        ("verdict=faster", 0),
        (f"build=2.3.dev{CHANGE:02}", 1),
        ("machine=AMD+EPYC,+2+cores", 2),
        ("direction=backward", 0),
        (f"since={BEGIN + timedelta(days=CHANGE):%Y-%m-%d}", 2),
        (f"since={BEGIN + timedelta(days=CHANGE + 1):%Y-%m-%d}", 0),
    ],
)
def test_changes_are_narrowed_by_their_url(query: str, count: int, client: TestClient) -> None:
    assert len(rows(client, f"/changes?{query}")) == count


def test_of_a_large_database_the_changes_of_some_series_are_shown_and_the_page_says_so(
    store: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_COMPARISONS", 1)
    client = visitor(store)
    assert "Only the first 1 series were searched" in client.get("/changes").text
    assert "were searched" not in client.get("/changes?category=matmul&framework=none").text


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("/operators", 20),
        ("/?framework=torch", 10),
        ("/beside?base=torch+2.11.0&new=torch+2.12.dev29", 10),
        ("/runs?kind=run", 6),
    ],
)
def test_a_long_table_goes_on_on_the_next_pages_and_keeps_its_filters(
    path: str, count: int, store: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "PAGE", 4)
    client, second = visitor(store), f"{path}{'&' if '?' in path else '?'}page=2"
    rest, names = path, []
    while rest:
        page = client.get(rest).text
        names += first_cells(page)
        links = {text: html.unescape(link) for link, text in re.findall(r'<a href="(\?[^"]*)">(.*?)</a>', page)}
        rest = next((path.partition("?")[0] + link for text, link in links.items() if text.startswith("next")), "")
    whole = first_cells(client.get(path.partition("?")[0] + links["all on one page"]).text)
    assert (len(names), names) == (count, whole)
    assert "framework=torch" in links["all on one page"] or "framework" not in path
    assert len(rows(client, second)) >= count
    assert "Largest changes" not in client.get(second).text


@pytest.mark.parametrize("page", ["0", "-1", "two", "1" * 40])
def test_a_page_that_is_no_number_is_said(page: str, client: TestClient) -> None:
    assert client.get(f"/changes?page={page}").status_code == 400


def test_what_is_chosen_by_its_verdict_is_chosen_of_all_rows(store: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "PAGE", 1)
    client = visitor(store)
    assert "1 of 9 ratios:" in client.get("/?framework=torch&verdict=same").text.replace("1 to ", "")
    assert len(rows(client, "/?framework=torch&verdict=same")) >= 9


def test_a_day_is_where_the_pages_begin(client: TestClient) -> None:
    late = f"{BEGIN + timedelta(days=29):%Y-%m-%d}"
    assert {one["run"] for one in rows(client, f"/runs?since={late}") if one} == {"night-29"}
    assert all(one["started"] >= late for one in rows(client, f"/operators/matmul?since={late}"))
    answer = client.get(f"/?framework=torch&build=2.12.dev20&since={late}")
    assert "0 ratios" in answer.text
    assert f'<input type="date" name="since" value="{late}">' in answer.text
    assert client.get("/?since=yesterday").status_code == 400


def test_an_operator_shows_the_change_between_two_builds(client: TestClient) -> None:
    page = client.get("/operators/matmul", params={"framework": "torch"}).text
    assert "torch against 2.11.0" in page
    assert "numpy against" not in page
    assert "+9" in page
    assert f"2.12.dev{CHANGE - 1:02}" in page
    assert f'href="/changes/{CHANGED}?operator=matmul"' in page


def test_an_operator_has_the_absolute_times_of_nights_and_leads_to_the_runs_that_measured_them(
    client: TestClient,
) -> None:
    every = rows(client, "/operators/sum?framework=torch")
    (night_row,) = (row for row in every if row.get("run") == "night-29")
    assert (night_row["base"], night_row["new"]) == ("torch 2.11.0", "torch 2.12.dev29")
    assert night_row["new_time_s"] == pytest.approx(night_row["ratio"] * night_row["base_time_s"])
    assert 'href="/runs/night-29"' in client.get("/operators/sum?framework=torch").text
    assert 'href="/runs/night-29"' in client.get("/?framework=torch").text


def test_an_operator_names_its_changes_and_what_follows_each_up(here: Path) -> None:
    ratios = {"1.1.0": 1.0, "1.2.0": 1.0, "1.4.0": 1.09, "1.4.1": 1.09}
    with Archive(Address.of(str(here / "team.db"))) as store:
        for number, one in enumerate(ratios.items(), 1):
            store.add(night(number, compared(EXP, "1.0.0", *one)))
        page = TestClient(application(store, hosts=["testserver"])).get("/operators/exp").text
    assert ">1.2.0</td>" in page
    assert ">1.4.0</td>" in page
    assert "+9.00 %" in page
    assert "<code>opperf bisect exp --size small --framework numpy --good 1.2.0 --bad 1.4.0 --direction forward" in page


def test_a_suite_has_the_time_of_all_calls_of_each_run(client: TestClient, store: Archive) -> None:
    run = store.run("run-25")
    assert run is not None
    totals = {row["build"]: row["total_s"] for row in rows(client, "/suites/small%20net") if row.get("run") == "run-25"}
    assert totals == {
        f"{framework} {version}.dev25": pytest.approx(
            sum(one.total or 0.0 for one in run.records if one.trial.side.framework == framework)
        )
        for framework, version in (("torch", "2.12"), ("numpy", "2.3"))
    }
    assert "Shares of the whole: torch" in client.get("/suites/small%20net").text


@pytest.mark.parametrize("path", ["/runs", "/suites/small%20net", "/operators/exp?format=json", "/style.css"])
def test_a_browser_that_has_a_page_gets_it_anew_only_once_the_page_says_something_else(path: str, here: Path) -> None:
    with archive(here / "team.db", nights=1) as store, Archive(store.address) as machine:
        guest = visitor(store)
        tag = guest.get(path).headers["etag"]
        again = guest.get(path, headers={"if-none-match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "private, no-cache"
        run = store.run("run-00")
        assert run is not None
        # Another process adds a run; only the style stays as it is.
        machine.add(replace(run, id="added-later", started=(BEGIN + timedelta(days=1)).isoformat()))
        expected = 304 if path == "/style.css" else 200
        assert guest.get(path, headers={"if-none-match": tag}).status_code == expected
        assert expected == 304 or "added-later" in guest.get(path).text
        machine.remove(["added-later"])
        assert guest.get(path, headers={"if-none-match": tag}).status_code == 304


def test_names_from_files_are_shown_and_never_markup(client: TestClient) -> None:
    page = client.get("/operators/" + ODD).text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img" not in page


@pytest.mark.parametrize(
    ("base", "new", "evidence", "verdicts", "ratio"),
    [
        ("torch 2.11.0", "torch 2.12.dev29", "compared", {"slower", "same"}, SIZE),
        ("torch 2.12.dev29", "torch 2.11.0", "compared", {"faster", "same"}, 1 / SIZE),
        ("torch 2.12.dev00", "torch 2.12.dev28", "by way of torch 2.11.0", {"slower", "same", "inconclusive"}, SIZE),
        ("torch 2.12.dev00", "numpy 2.3.dev25", "times", {None}, 1.6 * SIZE),
    ],
)
def test_any_two_builds_stand_beside_each_other_as_comparisons_nights_and_runs_know_them(
    base: str, new: str, evidence: str, verdicts: set[str | None], ratio: float, client: TestClient
) -> None:
    assert f'<option value="{new}">' in client.get("/beside").text
    every = rows(client, "/beside?" + urlencode({"base": base, "new": new}))
    assert len(every) == len(OPERATORS)
    assert {row["evidence"] for row in every} == {evidence}
    assert {row["verdict"] for row in every} <= verdicts
    assert every[0]["operator"] == "matmul" or None in verdicts
    assert next(row["ratio"] for row in every if row["operator"] == "matmul") == pytest.approx(ratio, rel=0.05)


def test_two_runs_stand_beside_each_other(client: TestClient) -> None:
    answer = client.get("/beside", params={"base": "run-00", "new": "run-25", "format": "json"})
    assert len(answer.json()["comparisons"]) == 2 * len(OPERATORS)


def test_a_run_answers_as_its_file_does(client: TestClient, store: Archive) -> None:
    run = store.run("run-25")
    assert run is not None
    assert client.get("/runs/run-25?format=json").json() == run.to_json()


def test_of_a_run_with_many_rows_the_page_has_the_first_and_json_has_all(
    store: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(details, "MOST_ROWS", 3)
    client = visitor(store)
    page = client.get("/runs/run-25").text
    assert f"{2 * len(OPERATORS) - 3} more are in the CSV and JSON of this page." in page
    assert page.count("<td") < 3 * 20
    assert len(client.get("/runs/run-25?format=json").json()["records"]) == 2 * len(OPERATORS)


def test_a_run_of_noise_floors_has_its_table_and_its_chart(client: TestClient) -> None:
    page = client.get("/runs/floors").text
    assert "Noise floors" in page
    assert "spread of pairs" in page
    assert len(client.get("/runs/floors?format=json").json()["floors"]) == len(OPERATORS)


def test_a_machine_says_what_makes_it_noisy_and_how_far_it_moves(client: TestClient) -> None:
    page = client.get("/machines/1").text
    assert "the frequency governor is `powersave`" in page
    assert "between processes" in page
    assert f"{100 * math.expm1(0.03):.2f} %" in page
    assert "<dt>memory total</dt><dd>8.59 GB</dd>" in page
    assert 'href="/operators/matmul?framework=numpy"' in page


def test_a_filter_says_what_is_shown_where_nothing_is_chosen(client: TestClient) -> None:
    assert client.get("/").text.count('<option value="">latest</option>') == 2
    assert client.get("/operators/matmul").text.count('<option value="">all</option>') == 2
    assert client.get("/beside").text.count('<option value="">choose</option>') == 2
    assert client.get("/operators/matmul?metric=time").status_code == 200


def test_runs_are_searched_by_label_and_operators_by_name(client: TestClient) -> None:
    assert {one["key"] for one in rows(client, "/search?q=main")} == {f"run-{i:02}" for i in range(0, 30, 5)}
    assert [(one["kind"], one["key"]) for one in rows(client, "/search?q=soft")] == [("operator", "softmax")]


@pytest.mark.parametrize(
    "path",
    ["/operators/nothing", "/runs/nothing", "/machines/9", "/suites/nothing", "/beside?base=nothing&new=run-00"],
)
def test_what_is_not_there_is_said(path: str, client: TestClient) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "the database has no" in answer.text


@pytest.mark.parametrize(
    "path", ["/?format=xml", "/beside?base=night-29&new=run-00", "/beside?base=torch+2.11.0&new=run-00"]
)
def test_what_cannot_be_meant_is_said(path: str, client: TestClient) -> None:
    assert client.get(path).status_code == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(method: str, client: TestClient) -> None:
    assert client.request(method, "/").status_code == 405


def test_no_site_reaches_the_pages_under_a_name_of_its_own(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.test"}).status_code == 400


def test_a_token_is_needed_once_and_leaves_the_url(store: Archive) -> None:
    guest = visitor(store, token=TOKEN)
    assert guest.get("/runs").status_code == 401
    assert guest.get("/runs?token=wrong").status_code == 401
    first = guest.get(f"/runs?token={TOKEN}&kind=run")
    assert (first.status_code, first.headers["location"]) == (303, "/runs?kind=run")
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert guest.get("/runs").status_code == 200


@pytest.mark.parametrize("headers", [{"authorization": f"Bearer {TOKEN}x"}, {"cookie": f"opperf_token={TOKEN}"}])
def test_what_is_like_a_token_is_none(headers: dict[str, str], store: Archive) -> None:
    assert visitor(store, token=TOKEN).get("/", headers=headers).status_code == 401


def test_a_program_brings_the_token_in_a_header(store: Archive) -> None:
    answer = visitor(store, token=TOKEN).get("/?format=json", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "perf.example.org"])
def test_an_address_that_others_reach_is_refused_without_a_token(host: str, opperf: Any, here: Path) -> None:
    refused = opperf("serve", "--host", host, "--database", "team.db")
    assert refused.code == 2
    assert f"everyone who can reach `{host}`" in refused.err
    assert "`--token`" in refused.err


def test_a_port_that_another_program_has_is_said(opperf: Any, here: Path) -> None:
    archive(here / "team.db", nights=0).engine.dispose()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = opperf("serve", "--database", "team.db", "--port", port)
    assert (refused.code, f"cannot listen on 127.0.0.1:{port}" in refused.err) == (2, True)


def test_a_token_that_can_be_guessed_is_refused(opperf: Any) -> None:
    refused = opperf("serve", "--token", "secret")
    assert (refused.code, "expected 16 or more" in refused.err) == (2, True)


def test_a_database_that_is_not_there_is_said(opperf: Any, here: Path) -> None:
    refused = opperf("serve", "--database", "none.db")
    assert (refused.code, "there is no database" in refused.err) == (2, True)


def test_an_empty_database_has_pages_too(here: Path) -> None:
    with archive(here / "empty.db", nights=0) as store:
        guest = TestClient(application(store, hosts=["testserver"]))
        for path in ("/", "/changes", "/operators", "/runs", "/beside", "/suites", "/machines", "/search"):
            assert guest.get(path).status_code == 200
        assert "an overview needs two builds of a framework" in guest.get("/").text


def test_a_night_is_dated_as_it_was_measured(client: TestClient) -> None:
    assert f"{BEGIN:%Y-%m-%d}" in client.get("/operators/matmul").text


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """The database of a made-up month."""
    with Archive(Address.of(str(tmp_path_factory.mktemp("demo") / "demo.db"))) as store:
        fill(store)
        yield store


@pytest.fixture(scope="module")
def demo(month: Archive) -> TestClient:
    """A visitor of a made-up month."""
    return TestClient(application(month, hosts=["testserver"], notice=NOTICE))


@pytest.mark.parametrize("page", ["/", "/changes"])
def test_rows_of_an_operator_differ_in_what_a_phone_has_room_for(page: str, month: Archive) -> None:
    (chart,) = PAGES[page](month, query={"framework": "torch"}).charts
    _, *texts = (text.text for text in chart.draw(NARROW).element.iter("text") if text.get("x") == "0.00")
    names = [*zip(texts[::2], texts[1::2], strict=True)]
    assert len(names) > len({label for label, _ in names}) > 1
    assert len(names) == len({*names})


def test_a_made_up_month_has_something_on_every_page_and_each_says_so(demo: TestClient) -> None:
    every = {link for path in PAGES if "{" not in path for link in Tags(demo.get(path).text).links}
    starts = {page: page.partition("{")[0] for page in PAGES}
    firsts = {page: next((link for link in sorted(every) if link.startswith(starts[page])), page) for page in PAGES}
    for path in (*firsts.values(), "/beside?base=numpy+2.4.6&new=jax+0.10.1", "/nowhere"):
        page = demo.get(path).text
        assert "Made up: nothing on these pages was measured" in page, path
        assert "<table>" in page or path in ("/search", "/nowhere", "/beside"), path
    assert {row["state"] for row in rows(demo, "/changes")} >= {"new", "seen", "expected", "fixed"}
    found = {(row["framework"], row["operator"]) for row in rows(demo, "/changes")}
    assert found >= {(episode.framework, episode.operator) for episode in EPISODES}


def test_the_first_page_tells_categories_trends_frameworks_and_what_could_not_be_measured(demo: TestClient) -> None:
    page = demo.get("/?framework=torch").text
    assert "22 cases of 11 operators" in page
    assert '<a href="/?framework=torch&amp;build=2.14.0.dev' in page
    assert "verdict=failed" in page
    assert page.count('class="spark"') > 20
    assert 'href="/beside?base=numpy+2.4.6&amp;new=torch+2.12.1"' in page
    every = rows(demo, "/?framework=torch")
    (normalization,) = (row for row in every if row.get("category") == "normalization")
    assert (normalization["looked_at"], normalization["slower"]) == (2, 2)
    (trend,) = (row for row in every if row.get("framework") == "torch")
    assert (trend["looked_at"], trend["not_measured"]) == (22, 2)
    assert 0.9 < trend["mean_ratio"] < 1.1


def test_operators_are_listed_with_the_last_verdict_on_them_those_that_changed_first(demo: TestClient) -> None:
    every = rows(demo, "/operators")
    verdicts = {(row["framework"], row["operator"]): row["verdict"] for row in every}
    assert (verdicts["torch", "layer_norm"], verdicts["numpy", "exp"]) == ("slower", "faster")
    assert verdicts["numpy", "add"] == "same"
    assert every[0]["verdict"] in ("slower", "faster")
    assert verdicts["jax", "add"] is None


def test_a_framework_stands_against_others_on_the_page_of_an_operator(demo: TestClient) -> None:
    page = demo.get("/operators/softmax?framework=numpy").text
    assert "Frameworks against each other" in page
    assert "jax compiled 0.10.1 / numpy 2.4.6" in page
    assert "Memory peak" in page


def test_a_change_has_its_evidence_and_the_next_step_as_a_command(demo: TestClient) -> None:
    place = next(row["name"] for row in rows(demo, "/changes") if row["operator"] == "layer_norm")
    page = demo.get(f"/changes/{place}?operator=layer_norm").text
    assert "Evidence" in page
    assert "<code>opperf compare layer_norm" in page
    assert "<summary>Report of run demo-night-torch-10</summary>" in page
    assert 'href="/runs/demo-night-torch-10"' in page
    assert "checks its input now" in page


def test_a_browser_that_was_here_is_told_what_is_new(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "PAUSE", -1)  # each look is a visit
    with Archive(Address.of(str(here / "team.db"))) as store:
        store.add(night(1, compared(EXP, "1.0.0", "1.1.0", 1.0)))
        client = TestClient(application(store, hosts=["testserver"]))
        first = client.get("/")
        assert "since" not in first.text.partition("<dl>")[2].partition("</dl>")[0]
        assert "httponly" in first.headers["set-cookie"].lower()
        assert "nothing new" in client.get("/").text
        store.add(night(2, compared(EXP, "1.0.0", "1.2.0", 1.0)))
        assert "1 new run" in client.get("/").text
        assert "nothing new" in client.get("/").text
        client.cookies.set(visits.COOKIE, "1.x.2")
        assert client.get("/").status_code == 200


def test_the_header_says_which_database_it_is_and_what_was_added_last(client: TestClient) -> None:
    page = client.get("/suites").text
    assert "<span>nights.db</span>" in page
    assert 'last added: <a href="/runs/floors">noise of 2026-10-01' in page


def test_a_made_up_month_is_no_database_of_yours(opperf: Any) -> None:
    refused = opperf("serve", "--demo", "--database", "team.db")
    assert (refused.code, "`--demo` serves no database" in refused.err) == (2, True)
