"""Files of schema version 1, as the first opperf that had it wrote them: whatever changed since, each is still read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opperf.domain.measurement import Quantity
from opperf.domain.record import Record
from opperf.parent.analysis.summary import record
from opperf.parent.sources.suite_file import read_suite
from opperf.parent.store.documents import read_expected, read_profile, read_run
from opperf.parent.store.journal import read_journal
from opperf.parent.store.machine_file import FLOORS, RATES

FILES = Path(__file__).parents[3] / "gold" / "version_1"


def test_a_result_file_of_version_1_is_read() -> None:
    ok, failed = read_run(FILES / "run.json").records
    assert ok.time is not None
    assert (ok.time.median, ok.time.samples, ok.time.discarded, ok.time.processes) == (9.89e-07, 33, 3, 3)
    assert set(ok.metrics) == {
        *("time", "latency", "cpu_time", "memory_peak", "memory_allocated", "compile_time"),
        *("flops", "bytes", "flop_rate", "byte_rate"),
    }
    assert ok.metrics["memory_peak"] == Quantity(512, "scripted")
    assert (failed.status, failed.reason and failed.reason.signal) == ("failed", "SIGSEGV")


def test_a_journal_of_version_1_makes_the_records_of_its_result_file() -> None:
    journal = read_journal(FILES / "run.json.journal")
    ok, failed = read_run(FILES / "run.json").records
    assert journal.records == (ok, failed)
    settings = journal.run.settings
    again = [record(ok.trial, journal.outcomes[:3], settings), record(failed.trial, journal.outcomes[3:], settings)]
    assert list(map(without_what_is_new, again)) == list(map(without_what_is_new, (ok, failed)))


def without_what_is_new(one: Record) -> Record:
    """Return a record without what records had not then, or formulas say: they refuse shapes of these files today."""
    formulas = ("flops", "bytes", "flop_rate", "byte_rate")
    metrics = {name: value for name, value in one.metrics.items() if name not in formulas}
    warnings = tuple(warning for warning in one.warnings if warning.slug != "formula_does_not_fit")
    facts = {name: fact for name, fact in one.facts.items() if name != "seconds"}
    return replace(one, metrics=metrics, warnings=warnings, facts=facts)


def test_a_suite_of_version_1_is_read() -> None:
    suite = read_suite(FILES / "suite.json")
    assert [entry.case.operator for entry in suite.cases] == ["add", "concat", "null:steady"]
    assert (suite.calls, suite.cases[0].directions, suite.program and suite.program.time) == (5, ("forward",), 0.5)


def test_a_profile_of_version_1_is_read() -> None:
    profile = read_profile(FILES / "profile.json")
    assert [event.name for event in profile.events] == ["step", "aten::add", "kernel"]


def test_expectations_of_version_1_are_read() -> None:
    (expectation,) = read_expected(FILES / "expected.json")
    assert (expectation.time, expectation.memory_peak, expectation.machine) == (1.5e-06, 8, {"cpu": "A"})


def test_what_version_1_knew_of_a_machine_is_read() -> None:
    (floor,) = FLOORS.read(FILES / "floors.json").values()
    assert (floor.trial.case.operator, floor.moved) == ("add", 0.02)
    assert [rate.kind for rate in RATES.read(FILES / "rates.json").values()] == ["move", "product"]
