"""Machines that add runs to `opperf serve`, what it refuses them, and `opperf history push`, which sends runs to it."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.each import each
from tests.nights import archive, serving

from opperf.domain.errors import InputError
from opperf.parent.commands import push
from opperf.parent.pages.server import api
from opperf.parent.pages.server.api import Allowance
from opperf.parent.pages.server.app import application
from opperf.parent.sources.machine_tokens import machine_tokens
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries

READER, CI, LAB = "a-token-of-visitors-0", "a-token-of-ci-0123456", "a-token-of-lab-012345"
MACHINES = {"ci": CI, "lab": LAB}


def bearer(token: str, **more: str) -> dict[str, str]:
    """Return the headers of a machine."""
    return {"authorization": f"Bearer {token}", **more}


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run of a night, with samples, as a line of an export."""
    with archive(tmp_path_factory.mktemp("one") / "one.db", nights=1) as store:
        whole = store.document_json("run-00")
    assert whole is not None
    return whole


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """The empty database of a team."""
    with archive(tmp_path_factory.mktemp("team") / "team.db", nights=0) as store:
        yield store


@pytest.fixture(scope="module")
def client(store: Archive) -> TestClient:
    """Whoever speaks to the team's server; it knows visitors by a token, and two machines."""
    app = application(store, hosts=["testserver"], token=READER, machines=MACHINES)
    return TestClient(app, follow_redirects=False)


def named(document: dict[str, Any], key: str, **more: object) -> bytes:
    """Return a run of another id, as a body."""
    return json.dumps({**document, "run": {**document["run"], "id": key, **more}}).encode()


def test_a_machine_adds_a_run_once_and_replaces_none(
    client: TestClient, store: Archive, document: dict[str, Any]
) -> None:
    body = named(document, "first")
    packed = client.post("/api/runs", content=gzip.compress(body), headers=bearer(CI, **{"content-encoding": "gzip"}))
    assert (packed.status_code, packed.json()) == (201, {"run": "first", "outcome": "added", "rows": 20})
    again = client.post("/api/runs", content=body, headers=bearer(LAB))
    assert (again.status_code, again.json()["outcome"]) == (200, "there")
    changed = client.post("/api/runs", content=named(document, "first", labels={"by": "me"}), headers=bearer(CI))
    assert changed.status_code == 409
    assert "a run `first` with other content" in changed.json()["error"]
    there = store.document_json("first")
    assert there is not None
    assert {**there, "run": document["run"]} == {**document, "run": document["run"]}


def test_a_machine_reads_nothing_and_a_visitor_adds_nothing(client: TestClient, document: dict[str, Any]) -> None:
    body = named(document, "nobody's")
    for headers in ({}, bearer(READER), bearer(f"{CI}x"), {"authorization": CI}, {"cookie": f"opperf_token={CI}"}):
        answer = client.post("/api/runs", content=body, headers=headers)
        assert (answer.status_code, answer.headers.get("www-authenticate")) == (401, "Bearer")
    assert client.get("/api/runs", headers=bearer(CI)).status_code == 405
    for path in ("/", "/runs", f"/runs?token={CI}", "/runs?format=json"):
        assert client.get(path, headers=bearer(CI)).status_code == 401
    assert client.get("/runs", headers=bearer(READER)).status_code == 200


def test_a_server_without_machines_has_no_place_for_runs(store: Archive, document: dict[str, Any]) -> None:
    guest = TestClient(application(store, hosts=["testserver"]))
    assert guest.post("/api/runs", content=named(document, "x"), headers=bearer(CI)).status_code == 404


DEEP = "[" * 70 + "]" * 70
BOMB = gzip.compress(bytes(api.MOST_BYTES + 1), 9)


@each(
    "change, headers, status, words",
    [
        (b"not JSON", {}, 400, "not JSON"),
        (b'{"schema_version": 1, "schema_version": 1}', {}, 400, "occurs twice"),
        (DEEP.encode(), {}, 400, "nested over 64 deep"),
        (b'{"schema_version": 1, "name": "s", "source": "", "cases": []}', {}, 400, "neither results"),
        ({"schema_version": 999}, {}, 400, "schema_version"),
        ({"kind": "program"}, {}, 400, "kind: found `program`"),
        ({"records": [{"status": 5}]}, {}, 400, "the body: records[0]"),
        (BOMB, {"content-encoding": "gzip"}, 413, "expected a smaller one"),
        (gzip.compress(b"{}")[:-4], {"content-encoding": "gzip"}, 400, "cut off"),
        (b"{}", {"content-encoding": "gzip"}, 400, "not packed by gzip"),
        (b"{}", {"content-encoding": "br"}, 415, "expected gzip"),
        (b"", {"content-length": str(api.MOST_BYTES + 1)}, 413, "expected a smaller one"),
    ],
)
def test_what_is_no_run_is_refused_and_nothing_of_it_is_stored(
    change: Any,
    headers: dict[str, str],
    status: int,
    words: str,
    client: TestClient,
    store: Archive,
    document: dict[str, Any],
) -> None:
    before = [entry.key for entry in entries(store)]
    body = json.dumps({**document, **change}).encode() if isinstance(change, dict) else change
    answer = client.post("/api/runs", content=body, headers=bearer(CI, **headers))
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text
    assert [entry.key for entry in entries(store)] == before
    assert str(store.address) not in answer.text


def test_a_machine_that_sends_too_many_runs_is_told_when_to_go_on(
    store: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "Allowance", partial(Allowance, clock=lambda: 0.0))
    guest = TestClient(application(store, hosts=["testserver"], machines=MACHINES))
    codes = [guest.post("/api/runs", content=b"", headers=bearer(CI)).status_code for _ in range(api.PER_MINUTE)]
    assert set(codes) == {400}
    answer = guest.post("/api/runs", content=b"", headers=bearer(CI))
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert guest.post("/api/runs", content=b"", headers=bearer(LAB)).status_code == 400


def test_an_allowance_fills_again_as_time_goes_by() -> None:
    now = [0.0]
    allowance = Allowance(60, clock=lambda: now[0])
    assert [allowance.wait() for _ in range(60)] == [0.0] * 60
    assert math.isclose(allowance.wait(), 1.0)
    now[0] = 1.5
    assert (allowance.wait(), math.isclose(allowance.wait(), 0.5)) == (0.0, True)
    now[0] = 1000.0
    assert [allowance.wait() > 0 for _ in range(61)] == [False] * 60 + [True]


def test_health_is_open_to_all_and_says_whether_the_database_can_be_reached(here: Path) -> None:
    with archive(here / "own.db", nights=0) as store:
        guest = TestClient(application(store, hosts=["testserver"], token=READER))
        answer = guest.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        assert guest.post("/health").status_code == 405
        store.engine.dispose()
        (here / "own.db-wal").unlink(missing_ok=True)
        (here / "own.db").write_text("no database any more, but the text of another program")
        answer = guest.get("/health")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert answer.json() == {"status": "unavailable", "database": "unreachable"}


def test_each_request_is_a_line_of_the_log_without_a_secret(store: Archive, document: dict[str, Any]) -> None:
    log = io.StringIO()
    app = application(store, hosts=["testserver"], token=READER, machines=MACHINES, log=log)
    guest = TestClient(app, follow_redirects=False)
    guest.get(f"/runs?token={READER}")
    guest.get("/runs")
    guest.get("/runs%0A{}")
    guest.post("/api/runs", content=named(document, "logged"), headers=bearer(LAB))
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["path"], line["status"], line["machine"]) for line in lines] == [
        ("/runs", 303, None),
        ("/runs", 200, None),
        ("/runs\n{}", 404, None),
        ("/api/runs", 201, "lab"),
    ]
    assert lines[1]["bytes"] > 0
    assert not [secret for secret in (READER, LAB, "token") if secret in log.getvalue()]


@each(
    "references, variables, words",
    [
        ({}, {"OPPERF_MACHINES": CI}, "word 1 is not `NAME=TOKEN`"),
        ({}, {"OPPERF_MACHINES": f"ci={CI} ci={LAB}"}, "`ci` occurs twice"),
        ({}, {"OPPERF_MACHINES": "ci=short"}, "expected 16 or more"),
        ({}, {"OPPERF_MACHINES": f"ci={CI} lab={CI}"}, "two tokens are the same"),
        ({}, {"OPPERF_MACHINES": f"ci={READER}"}, "two tokens are the same"),
        ({"ci": "$CI"}, {}, "`CI` is not set"),
    ],
)
def test_tokens_of_machines_that_cannot_be_are_refused_and_never_shown(
    references: dict[str, str], variables: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError) as refusal:
        machine_tokens(references, variables, READER)
    assert words in str(refusal.value)
    assert not [token for token in (READER, CI, LAB, "short") if token in str(refusal.value)]


def test_a_file_names_the_variable_of_a_token_and_never_a_token(opperf: Any, here: Path) -> None:
    for line, words in ((f'ci = "{CI}"', "the name of a variable"), ('"c i" = "$CI"', "no key `c i`")):
        (here / "opperf.toml").write_text(f"[serve.machines]\n{line}\n")
        refused = opperf("serve", "--database", "team.db")
        assert (refused.code, words in refused.err, CI in refused.err) == (2, True, False)
    (here / "opperf.toml").write_text('[serve.machines]\nci = "$NOT_SET"\n')
    refused = opperf("serve", "--database", "team.db")
    assert (refused.code, "`NOT_SET` is not set" in refused.err) == (2, True)
    assert not (here / "team.db").exists()


def test_every_run_of_a_database_is_pushed_once_and_waits_while_the_server_is_away(
    opperf: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "PAUSES", ())
    monkeypatch.setenv("OPPERF_MACHINE_TOKEN", CI)
    archive(here / "own.db", nights=6).engine.dispose()
    with archive(here / "team.db", nights=0) as team:
        with serving(team, machines=MACHINES, token=READER) as place:
            pass
        words = ("history", "push", place, "--database", "own.db")
        away = opperf(*words)
        assert (away.code, CI in away.err) == (3, False)
        assert "9 runs not sent, and kept for the next time: " in away.err
    port = int(place.rpartition(":")[2])
    with (
        archive(here / "team.db", nights=0) as team,
        serving(team, machines=MACHINES, token=READER, port=port) as again,
    ):
        assert again == place
        done = opperf(*words)
        assert (done.code, "9 runs added, 0 there already, 0 refused" in done.err) == (0, True), done.err
        with Archive(Address.of("own.db")) as own:
            keys = [entry.key for entry in entries(own)]
            assert [entry.key for entry in entries(team)] == keys
            assert [team.document_json(key) for key in keys] == [own.document_json(key) for key in keys]
        assert "0 runs added, 0 there already, 0 refused" in opperf(*words).err
        monkeypatch.setenv("OPPERF_MACHINE_TOKEN", READER)
        archive(here / "other.db", nights=1).engine.dispose()
        unknown = opperf("history", "push", place, "--database", "other.db")
        assert (unknown.code, "does not know this token" in unknown.err, READER in unknown.err) == (2, True, False)
        monkeypatch.setenv("OPPERF_MACHINE_TOKEN", LAB)
        team.remove(["floors"])
        with Archive(Address.of("other.db")) as other:
            run = other.run("run-00")
            assert run is not None
            other.remove(["run-00", "floors"])
            other.add(replace(run, labels={"by": "somebody else"}))
        refused = opperf("history", "push", place, "--database", "other.db")
        assert refused.code == 3, refused.err
        assert "run run-00 refused: the database has a run `run-00` with other content" in refused.err


def test_an_address_that_is_none_is_refused(opperf: Any) -> None:
    for place in (
        "perf.example.com",
        "ftp://perf.example.com",
        "https://ann:pw@perf.example.com",
        "https://p/?token=x",
    ):
        refused = opperf("history", "push", place, "--token", CI)
        assert (refused.code, "the address of the server" in refused.err) == (2, True)
    refused = opperf("history", "push", "https://perf.example.com")
    assert (refused.code, "OPPERF_MACHINE_TOKEN" in refused.err) == (2, True)
    refused = opperf("history", "list", "--database", "https://perf.example.com")
    assert (refused.code, "`opperf history push URL`" in refused.err) == (2, True)
