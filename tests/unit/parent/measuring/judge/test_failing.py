"""What a candidate's process says of its results, and where they lie, is held against what the reference's do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.code import ProblemCode
from opperf.domain.message.replies import Inspection, Outlined
from opperf.domain.problem import OpenedProblem
from opperf.parent.documents.candidates import Evidence, Speed
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.judge.checks import Checks, Stage, problem_stages
from opperf.parent.measuring.judge.failing import (
    Failing,
    _changes,
    check_outlines,
    check_places,
    inspect,
    layout_remarks,
    missing_file,
)
from opperf.parent.measuring.judge.judge import doubt_of, doubt_of_layout
from opperf.parent.measuring.judge.match import Log
from opperf.parent.measuring.judge.turns import Savings

CASE = Case("flip")
PLAIN = Outlined((256, 512), "float32", (2048, 4))
REPEATED = Outlined((256, 512), "float32", (4, 0))
SPEEDS = ((2.5, 2.4, 2.6), (0.9, 0.8, 1.1), (1.2, 0.7, 2.0))
WIDE = Outlined((256, 512), "float32", (400 * 2048, 4))
#: A small size, the one that is timed, and two beside it.
STAGES = (Stage("tiny", Case("flop")), Stage("size", CASE), *(Stage("other", Case("flap")),) * 2)


def bench(*outlines: Outlined) -> Any:
    trial = SimpleNamespace(case=CASE, side=SimpleNamespace(framework="torch"))
    return SimpleNamespace(case=CASE, outlines=outlines, trial=trial)


def seat(*outlines: Outlined, lies_in_inputs: bool = False) -> Any:
    return SimpleNamespace(outlines=outlines, lies_in_inputs=lambda _: lies_in_inputs)


@pytest.mark.parametrize(("found", "slug"), [(REPEATED, "outputs_share_memory"), (WIDE, "forged_messages")])
def test_elements_lie_as_oddly_as_those_of_the_reference_do_and_no_more(found: Outlined, slug: str) -> None:
    check_outlines(bench(PLAIN), seat(PLAIN), "tiny")
    check_outlines(bench(found), seat(found), "tiny")
    with pytest.raises(Failing) as caught:
        check_outlines(bench(PLAIN), seat(found), "tiny")
    assert caught.value.slug == slug


@pytest.mark.parametrize(
    ("stage", "told"),
    [("tiny", "call 3 at a small size"), ("listed", "call 3 at another listed size"), ("timed", "timed call 3")],
)
def test_a_wrong_result_is_told_at_each_stage(stage: str, told: str) -> None:
    wrong = Inspection("element [0] of tensor 0 is 1, expected 2", "replays", {})
    judging, candidate = bench(PLAIN), seat(PLAIN)
    judging.inspect = lambda *_: wrong
    candidate.freezer = SimpleNamespace(waiting_ns=lambda: 0, thaw=lambda: None, freeze=lambda: None)
    turned: Any = SimpleNamespace(addresses=(4096,))
    with pytest.raises(Failing, match=f"wrong result in {told}: element"):
        inspect(judging, candidate, turned, 0, 0, stage, 3)


def test_a_result_lies_in_an_input_only_where_that_of_the_reference_does() -> None:
    in_input = Outlined(PLAIN.shape, PLAIN.dtype, PLAIN.strides, in_input=True)
    turned: Any = None
    check_places(bench(in_input), seat(PLAIN, lies_in_inputs=True), turned, "timed")
    check_places(bench(PLAIN), seat(PLAIN), turned, "timed")
    with pytest.raises(Failing, match="lies in the memory of an input"):
        check_places(bench(PLAIN), seat(PLAIN, lies_in_inputs=True), turned, "timed")


def refusing(*sizes: str, dies: bool = False) -> tuple[Any, Any, list[str]]:
    """Return a check that raises at these stages, a seat, and the list of stages that were asked for."""
    asked: list[str] = []

    def check(_: Checks, seat: Any, trial: Any, stage: Stage, reach: Any) -> None:
        asked.append(stage.name)
        if stage.name in sizes:
            seat.worker.alive = not dies
            raise Failing(Evidence("fails", f"no {stage.name}", stage.name, stage.case))

    return check, SimpleNamespace(worker=SimpleNamespace(alive=True), outlines=()), asked


def check_all(seat: Any, stages: Sequence[Stage] = STAGES) -> list[Evidence]:
    """Check at some sizes, and return the remarks."""
    checks, remarks = object.__new__(Checks), list[Evidence]()
    checks._bench = bench(PLAIN)
    trial: Any = None
    checks.check(seat, trial, stages, lambda _: None, remarks)
    return remarks


def test_who_raises_at_a_size_that_the_problem_lists_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    cases, hidden = (CASE, Case("flop"), Case("flup")), (Case("flap"),)
    problem = problem_stages(OpenedProblem(ProblemCode("flashinfer", "scale"), 0, cases, hidden))
    assert [stage.name for stage in problem] == ["tiny", "size", "listed", "other"]
    for name in ("tiny", "listed"):
        check, child, _ = refusing(name)
        monkeypatch.setattr(Checks, "_check", check)
        with pytest.raises(Failing, match=f"no {name}") as caught:
            check_all(child, problem)
        assert caught.value.slug == "fails"


def test_who_dies_at_one_size_beside_it_is_not_asked_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    check, child, asked = refusing("other", dies=True)
    monkeypatch.setattr(Checks, "_check", check)
    (remark,) = check_all(child)
    assert (remark.slug, asked) == ("listed_sizes_only", ["tiny", "size", "other"])


def test_who_was_written_for_one_size_may_raise_at_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    check, child, asked = refusing("tiny", "other")
    monkeypatch.setattr(Checks, "_check", check)
    assert [(one.stage, one.slug) for one in check_all(child)] == [
        (name, "listed_sizes_only") for name in ("tiny", "other", "other")
    ]
    assert asked == ["tiny", "size", "other", "other"]


@pytest.mark.parametrize(("sizes", "told"), [(("tiny", "size"), "no tiny"), (("size",), "no size")])
def test_who_raises_at_the_size_that_is_timed_fails_at_the_smallest(
    sizes: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, child, _ = refusing(*sizes)
    monkeypatch.setattr(Checks, "_check", check)
    with pytest.raises(Failing, match=told) as caught:
        check_all(child)
    assert caught.value.slug == "fails"


def test_who_dies_at_the_small_size_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    check, child, asked = refusing("tiny", dies=True)
    monkeypatch.setattr(Checks, "_check", check)
    with pytest.raises(Failing, match="no tiny"):
        check_all(child)
    assert asked == ["tiny"]


def test_two_results_that_are_views_of_something_larger_are_compared() -> None:
    rows = Outlined((2, 2), "float32", (16, 4))  # 24 bytes, of which 16 are elements
    contents = iter([bytes(24), bytes(24), bytes(24), bytes([1] * 24)])

    def copy(turned: Any, place: int, into: memoryview) -> None:
        into[:24] = next(contents)

    looked_at: Any = SimpleNamespace(outlines=(rows,), line_up=lambda _: None, go=lambda: None, copy=copy)
    assert [_changes(looked_at, 0) for _ in range(2)] == [False, True]


@pytest.mark.parametrize("kind", ["coroutine", "`rm`"])
def test_what_holds_no_tensor_is_told_by_its_class(kind: str) -> None:
    returned = seat()
    returned.kind = kind
    with pytest.raises(Failing) as caught:
        check_outlines(bench(PLAIN), returned, "tiny")
    told = {
        "coroutine": ("other_type", "it returns `coroutine`, which holds no tensor of torch"),
        "`rm`": ("other_shape", "it returns 0 tensors, and the reference 1"),
    }
    assert (caught.value.slug, caught.value.message) == told[kind]


def test_what_a_candidate_misses_beside_its_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py", "helper.py", "weights.npy"):
        (tmp_path / name).touch()

    def told(message: str) -> str:
        return missing_file(Failing(Evidence("load", message, "load", None)), Path("mine.py")).message

    for text in ("No module named 'helper'", "No module named 'helper.part'", f"no file: '{tmp_path}/weights.npy'"):
        assert re.search(r"`(helper.py|weights.npy)` lies beside it, and its room has its own file", told(text)), text
    for text in ("No module named 'other'", "no file: '/etc/passwd'", "in 'mine.py'", "No module named ''"):
        assert told(text) == text


def doubt(
    ratio: float,
    savings: list[float],
    typical: list[float],
    alone: Sequence[float] = (),
    *,
    slowed: float = 1.0,
    unknown: float = 800.0,
    reference: float = 20e-6,
) -> str:
    """Say what is doubted of a candidate beside such a reference; rounds tell what it saves to so many ns."""
    verdict = Verdict("faster", ratio, (ratio / 1.01, ratio * 1.01), "", 5)
    ring = Speed(reference * ratio, reference, 1 / ratio, (1 / ratio, 1 / ratio))
    pairs = [Savings(centre, centre + unknown) for centre in savings]
    return doubt_of(verdict, (ring, None), Log(savings=pairs, typical=typical, alone=[*alone], slowed=[slowed] * 3))


def test_who_is_faster_with_many_calls_at_once_alone_is_not_faster() -> None:
    nothing, half, unclear = [300.0, -500, 0, 700, -200], [10_100.0, 9_900, 10_300], [-9_000.0, 12_000, 3_000, 1_000]
    assert "it saves 18.0 us a call where many are asked for at once" in doubt(0.1, nothing, [-2.3] * 5)
    assert not doubt(0.5, half, [-0.7] * 5)
    assert not doubt(0.5, unclear, [-0.7] * 5)
    assert not doubt(0.5, [], [-0.7] * 5)  # a turn has one call


def test_what_a_busy_machine_makes_of_single_calls_is_no_doubt() -> None:
    nothing, typical = [300.0, -500, 0, 700, -200], [-2.3] * 5
    assert not doubt(0.1, nothing[:2], typical)  # two pairs are no verdict
    long = [100 * saving for saving in nothing]
    assert not doubt(0.1, long, typical, unknown=5e6, reference=2e-3)  # rounds lie further apart than what it saves
    assert "one by one" in doubt(0.1, [*nothing, -10_000_000], typical)  # who is far slower in a pair proves nothing


def test_who_is_faster_in_short_calls_has_to_show_it_in_single_ones() -> None:
    assert "the machine was too busy to tell" in doubt(0.1, [18_000.0] * 5, [-2.3] * 5, unknown=50_000.0)


def test_what_is_all_in_the_cache_is_as_fast_where_all_calls_are_alike() -> None:
    verdict = Verdict("faster", 0.4, (0.39, 0.41), "", 5)
    ring, hot, wide = (Speed(1e-6, 1e-6, each, (low, high)) for each, low, high in SPEEDS)
    for in_cache, speed, is_doubted in (
        (True, hot, True),
        (False, hot, False),
        (True, wide, False),
        (True, ring, False),
    ):
        doubts = doubt_of(verdict, (ring, speed), Log(in_cache=in_cache, typical=[-0.9] * 5))
        assert ("calls that are all alike" in doubts) == is_doubted


def test_who_is_faster_in_undisturbed_rounds_alone_is_not_faster() -> None:
    assert "disturbed" in doubt(0.5, [], [0.01, -0.01, 0.02])
    assert not doubt(0.5, [], [-0.6, -0.7, 0.5])


def test_who_slows_the_reference_has_to_be_faster_than_that_was_alone() -> None:
    assert "since then, that took 1.3 times as long" in doubt(0.8, [], [-0.2] * 5, slowed=1.3)
    assert not doubt(0.5, [], [-0.7] * 5, slowed=1.3)
    assert not doubt(0.9, [], [-0.1] * 5, slowed=1.15)  # caches are shared


def test_who_slows_the_reference_has_to_be_faster_where_either_is_alone_too() -> None:
    alone = [0.01, -0.02, -0.01, 0.0, 0.01]
    assert "times as fast in turns of either without the other" in doubt(0.9, [], [-0.1] * 5, alone)
    assert not doubt(0.9, [], [-0.1] * 5, [-0.09, -0.1, -0.08])
    assert not doubt(0.9, [], [-0.1] * 5, [-0.2, 0.2, 0.01])  # nobody knows
    assert not doubt(0.9, [], [-0.1] * 5, [0.0, 0.0])  # two pairs are no verdict


def test_a_result_in_another_order_than_the_reference_s_is_remarked() -> None:
    column = Outlined(PLAIN.shape, PLAIN.dtype, (4, 1024))
    (remark,) = layout_remarks(bench(PLAIN), seat(column))
    told = "tensor 0 lies with strides of [4, 1024] bytes, and of [2048, 4] in the reference"
    assert (remark.slug, remark.message.partition(":")[0]) == ("other_layout", told)
    wide, backwards = (Outlined(PLAIN.shape, PLAIN.dtype, strides) for strides in ((4096, 4), (-2048, 4)))
    thin = [Outlined((1, 512), "float32", (step, 4)) for step in (2048, 4)]  # no step leads along the first axis
    assert not [*layout_remarks(bench(PLAIN, thin[0]), seat(wide, thin[1]))]
    assert [*layout_remarks(bench(PLAIN), seat(backwards))]
    faster, same = (Verdict(word, 0.5, (0.4, 0.6), "", 5) for word in ("faster", "same"))
    assert "bring them into the reference's" in doubt_of_layout(faster, [remark])
    assert not doubt_of_layout(same, [remark])
    assert not doubt_of_layout(faster, [])
