"""The command line of MXNet's opperf, without MXNet: which rows are planned, and how they are written."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from opperf.compat.mxnet_opperf.__main__ import main
from opperf.compat.mxnet_opperf.command.documents import collect, render
from opperf.compat.mxnet_opperf.command.plan import CommandRequest, RowPlan, names, plan_rows, whole
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Quantity, Sample, Samples
from opperf.domain.message.replies import Discovery, Example
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.measuring.session import Session
from opperf.parent.planning.expand import DEFAULT_DIRECTIONS
from opperf.parent.planning.selection import Selection

SIDE = Side("mxnet")
ROW = {"lhs": [2, 2], "rhs": [2, 2]}
CASE = Case("mxnet:nd.dot", {"lhs": TensorSpec((2, 2)), "rhs": TensorSpec((2, 2))})
NO_GRADIENT = Reason("no_gradient", "MXNet has no gradient of it\nat dot.cc", "measure it forward")


class Known:
    """Stands for a session whose MXNet has one registered operator, `nd.pad`."""

    def sides(self) -> tuple[Side, ...]:
        return (SIDE,)

    @property
    def answers(self) -> Known:
        return self

    def discover(self, side: Side, path: str, size: str) -> Discovery:
        pad = Case("mxnet:nd.pad", {"data": TensorSpec((4, 4))}, {"mode": "edge"})
        return Discovery(examples=(Example(pad),) if path == "nd.pad" else ())

    def plan_of(self, selection: Selection, sides: Sequence[Side]) -> Plan:
        if selection.operators != ("mxnet:np.add",):
            raise InputError(f"no operator `{selection.operators[0]}`", slug="unknown_operator")
        add = Case("add", {"lhs": TensorSpec((8, 8)), "rhs": TensorSpec((8, 8))})
        return Plan(tuple(Trial(add, SIDE, direction) for direction in ("forward", "backward")), Settings())


def rows(wanted: CommandRequest) -> list[RowPlan]:
    """Return what is planned."""
    return list(plan_rows(cast("Session", Known()), Selection(), wanted))


def trial(direction: str, case: Case = CASE) -> Trial:
    return Trial(case, SIDE, direction)


def ok(direction: str, *milliseconds: float, peak: int | None = None) -> Record:
    """Return a record with these samples of one call each."""
    samples = Samples(tuple(Sample(1, int(value * 1e6), 0) for value in milliseconds))
    seconds = [value / 1e3 for value in milliseconds]
    one = seconds[0]
    known = Statistics(one, one, one, one, one, one, 0.0, None, None, None, len(seconds), 1, 0, 1)
    memory = {} if peak is None else {"memory_peak": Quantity(peak)}
    return Record(
        trial(direction), "ok", metrics={"time": known, **memory}, samples={"time": [samples.to_json()]}
    )  # fmt: skip


def run_of(*records: Record) -> Run:
    facts = {"frameworks": [{"framework": "mxnet", "version": "1.9.1", "build": ["MKLDNN"]}]}
    return Run("r1", "2026-11-21T08:00:00+00:00", (), Settings(), {}, facts, records)


def dot(*directions: str) -> RowPlan:
    return RowPlan("dot", ROW, tuple(trial(direction) for direction in directions))


# Planning -------------------------------------------------------------------------------------------------------------


def test_without_names_everything_that_the_original_measures_is_wanted() -> None:
    every = names((), (), {})
    assert len(every) > 233
    assert {"mxnet:nd.broadcast_add", "mxnet:nd.multi_mp_sgd_mom_update", "mxnet:nd.Custom"} <= set(every)


def test_names_come_before_categories_and_none_comes_twice() -> None:
    assert names(["np.add", "dot"], ["gemm"], {}) == (
        "mxnet:np.add",
        "mxnet:nd.dot",
        "mxnet:nd.batch_dot",
        "mxnet:nd.khatri_rao",
    )


def test_a_file_says_which_operators_are_wanted() -> None:
    assert names((), (), {"dot": [ROW]}) == ("mxnet:nd.dot",)


def test_a_category_that_is_not_there_is_refused_with_its_neighbours() -> None:
    with pytest.raises(InputError, match="no category `gem`") as refused:
        names((), ["gem"], {})
    assert "`gemm`" in str(refused.value.hint)


def test_another_frameworks_operator_is_refused() -> None:
    with pytest.raises(InputError, match="not an operator of MXNet"):
        names(["torch:torch.add"], (), {})


def test_every_row_of_a_file_is_planned_those_that_are_alike_too() -> None:
    result = rows(CommandRequest(("mxnet:nd.dot",), {"dot": [ROW, ROW, {**ROW, "transpose_b": True}]}))
    assert [row.inputs for row in result] == [ROW, ROW, {**ROW, "transpose_b": True}]
    assert result[0].trials == result[1].trials != result[2].trials
    assert [one.direction for one in result[0].trials] == ["forward", "backward"]
    assert len(whole(result, Settings()).trials) == 4


def test_default_rows_are_those_of_the_functions_for_scripts() -> None:
    result = rows(CommandRequest(("mxnet:nd.sum",)))
    assert [row.inputs["axis"] for row in result] == [0, 0, 0, (), (0, 1)]
    assert result[-1].trials[0].case.attributes == {"axis": (0, 1)}
    assert result[0].trials[0].side.implementation == "nd.sum"


def test_an_element_type_is_that_of_every_row() -> None:
    result = rows(CommandRequest(("mxnet:nd.dot",), {"dot": [ROW]}, dtype="int32"))
    assert [tensor.dtype for tensor in result[0].trials[0].case.tensors()] == ["int32", "int32"]
    assert [one.direction for one in result[0].trials] == ["forward"]  # whole numbers have no gradient


def test_large_rows_have_more_elements_than_32_bits_count() -> None:
    result = rows(CommandRequest(("mxnet:nd.abs",), large=True))
    assert all(next(row.trials[0].case.tensors()).elements >= 2**32 for row in result)


def test_an_operator_without_rows_gets_what_its_registry_leads_to() -> None:
    (pad,) = rows(CommandRequest(("mxnet:nd.pad",)))
    assert (pad.operator, pad.inputs) == ("pad", {"data": (4, 4), "mode": "edge"})
    (add,) = rows(CommandRequest(("mxnet:np.add",)))
    assert (add.operator, add.inputs) == ("add", {"lhs": (8, 8), "rhs": (8, 8)})


def test_a_name_that_mxnet_lacks_is_refused() -> None:
    with pytest.raises(InputError, match=r"no operator `mxnet:nd\.ad`"):
        rows(CommandRequest(("mxnet:nd.ad",)))


def test_the_python_profiler_times_both_directions_together() -> None:
    (row,) = rows(CommandRequest(("mxnet:nd.dot",), {"dot": [ROW]}, together=True))
    assert [one.direction for one in row.trials] == ["forward_backward", "forward"]


def test_a_file_without_the_operators_asked_for_leaves_nothing_to_measure() -> None:
    with pytest.raises(InputError, match="nothing to measure"):
        whole(rows(CommandRequest(("mxnet:nd.abs",), {"dot": [ROW]})), Settings())


# Rows -----------------------------------------------------------------------------------------------------------------


def test_a_native_row_has_the_keys_and_units_of_the_original_and_more() -> None:
    run = run_of(ok("forward", 1.0, 3.0, peak=65536), ok("backward", 4.0, peak=131072))
    (row,) = collect([dot("forward", "backward")], run, together=False)["dot"]
    assert row["inputs"] == ROW
    assert row["avg_time_forward_dot"] == pytest.approx(2.0)
    assert row["max_time_forward_dot"] == pytest.approx(3.0)
    assert row["samples_forward_dot"] == 2
    assert row["p99_time_backward_dot"] == pytest.approx(4.0)
    assert row["max_storage_mem_alloc_cpu/0"] == 131.072


def test_a_python_row_is_of_both_directions_together() -> None:
    run = run_of(ok("forward_backward", 5.0), ok("forward", 1.0))
    (row,) = collect([dot("forward_backward", "forward")], run, together=True)["dot"]
    assert row["avg_time_dot"] == pytest.approx(5.0)
    assert row["samples_dot"] == 1
    assert not any(key.startswith("max_storage") for key in row)


def test_without_a_gradient_forward_stands_alone_and_the_row_says_why() -> None:
    both = Record(trial("forward_backward"), "skipped", NO_GRADIENT)
    (row,) = collect([dot("forward_backward", "forward")], run_of(both, ok("forward", 1.0)), together=True)["dot"]
    assert row["avg_time_dot"] == pytest.approx(1.0)
    assert row["no_backward"] == "MXNet has no gradient of it"
    backward = Record(trial("backward"), "skipped", NO_GRADIENT)
    (row,) = collect([dot("forward", "backward")], run_of(ok("forward", 1.0), backward), together=False)["dot"]
    assert row["no_backward"] == "MXNet has no gradient of it"


def test_an_operator_that_fails_costs_its_row_alone() -> None:
    failed = Record(trial("forward"), "failed", Reason("crash", "the child died", None))
    for together in (False, True):
        (row,) = collect([dot("forward")], run_of(failed), together=together)["dot"]
        assert row == {"inputs": ROW, "error": "the child died"}


def test_an_operator_that_fails_both_ways_says_so_once() -> None:
    failed = [Record(trial(direction), "failed", Reason("crash", "it died", None)) for direction in DEFAULT_DIRECTIONS]
    (row,) = collect([dot(*DEFAULT_DIRECTIONS)], run_of(*failed), together=False)["dot"]
    assert row == {"inputs": ROW, "error": "it died"}


def test_two_names_of_one_trial_have_a_row_each_in_the_order_of_names() -> None:
    other = RowPlan("also", ROW, (trial("forward"),))
    result = collect([dot("forward"), other, dot("forward")], run_of(ok("forward", 1.0)), together=False)
    assert list(result) == ["also", "dot"]
    assert len(result["dot"]) == 2


def test_rows_that_were_not_reached_are_left_out() -> None:
    assert collect([dot("forward")], run_of(), together=False) == {}


# Documents ------------------------------------------------------------------------------------------------------------

FOUND: dict[str, list[dict[str, Any]]] = {
    "abs": [{"inputs": {"data": (2, 2)}, "error": "no | such"}],
    "dot": [{"inputs": ROW, "avg_time_forward_dot": 2.0, "max_storage_mem_alloc_cpu/0": 0.5}],
}


def test_json_holds_rows_by_operator_and_nothing_else() -> None:
    assert json.loads(render(FOUND, run_of(), "json", together=False)) == json.loads(json.dumps(FOUND))


def test_csv_has_one_row_each_with_keys_that_all_operators_share() -> None:
    first, second = csv.DictReader(io.StringIO(render(FOUND, run_of(), "csv", together=False)))
    assert (first["operator"], first["error"]) == ("abs", "no | such")
    assert (second["avg_time_forward"], second["max_storage_mem_alloc_cpu/0"]) == ("2.0", "0.5")
    assert json.loads(second["inputs"]) == ROW


def test_markdown_has_features_the_columns_of_the_original_and_what_was_not_measured() -> None:
    lines = render(FOUND, run_of(), "md", together=False).splitlines()
    assert lines[:3] == ["# Runtime Features", "1. mxnet 1.9.1", "2. MKLDNN"]
    assert "| Operator | Inputs | Max Mem Usage (Storage) (kB) | Avg Forward Time (ms) | Avg. Backward Time (ms) |" in (
        lines[5].replace(" P50", "|P50").split("|P50")[0].strip()
    )
    assert lines[8].startswith('| dot | {"lhs": [2, 2], "rhs": [2, 2]} | 0.5 | 2.0 | --- |')
    assert lines[-1] == r'* abs {"data": [2, 2]}: no \| such'


def test_markdown_of_the_python_profiler_has_its_columns() -> None:
    together = {"dot": [{"inputs": ROW, "avg_time_dot": 2.0, "p50_time_dot": 1.5}]}
    lines = render(together, run_of(), "md", together=True).splitlines()
    assert lines[5] == "| Operator | Avg Time (ms) | P50 Time (ms) | P90 Time (ms) | P99 Time (ms) | Inputs |"
    assert lines[7].startswith("| dot | 2.0 | 1.5 | --- | --- |")


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "old.json"], "`old.json` already exists"),
        (["--resume"], "no journal next to it"),
        (["-f", "xml"], "no format `xml`"),
        (["-p", "cpp"], "no profiler `cpp`"),
        (["--int64-tensor", "yes"], "expected on or off"),
        (["--inputs", "old.json"], "expected operators with lists of rows"),
        (["--operator", "torch:torch.add"], "not an operator of MXNet"),
        (["--ctx", "cpu:1"], "no device `cpu:1`"),
        (["--dtype", "float31"], "no dtype `float31`"),
    ],
)
def test_what_cannot_be_understood_is_refused_before_anything_runs(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.json").write_text("[]")
    monkeypatch.setattr(sys, "argv", ["opperf", *words])
    monkeypatch.setattr("signal.signal", lambda *given: None)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert told in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["old.json"]
