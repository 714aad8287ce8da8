"""`opperf replay` of traces of which nothing can be run: their reasons are the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Opperf: TypeAlias = Callable[..., Any]

NOTHING: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}


def node(number: int, name: str, **attributes: str) -> dict[str, Any]:
    """Return a node of a trace without arguments."""
    return {
        "id": number,
        "name": name,
        "ctrl_deps": 1,
        "inputs": NOTHING,
        "outputs": NOTHING,
        "attrs": [{"name": key, "type": "string", "value": value} for key, value in attributes.items()],
    }


@pytest.fixture
def trace(here: Path) -> Path:
    """A trace of a collective operation, and of a kernel whose source lies beside the trace."""
    nodes = [
        node(2, "c10d::allreduce_", op_schema="c10d::allreduce_(Tensor[] tensors) -> ()"),
        node(3, "triton_poi_0", kernel_backend="triton", kernel_file="/build/abc.py"),
    ]
    path = here / "et.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return path


def test_a_trace_of_which_all_is_left_out_has_a_report_with_the_reasons(
    opperf: Opperf, trace: Path, here: Path
) -> None:
    done = opperf("replay", trace, "--output", here / "out.json")
    assert done.code == 2
    assert "no operator of the trace can be replayed" in done.err
    assert "left out: 1 x c10d::allreduce_: communication between processes" in done.out
    document = json.loads((here / "out.json").read_text())
    reasons = {entry["name"]: entry["reason"] for entry in document["left_out"]}
    assert reasons["triton_poi_0"].startswith("a fused kernel of triton, whose source `abc.py` is not run")
    assert list(here.glob("*.journal")) == []


def test_a_size_that_is_none_is_refused(opperf: Opperf, trace: Path) -> None:
    done = opperf("replay", trace, "--memory-limit", "much")
    assert done.code == 2
    assert "`--memory-limit` is `much`, expected a number and a unit" in done.err


def test_two_traces_are_compared_and_nothing_runs(opperf: Opperf, trace: Path, here: Path) -> None:
    document = json.loads(trace.read_text())
    document["nodes"] = [*document["nodes"][:1], {**document["nodes"][0], "id": 9}]
    (here / "after.json").write_text(json.dumps(document))
    done = opperf("replay", "--diff", trace, "after.json", "--html", "d.html", "--output", "d.json")
    assert done.code == 0, done.err
    assert "2 calls before, 2 after; of 2 operators with their inputs, 0 the same" in done.out
    assert "1 -> 2" in done.out
    assert "triton_poi_0" in (here / "d.html").read_text()
    rows = json.loads((here / "d.json").read_text())["rows"]
    assert {row["operator"]: row["only"] for row in rows} == {"c10d::allreduce_": "", "triton_poi_0": "before"}


def test_both_timelines_are_in_the_page_where_kineto_traces_have_them(opperf: Opperf, here: Path) -> None:
    call = node(2, "c10d::allreduce_", op_schema="c10d::allreduce_(Tensor[] tensors) -> ()")
    call["attrs"].append({"name": "rf_id", "type": "uint64", "value": 7})
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1e6, "args": {"Record function id": 7}}
    for name, took in (("a", 4.0), ("b", 9.0)):
        (here / f"{name}.json").write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [call]}))
        events = [{**event, "name": call["name"], "dur": took}]
        (here / f"{name}_kineto.json").write_text(json.dumps({"traceEvents": events}))
    times = ("--kineto", "a_kineto.json", "--kineto", "b_kineto.json")
    pages = []
    for words in (times, ()):
        done = opperf("replay", "--diff", "a.json", "b.json", *words, "--html", "d.html", "--force")
        assert done.code == 0, done.err
        pages.append((here / "d.html").read_text())
    assert "the whole profile, 4.00 us before, 9.00 us after" in pages[0]
    assert ['id="trace-after"' in page for page in pages] == [True, False]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("et.json",), "`--diff` takes two traces, got 1"),
        (("et.json", "et.json", "--kineto", "et.json"), "`--kineto` is there 1 times, expected none or one for each"),
        (("et.json", "et.json", "--plot", "a.svg"), "`--plot` is of a replay, and `--diff` runs nothing"),
    ],
)
def test_what_does_not_compare_two_traces_is_refused(
    words: tuple[str, ...], message: str, opperf: Opperf, trace: Path
) -> None:
    done = opperf("replay", "--diff", *words)
    assert done.code == 2
    assert message in done.err
