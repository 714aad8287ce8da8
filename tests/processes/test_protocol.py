"""Children that do not keep to the protocol: each is ended, and said so in one failure."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.message.replies import Failure, Meaning, Remainder
from opperf.domain.message.requests import Describe, Measure, Release
from opperf.domain.message.wire import PROTOCOL
from opperf.domain.plan import Settings, Side
from opperf.domain.reason import Reason
from opperf.parent.workers import process
from opperf.parent.workers.process import Worker

Python: TypeAlias = Callable[[str], Path]
Start: TypeAlias = Callable[..., Worker]

pytestmark = pytest.mark.usefixtures("graceful")
#: For what answers at once, on a quiet machine. Seconds.
SOON = 180.0


def _is_gone(child: Worker) -> bool:
    return not child.alive and not psutil.pid_exists(child.pid)


@pytest.mark.parametrize(
    ("hello", "complaint"),
    [
        ('{"id": 0, "protocol": 99, "result": {}}', f"protocol 99, but this opperf uses {PROTOCOL}"),
        ('{"id": 0, "result": {}}', f"protocol None, but this opperf uses {PROTOCOL}"),
        ('{"id": 0, "failure": {"message": "no numpy"}}', f"protocol None, but this opperf uses {PROTOCOL}"),
    ],
)
def test_a_child_of_another_protocol_is_ended(hello: str, complaint: str, worker: Start, fake_python: Python) -> None:
    child = worker(fake_python(f"say({hello + chr(10)!r}); sleep()"))
    with pytest.raises(WorkerFailure, match=complaint) as caught:
        child.greet(SOON)
    assert caught.value.slug == "protocol_version"
    assert caught.value.hint == "use the same version of opperf on both sides"
    assert _is_gone(child)


def test_another_protocol_is_a_failed_record_for_the_user(
    command: Callable[..., subprocess.CompletedProcess[str]],
    document: Callable[[str], list[dict[str, Any]]],
    fake_python: Python,
    tmp_path: Path,
) -> None:
    python = fake_python("""say('{"id": 0, "protocol": 99, "result": {}}\\n'); sleep()""")
    (tmp_path / "numpy.py").write_text("")
    words = ("add", "--framework", "numpy", "--framework", "null", "--environment", f"python={python}")
    done = command(
        "run", *words, "--size", "small", "--direction", "forward", "--format", "json", PYTHONPATH=str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    failed, ok = document(done.stdout)
    assert (failed["status"], failed["reason"]["slug"]) == ("failed", "protocol_version")
    assert "did not start: the child uses protocol 99" in failed["reason"]["message"]
    assert (ok["side"]["framework"], ok["status"]) == ("null", "ok")


def test_a_hello_without_facts_is_refused(worker: Start, fake_python: Python) -> None:
    child = worker(fake_python("""say(HELLO.replace("facts", "fakts")); sleep()"""))
    with pytest.raises(WorkerFailure, match='invalid data on the child\'s pipe: hello: found a key "fakts"'):
        child.greet(SOON)
    assert _is_gone(child)


def test_a_child_that_says_nothing_is_ended_at_the_deadline(worker: Start, fake_python: Python) -> None:
    child = worker(fake_python("print('still loading', flush=True); sleep()"))
    with pytest.raises(
        WorkerFailure, match=r"no answer to `start` within 0\.5 s; opperf killed the child process"
    ) as caught:
        child.greet(0.5)
    assert (caught.value.slug, caught.value.hint) == ("timeout", None)
    assert _is_gone(child)


def test_a_child_that_does_not_answer_in_time_says_which_option_is_the_limit(
    worker: Start, fake_python: Python
) -> None:
    child = worker(fake_python("say(HELLO); hear(); sleep()"))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match=r"no answer to `release` within 0\.5 s, the limit of `--timeout`; "):
        child.ask(Release(1), 0.5)
    assert _is_gone(child)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("Segmentation fault", "not JSON: b'Segmentation fault'"),
        ("", "not JSON: b''"),
        ("[" * 100_000, r"not JSON: b'\[\[\["),
        ("[1, 2]", r"not a message: b'\[1, 2\]'"),
        ('{"id": "1", "result": {}}', "not a message"),
        ('{"id": 1}', "not a reply"),
        ('{"id": 1, "result": {}, "failure": {}}', "not a reply"),
    ],
)
def test_what_is_no_message_ends_the_child(said: str, complaint: str, worker: Start, fake_python: Python) -> None:
    child = worker(fake_python(f"say(HELLO); hear(); say({said!r} + chr(10)); sleep()"))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match=f"invalid data on the child's pipe: {complaint}") as caught:
        child.ask(Release(1), SOON)
    assert caught.value.slug == "protocol"
    assert _is_gone(child)


def test_an_answer_to_another_request_ends_the_child(worker: Start, fake_python: Python) -> None:
    child = worker(fake_python("""say(HELLO); hear(); say('{"id": 7, "result": {"size": 0}}\\n'); sleep()"""))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match="answered request 7 instead of 1"):
        child.ask(Release(1), SOON)
    assert _is_gone(child)


def test_a_child_that_closes_its_pipe_and_lives_on_is_ended(
    worker: Start, fake_python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    child = worker(fake_python("say(HELLO); hear(); os.close(answers); sleep()"))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match="closed its pipe but kept running"):
        child.ask(Release(1), SOON)
    assert _is_gone(child)


def test_a_child_that_leaves_between_requests_says_so_at_the_next(worker: Start, fake_python: Python) -> None:
    child = worker(
        fake_python('say(HELLO); hear(); print(\'bye\', flush=True); say(\'{"id": 1, "result": {"size": 0}}\\n\')')
    )
    child.greet(SOON)
    assert child.ask(Release(1), SOON) == Remainder(0)
    with pytest.raises(WorkerFailure, match="the child ended with exit code 0") as caught:
        child.ask(Release(1), SOON)
    assert caught.value.stderr == "bye"


def test_a_message_in_pieces_is_put_together(worker: Start, fake_python: Python) -> None:
    child = worker(
        fake_python(
            """
            for letter in HELLO:
                say(letter)
            hear()
            say('{"id": 1, "resu')
            time.sleep(0.1)
            say('lt": {"size": 1}}\\n{"id": 2, "result": {"size": 2}}\\n')
            sleep()
            """
        )
    )
    child.greet(SOON)
    assert [child.ask(Release(i), SOON) for i in (1, 2)] == [Remainder(1), Remainder(2)]


def test_an_answer_that_is_there_before_its_request_has_no_moment(worker: Start, fake_python: Python) -> None:
    answers = "".join(f'{{"id": {number}, "result": {{"size": 0}}}}\\n' for number in (1, 2))
    child = worker(fake_python(f"say(HELLO); hear(); say('{answers}'); sleep()"))
    child.greet(SOON)
    child.ask(Release(1), SOON)
    with pytest.raises(WorkerFailure, match="answered before it was asked"):
        child.ask(Release(1), SOON, answered=lambda: None)
    assert _is_gone(child)


def test_a_message_without_end_is_cut_off(worker: Start, fake_python: Python, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LONGEST", 100_000)
    child = worker(
        fake_python(
            """
            say(HELLO)
            hear()
            while True:
                say("x" * 1000)
            """
        )
    )
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match="a message of over 100000 bytes"):
        child.ask(Release(1), SOON)
    assert _is_gone(child)


@pytest.mark.parametrize("read", [0, 5000])
def test_a_child_that_does_not_read_its_requests_holds_nobody(read: int, worker: Start, fake_python: Python) -> None:
    child = worker(fake_python(f"say(HELLO); os.read(requests, {read}); sleep()"))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match="does not read its requests") as caught:
        child.ask(Describe("x" * 1_000_000), 1.0)
    assert caught.value.slug == "timeout"
    assert _is_gone(child)


def test_a_request_of_many_pipefuls_arrives_whole(worker: Start, fake_python: Python) -> None:
    child = worker(
        fake_python(
            """say(HELLO); n = len(hear()["arguments"]["name"]); say(f'{{"id": 1, "result": {{"path": "{n}"}}}}\\n')"""
        )
    )
    child.greet(SOON)
    assert child.ask(Describe("x" * 300_000), SOON) == Meaning("300000")


@pytest.mark.parametrize("reply", ['{"size": "much"}', '{"size": 0, "kept": 1}', "{}"])
def test_a_reply_that_is_none_to_its_request_ends_the_child(reply: str, worker: Start, fake_python: Python) -> None:
    line = f'{{"id": 1, "result": {reply}}}\n'
    child = worker(fake_python(f"say(HELLO); hear(); say({line!r}); sleep()"))
    child.greet(SOON)
    with pytest.raises(WorkerFailure, match="invalid data on the child's pipe: remainder") as caught:
        child.ask(Release(1), SOON)
    assert caught.value.slug == "protocol"
    assert _is_gone(child)


def test_an_unknown_verb_ends_the_child_and_is_told_in_its_last_lines(
    worker: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = worker()
    child.greet(SOON)
    monkeypatch.setattr(process, "request_line", lambda *_: b'{"id": 1, "verb": "detonate", "arguments": {}}\n')
    with pytest.raises(WorkerFailure, match="the child ended with exit code 1") as caught:
        child.ask(Release(1), SOON)
    assert "not a request" in (caught.value.stderr or "")


def test_a_request_that_fails_leaves_the_child_in_service(worker: Start) -> None:
    child = worker()
    child.greet(SOON)
    with pytest.raises(OperatorFailure, match="7"):
        child.ask(Measure(7, Settings()), SOON)
    assert child.ask(Describe("add"), SOON).operator == "add"


def test_the_hello_carries_the_facts_of_the_child(worker: Start) -> None:
    child = worker()
    child.greet(SOON)
    assert (child.facts["version"], child.facts["allocator"], child.devices) == ("1", "fixed thresholds", ("cpu",))


def test_the_allocator_is_left_alone_when_asked(worker: Start) -> None:
    child = worker(side=Side("null", allocator="default"))
    child.greet(SOON)
    assert child.facts["allocator"] == "default"


@pytest.mark.parametrize("last", [True, False])
def test_a_child_whose_device_is_lost_is_replaced_with_its_last_failure(
    last: bool, worker: Start, fake_python: Python
) -> None:
    failure = {"id": 1, "failure": Failure(Reason("operator_error", "illegal address"), last=last).to_json()}
    child = worker(fake_python(f"say(HELLO); hear(); say({json.dumps(failure) + chr(10)!r}); sleep()"))
    child.greet(SOON)
    with pytest.raises(OperatorFailure, match="illegal address"):
        child.ask(Release(1), SOON)
    assert _is_gone(child) is last
