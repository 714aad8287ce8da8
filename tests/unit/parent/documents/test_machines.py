import math

from opperf.domain.case import Case
from opperf.domain.node import Node
from opperf.domain.plan import Settings, Side
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.machines import across

CASE = Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))})


def one(node: str | None, kind: str, verdict: str, ratio: float | None) -> Comparison:
    logs = () if ratio is None else tuple(math.log(ratio) + shift for shift in (-0.01, 0.0, 0.01, -0.01, 0.01))
    return Comparison(
        CASE,
        "forward",
        Side("null"),
        Side("null", settings={"slowdown": "2"}),
        Verdict(verdict, ratio, None if ratio is None else (ratio * 0.99, ratio * 1.01), "", 5),
        log_ratios=(logs, ()),
        node=None if node is None else Node(node, kind),
    )


def test_what_is_slower_on_one_kind_only_is_called_so() -> None:
    several = [one("a", "old", "same", 1.0), one("b", "old", "same", 1.0), one("c", "new", "slower", 1.2)]
    (merged,) = across(several)
    assert merged.finding == "slower on new only"
    assert [(kind.kind, kind.verdicts) for kind in merged.kinds] == [("old", ("same", "same")), ("new", ("slower",))]
    assert merged.heterogeneity is not None
    assert merged.heterogeneity > 0.9


def test_machines_of_one_kind_that_disagree_are_counted() -> None:
    (merged,) = across([one("a", "old", "same", 1.0), one("b", "old", "faster", 0.9)])
    assert merged.finding == "faster on 1 of 2 old"


def test_machines_that_agree_have_an_overall_ratio_with_its_interval() -> None:
    (merged,) = across([one(name, "old", "slower", 1.1) for name in "abc"])
    assert merged.finding == "slower on all machines"
    assert merged.ratio is not None
    assert merged.interval is not None
    assert math.isclose(merged.ratio, 1.1)
    assert merged.interval[0] < 1.1 < merged.interval[1]


def test_a_machine_without_a_ratio_leaves_the_others_unmerged_by_themselves() -> None:
    (merged,) = across([one("a", "old", "same", 1.0), one("b", "old", "failed", None)])
    assert merged.ratio is None
    assert merged.machines == 2


def test_one_machine_or_none_that_is_named_is_not_merged() -> None:
    assert across([one("a", "old", "same", 1.0)]) == ()
    assert across([one(None, "", "same", 1.0), one(None, "", "same", 1.0)]) == ()


def test_a_document_has_the_machines_only_where_there_are_several() -> None:
    run = Run("r", "2026-11-23T10:00:00+00:00", (), Settings())
    assert "machines" not in ComparisonRun(run, (one("a", "old", "same", 1.0),)).to_json()
    document = ComparisonRun(run, (one("a", "old", "same", 1.0), one("b", "old", "same", 1.0))).to_json()
    assert len(document["machines"]) == 1  # type: ignore[arg-type]
