"""`opperf history triage` and `report`, and how gates and nights heed what was said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect
from starlette.testclient import TestClient
from tests.functional.test_history import EXP, SUM, compared, night, rows, write

from opperf.parent.commands.history import archive
from opperf.parent.documents.comparison import Verdict
from opperf.parent.pages.server.app import application
from opperf.parent.store.database.connection import MIGRATIONS

TOKEN = "a-token-of-32-characters-or-so"
ARGUMENTS = ("--database", "team.db", "--format", "json")


@pytest.fixture
def changed(opperf: Any, here: Path) -> str:
    """A database in which `exp` takes 5 % more from 1.3 on; the name of the change."""
    ratios = {"1.1": 1.0, "1.2": 1.002, "1.3": 1.05, "1.4": 1.052}
    nights = [night(i, compared(EXP, "1.0", *one)) for i, one in enumerate(ratios.items(), 1)]
    assert opperf("history", "add", *write(here, *nights), "--database", "team.db").code == 0
    (row,) = rows(opperf("history", "changes", *ARGUMENTS))
    assert row["state"] == "new"
    name: str = row["name"]
    return name


def add(opperf: Any, here: Path, number: int, version: str, ratio: float) -> None:
    """Add a night."""
    opperf("history", "add", *write(here, night(number, compared(EXP, "1.0", version, ratio))), "--database", "team.db")


def test_a_decision_says_who_and_when_and_none_is_overwritten(opperf: Any, changed: str) -> None:
    words = ("--database", "team.db", "--by", "ann")
    link = "https://github.com/numpy/numpy/issues/1"
    seen = opperf("history", "triage", changed, "--state", "seen", "--owner", "bob", "--link", link, *words)
    assert (seen.code, f"{changed}: exp, numpy 1.2 to 1.3: seen (ann, " in seen.err) == (0, True)
    assert opperf("history", "triage", changed[:5], "--state", "expected", "--note", "safer", *words).code == 0
    (row,) = rows(opperf("history", "changes", *ARGUMENTS))
    assert row["state"] == "expected"
    assert row["decision"].startswith("safer (ann, 2")
    assert f"owner bob; {link}" in row["decision"]
    with archive("team.db") as store, store.engine.connect() as connection:
        said = connection.exec_driver_sql("SELECT state, author FROM decisions ORDER BY id").all()
    assert [tuple(one) for one in said] == [("seen", "ann"), ("expected", "ann")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("abcdef", "--state", "seen"), "no change `abcdef`"),
        (("abc", "--state", "seen"), "`abc` names no change, expected 4 characters or more"),
        (("NAME", "--state", "wanted"), "no state `wanted`"),
        (("NAME", "--state", "seen", "--link", "javascript:alert(1)"), "is no address of a page"),
        (("NAME", "--state", "seen", "--note", "x" * 2001), "the note has 2001 characters"),
    ],
)
def test_what_is_no_decision_is_one_message(opperf: Any, changed: str, words: tuple[str, ...], message: str) -> None:
    done = opperf(
        "history", "triage", *(changed if word == "NAME" else word for word in words), "--database", "team.db"
    )
    assert (done.code, message in done.err) == (2, True), done.err


def test_a_change_that_is_fixed_and_comes_back_is_new(opperf: Any, here: Path, changed: str) -> None:
    add(opperf, here, 5, "1.5", 1.0)
    add(opperf, here, 6, "1.6", 1.001)
    assert opperf("history", "triage", changed, "--state", "fixed", "--database", "team.db").code == 0
    add(opperf, here, 7, "1.7", 1.05)
    add(opperf, here, 8, "1.8", 1.051)
    states = {row["after"]: (row["state"], row["decision"]) for row in rows(opperf("history", "changes", *ARGUMENTS))}
    assert states["1.3"][0] == "fixed"
    assert states["1.7"] == ("new", f"back: `{changed}` was fixed")


def test_the_weekly_report_tells_new_open_fixed_and_unconfirmed_changes_and_failures(
    opperf: Any, here: Path, changed: str
) -> None:
    failed = replace(compared(SUM, "1.0", "1.4", 1.0), verdict=Verdict("failed", None, None, "it crashed", 0))
    more = night(9, replace(failed, status="failed"))
    opperf("history", "add", *write(here, more), "--database", "team.db")

    def counts(since: str) -> str:
        done = opperf("history", "report", "--since", since, "--database", "team.db", "--format", "md")
        assert done.code == 0, done.err
        heading: str = done.out.partition("\n")[0]
        return heading

    assert counts("2026-11-01").endswith("1 new, 0 open, 0 fixed, 0 unconfirmed, 1 not measured")
    assert counts("2026-11-04").endswith("0 new, 1 open, 0 fixed, 0 unconfirmed, 1 not measured")
    assert counts("2026-11-20").endswith("0 new, 1 open, 0 fixed, 0 unconfirmed, 0 not measured")
    text = opperf("history", "report", "--since", "2026-11-01", "--database", "team.db").out
    assert "it crashed" in text
    assert "`opperf compare exp" in text
    opperf("history", "triage", changed, "--state", "expected", "--database", "team.db")
    done = opperf("history", "report", "--since", "2026-11-01", "--database", "team.db")
    assert "not listed: 1 expected or not a change" in done.out
    whole = json.loads(opperf("history", "report", "--since", "2026-11-01", *ARGUMENTS).out)
    assert (whole["new"], whole["not_measured"][0]["reason"]) == ([], "it crashed")


def test_decisions_leave_a_database_as_lines_and_come_back_once(opperf: Any, here: Path, changed: str) -> None:
    for state in ("seen", "expected"):
        words = ("--state", state, "--note", state, "--by", "ann", "--database", "team.db")
        assert opperf("history", "triage", changed, *words).code == 0
    done = opperf("history", "export", "--output", "all.jsonl", "--database", "team.db")
    assert "4 runs, 2 decisions" in done.err
    assert "decisions added: 2" in opperf("history", "import", "all.jsonl", "--database", "copy.db").err
    assert "decisions added" not in opperf("history", "import", "all.jsonl", "--database", "copy.db").err
    (copy,) = rows(opperf("history", "changes", "--database", "copy.db", "--format", "json"))
    assert [copy] == rows(opperf("history", "changes", *ARGUMENTS))
    assert copy["state"] == "expected"
    odd = (here / "all.jsonl").read_text().replace('"state": "seen"', '"state": "liked"')
    (here / "odd.jsonl").write_text(odd)
    refused = opperf("history", "import", "odd.jsonl", "--database", "copy.db")
    assert (refused.code, "line 5: decisions[0].state" in refused.err) == (2, True)


def test_a_night_does_not_fail_again_for_what_is_expected(opperf: Any, here: Path) -> None:
    (here / "opperf.toml").write_text(
        '[database]\nurl = "team.db"\n[nightly]\noperators = "null:steady"\npairs = 3\nanchor = "null;version=1.0"\n'
        'builds = "null;version=1.3;slowdown=1.1"\n'
    )
    done = opperf("nightly", "--format", "json")
    assert done.code == 1
    (finding,) = json.loads(done.out)["gate"]["findings"]
    assert finding["kind"] == "slower"
    assert opperf("history", "triage", finding["change"], "--state", "expected", "--note", "wanted").code == 0
    again = opperf("nightly", "--again")
    assert (again.code, "1 as expected" in again.out, "expected: wanted" in again.out) == (0, True, True)


def test_a_gate_heeds_the_database_that_it_is_given(opperf: Any, here: Path) -> None:
    words = ("gate", "null:steady", "--base", "null;version=1", "--new", "null;version=2;slowdown=1.1", "--pairs", "3")
    done = opperf(*words, "--database", "team.db")
    assert done.code == 1
    name = done.out.partition("(change `")[2].partition("`")[0]
    assert opperf("history", "triage", name, "--state", "not a change", "--database", "team.db").code == 0
    assert opperf(*words, "--database", "team.db").code == 0
    assert opperf(*words).code == 1


def test_a_database_of_the_first_release_gets_the_tables_that_it_lacks(opperf: Any, here: Path, changed: str) -> None:
    with archive("team.db") as store:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with store.engine.begin() as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0.2")
            assert "decisions" not in inspect(connection).get_table_names()
    assert rows(opperf("history", "changes", *ARGUMENTS))[0]["name"] == changed
    assert opperf("history", "triage", changed, "--state", "seen", "--database", "team.db").code == 0


def page_of(changed: str, **more: Any) -> tuple[TestClient, str]:
    """Return a visitor with the token, and the address of a change."""
    client = TestClient(
        application(archive("team.db"), hosts=["testserver"], token=TOKEN, **more), follow_redirects=False
    )
    client.get(f"/?token={TOKEN}")
    return client, f"/changes/{changed}?operator=exp"


def test_the_page_of_a_change_takes_a_decision_with_its_own_form_alone(opperf: Any, changed: str) -> None:
    client, page = page_of(changed, write=True)
    csrf = client.get(page).text.partition('name="csrf" value="')[2].partition('"')[0]
    said = {"state": "seen", "note": "<b>we look</b>", "author": "ann", "owner": "", "link": ""}
    assert client.post(page, data=said).status_code == 403
    assert client.post(page, data={**said, "csrf": "x" * len(csrf)}).status_code == 403
    assert client.post(page, data={**said, "csrf": csrf, "author": ""}).status_code == 400
    assert client.post(page, data={**said, "csrf": csrf, "note": "x" * 100_000}).status_code == 400
    assert TestClient(client.app).post(page, data={**said, "csrf": csrf}).status_code == 401
    assert "Decisions" not in client.get(page).text
    done = client.post(page, data={**said, "csrf": csrf})
    assert (done.status_code, done.headers["location"]) == (303, page)
    text = client.get(page).text
    assert "&lt;b&gt;we look&lt;/b&gt;" in text
    assert (text.count("<script"), text.count('<script src="/script.js"')) == (1, 1)
    assert rows(opperf("history", "changes", *ARGUMENTS))[0]["state"] == "seen"


def test_pages_without_write_have_no_form_and_take_none(changed: str) -> None:
    client, page = page_of(changed)
    assert 'method="post"' not in client.get(page).text
    assert client.post(page, data={"state": "seen", "author": "ann", "csrf": ""}).status_code == 405


def test_a_server_that_writes_needs_a_token(opperf: Any, changed: str) -> None:
    done = opperf("serve", "--database", "team.db", "--write")
    assert (done.code, "`--write` needs a token" in done.err) == (2, True)
