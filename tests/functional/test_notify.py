"""Messages on new regressions, sent to real servers on loopback: each once, and no verdict depends on them."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from datetime import datetime, timezone
from email import message_from_bytes
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from tests.functional.test_history import EXP, compared

from opperf.parent.analysis.gate import judgement_of
from opperf.parent.analysis.triage import Triage, step_of
from opperf.parent.commands.channels import send_webhook, write_comment
from opperf.parent.commands.history import archive
from opperf.parent.commands.notify import notify
from opperf.parent.documents.judgement import Judgement
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.documents.triage import Decision
from opperf.parent.sources.notify_keys import Channels, Issue, Mail, Webhook
from opperf.parent.store.database import messages
from opperf.parent.store.database.decisions import add_decisions

TOKEN = "ghs_secret"


class Server:
    """A server on loopback: it notes requests, keeps comments as GitHub does, and fails where it is told to."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any, str | None]] = []
        self.comments: list[dict[str, Any]] = [{"id": 7, "body": "Looks good to me"}]
        self.status = 200
        server = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                data = json.loads(body) if body else None
                server.requests.append((self.command, self.path, data, self.headers.get("Authorization")))
                text = json.dumps(server.answer(self.command, self.path, data)).encode()
                self.send_response(server.status)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def answer(self, method: str, path: str, data: Any) -> Any:
        """Return what GitHub would."""
        if "/comments" not in path or self.status != 200:
            return {}
        if method == "POST":
            self.comments.append({"id": len(self.comments) + 7, "body": data["body"]})
        if method == "PATCH":
            next(one for one in self.comments if path.endswith(f"/{one['id']}"))["body"] = data["body"]
        return self.comments

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of the web."""
    server = Server()
    yield server
    server.close()


def judgement(*versions: str) -> Judgement:
    """Return the judgement of nights in which `exp` got slower, and `1.0` to `1.1` that it did not."""
    steps = [compared(EXP, "1.0", version, 1.05) for version in versions]
    return Triage().judge(judgement_of([compared(EXP, "1.0", "1.1", 1.0), *steps], Tolerances(0.02)))


def told(channels: Channels, *versions: str) -> list[str]:
    """Tell people of these nights, and return what was said of it here."""
    notes: list[str] = []
    with archive("team.db", create=True) as store:
        notify(store, channels, judgement(*versions), notes.append)
    return notes


def test_each_regression_is_told_once_with_its_evidence_and_commands(here: Path, server: Server) -> None:
    channels = Channels(webhook=Webhook(f"{server.address}/hook"))
    assert told(channels, "1.3") == ["1 message sent by webhook"]
    assert told(channels, "1.3") == []
    assert told(channels, "1.3", "1.4") == ["1 message sent by webhook"]
    assert told(channels) == []
    first, second = (data["regressions"] for _, _, data, _ in server.requests)
    step = step_of(compared(EXP, "1.0", "1.3", 1.05))
    assert step is not None
    moment = datetime(2026, 11, 3, tzinfo=timezone.utc)
    with archive("team.db") as store:
        add_decisions(store, [Decision(step, "fixed", "", "", "", "ann", moment, step.name)])
    assert [told(channels, "1.3") for _ in range(2)] == [["1 message sent by webhook"], []]
    (content,) = first
    assert content["title"] == "exp forward data=32x32: slower from numpy 1.0 to 1.3"
    assert "1.050 times the base's time, 95 % interval [" in content["evidence"]
    assert content["command"].startswith("opperf compare exp ")
    assert content["triage"] == f"opperf history triage {content['change']} --state seen"
    assert [one["title"].rpartition(" ")[2] for one in second] == ["1.4"]


def test_chats_get_their_own_forms(here: Path, server: Server) -> None:
    for form in ("slack", "mattermost", "teams"):
        told(Channels(webhook=Webhook(f"{server.address}/{form}", form)), "1.3")
    slack, mattermost, teams = (data for _, _, data, _ in server.requests)
    assert slack["text"].startswith("*opperf: 1 new regression*\nexp forward")
    assert mattermost["username"] == "opperf"
    card = teams["attachments"][0]
    assert card["contentType"] == "application/vnd.microsoft.card.adaptive"
    assert card["content"]["body"][0]["text"] == "opperf: 1 new regression"


def test_a_night_with_more_regressions_than_a_place_takes_is_told_as_far_as_it_does(server: Server) -> None:
    content = {
        "title": "exp: slower",
        "evidence": "1.1 times the base's time",
        "command": "opperf compare " + "x" * 200,
    }
    contents = [{**content, "triage": f"opperf history triage {number}"} for number in range(400)]
    for form in ("mattermost", "teams", "json"):
        send_webhook(Webhook(server.address, form), contents)
    write_comment(Issue("a/b#1"), contents, {"GITHUB_API_URL": server.address, "GITHUB_TOKEN": TOKEN})
    mattermost, teams, plain = (data for _, _, data, _ in server.requests[:3])
    assert len(mattermost["text"]) < 16_383
    assert re.search(r"triage 1`.*\n\n\d+ more: `opperf history changes` has them$", mattermost["text"], re.DOTALL)
    assert len(json.dumps(teams)) < 21_000
    assert len(plain["regressions"]) == 400
    comment = server.comments[-1]["body"]
    assert len(comment) < 65_536
    assert comment.endswith("triage 399`")


def test_what_cannot_be_sent_waits_and_is_sent_the_next_time(here: Path, server: Server) -> None:
    channels = Channels(webhook=Webhook(f"{server.address}/hook"))
    server.status = 500
    assert told(channels, "1.3") == [
        "1 message by webhook not sent: the server answered 500; they wait for the next time"
    ]
    server.status = 200
    assert told(channels) == ["1 message sent by webhook"]
    assert [len(data["regressions"]) for _, _, data, _ in server.requests] == [1, 1]


def test_a_server_that_is_not_there_is_said(here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    (note,) = told(Channels(webhook=Webhook(f"http://127.0.0.1:{port}/secret")), "1.3")
    assert note == "1 message by webhook not sent: ConnectionRefusedError; they wait for the next time"


def test_a_message_that_may_have_arrived_is_not_sent_again(here: Path) -> None:
    """The server takes it and hangs up without an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def take() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(100_000)

        thread = Thread(target=take)
        thread.start()
        channels = Channels(webhook=Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}/"))
        (note,) = told(channels, "1.3")
        thread.join()
        assert "they may have arrived, so they are not sent again" in note
        assert told(channels, "1.3") == []


def test_two_that_send_at_the_same_time_never_get_the_same_message(here: Path) -> None:
    with archive("team.db", create=True) as store, archive("team.db") as other:
        messages.queue(store, "webhook", "there", {"a": {}})
        messages.queue(other, "webhook", "there", {"a": {}, "b": {}})
        assert [len(messages.claim(one, "there")) for one in (store, other)] == [2, 0]


def test_a_redirection_is_not_followed(here: Path, server: Server) -> None:
    server.status = 307
    (note,) = told(Channels(webhook=Webhook(f"{server.address}/hook")), "1.3")
    assert "the server answered 307" in note
    assert [path for _, path, _, _ in server.requests] == ["/hook"]


def test_a_mail_has_a_subject_and_the_evidence(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Box(Sink):
        mails: list[Any]

        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
            self.mails.append((envelope.rcpt_tos, message_from_bytes(envelope.content, policy=default)))
            return "250 OK"

    box = Box()
    box.mails = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # It looks whether its own thread answers, which on a busy machine takes longer than a second.
    monkeypatch.setattr(f"{Controller.__module__}.create_connection", lambda to, _: socket.create_connection(to, 60))
    controller = Controller(box, hostname="127.0.0.1", port=port, ready_timeout=60)
    mail = Mail(f"smtp://127.0.0.1:{port}", "opperf@example.com", ("ann@example.com", "bob@example.com"))
    assert "by email not sent: ConnectionRefusedError" in told(Channels(email=mail), "1.3")[0]
    controller.start()
    try:
        assert told(Channels(email=mail), "1.3", "1.4") == ["2 messages sent by email"]
        assert told(Channels(email=mail), "1.3", "1.4") == []
    finally:
        controller.stop()
    ((to, message),) = box.mails
    assert to == ["ann@example.com", "bob@example.com"]
    assert message["Subject"] == "opperf: exp forward data=32x32: slower from numpy 1.0 to 1.3 and 1 more"
    assert "opperf compare exp" in message.get_content()


def test_one_comment_is_edited_in_place_and_the_token_stands_nowhere(
    here: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = Channels(github=Issue("numpy/numpy#12"))
    monkeypatch.setenv("GITHUB_API_URL", server.address)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    notes = told(channels, "1.3")
    assert "the variable `GITHUB_TOKEN` is not set" in notes[0]
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    notes += told(channels, "1.3")
    notes += told(channels, "1.3", "1.4")
    assert len(server.comments) == 2
    body = server.comments[1]["body"]
    assert body.count("slower from numpy 1.0 to 1.3") == body.count("slower from numpy 1.0 to 1.4") == 1
    assert [method for method, *_ in server.requests] == ["GET", "POST", "GET", "PATCH"]
    assert {token for *_, token in server.requests} == {f"Bearer {TOKEN}"}
    assert not [note for note in notes if TOKEN in note]
    assert TOKEN.encode() not in (here / "team.db").read_bytes()


def test_each_pull_request_has_a_comment_of_its_own_where_the_environment_names_it(
    here: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = Channels(github=Issue("$PULL_REQUEST"))
    monkeypatch.setenv("GITHUB_API_URL", server.address)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.delenv("PULL_REQUEST", raising=False)
    assert told(channels, "1.3") == ["nothing sent by github: the variable `PULL_REQUEST` is not set"]
    monkeypatch.setenv("PULL_REQUEST", "numpy")
    assert "`$PULL_REQUEST` is `numpy`, expected an issue" in told(channels, "1.3")[0]
    for number in (12, 13):
        monkeypatch.setenv("PULL_REQUEST", f"numpy/numpy#{number}")
        assert told(channels, "1.3") == ["1 message sent by github"]
        assert any(f"/issues/{number}/comments" in path for _, path, *_ in server.requests)


def test_an_address_with_a_secret_comes_from_the_environment(
    here: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = Channels(webhook=Webhook("$HOOK"))
    monkeypatch.delenv("HOOK", raising=False)
    assert "the variable `HOOK` is not set; they wait" in told(channels, "1.3")[0]
    monkeypatch.setenv("HOOK", f"{server.address}/services/T0/secret")
    assert told(channels) == ["1 message sent by webhook"]
    assert b"T0/secret" not in (here / "team.db").read_bytes()


def test_a_night_tells_what_is_new_and_ends_as_without(opperf: Any, here: Path, server: Server) -> None:
    (here / "opperf.toml").write_text(
        '[database]\nurl = "team.db"\n[nightly]\noperators = "null:steady"\npairs = 3\nanchor = "null;version=1.0"\n'
        f'builds = "null;version=1.3;slowdown=1.1"\n[notify.webhook]\nurl = "{server.address}/hook"\n'
    )
    server.status = 503
    done = opperf("nightly")
    assert (done.code, "1 message by webhook not sent: the server answered 503" in done.err) == (1, True)
    server.status = 200
    assert "1 message sent by webhook" in opperf("nightly").err
    (content,) = server.requests[-1][2]["regressions"]
    assert opperf("history", "triage", content["change"], "--state", "expected").code == 0
    assert opperf("nightly", "--again").code == 0
    assert len(server.requests) == 2


def test_a_gate_tells_what_is_new_where_it_has_a_database(opperf: Any, here: Path, server: Server) -> None:
    (here / "opperf.toml").write_text(
        'operators = "null:steady"\nbase = "null;version=1"\nnew = "null;version=2;slowdown=1.1"\npairs = 3\n'
        f'[notify.webhook]\nurl = "{server.address}/hook"\n'
    )
    assert "`[notify]` sends nothing without `--database`" in opperf("gate").err
    assert "1 message sent by webhook" in opperf("gate", "--database", "team.db").err
    assert "message" not in opperf("gate", "--database", "team.db").err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("notify = 3", "`notify` is `3`, expected a table"),
        ("[notify.pager]", "no table `[notify.pager]`"),
        ("[notify.webhook]", "no `url` in the table `[notify.webhook]`"),
        ('[notify.webhook]\nurl = "file:///etc/passwd"', "`notify.webhook.url`: found 'file:///etc/passwd'"),
        ('[notify.webhook]\nurl = "https://a:b@c/"', "the address has a password"),
        ('[notify.webhook]\nurl = "https://c/"\nform = "irc"', "`notify.webhook.form`: found 'irc'"),
        ('[notify.webhook]\nurl = "https://c/"\ntoken = "x"', "no key `token`"),
        ('[notify.email]\nserver = "smtp://a"\nsender = "me"\nto = "a@b"', "`notify.email.sender`: found 'me'"),
        ('[notify.github]\nissue = "numpy"', "`notify.github.issue`: found 'numpy', expected an issue"),
    ],
)
def test_what_the_file_says_wrongly_is_told_with_its_place(opperf: Any, here: Path, table: str, message: str) -> None:
    (here / "opperf.toml").write_text(f'operators = "null:steady"\nbase = "null"\nnew = "null"\n{table}\n')
    done = opperf("gate")
    assert (done.code, message in done.err) == (2, True), done.err
