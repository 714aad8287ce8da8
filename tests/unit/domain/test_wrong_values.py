"""Values that no document of opperf holds: each is refused, and the message says where and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.each import each

from opperf.catalog.domain import Below, Lengths, Parts
from opperf.catalog.extent import At, Elements, Extent, Size
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text
from opperf.domain.measurement import Outcome, Samples, sample_columns
from opperf.domain.message.own_code import decode_trial
from opperf.domain.plan import Side, Trial
from opperf.domain.stats.significance import clopper_pearson, wilson
from opperf.domain.tensor import TensorSpec
from opperf.domain.units import parse_bytes
from opperf.domain.workload import Registry
from opperf.parent.documents.bisection import Probe
from opperf.parent.documents.comparison import Verdict
from opperf.parent.documents.floor import Floor

TRIAL = Trial(Case("add"), Side("null"), "forward")
FLOOR = Floor(TRIAL, 1e-6, 5, 0.01, 0.02, 0.1, 0, 5, "2026-11-21").to_json()
PROBE = Probe("a", "b", 0.1, 0.01, 5).to_json()
VERDICT = Verdict("same", 1.0, (0.9, 1.1), "", 5).to_json()
COLUMNS = {"overhead_ns": 0.0, "calls": [1, 1], "wall_ns": [1], "cpu_ns": [1]}


@each(
    ("read", "message"),
    [
        (lambda: Samples.from_json([], "x"), "x: found [], expected an object"),
        (lambda: Samples.from_json(COLUMNS, "x"), "x: columns of [1, 2] samples, expected the same number in each"),
        (
            lambda: sample_columns({"overhead_ns": None, "calls": [1], "wall_ns": [1], "cpu_ns": [1]}, "x"),
            "x.overhead_ns: found null, expected a number",
        ),
        (lambda: Outcome(TRIAL, 0, "ok"), "neither `measurement` nor `reason`, expected one"),
        (lambda: TensorSpec.from_json(3, "x"), "x: found 3, expected an object"),
        (lambda: decode_trial(TRIAL.to_json(), "x"), "expected a trial with its `implementation`"),
        (
            lambda: Floor.from_json(FLOOR | {"moved": 1e300}, "x"),
            "x.moved: found 1e+300, expected a number",
        ),
        (lambda: Probe.from_json(PROBE | {"log_ratio": -1e3}, "x"), "x.log_ratio: found -1000.0, expected the log"),
        (lambda: Verdict.from_json(VERDICT | {"ratio": 0}, "x"), "x.ratio: found 0, expected a ratio"),
        (
            lambda: Verdict.from_json(VERDICT | {"confidence": 1}, "x"),
            "x.confidence: found 1, expected a number",
        ),
        (lambda: parse_bytes("3 apples"), "expected a number and a unit"),
        (lambda: read_text(Path("/dev/null/no")), "cannot read"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(read: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read()
    assert message in caught.value.message


def test_a_name_is_registered_once() -> None:
    registry = Registry[int]("generator")
    registry.add("mine", 1)
    assert "mine" in registry
    assert list(registry) == ["mine"]
    with pytest.raises(ValueError, match="generator `mine` is already registered"):
        registry.add("mine", 2)


def test_a_size_in_bytes_is_read_in_its_unit() -> None:
    assert parse_bytes("1.5 KiB") == 1536


def test_the_share_of_no_trials_may_be_anything() -> None:
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)


NOWHERE = Elements(At(None, ("missing",)))


@pytest.mark.parametrize("rule", [Below(NOWHERE), Parts(NOWHERE), Lengths(NOWHERE)])
def test_a_rule_that_the_case_tells_nothing_for_leaves_the_tensor_alone(rule: Below | Parts | Lengths) -> None:
    tensor = TensorSpec((4,), "int64")
    assert rule.draw(tensor, Case("add", {"lhs": tensor})) == tensor


@pytest.mark.parametrize("extent", [NOWHERE, Size(At(None, ("missing",)))])
def test_an_extent_of_an_argument_that_is_left_out_is_not_known(extent: Extent) -> None:
    assert extent.of(Case("add", {"lhs": TensorSpec((4,))})) is None


def test_a_tensor_without_dimensions_has_one_element_along_any() -> None:
    lhs = At(None, ("lhs",))
    assert Size(lhs).of(Case("add", {"lhs": TensorSpec(())})) == 1
    assert At(None, ("word",)).number(Case("add", {}, {"word": "many"})) is None
