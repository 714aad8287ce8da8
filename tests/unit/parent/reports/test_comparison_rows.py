"""What the rows of a comparison say: of memory, of how large a change may still be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import INSTRUCTIONS, Settings, Side
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import LATER, Comparison, ComparisonRun, Verdict
from opperf.parent.reports import render
from opperf.parent.reports.comparison_rows import bound_text, memory_text, reasons, sides_of


def compared(verdict: Verdict, **parts: Any) -> Comparison:
    """Return a live comparison with this verdict."""
    parts = {"log_ratios": ((0.0, 0.0, 0.0), ()), **parts}
    return Comparison(Case("add"), "forward", Side("null"), Side("null"), verdict, **parts)


SAME = Verdict("same", 1.0, (0.99, 1.01), "the interval lies within ±2%", 5)


def peaks(base: int, new: int) -> dict[str, Any]:
    """Return the memory of a comparison."""
    return {"peak": [base, new], "allocated": [base, new], "same": base == new, "source": "scripted"}


@pytest.mark.parametrize(("base", "new"), [(4_194_304, 4_202_496), (5404, 5436), (5404, 9000), (4096, 4096)])
def test_a_peak_that_moved_by_less_than_a_hundredth_or_a_page_is_no_news(base: int, new: int) -> None:
    comparison = compared(SAME, memory=peaks(base, new))
    assert reasons(comparison) == [SAME.reason]
    assert "now" not in memory_text(comparison)


def test_a_peak_that_moved_is_told_in_its_column_and_among_the_reasons() -> None:
    comparison = compared(SAME, memory=peaks(4_194_304, 8_388_608))
    assert memory_text(comparison) == "4.19 MB, now 8.39 MB"
    assert reasons(comparison)[1:] == ["peak memory 4.19 MB before, 8.39 MB now"]
    assert memory_text(compared(SAME)) == ""


@pytest.mark.parametrize(
    ("interval", "text"), [((0.9, 1.2), "±20.0%"), ((0.9, 4.224), "not enough pairs"), ((0.4, 1.1), "not enough pairs")]
)
def test_an_interval_that_excludes_no_change_asks_for_pairs(interval: tuple[float, float], text: str) -> None:
    assert bound_text(compared(Verdict("inconclusive", 1.1, interval, "", 4, "about 9 pairs"))) == text


def test_what_more_pairs_would_not_settle_does_not_ask_for_them() -> None:
    wide = Verdict("inconclusive", 1.1, (0.4, 3.0), "new has two modes", 12, LATER)
    assert bound_text(compared(wide)) == ""
    recorded = Verdict("inconclusive", 1.1, (0.4, 3.0), "the interval holds +10%", 5)
    assert bound_text(compared(recorded, log_ratios=())) == ""
    assert bound_text(compared(recorded, metric=INSTRUCTIONS)) == ""
    assert bound_text(compared(Verdict("slower", 4.0, (3.0, 5.0), "", 3))) == ""


def both(base: str = "null", new: str = "null", **facts: Any) -> Comparison:
    """Return a comparison of two sides of a case with attributes."""
    case = Case("sum", {"data": TensorSpec((4, 4))}, {"axis": 1, "keepdims": False})
    return Comparison(case, "forward", Side(base), Side(new), SAME, facts=facts)


def lines_of(*comparisons: Comparison, width: int | None = None) -> list[str]:
    """Return the lines of the table of comparisons for people."""
    run = ComparisonRun(Run("r1", "2026-11-21T08:00:00+00:00", (), Settings(), {}, {}, ()), comparisons)
    return render(run, width=width).splitlines()


def test_what_varies_stands_first_and_what_all_rows_share_above() -> None:
    wide = Case("exp", {"data": TensorSpec((1024,) * 12)}, {"axis": 1, "keepdims": True})
    caption, _, heading, *_ = lines_of(both(), replace(both(), case=wide))
    assert caption == "direction forward, base null, new null, attributes axis=1"
    assert heading.split()[:5] == ["verdict", "ratio", "interval", "operator", "inputs"]
    assert "direction" not in heading


def test_programs_read_columns_in_their_old_order() -> None:
    run = ComparisonRun(Run("r1", "2026-11-21T08:00:00+00:00", (), Settings(), {}, {}, ()), (both(),))
    assert render(run, "csv").splitlines()[0].startswith("case_id,operator,direction,inputs,node,machine,base,new,")


def test_sides_are_named_by_the_element_types_that_tell_them_apart() -> None:
    types = [both(dtypes={"base": "int32", "new": name}) for name in ("float16", None)]
    assert [sides_of(one) for one in types] == [
        ("null;dtype=int32", "null;dtype=float16"),
        ("null;dtype=int32", "null"),
    ]


def test_a_side_is_called_alike_in_every_row_by_what_tells_all_sides_apart() -> None:
    one, other = Side("torch", threads=2), Side("torch", mode="compiled")
    rows = [Comparison(Case("add"), "forward", Side("torch"), side, SAME) for side in (one, other)]
    caption, *lines = lines_of(*rows)
    assert "base torch;mode=eager;threads=1" in caption
    assert any("torch;mode=eager;threads=2" in line for line in lines)
    assert any("torch;mode=compiled;threads=1" in line for line in lines)


@pytest.mark.parametrize("width", [80, 120])
def test_verdict_and_ratio_stand_in_the_first_eighty_columns_of_a_suite(width: int) -> None:
    inputs = {f"weight_{place}": TensorSpec((1024, 1024)) for place in range(9)}
    name = "torch:aten::_scaled_dot_product_flash_attention_for_cpu.default"
    rows = [replace(both(), case=Case(name, inputs, {"axis": axis}), count=2) for axis in (0, 1)]
    shown = [line[:80] for line in lines_of(*rows, width=width)]
    assert sum("same" in line and "1.000" in line and "[0.990, 1.010]" in line for line in shown) == 2


def test_reasons_below_a_table_say_whose_they_are() -> None:
    rows = [
        replace(both(), case=Case("exp", {"data": TensorSpec((size,))}), verdict=Verdict(*word))
        for size, word in (
            (4, ("inconclusive", 1.0, None, "too noisy " * 9, 5)),
            (8, ("same", 1.0, None, "is small", 5)),
        )
    ]
    lines = lines_of(*rows, width=60)
    below = lines[lines.index("why:") + 1 :]
    assert [line.split(": ")[0] for line in below if ": " in line] == ["  exp 4", "  exp 8"]


def test_sides_are_not_named_by_the_function_that_the_row_is_about() -> None:
    old, new = (
        Side("onnxruntime", environment=f"onnxruntime=={version}", implementation="ai.onnx.Sign")
        for version in ("1.20.0", "1.21.0")
    )
    own = Comparison(Case("onnxruntime:ai.onnx.Sign"), "forward", old, new, SAME)
    assert sides_of(own) == ("onnxruntime==1.20.0", "onnxruntime==1.21.0")
    assert sides_of(replace(own, case=Case("sign"))) == (
        "onnxruntime:ai.onnx.Sign;onnxruntime==1.20.0",
        "onnxruntime:ai.onnx.Sign;onnxruntime==1.21.0",
    )
