"""The protocol's lines: what is written is read, and whatever else comes through the pipe is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.catalog import operator
from opperf.domain.code import Code, ProblemCode
from opperf.domain.codec import Fields
from opperf.domain.explanation import Event, Explanation
from opperf.domain.judging import Geometry
from opperf.domain.kernels import KernelTimes
from opperf.domain.measurement import Measurement, Quantity, Sample, Samples
from opperf.domain.message.replies import (
    Agreement,
    Arguments,
    Descriptions,
    Discovery,
    Entries,
    Evaluation,
    Example,
    Failure,
    Hello,
    Inspection,
    Instructions,
    Meaning,
    Outlined,
    Outlines,
    Output,
    Passing,
    Preparation,
    Recording,
    Remainder,
    Sampling,
)
from opperf.domain.message.requests import (
    VERBS,
    BuildLoops,
    Capture,
    CaptureConfiguration,
    CaptureModel,
    Compare,
    CountInstructions,
    Describe,
    Discover,
    Draw,
    Evaluate,
    Examine,
    Explain,
    Generate,
    Go,
    Inspect,
    Iterate,
    LineUp,
    Measure,
    OpenProblem,
    Outline,
    Pose,
    Prepare,
    Quit,
    Release,
    Request,
    Stand,
    TryDummies,
    Turn,
    Usage,
    WatchKernels,
    reply_type,
    verb,
)
from opperf.domain.message.wire import MessageError, answer_line, read_answer, read_request, request_line
from opperf.domain.plan import Part, Settings, Side, Trial
from opperf.domain.problem import OpenedProblem, Slot, Standing
from opperf.domain.reason import Reason, Warning
from opperf.domain.suite import Suite, SuiteCase

CASE = operator("softmax").case("small")
TRIAL = Trial(CASE, Side("null", implementation="steady"), "backward", "user", 3)
OWN = Trial(CASE, Side("null", implementation=Code("mine.py:f")), "forward")
OUTPUT = Output("output.bin", (2, 3), "float32")
SAMPLES = Samples((Sample(1, 2, 3), Sample(4, 5, 6, waiting_ns=7)), 0.5)
PROBLEM = ProblemCode("kernelbench", "1_A.py")
OPENED = OpenedProblem(PROBLEM, 4096, (CASE,), (), ("scaled",), ({"batch": 8},), {"uuid": "a"})
STANDING = Standing("kernelbench", (Slot(0),), build=(), sizes={"batch": (64, 8)}, mutates=("x",))
GEOMETRY = Geometry(4, 8192, (64, 4224))
OUTLINED = Outlined((2, 3), "float32", (12, 4))
REQUESTS: tuple[Request[Any], ...] = (
    Prepare(TRIAL, 7, "timed", 64, 1000, results=True),
    Prepare(OWN),
    Measure(1, Settings(cpus=(0, 1)), Part(2, 0.5)),
    WatchKernels(1, 20, cold=False),
    BuildLoops("/folder"),
    CountInstructions(1, "/cache", "/counts"),
    Turn(1, 4, 100, kernels=True),
    Release(1),
    Describe("add"),
    Describe(Code("mine.py:f")),
    Discover(),
    Discover("aten::mm", "small"),
    Explain(TRIAL, 0),
    Evaluate(TRIAL, 0, "/folder"),
    Compare(TRIAL, 0, (OUTPUT,), (OUTPUT,), "NumPy"),
    Capture(Code("mine:step")),
    CaptureModel("net.onnx", {"a": {"shape": [2]}}),
    CaptureConfiguration("net", {"hidden_size": 64}, Usage("decode", 8, 4096, "bfloat16", 2, "one")),
    Iterate("Mine", {"input": [{"anything": 1}]}, "input"),
    Generate("Data", ({"rows": 1},)),
    Stand(OWN, GEOMETRY, 5, 6, writable=True),
    LineUp((0, 1), 3, empty=True),
    Go(),
    Outline(),
    Examine(TRIAL, GEOMETRY, 5, 6),
    OpenProblem(PROBLEM, 4096),
    Pose(OPENED, CASE, 7),
    Draw((0, 1), ("plain", "spike")),
    TryDummies(),
    Inspect(1, (OUTLINED,)),
    Quit(),
)
REPLIES: tuple[Fields, ...] = (
    Hello(1, {"version": "2", "import_seconds": 0.5}, ("cpu",)),
    Failure(Reason("odd", "no such thing", "try another", exception="KeyError", traceback="..."), skipped=True),
    Preparation(1, {"implementation": "null:add"}, {"inputs": 0.5}, watched=True, results=("float32 4",)),
    KernelTimes({"device": SAMPLES}, {"kernels": [{"name": "mul"}]}, (Warning("a", "b"),), 0.5),
    Measurement(
        {"time": SAMPLES, "latency": SAMPLES, "memory_peak": Quantity(1, "counted")},
        {"a": [1]},
        (Warning("a", "b"),),
        {"samples": 1.0},
    ),
    Instructions(1024.0, 0.001, 100, 5, "avx2"),
    Sampling(SAMPLES, (Warning("a", "b"),)),
    Remainder(-5),
    Meaning("numpy.add", "add", {"x1": "lhs"}, {"backward": "none"}, "note", ("x1",), ("sub",), "why", "wrong", "hint"),
    Discovery(("np.kron",), (Example(CASE, 64),)),
    Explanation((Event("mm", "kernel", 1.0, None),), ("BLAS",)),
    Evaluation((OUTPUT,)),
    Agreement(),
    Recording(Suite("step", "mine:step", (SuiteCase(CASE),)), ("a note",)),
    Entries(((0, {"args": []}), ("b", {}))),
    Descriptions((Arguments((1, None), {"alpha": 2}),)),
    Outlines((OUTLINED,)),
    Inspection("element 0 is 1, expected 2", "precision", {"wrong": 1}),
    Passing(("zeros",), steady=True),
    STANDING,
    OPENED,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
LINES = st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode())
KEYS = st.sampled_from(["id", "verb", "arguments", "result", "failure"])
NEARLY = st.dictionaries(KEYS, JSON, max_size=5).map(lambda value: json.dumps(value).encode())


def test_every_verb_and_every_reply_stands_among_the_examples() -> None:
    assert {verb(request) for request in REQUESTS} == set(VERBS)
    assert {type(reply) for reply in REPLIES} >= {reply_type(request) for request in REQUESTS}


@pytest.mark.parametrize("request_", REQUESTS, ids=verb)
def test_a_request_is_read_as_it_was_written(request_: Request[Any]) -> None:
    line = request_line(7, request_)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_request(line) == (7, request_)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
def test_a_reply_is_read_as_it_was_written(reply: Fields) -> None:
    answer = read_answer(answer_line(7, reply))
    told = answer.failure if isinstance(reply, Failure) else answer.result
    assert (answer.id, type(reply).from_json(told)) == (7, reply)


def test_the_users_own_code_reaches_a_child_as_code_and_a_label_as_a_label() -> None:
    label = Trial(CASE, Side("null", implementation="code:mine.py:f"), "forward")
    for trial, own in ((OWN, Code("mine.py:f")), (label, "code:mine.py:f")):
        _, asked = read_request(request_line(1, Explain(trial, 0)))
        assert isinstance(asked, Explain)
        assert asked.trial.side.implementation == own
    _, asked = read_request(request_line(1, Describe("code:mine.py:f")))
    assert asked == Describe("code:mine.py:f")


@pytest.mark.parametrize("request_", REQUESTS, ids=verb)
def test_a_key_that_is_no_field_is_refused(request_: Request[Any]) -> None:
    line = json.loads(request_line(7, request_))
    line["arguments"]["more"] = 1
    with pytest.raises(MessageError, match=f'not a request: {verb(request_)}: found a key "more"'):
        read_request(json.dumps(line).encode())


def test_what_a_request_lacks_is_told_with_its_place() -> None:
    line = json.loads(request_line(1, Prepare(TRIAL)))
    line["arguments"]["trial"]["side"]["threads"] = "a"
    with pytest.raises(MessageError, match=r'prepare.trial.side.threads: found "a", expected a whole number >= 1'):
        read_request(json.dumps(line).encode())


@given(LINES | NEARLY)
def test_any_line_is_a_request_or_refused(line: bytes) -> None:
    try:
        _, result = read_request(line)
    except MessageError as error:
        slug = error.slug
        assert slug == "protocol"
    else:
        assert verb(result) in VERBS


@given(LINES | NEARLY)
def test_any_line_is_an_answer_or_refused(line: bytes) -> None:
    try:
        result = read_answer(line)
    except MessageError as error:
        slug = error.slug
        assert slug == "protocol"
    else:
        assert (result.result is None) != (result.failure is None)


@each(
    "line",
    [
        b"",
        b"\n",
        b"\x00\xff not a message\n",
        b"[1, 2]\n",
        b"{}\n",
        b'{"id": "1", "result": {}}\n',
        b'{"id": true, "result": {}}\n',
        b'{"id": 1}\n',
        b'{"id": 1, "result": []}\n',
        b'{"id": 1, "result": {}, "failure": {}}\n',
        b'{"id": 1, "result": {}, "more": 1}\n',
        b'{"id": 1, "result": {}',
        b"[" * 200_000,
    ],
)
def test_what_is_no_answer_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_answer(line)


@each(
    "line",
    [
        b'{"id": 1, "verb": "delete", "arguments": {}}',
        b'{"id": 1, "verb": "measure"}',
        b'{"id": 1, "verb": "measure", "arguments": []}',
        b'{"verb": "measure", "arguments": {}}',
        b'{"id": 1, "verb": ["measure"], "arguments": {}}',
        b'{"id": 1, "verb": "release", "arguments": {"handle": "1"}}',
        b'{"id": 1, "verb": "capture", "arguments": {"code": "mine.py:f"}}',
    ],
)
def test_what_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(MessageError):
        read_request(line)


def test_a_refusal_shows_the_beginning_of_the_line_alone() -> None:
    with pytest.raises(MessageError) as caught:
        read_answer(b"x" * 10_000)
    assert len(str(caught.value)) < 200
