"""What commands without a case of their own print is read on 120 columns: of stored suites, traces, builds and nights.

Operators have the names and arguments of a training step as it was captured; figures are made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.docs.test_width import FIRST, RATIOS, TIMES, VERDICTS, WIDTH, broken, tables
from tests.functional.conftest import invoke
from tests.nights import archive
from tests.unit.parent.reports.conftest import run_of, statistics

from opperf.catalog import catalog
from opperf.domain.case import Case, ListOf
from opperf.domain.plan import Side, Trial
from opperf.domain.profile.event import Event, Profile
from opperf.domain.record import Record, Run
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.bisection import Answer, Bisection, Step
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.exploration import Anomaly, Exploration, Territory
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.trace import Replay, Trace, TracedCase
from opperf.parent.reports import gate, operators, render, report_of
from opperf.parent.reports.document import Document

BASE, NEW = Side("torch", "torch==2.12.0"), Side("torch", "torch==2.13.0+cu128")
POSITIVE = TensorSpec((32, 128), range=(0.0, 1.0))
CASES = (
    Case("torch:aten::t.default", {"self": TensorSpec((128, 64))}),
    Case(
        "torch:aten::addmm.default",
        {"self": TensorSpec((128,)), "mat1": POSITIVE, "mat2": TensorSpec((64, 128), strides=(1, 64))},
    ),
    Case(
        "torch:aten::native_layer_norm_backward.default",
        {"grad_out": TensorSpec((32, 128)), "input": POSITIVE, "mean": POSITIVE, "rstd": POSITIVE},
        {"normalized_shape": (128,), "output_mask": (True, True, True)},
    ),
    Case(
        "torch:aten::nll_loss_forward.default",
        {"self": TensorSpec((32, 10), range=(-1.0, 0.0)), "target": TensorSpec((32,), "int64", range=(0.0, 32000.0))},
        {"weight": None, "reduction": 1, "ignore_index": -100},
    ),
    Case("numpy:numpy.concatenate", {"arrays": ListOf((TensorSpec((1024, 1024)), TensorSpec((16384, 16384, 3))))}),
)
TRIALS = tuple(Trial(case, BASE, "forward", count=12) for case in CASES)


def run() -> Run:
    """Return the run of a suite."""
    timed = zip(TRIALS, TIMES, strict=True)
    share = {"share": 0.2, "cumulative": 0.5}
    return run_of(
        *(
            Record(trial, "ok", metrics={"time": statistics(time)}, facts={"suite": {"total": 12 * time, **share}})
            for trial, time in timed
        )
    )


def comparisons() -> ComparisonRun:
    """Return the comparison of a suite."""
    figures = zip(CASES, TIMES, RATIOS, VERDICTS, strict=True)
    return ComparisonRun(
        run_of(),
        tuple(
            Comparison(
                case,
                "forward",
                BASE,
                NEW,
                Verdict(word, ratio, (ratio * 0.98, ratio * 1.0213), "both stages agree", 12),
                time,
                time * ratio,
                count=12,
            )
            for case, time, ratio, word in figures
        ),
    )


def judged() -> Document:
    """Return the report of a gate."""
    result = comparisons()
    kinds = ("slower", "failed", "inconclusive", "same", "slower")
    findings = (Finding(kind, one, "both agree") for kind, one in zip(kinds, result.comparisons))
    return gate.document(result, Judgement(tuple(findings), 0.02))


def floors() -> NoiseRun:
    """Return floors."""
    rows = zip(TRIALS, TIMES, strict=True)
    began = "2026-10-01T03:00:00+00:00"
    return NoiseRun(
        run_of(), tuple(Floor(one, time, 7, 0.006, 0.0123, 0.0345, 1, 12, began) for one, time in rows), (), 0.02
    )


def bisected() -> Bisection:
    """Return what each kind of answer looks like, between releases and between commits."""
    commits = ("2026.10.01+git1234567890", "2026.10.02+gitabcdef012345")
    steps = (Step("1.26.4", "2.0.0", 1.523, (1.4, 1.6), 12), Step(*commits, 0.7, None, 7))
    kinds = ("steps", "slope", "same", "inconclusive", "failed")
    answers = (
        Answer(case, "forward", kind, "12 pairs", 1.523, (1.4, 1.6), steps if kind == "steps" else (), 0.97)
        for case, kind in zip(CASES, kinds, strict=True)
    )
    return Bisection(run_of(), BASE, ("1.26.4", "2.0.0", *commits), ("1.26.4", *commits), (), tuple(answers))


def explored() -> Exploration:
    """Return cliffs."""
    again = "opperf run torch:aten::addmm.default --input self=128 --input mat1=32x64:range=0..1"
    cliffs = (
        Anomaly(
            case, CASES[0], 3.21, (3.0, 3.4), 5, 3e-3, 1e-3, "n >= 1000, k mod 8 == 1", "pad self.1 to 1,032", again
        )
        for case in CASES
    )
    ranges = ("n=1..4096", "k=1..4096")
    return Exploration(
        run_of(), "cliff", 1.2, None, (Territory("aten::addmm", BASE, "forward", ranges, 500, 1, tuple(cliffs)),)
    )


def replayed() -> Replay:
    """Return a trace that was replayed."""
    return Replay(Trace("trace.json", tuple(TracedCase(case, 12) for case in CASES)), run())


def profiled() -> Profile:
    """Return a profile with the name of a kernel of CUTLASS in it."""
    kernel = "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8>"
    events = (
        Event(name, "operator", 1000 * place, 900, 7, "main", module="layers.0.attention.query", shapes=((32, 128),))
        for place, name in enumerate((kernel, *(case.operator for case in CASES)))
    )
    return Profile(tuple(events), (), {7: {"framework": "torch", "version": "2.13.0"}}, ())


def reports() -> Iterator[tuple[str, Document, str]]:
    """Yield the report of each command, with the heading that must stand in the first columns."""
    yield "run --suite", report_of(run()), "time"
    yield "compare --suite", report_of(comparisons()), "ratio"
    yield "gate", judged(), "ratio"
    yield "noise", report_of(floors()), "floor"
    yield "bisect", report_of(bisected()), "answer"
    yield "explore", report_of(explored()), "ratio"
    yield "replay", report_of(replayed()), "time"
    for by in ("name", "shape", "module"):
        yield f"profile --by {by}", report_of(profiled(), by=by), "self"
    yield (
        "capture",
        report_of(Suite("step", "step.py:step", tuple(SuiteCase(case, 12, "Sequential.0 backward") for case in CASES))),
        "calls",
    )
    yield "operators", operators.document(map(operators.line, catalog().values())), "operator"


def headings(lines: Sequence[str]) -> str:
    """Return the titles of the first table, those on two lines in one."""
    rule = next(place for place, line in enumerate(lines) if line.startswith("---"))
    begin = max((place for place in range(rule) if not lines[place]), default=-1) + 1
    return "\n".join(line[:FIRST] for line in lines[begin:rule])


def check(name: str, text: str, heading: str) -> Iterator[str]:
    """Yield what is wrong with what a command prints."""
    lines = text.splitlines()
    if not re.search(rf"\b{heading}\b", headings(lines)):
        yield f"{name}: no {heading} in the first {FIRST} columns"
    yield from (f"{name}: {len(line)} columns: {line}" for line in lines if len(line) > WIDTH)


def test_what_other_commands_print_fits_120_columns_and_begins_with_what_matters() -> None:
    wrong: list[str] = []
    for name, report, heading in reports():
        wrong += check(name, render(report, width=WIDTH), heading)
        wrong += [f"{name}: {word}" for table in tables(report.blocks) for word in broken(table)]
    assert not wrong, "\n".join(wrong)


def test_a_history_fits_120_columns_and_begins_with_what_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    archive(tmp_path / "nights.db", nights=12)
    words = {"list": "kind", "operators": "series", "show matmul": "ratio", "changes": "ratio"}
    shown = {one: invoke("history", *one.split(), "--database", tmp_path / "nights.db") for one in words}
    assert {done.code for done in shown.values()} == {0}
    wrong = [text for one, heading in words.items() for text in check(one, shown[one].out, heading)]
    assert not wrong, "\n".join(wrong)


def test_long_builds_are_folded_and_leave_room_for_operators() -> None:
    text = render(bisected(), width=WIDTH)
    builds = [word for line in text.splitlines() for word in line.split()]
    assert {"2026.10.01+", "git1234567890", "gitabcdef012345"} <= {*builds}
