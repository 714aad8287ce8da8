"""`opperf history`: results kept in a database, shown by operator, and changes between builds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.history import archive
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.pages.server.operator_charts import ratio_charts
from opperf.parent.store.database import documents, schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import build_orders, builds
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.operator_history import operator_ratios
from opperf.parent.store.database.overview import overview

SUM, EXP = (Case(name, {"data": TensorSpec((32, 32))}) for name in ("sum", "exp"))


def compared(case: Case, base: str, new: str, ratio: float, error: float = 0.004) -> Comparison:
    """Return a comparison of two versions of NumPy."""
    interval = (ratio * math.exp(-1.96 * error), ratio * math.exp(1.96 * error))
    old, later = (Side("numpy", f"numpy=={version}") for version in (base, new))
    verdict = Verdict("slower" if ratio > 1.02 else "same", ratio, interval, "", 5)
    return Comparison(case, "forward", old, later, verdict, base_version=base, new_version=new)


def night(number: int, *comparisons: Comparison) -> ComparisonRun:
    """Return the comparisons of a night of November."""
    machine = {"cpu": "EPYC", "cores_logical": 2, "memory_total": 2**34}
    started = f"2026-11-{number:02}T03:00:00+00:00"
    run = Run(f"night{number}", started, ("opperf",), Settings(), environment={"machine": machine})
    return ComparisonRun(run, comparisons)


def write(here: Path, *nights: ComparisonRun) -> list[Path]:
    """Write the document of each night."""
    files = []
    for one in nights:
        files.append(here / f"{one.run.id}.json")
        files[-1].write_text(json.dumps(one.to_json()))
    return files


def rows(done: Any) -> list[dict[str, Any]]:
    """Return the rows of a JSON document on stdout."""
    assert done.code == 0, done.err
    rows: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return rows


@pytest.fixture
def nights(here: Path) -> list[Path]:
    """Nights of five versions, compared with 1.0: `exp` takes 5 % more from 1.3 on, `sum` stays as it is."""
    ratios = {"1.1": 1.0, "1.2": 1.002, "1.3": 1.05, "1.4": 1.052}
    return write(
        here,
        *(
            night(i, compared(EXP, "1.0", version, ratio), compared(SUM, "1.0", version, 1.0))
            for i, (version, ratio) in enumerate(ratios.items(), 1)
        ),
    )


def test_a_run_is_added_once_and_listed_and_shown(opperf: Any, here: Path) -> None:
    opperf("run", "null:steady", "--runs", 3, "--label", "night=1", "--output", "r.json")
    first = opperf("history", "add", "r.json", "--database", "team.db")
    assert (first.code, first.out) == (0, "")
    key = json.loads((here / "r.json").read_text())["run"]["id"]
    assert f"run {key}: added, 1 rows" in first.err
    assert "was there already" in opperf("history", "add", "r.json", "--database", "team.db").err
    (row,) = rows(opperf("history", "list", "--database", "team.db", "--format", "json"))
    assert (row["run"], row["kind"], row["rows"], row["labels"]) == (key, "run", 1, "night=1")
    (row,) = json.loads(opperf("history", "show", "null:steady", "--database", "team.db", "--format", "json").out)[
        "rows"
    ]
    assert (row["operator"], row["framework"], row["version"], row["status"]) == ("null:steady", "null", "1", "ok")
    assert row["time_s"] == pytest.approx(1e-4)
    assert opperf("history", "remove", key, "--database", "team.db").code == 0
    assert "no runs" in opperf("history", "list", "--database", "team.db").out


def test_the_database_may_be_named_by_a_variable(opperf: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_DATABASE", str(here / "mine.db"))
    (file,) = write(here, night(1, compared(SUM, "1.0", "1.1", 1.0)))
    assert f"database: {here / 'mine.db'}" in opperf("history", "add", file).err
    assert "night1" in opperf("history", "list").out


def test_a_change_lies_between_two_builds_and_has_a_size(opperf: Any, nights: list[Path]) -> None:
    opperf("history", "add", *nights, "--database", "team.db")
    done = opperf("history", "changes", "--database", "team.db", "--format", "json")
    (change,) = rows(done)
    assert (change["operator"], change["before"], change["after"]) == ("exp", "1.2", "1.3")
    assert (change["anchor"], change["status"]) == ("1.0", "confirmed")
    assert change["low"] < 1.05 < change["high"]
    out = opperf("history", "changes", "--database", "team.db").out
    assert "2 series of ratios between builds, 1 change" in out
    assert "`opperf compare exp --size small --base numpy==1.2 --new numpy==1.3 --direction forward`" in out
    assert rows(opperf("history", "changes", "sum", "--database", "team.db", "--format", "json")) == []
    later = opperf("history", "changes", "--since", "2026-11-04", "--database", "team.db", "--format", "json")
    assert rows(later) == []


def test_changes_of_one_operator_are_told_apart_at_any_width(
    opperf: Any, nights: list[Path], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Case("exp", {"data": TensorSpec((512, 512))})
    more = (night(4 + i, compared(large, "1.0", version, 1.05)) for i, version in enumerate(("1.3", "1.4"), 1))
    first = night(9, compared(large, "1.0", "1.2", 1.0))
    opperf("history", "add", *nights, *write(here, *more, first), "--database", "team.db")
    changes = rows(opperf("history", "changes", "--database", "team.db", "--format", "json"))
    monkeypatch.setenv("COLUMNS", "70")
    out = opperf("history", "changes", "--database", "team.db").out
    assert len(changes) == 2
    assert all(f"  exp {change['name']}: {change['case']}" in out for change in changes)


def test_where_releases_may_lie_between_two_builds_the_command_finds_the_one(opperf: Any, here: Path) -> None:
    ratios = {"1.1.0": 1.0, "1.2.0": 1.002, "1.4.0": 1.05, "1.4.1": 1.052, "2.0.0": 0.9, "2.0.1": 0.9}
    nights = (night(i, compared(EXP, "1.0.0", *one)) for i, one in enumerate(ratios.items(), 1))
    opperf("history", "add", *write(here, *nights), "--database", "team.db")
    out = opperf("history", "changes", "--database", "team.db").out
    slower = "opperf bisect exp --size small --framework numpy --good 1.2.0 --bad 1.4.0 --direction forward"
    assert f"find the release: `{slower}`" in out
    faster = "opperf bisect exp --size small --framework numpy --good 1.4.1 --bad 2.0.0 --direction forward"
    assert f"find the release: `{faster}`" in out


def test_builds_that_are_added_in_another_order_show_the_same_changes(opperf: Any, here: Path) -> None:
    versions = {"1.4": 1.052, "1.3": 1.05, "1.2": 1.002, "1.1": 1.0}
    several = [night(i, compared(EXP, "1.0", *one)) for i, one in enumerate(versions.items(), 1)]
    opperf("history", "add", *write(here, *several), "--database", "team.db")
    (change,) = rows(opperf("history", "changes", "--database", "team.db", "--format", "json"))
    assert (change["before"], change["after"], change["status"]) == ("1.2", "1.3", "confirmed")
    with archive("team.db") as store:
        assert [build.version for build in builds(store)] == ["1.4", "1.3", "1.2", "1.1", "1.0"]
        board = overview(store)
        assert board is not None
        assert (board.build, board.anchor) == ("1.4", "1.0")
        (chart,) = ratio_charts(operator_ratios(store, "exp"), build_orders(store))
    assert (chart.builds, [step.after for step in chart.steps]) == (["1.1", "1.2", "1.3", "1.4"], [2])


def test_a_change_that_one_build_shows_is_to_be_confirmed(opperf: Any, nights: list[Path]) -> None:
    opperf("history", "add", *nights[:3], "--database", "team.db")
    out = opperf("history", "changes", "--database", "team.db").out
    assert "unconfirmed" in out
    assert "0 changes, 1 more to be confirmed by the next build" in out


def test_after_three_nights_what_they_compared_is_shown_and_what_is_not_confirmed_told(opperf: Any, here: Path) -> None:
    several = (night(i, compared(SUM, "1.0", f"1.{i}", ratio)) for i, ratio in enumerate((1.0, 1.08), 1))
    opperf("history", "add", *write(here, *several), "--database", "team.db")
    shown = opperf("history", "show", "sum", "--database", "team.db")
    assert (shown.code, shown.err) == (0, "")
    lines = [line.split() for line in shown.out.splitlines() if line.startswith("2026-11-0")]
    assert [line[2:6] for line in lines] == [["numpy", "1.1", "same", "1.000"], ["numpy", "1.2", "slower", "1.080"]]
    told = opperf("history", "changes", "--database", "team.db").out
    assert "0 changes; a change is confirmed by 2 builds that support it" in told
    assert "sum forward data=32x32, numpy 1.0 to 1.2: ratio 1.080 [1.072, 1.089], slower" in told
    document = json.loads(opperf("history", "show", "sum", "--database", "team.db", "--format", "json").out)
    assert document["rows"] == []
    assert [row["ratio"] for row in document["comparisons"]] == [1.0, 1.08]


def test_a_build_that_is_like_the_one_before_and_unlike_the_anchor_is_told_too(opperf: Any, here: Path) -> None:
    first = night(1, compared(SUM, "1.0", "1.1", 1.05))
    second = night(2, compared(SUM, "1.0", "1.2", 1.1), compared(SUM, "1.1", "1.2", 1.0))
    opperf("history", "add", *write(here, first, second), "--database", "team.db")
    told = opperf("history", "changes", "--database", "team.db").out
    assert "0 changes; a change is confirmed by 2 builds that support it, by more than the series scatters" in told
    assert "sum forward data=32x32, numpy 1.0 to 1.2: ratio 1.100 [" in told


def test_frameworks_against_each_other_are_no_history_of_builds(opperf: Any, here: Path) -> None:
    other = replace(compared(SUM, "1.0", "2.13", 1.3), new=Side("torch"))
    opperf("history", "add", *write(here, night(1, other)), "--database", "team.db")
    assert "0 series of ratios" in opperf("history", "changes", "--database", "team.db").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list",), "there is no database"),
        (("add", "none.json"), "cannot read `none.json`"),
        (("list", "--since", "yesterday"), "`yesterday` is not a date"),
        (("show", "sum", "--format", "xml"), "no format `xml`"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], message: str, opperf: Any, here: Path) -> None:
    done = opperf("history", *words, "--database", "team.db")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_old_runs_are_pruned_and_a_dry_run_removes_nothing(opperf: Any, nights: list[Path]) -> None:
    opperf("history", "add", *nights, "--database", "team.db")
    done = opperf("history", "prune", "--keep", 2, "--dry-run", "--database", "team.db")
    assert "would remove run night1 of 2026-11-01: 2 rows" in done.err
    assert len(rows(opperf("history", "list", "--database", "team.db", "--format", "json"))) == 4
    assert "removed run night2" in opperf("history", "prune", "--keep", 2, "--database", "team.db").err
    left = rows(opperf("history", "list", "--database", "team.db", "--format", "json"))
    assert [row["run"] for row in left] == ["night4", "night3"]
    assert "nothing to remove" in opperf("history", "prune", "--older-than", 36500, "--database", "team.db").err
    done = opperf("history", "prune", "--database", "team.db")
    assert (done.code, "no rule says which runs to remove" in done.err) == (2, True)


def test_what_is_not_there_is_said(opperf: Any, nights: list[Path], here: Path) -> None:
    opperf("history", "add", nights[0], "--database", "team.db")
    err = opperf("history", "show", "summ", "--database", "team.db").err
    assert "no measurement of `summ`\n\nhint: did you mean `sum`?" in err
    done = opperf("history", "remove", "night9", "--database", "team.db")
    assert (done.code, "no run `night9`" in done.err) == (2, True)
    (here / "suite.json").write_text(json.dumps({"schema_version": 1, "cases": []}))
    assert "neither results nor comparisons" in opperf("history", "add", "suite.json", "--database", "team.db").err


# `--database` of the commands that measure ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "kind", "count"),
    [
        (("run", "null:steady", "--runs", 3), "run", 1),
        (("compare", "null:steady", "--base", "null", "--new", "null", "--pairs", 3), "comparison", 1),
        (("gate", "null:steady", "--base", "null", "--new", "null", "--pairs", 3), "comparison", 1),
        (("noise", "null:steady", "--framework", "null", "--repeats", 1, "--pairs", 3), "noise", 1),
    ],
)
def test_a_command_adds_what_it_measured(opperf: Any, here: Path, words: Any, kind: str, count: int) -> None:
    done = opperf(*words, "--database", "team.db")
    assert done.code == 0, done.err
    assert f"to {here / 'team.db'}" in done.err
    (row,) = rows(opperf("history", "list", "--database", "team.db", "--format", "json"))
    assert (row["kind"], row["rows"]) == (kind, count)


def test_without_a_name_the_database_is_the_usual_one(opperf: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPPERF_DATABASE", raising=False)
    (here / "opperf.toml").write_text('[database]\nurl = "own.db"\n')
    assert f"to {here / 'own.db'}" in opperf("run", "null:steady", "--runs", 3, "--database").err
    monkeypatch.setenv("OPPERF_DATABASE", "mine.db")
    assert f"to {here / 'mine.db'}" in opperf("run", "null:steady", "--runs", 3, "--database", "--format", "csv").err
    assert len(rows(opperf("history", "list", "--database", "own.db", "--format", "json"))) == 1


OUT_OF_REACH = "postgresql://ann:secret@127.0.0.1:1/perf"


def test_results_that_no_database_took_are_in_a_file_and_the_message_says_how_to_add_them(
    opperf: Any, here: Path
) -> None:
    done = opperf("run", "null:steady", "--runs", 3, "--database", OUT_OF_REACH)
    assert done.code == 3
    (file,) = here.glob("opperf-*.json")
    assert f"add them later: `opperf history add {file.name}`" in done.err
    assert opperf("history", "add", file, "--database", "team.db").code == 0
    assert "secret" not in file.read_text() + done.out + done.err
    done = opperf("run", "null:steady", "--runs", 3, "--output", "r.json", "--database", OUT_OF_REACH)
    assert "`opperf history add r.json`" in done.err
    assert "secret" not in (here / "r.json").read_text()
    assert not list(here.glob("*.journal"))


def test_a_regression_is_told_though_no_database_took_it(opperf: Any) -> None:
    words = ("null:steady", "--base", "null", "--new", "null;slowdown=1.1", "--pairs", 3, "--database", OUT_OF_REACH)
    done = opperf("gate", *words)
    assert done.code == 1
    assert "add them later" in done.err


def test_an_address_that_means_nothing_is_refused_before_anything_runs(opperf: Any) -> None:
    done = opperf("run", "null:steady", "--database", "mysql://db/perf")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("remove", "9" * 30), 2),
        (("remove", "\udcff"), 2),
        (("remove", *map(str, range(40_000))), 2),
        (("show", "9" * 30), 2),
        (("show", "\udcff"), 2),
        (("show", "exp", "--framework", "\udcff"), 2),
        (("changes", "\udcff"), 2),
        (("list", "--top", "9" * 30), 2),
        (("list", "--since", "9999-12-31T23:59:59-23:59"), 2),
        (("prune", "--older-than", "9" * 30, "--dry-run"), 0),
        (("prune", "--keep", "9" * 30, "--dry-run"), 2),
        (("changes", "--tolerance", "9" * 400), 2),
    ],
)
def test_an_argument_of_any_size_is_answered_in_one_message(
    words: tuple[str, ...], code: int, nights: list[Path], opperf: Any
) -> None:
    opperf("history", "add", *nights, "--database", "team.db")
    done = opperf("history", *words, "--database", "team.db")
    assert (done.code, done.err.count("error: ")) == (code, code // 2)
    assert "unexpected" not in done.err


def test_a_document_that_unpacks_to_more_than_the_memory_holds_costs_its_own_run(
    nights: list[Path], opperf: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opperf("history", "add", *nights, "--database", "team.db")
    monkeypatch.setattr(documents, "LARGEST", 2000)
    with Archive(Address.of(str(here / "team.db"))) as store, store.engine.begin() as connection:
        for key, document in (("night1", documents.pack({"a": "a" * 100_000})), ("night2", b"no document")):
            query = update(schema.runs).where(schema.runs.c.key == key)
            connection.execute(query.values(document=document))
    done = opperf("history", "export", "--output", "all.jsonl", "--database", "team.db")
    assert (done.code, "2 runs" in done.err) == (0, True)
    assert "left out run night1: run night1: its document has over 2,000 bytes" in done.err
    assert "left out run night2: run night2: its document is damaged" in done.err
