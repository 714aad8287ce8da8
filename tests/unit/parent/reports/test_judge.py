"""Judged candidates in every format: the best first, each with its evidence and the smallest failing case."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.explanation import Event, Explanation
from opperf.domain.plan import Settings
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.load import read_value
from opperf.parent.documents.candidates import Evidence, Judged, JudgedRun, Speed
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import page
from opperf.parent.reports import render, report_of

CASE, SMALL = (Case("softmax", {"data": TensorSpec(shape)}, {"axis": -1}) for shape in ((1024, 1024), (8, 128)))


def judged(name: str, verdict: str, speedup: float | None = None, *evidence: Evidence) -> Judged:
    """Return a judgement; what is right has times, and what is not the message of its evidence."""
    speed = None if speedup is None else Speed(1e-3 / speedup, 1e-3, speedup, (0.97 * speedup, 1.03 * speedup))
    reason = evidence[0].message if evidence else "both stages agree"
    times = {"ring": speed, "hot": speed, "judged_by": "ring", "pairs": 13} if speed else {}
    return Judged(f"{name}.py:f", "torch:torch.softmax", CASE, verdict, reason, evidence, room=("landlock",), **times)  # type: ignore[arg-type]


REPLAYS = Evidence(
    "replays", "wrong result in call 5 at a small size: element [0, 0] is 0.1, expected 0.2", "tiny", SMALL
)
LATER = Evidence("works_after_return", "wrong result in call 2 at the size that is timed", "size", CASE)
LISTED = Evidence("listed_sizes_only", "it refuses 1025x1025", "other", SMALL)


@pytest.fixture
def judged_run() -> JudgedRun:
    """Some of each verdict, in no order."""
    header = Run("j1", "2026-11-26T08:00:00+00:00", ("opperf", "judge", "a.py:f"), Settings())
    several = (
        judged("by_address", "wrong", None, REPLAYS),
        judged("quick", "faster", 1.25),
        judged("slow", "slower", 0.5),
        judged("quickest", "faster", 3.0, LISTED),
        judged("later", "cheats", None, LATER),
        judged("unclear", "inconclusive", 1.01),
        judged("alike", "same", 1.0),
    )
    return JudgedRun(header, several)


def test_candidates_stand_best_first(judged_run: JudgedRun) -> None:
    rows = csv.DictReader(io.StringIO(render(judged_run, "csv")))
    order = ["quickest", "quick", "alike", "slow", "unclear", "by_address", "later"]
    assert [row["candidate"] for row in rows] == [f"{name}.py:f" for name in order]


def test_a_document_is_read_back_as_it_was(judged_run: JudgedRun) -> None:
    text = render(judged_run, "json")
    again = read_value(json.loads(text), "j.json")
    assert again == judged_run
    assert render(report_of(again), "json") == text


def test_one_that_cannot_be_loaded_has_no_failing_case(judged_run: JudgedRun) -> None:
    broken = judged("broken", "wrong", None, Evidence("load", "cannot load it", "load", CASE))
    text = render(replace(judged_run, judgements=(broken,)))
    assert "  load: cannot load it\n    when it was loaded\n" in text
    assert "case: " not in text
    assert broken.failing is None


def test_the_evidence_of_a_wrong_candidate_stands_with_its_smallest_failing_case(judged_run: JudgedRun) -> None:
    text = render(judged_run)
    assert (
        "by_address.py:f: wrong\n"
        "  replays: wrong result in call 5 at a small size: element [0, 0] is 0.1, expected 0.2\n"
        "    smallest failing case: softmax data=8x128 axis=-1, at a small size\n"
    ) in text


def test_a_remark_on_a_right_candidate_is_no_failure(judged_run: JudgedRun) -> None:
    text = render(judged_run)
    assert "quickest.py:f: faster\n  listed_sizes_only: it refuses 1025x1025\n    case: " in text
    row = next(csv.DictReader(io.StringIO(render(judged_run, "csv"))))
    assert (row["cause"], row["failing_inputs"]) == ("", "")


def test_the_summary_counts_verdicts_and_says_what_confined(judged_run: JudgedRun) -> None:
    text = render(judged_run)
    assert "7 candidates: 2 faster, 1 same, 1 slower, 1 inconclusive, 1 wrong, 1 cheats\nroom: landlock\n" in text


def test_candidates_that_nothing_confined_are_told(judged_run: JudgedRun) -> None:
    free = JudgedRun(judged_run.run, (Judged("a.py:f", "softmax", CASE, "same", "both stages agree"),))
    assert "room: none confined a candidate" in render(free)


def test_a_pull_request_reads_a_table_and_the_evidence(judged_run: JudgedRun) -> None:
    text = render(judged_run, "md")
    assert "against torch:torch.softmax, case softmax data=1024x1024 axis=-1\n" in text
    assert "| faster |  | 3.000 | [2.910, 3.090] | quickest.py:f |" in text
    assert "smallest failing case: softmax data=8x128 axis=-1" in text


def test_candidates_that_are_not_right_fail_a_test_suite(judged_run: JudgedRun) -> None:
    suite = ElementTree.fromstring(render(judged_run, "junit"))[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["7", "2", "0", "1"]
    failures = [one for case in suite.iter("testcase") for one in case.iter("failure")]
    assert [one.get("type") for one in failures] == ["replays", "works_after_return"]
    assert (failures[0].get("message") or "").endswith("smallest failing case data=8x128 axis=-1")


def test_the_worst_candidate_is_annotated_first(judged_run: JudgedRun) -> None:
    first, *_, last = render(judged_run, "github").splitlines()
    assert first.startswith("::error title=opperf%3A later.py%3Af::")
    assert last.startswith("::error title=opperf judge::7 candidates")


def test_a_chart_has_a_row_for_each_candidate_also_for_those_without_times(judged_run: JudgedRun) -> None:
    (chart,) = charts(judged_run)
    texts = [element.text for element in chart.draw(900).element.iter("text")]
    assert "by_address.py:f" in texts
    assert "replays" in texts


def test_where_nothing_was_timed_there_is_no_chart_and_the_page_has_the_evidence(judged_run: JudgedRun) -> None:
    wrong = JudgedRun(judged_run.run, judged_run.judgements[:1])
    assert charts(wrong) == []
    assert "smallest failing case" in page(wrong, report_of(wrong), [])


@each(
    ("verdict", "cause", "status"),
    [
        ("faster", None, "PASSED"),
        ("inconclusive", None, "PASSED"),
        ("void", None, "INVALID_REFERENCE"),
        ("impossible", None, "REWARD_HACK"),
        ("cheats", "works_after_return", "REWARD_HACK"),
        ("wrong", "other_shape", "INCORRECT_SHAPE"),
        ("wrong", "other_type", "INCORRECT_DTYPE"),
        ("wrong", "load", "COMPILE_ERROR"),
        ("wrong", "fails", "RUNTIME_ERROR"),
        ("wrong", "timeout", "TIMEOUT"),
        ("wrong", "replays", "INCORRECT_NUMERICAL"),
    ],
)
def test_a_verdict_has_a_status_of_flashinfer_bench(verdict: str, cause: str | None, status: str) -> None:
    evidence = () if cause is None else (Evidence(cause, "", "tiny"),)
    assert judged("a", verdict, None, *evidence).status == status


def test_only_what_is_right_has_a_score(judged_run: JudgedRun) -> None:
    scores = {one.verdict: one.score for one in judged_run.judgements if one.candidate != "quickest.py:f"}
    assert scores["faster"] == pytest.approx(0.97 * 1.25)
    assert (scores["wrong"], scores["cheats"]) == (0, 0)


def test_what_ran_stands_with_its_candidate(judged_run: JudgedRun) -> None:
    ran = Explanation((Event("aten::exp", "operator", 2, 1.5e-5, "jit:avx2"), Event("aten::sum", "operator", 1, None)))
    first = replace(judged("quick", "faster", 1.25), ran=ran, reference_ran=Explanation((), ("not recorded: no",)))
    run = replace(judged_run, judgements=(first,))
    text = " ".join(render(run, "console").split())
    assert "what ran, as its own process reports aten::exp by jit:avx2: 2 times, 15.0 us aten::sum: once" in text
    assert "what the reference ran: softmax data=1024x1024 axis=-1 not recorded: no what ran: self times" in text
    assert "aten::exp by jit:avx2" in page(run, report_of(run), charts(run))
    assert read_value(json.loads(render(run, "json")), "it") == run


def test_the_verdict_stands_first_however_long_names_and_paths_are(judged_run: JudgedRun) -> None:
    path = "/home/user/kernels/experiments/2026-11/attempts/" + 3 * "by_blocks_with_online_softmax_"
    several = [replace(one, candidate=f"{path}{one.candidate}") for one in judged_run.judgements]
    several[0] = replace(several[0], against="kernelbench:/home/user/KernelBench/KernelBench/level1/23_Softmax.py")
    several[1] = replace(several[1], case=SMALL)
    text = render(replace(judged_run, judgements=tuple(several)), width=120)
    assert max(map(len, text.splitlines())) <= 120
    rows = [line for line in text.splitlines() if "[2.910, 3.090]" in line or line.startswith("wrong ")]
    assert rows[0][:80].split()[:4] == ["faster", "3.000", "[2.910,", "3.090]"]
    assert rows[1][:80].split()[:2] == ["wrong", "replays"]
