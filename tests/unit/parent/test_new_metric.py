"""A metric that the table declares and one producer measures is found everywhere, without a word about it elsewhere."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.engine import Engine
from opperf.domain.call import Bound, Work
from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Outcome, Quantity, Samples
from opperf.domain.metric import METRICS, STATISTICS, Metric
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.units import SECOND, Unit
from opperf.parent.analysis.gate import judgement_of
from opperf.parent.analysis.summary import record
from opperf.parent.commands.bisect.sentences import tell_steps
from opperf.parent.commands.load import read_value
from opperf.parent.documents.bisection import Step
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.planning.request import decisive
from opperf.parent.reports import render
from opperf.parent.reports.exports.csv import heading, lines
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import comparisons, histories
from opperf.parent.store.database.operator_history import operator_ratios, operator_times

TRIAL = Trial(Case("null:steady"), Side("null"), "forward")
CHARGE = Metric(
    "charge",
    Unit("C", lambda value: "" if value is None else f"{value:g} C"),
    "lower",
    "what it takes",
    title="coulombs",
    compared="sampled",
)
QUEUED = Metric("queued_time", SECOND, "lower", "time of one call in the queue", title="queued", parts=STATISTICS)


class Metered(NullBackend):
    """The null framework, beside a meter that says what each call takes."""

    def forward(self, bound: Bound) -> Work:
        return replace(super().forward(bound), metrics={"charge": Quantity(0.25, "meter")})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with both metrics, one of a backend and one that is sampled, from the journals of two processes."""
    for metric in (CHARGE, QUEUED):
        monkeypatch.setitem(METRICS, metric.name, metric)
    backend = Metered(Side("null"))
    work = backend.forward(Bound(backend.resolve("steady"), ()))
    measured = Engine(backend, NoCounters()).measure(work, Settings(runs=3), output_bytes=0)
    queued = Samples(tuple(replace(sample, wall_ns=sample.wall_ns // 10) for sample in measured.time.samples))
    measured = replace(measured, metrics={**measured.metrics, "queued_time": queued})
    written = [Outcome(TRIAL, process, "ok", measured).to_json() for process in range(2)]
    outcomes = [Outcome.from_json(json.loads(json.dumps(outcome))) for outcome in written]
    return Run("r1", "2026-11-23", (), Settings(), records=(record(TRIAL, outcomes, Settings()),))


def test_a_new_metric_is_on_the_record_and_read_back(run: Run) -> None:
    assert run.records[0].metrics["charge"] == Quantity(0.25, "meter")
    again = Run.from_json(json.loads(render(run, "json")))
    assert again == run
    queued = again.records[0].metrics["queued_time"]
    assert isinstance(queued, Statistics)
    assert (queued.median, queued.processes, len(again.records[0].samples["queued_time"])) == (1e-5, 2, 2)


def test_a_new_metric_has_its_unit_in_json(run: Run) -> None:
    metrics = json.loads(render(run, "json"))["records"][0]["metrics"]
    assert metrics["charge"] == {"unit": "C", "value": 0.25, "source": "meter"}


def test_a_new_metric_has_its_columns_in_csv(run: Run) -> None:
    (row,) = csv.DictReader(io.StringIO(render(run, "csv")))
    assert row["charge_C"] == "0.25"
    assert (row["queued_time_median_s"], row["queued_time_p90_s"], row["queued_time_processes"]) == (
        "1e-05",
        "1e-05",
        "2",
    )


def test_a_new_metric_has_a_column_in_the_tables_for_people_as_it_declares(run: Run) -> None:
    for form in ("console", "md", "html"):
        text = render(run, form)
        assert all(word in text for word in ("coulombs", "0.25 C", "queued", "10.0 us")), form


def test_a_metric_that_nobody_measured_has_no_column_for_people(run: Run) -> None:
    (known,) = run.records
    without: Record = replace(known, metrics={"time": known.metrics["time"]})
    assert "coulombs" not in render(replace(run, records=(without,)), "console")


def test_a_metric_that_no_table_declares_is_passed_over() -> None:
    sample = Samples.from_json({"overhead_ns": 0.0, "calls": [1], "wall_ns": [5], "cpu_ns": [5]})
    measured = Measurement({"time": sample, "charge": Quantity(1.0)})
    assert "charge" not in record(TRIAL, [Outcome(TRIAL, 0, "ok", measured)], Settings()).metrics


@pytest.fixture
def comparison(run: Run) -> ComparisonRun:
    """Two sides, of which the new one takes half as much again."""
    verdict = Verdict("slower", 1.5, (1.4, 1.6), "both stages agree", 5)
    sides = Side("null"), Side("null", settings={"slowdown": "2"})
    one = Comparison(
        *(TRIAL.case, "forward", *sides, verdict),
        base_version="1",
        new_version="1",
        metric="charge",
        base_value=0.25,
        new_value=0.375,
    )
    return ComparisonRun(replace(run, id="c1", records=()), (one,))


def test_sides_are_compared_by_a_new_metric_and_the_document_is_read_back(comparison: ComparisonRun) -> None:
    assert Settings(metric="charge").decisive is CHARGE
    assert decisive("wall", "charge") == {"clock": "wall", "metric": "charge"}
    assert ComparisonRun.from_json(json.loads(render(comparison, "json")), "c.json") == comparison
    (row,) = csv.DictReader(io.StringIO(render(comparison, "csv")))
    assert (row["metric"], row["base_value"], row["new_value"]) == ("charge", "0.25", "0.375")
    text = render(comparison, "console")
    assert all(word in text for word in ("more charge", "0.25 C", "0.375 C", "values: what it takes"))


def test_a_gate_judges_by_a_new_metric(comparison: ComparisonRun) -> None:
    (finding,) = judgement_of(comparison.comparisons, Tolerances(0.02)).findings
    assert (finding.kind, "1.500 times the base's charge" in finding.message) == ("slower", True)


def test_a_database_keeps_a_new_metric_of_records_and_of_comparisons(
    run: Run, comparison: ComparisonRun, tmp_path: Path
) -> None:
    with Archive(Address.of(str(tmp_path / "kept.db"))) as archive:
        archive.add(replace(run, started="2026-11-23T10:00:00+00:00"))
        archive.add(replace(comparison, run=replace(comparison.run, started="2026-11-24T10:00:00+00:00")))
        (times,) = operator_times(archive, TRIAL.case.operator)
        (kept,) = comparisons(archive, TRIAL.case.operator)
        (ratios,) = operator_ratios(archive, TRIAL.case.operator)
        (history,) = histories(archive, TRIAL.case.operator)
        stored = read_value(archive.document_json("c1"), "c1")
    assert times.of("charge") == (0.25,)
    assert history.observations[0].metrics["charge"] == 0.25
    assert (kept.metric, kept.ratio, ratios.series.metric) == ("charge", 1.5, "charge")
    assert isinstance(stored, ComparisonRun)
    assert stored.comparisons == comparison.comparisons


def test_a_new_metric_is_exported(run: Run, comparison: ComparisonRun) -> None:
    record_line, comparison_line = (
        next(csv.DictReader([heading(), *lines(document)])) for document in (run, comparison)
    )
    assert record_line["charge_c"] == "0.25"
    assert (comparison_line["metric"], comparison_line["base_value"], comparison_line["value"]) == (
        *("charge", "0.25", "0.375"),
    )


def test_a_search_says_what_builds_take_of_a_new_metric(run: Run) -> None:
    step = Step("v0", "v1", 1.5, (1.4, 1.6), 5)
    assert [*tell_steps([step], ["v0", "v1"], 0.02, CHARGE)] == ["v1 takes 50.0% more charge than v0"]
