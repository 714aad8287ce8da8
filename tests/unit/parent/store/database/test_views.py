"""What a database is asked by who looks around in it."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run, Statistics, Value
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.history import imported_changes
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import builds
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries, entry_count, ratios
from opperf.parent.store.database.listing import floors, machines, operators, run_kinds, search
from opperf.parent.store.database.operator_history import operator_ratios, operator_times
from opperf.parent.store.database.overview import overview
from opperf.parent.store.database.series import Filters

SUM, EXP, CONV = (Case(name, {"data": TensorSpec((32, 32))}) for name in ("sum", "exp", "conv2d"))
MACHINE = {"cpu": "EPYC", "cores_logical": 2, "memory_total": 2**34}


def compare(case: Case, base: str, new: str, ratio: float, *, framework: str = "numpy") -> Comparison:
    """Return a comparison of two versions."""
    old, later = (Side(framework, f"{framework}=={version}") for version in (base, new))
    word = "slower" if ratio > 1.02 else "faster" if ratio < 0.98 else "same"
    verdict = Verdict(word, ratio, (ratio * 0.99, ratio * 1.01), "", 5)
    return Comparison(case, "forward", old, later, verdict, 1e-4, ratio * 1e-4, base_version=base, new_version=new)


def night(day: int, *comparisons: Comparison, key: str = "night") -> ComparisonRun:
    """Return the comparisons of a night."""
    return ComparisonRun(Run(f"{key}{day}", started(day), ("opperf",), Settings(), environment=place()), comparisons)


def measure(day: int, version: str, times: dict[Case, float], *, cpu: str = "EPYC") -> Run:
    """Return a run of a version of NumPy."""
    records = []
    for case, time in times.items():
        values: dict[str, Any] = dict.fromkeys(("mean", "median", "p90", "p99", "min", "max"), time)
        counts: dict[str, Any] = {"samples": 1, "calls_per_sample": 1, "discarded": 0, "processes": 1}
        summary = Statistics(
            **values, **counts, stdev=0.0, interval=(time * 0.9, time * 1.1), interval_reason=None, precision=None
        )
        metrics: dict[str, Value] = {"time": summary, "memory_peak": Quantity(4096), "compile_time": Quantity(0.5)}
        records.append(Record(Trial(case, Side("numpy"), "forward"), "ok", metrics=metrics, facts={"version": version}))
    labels = {"branch": "Main"}
    return Run(f"run{day}", started(day), ("opperf",), Settings(), labels, place(cpu), tuple(records))


def started(day: int) -> str:
    return f"2026-11-{day:02}T10:00:00+00:00"


def place(cpu: str = "EPYC") -> dict[str, object]:
    return {"machine": {**MACHINE, "cpu": cpu}}


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """Three nights of NumPy against 1.0, and against the build before: `exp` takes 5 % more from 1.2 on."""
    archive = Archive(Address.of(str(tmp_path / "results.db")))
    archive.add(night(1, compare(EXP, "1.0", "1.1", 1.0), compare(SUM, "1.0", "1.1", 1.0)))
    archive.add(
        night(2, *(compare(case, base, "1.2", r) for case, r in ((EXP, 1.05), (SUM, 0.9)) for base in ("1.0", "1.1")))
    )
    archive.add(night(3, compare(EXP, "1.0", "1.3", 1.06), compare(SUM, "1.0", "1.3", 1.0)))
    return archive


def test_an_overview_is_of_the_latest_build_against_what_most_builds_were_compared_with(archive: Archive) -> None:
    view = overview(archive)
    assert view is not None
    assert (view.framework, view.build, view.anchor, view.evidence) == ("numpy", "1.3", "1.0", "ratios")
    assert view.verdicts == {"slower": 1, "same": 1}
    first, second = view.movers
    assert (first.series.operator, first.difference.verdict, first.difference.ratio, first.run) == (
        "exp",
        "slower",
        1.06,
        "night3",
    )
    assert first.difference.interval == pytest.approx((1.06 * 0.99, 1.06 * 1.01))
    assert first.difference[-2:] == pytest.approx((1e-4, 1.06e-4))
    assert second.series.operator == "sum"
    assert Case.from_json(first.series.case, "case") == EXP


def test_an_overview_may_be_of_other_builds_and_of_fewer_series(archive: Archive) -> None:
    view = overview(archive, build="1.2", anchor="1.1", filters=Filters(operator="sum"))
    assert view is not None
    assert [(one.series.operator, one.difference.ratio) for one in view.movers] == [("sum", 0.9)]
    view = overview(archive, build="1.2", most=1)
    assert view is not None
    assert ([one.series.operator for one in view.movers], view.verdicts) == (["sum"], {"faster": 1, "slower": 1})
    view = overview(archive, filters=Filters(since=datetime.fromisoformat(started(3))))
    assert view is not None
    assert len(view.movers) == 2
    with pytest.raises(InputError, match=r"no build `9\.9`"):
        overview(archive, build="9.9")
    with pytest.raises(InputError, match=r"no build `1\.3`"):
        overview(archive, anchor="1.3")


def test_a_later_comparison_of_the_same_builds_counts(archive: Archive) -> None:
    archive.add(night(4, compare(EXP, "1.0", "1.3", 1.01)))
    view = overview(archive)
    assert view is not None
    assert {one.series.operator: one.difference.ratio for one in view.movers} == {"exp": 1.01, "sum": 1.0}


def test_without_comparisons_an_overview_is_of_times_and_judges_nothing(tmp_path: Path) -> None:
    archive = Archive(Address.of(str(tmp_path / "times.db")))
    assert overview(archive) is None
    archive.add(measure(1, "1.0", {SUM: 1e-4, EXP: 2e-4}))
    assert overview(archive) is None
    archive.add(measure(2, "1.1", {SUM: 1e-4, EXP: 3e-4, CONV: 1e-3}))
    view = overview(archive)
    assert view is not None
    assert (view.build, view.anchor, view.evidence, view.verdicts) == ("1.1", "1.0", "times", {"unjudged": 2})
    assert view.movers[0].difference.ratio == pytest.approx(1.5)
    assert (view.movers[0].difference.verdict, view.movers[0].difference.low) == (None, None)


def test_operators_are_listed_by_framework_and_category(archive: Archive) -> None:
    archive.add(measure(5, "1.3", {CONV: 1e-3, SUM: 1e-4}))
    assert [(one.operator, one.category, one.series, one.cases) for one in operators(archive)] == [
        ("conv2d", "convolution", 1, 1),
        ("exp", "elementwise_unary", 1, 1),
        ("sum", "reduction", 1, 1),
    ]
    assert [one.operator for one in operators(archive, Filters(category="reduction"))] == ["sum"]
    assert [one.operator for one in operators(archive, Filters(case=EXP.id))] == ["exp"]
    assert operators(archive, Filters(framework="torch")) == operators(archive, Filters(machine=9)) == []


def test_the_times_of_an_operator_stand_in_columns_in_the_order_of_time(archive: Archive) -> None:
    archive.add(measure(6, "1.2", {SUM: 2e-4}))
    archive.add(measure(5, "1.1", {SUM: 1e-4}))
    archive.add(measure(7, "1.2", {SUM: 3e-4}, cpu="Xeon"))
    one, other = operator_times(archive, "sum")
    assert (one.builds, one.times, one.runs, one.statuses) == (
        *(("1.1", "1.2"), (1e-4, 2e-4), ("run5", "run6"), ("ok", "ok")),
    )
    assert one.lows[0] == pytest.approx(0.9e-4)
    assert (one.of("memory_peak")[0], one.of("compile_time")[0]) == (4096, 0.5)
    assert (other.series.machine_name, other.times) == ("Xeon, 2 cores", (3e-4,))
    since = datetime(2026, 11, 6, tzinfo=timezone.utc)
    assert [len(line.times) for line in operator_times(archive, "sum", Filters(since=since))] == [1, 1]
    assert operator_times(archive, "mean") == []


def test_the_ratios_of_an_operator_stand_in_columns_with_both_builds(archive: Archive) -> None:
    (line,) = operator_ratios(archive, "exp")
    assert list(zip(line.bases, line.builds, line.verdicts, line.ratios)) == [
        ("1.0", "1.1", "same", 1.0),
        ("1.0", "1.2", "slower", 1.05),
        ("1.1", "1.2", "slower", 1.05),
        ("1.0", "1.3", "slower", 1.06),
    ]
    assert line.errors[0] == pytest.approx(math.log(1.01 / 0.99) / 2 / 1.96, rel=1e-3)
    assert line.series == line.base


def test_builds_and_machines_say_when_they_were_seen(archive: Archive) -> None:
    archive.add(measure(7, "1.4", {SUM: 3e-4}, cpu="Xeon"))
    assert [(one.version, one.first.day, one.last.day, one.rows) for one in builds(archive)] == [
        *(("1.4", 7, 7, 1), ("1.3", 3, 3, 2), ("1.2", 2, 2, 4), ("1.1", 1, 2, 4), ("1.0", 1, 3, 6)),
    ]
    assert builds(archive, framework="torch") == []
    first, second = machines(archive)
    assert (first.name, first.runs, first.facts["cpu"]) == ("Xeon, 2 cores", 1, "Xeon")
    assert (second.runs, second.first) == (3, datetime(2026, 11, 1, 10, tzinfo=timezone.utc))
    assert [run.key for run in entries(archive, most=2)] == ["run7", "night3"]


def test_noise_floors_belong_to_their_machine(archive: Archive) -> None:
    for day, moved in ((8, 0.02), (9, 0.03)):
        floor = Floor(Trial(SUM, Side("numpy"), "forward"), 1e-4, 5, 0.01, moved, 0.05, 0, 3, started(day))
        run = Run(f"noise{day}", started(day), ("opperf",), Settings(), environment=place())
        assert archive.add(NoiseRun(run, (floor,), (), 0.02)).rows == 1
    (machine,) = machines(archive)
    (level,) = floors(archive, machine.id)
    assert (level.operator, level.moved, level.between, level.measured.day) == ("sum", 0.03, 0.05, 9)
    assert entries(archive)[0].kind == "noise"


def test_a_search_goes_through_names_versions_and_labels(archive: Archive) -> None:
    archive.add(measure(7, "1.4", {SUM: 3e-4}, cpu="Xeon"))
    assert [(hit.kind, hit.key) for hit in search(archive, "EX")] == [("operator", "exp")]
    assert [(hit.kind, hit.text) for hit in search(archive, "numpy 1.4")] == [("build", "numpy 1.4")]
    assert [(hit.kind, hit.text) for hit in search(archive, "xeon")] == [("machine", "Xeon, 2 cores")]
    assert [hit.key for hit in search(archive, "main")] == ["run7"]
    assert search(archive, "%") == search(archive, "  ") == []


def test_ratios_of_builds_are_of_one_framework_whatever_else_its_sides_are(archive: Archive) -> None:
    same = compare(CONV, "1.0", "1.1", 1.2)
    threads = replace(same, new=replace(same.new, threads=2))
    frameworks = replace(same, base=Side("torch", "torch==2.6.0"))
    archive.add(night(5, threads, frameworks))
    (found,) = ratios(archive, Filters(operator="conv2d"))
    assert [(one.base, one.new) for one in found.ratios] == [("1.0", "1.1")]


def test_an_imported_series_of_which_every_time_failed_has_no_change(archive: Archive) -> None:
    assert imported_changes(archive).series == 0
    (record,) = measure(6, "1.4", {CONV: 1e-4})
    failed = replace(record, status="failed", metrics={}, reason=Reason("imported", "it failed"))
    archive.add(replace(measure(6, "1.4", {}), records=(failed,)), kind="imported")
    changes = imported_changes(archive)
    assert (changes.series, changes.changes) == (0, [])


def test_runs_are_read_in_parts_and_counted_by_kind_and_machine(archive: Archive) -> None:
    archive.add(measure(6, "1.4", {SUM: 1e-4}, cpu="Xeon"))
    every = [entry.key for entry in entries(archive)]
    assert every == ["run6", "night3", "night2", "night1"]
    assert [entry.key for entry in entries(archive, start=1, most=2)] == every[1:3]
    assert [entry.key for entry in entries(archive, kind="comparison", start=1)] == ["night2", "night1"]
    counts = [entry_count(archive), entry_count(archive, kind="run"), entry_count(archive, machine="EPYC, 2 cores")]
    assert counts == [4, 1, 3]
    assert run_kinds(archive, 2) == ["comparison", "run"]
