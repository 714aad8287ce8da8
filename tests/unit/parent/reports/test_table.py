"""The table behind every format, and the remarks around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.each import each

from opperf.domain.case import Argument, Case, Device, DType, Graph, ListOf
from opperf.domain.code import Code
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.reports import remarks
from opperf.parent.reports.columns import columns
from opperf.parent.reports.comparison_rows import side_text
from opperf.parent.reports.document import Note, Section, Table
from opperf.parent.reports.run import in_order, merge, table_of
from opperf.parent.reports.text import case_text, common_subject, first_line, one_line, trial_text
from opperf.parent.sources.argument_text import argument_text

ADD = Case("add", {"lhs": TensorSpec((2,))})
MUL = Case("mul", {"lhs": TensorSpec((2,))})


def failed(case: Case = ADD, side: Side | None = None, direction: str = "forward", message: str = "bad") -> Record:
    return Record(Trial(case, side or Side("torch"), direction), "failed", Reason("raised", message, "hint"))


def run_of(*records: Record, **changes: Any) -> Run:
    return replace(Run("r", "2026-11-21", ("run",), Settings(), records=records), **changes)


def titles(table: Table) -> list[str]:
    return table.titles()


def remarks_of(section: Section) -> list[Note]:
    return [block for block in section.blocks if isinstance(block, Note)]


def below(note: Note, kind: str) -> list[str]:
    return [one.text for one in note.below if one.kind == kind]


def cells(run: Run, title: str) -> list[str]:
    table = table_of(run.records)
    place = [column.title for column in table.columns].index(title)
    return [row.cells[place].text for row in table.rows]


def test_rows_stand_together_by_operator_case_framework_and_direction() -> None:
    torch, numpy = Side("torch"), Side("numpy")
    given = [
        failed(MUL, numpy, "backward"),
        failed(ADD, torch, "backward"),
        failed(MUL, torch, "forward"),
        failed(MUL, numpy, "forward"),
        failed(ADD, torch, "forward"),
    ]
    assert [(r.trial.case.operator, r.trial.side.framework, r.trial.direction) for r in in_order(given)] == [
        ("mul", "numpy", "forward"),
        ("mul", "numpy", "backward"),
        ("mul", "torch", "forward"),
        ("add", "torch", "forward"),
        ("add", "torch", "backward"),
    ]


def test_stable_names_are_unique() -> None:
    names = [column.name for column in columns() if column.name]
    assert len(names) == len(set(names))


def test_columns_that_are_empty_everywhere_are_not_shown() -> None:
    seen = titles(table_of([failed()]))
    assert seen == ["operator", "time", "notes"]


def test_a_missing_fact_is_empty_for_people_and_none_for_machines() -> None:
    row = table_of([failed()]).rows[0]
    time = next(i for i, column in enumerate(columns()) if column.name == "time_median_s")
    assert (row.cells[time].raw, row.cells[time].text) == (None, "")


def test_what_sides_differ_in_is_a_column_and_what_they_share_is_said_once() -> None:
    table = table_of([failed(side=Side("torch")), failed(side=Side("torch", mode="compiled"))])
    assert "mode" in titles(table)
    assert "device" not in titles(table)
    assert table.caption == "framework torch, device cpu, threads 1, direction forward, inputs 2"


def test_unusual_settings_that_all_rows_share_are_said() -> None:
    side = Side("mxnet", environment="mxnet-mkl==1.6.0", engine="threaded", settings={"b": "2", "a": "1"})
    assert table_of([failed(side=side)]).caption == (
        "framework mxnet, environment mxnet-mkl==1.6.0, device cpu, mode eager, threads 1, engine threaded, "
        "settings a=1 b=2, direction forward, inputs 2"
    )


def test_environments_are_shown_where_framework_and_version_do_not_tell_them_apart() -> None:
    def measured(environment: str, version: str, framework: str = "torch") -> Record:
        return replace(failed(side=Side(framework, environment=environment)), facts={"version": version})

    assert "environment" not in titles(table_of([measured("a", "1.0"), measured("b", "2.0")]))
    assert "environment" in titles(table_of([measured("a", "1.0"), measured("b", "1.0")]))


def test_the_implementation_that_was_found_wins_over_the_one_asked_for() -> None:
    side = Side("torch", implementation="asked")
    result = replace(failed(side=side), facts={"implementation": "found"})
    assert cells(run_of(result, failed(side=side)), "implementation") == ["found", "asked"]


def test_spread_is_the_interval_where_there_is_one_and_else_the_precision(run: Run) -> None:
    assert cells(run, "spread")[:2] == ["±1.2 %", ""]
    assert "[4.05, 4.41] us" in cells(run, "spread")


def test_samples_are_kept_of_taken(run: Run) -> None:
    assert cells(run, "samples")[:2] == ["100/100", "90/100"]


def test_a_row_notes_a_clock_a_wait_or_a_cache_that_is_not_the_usual_one(
    run: Run, run_with_metrics: Callable[..., Run]
) -> None:
    usual = run.records[0].time
    assert usual is not None
    odd = replace(usual, clock="cpu", sync="call", cache="cold")
    assert cells(run_with_metrics(time=odd), "notes") == ["clock=cpu sync=call cache=cold"]
    assert cells(run_with_metrics(time=usual), "notes") == [""]


def test_a_failed_row_notes_the_first_line_of_its_reason() -> None:
    assert cells(run_of(failed(message="\nno shape\nat line 3")), "notes") == ["no shape"]


def test_a_failed_row_without_a_reason_says_that_it_failed() -> None:
    bare = replace(failed(), reason=None)
    assert cells(run_of(bare), "time") == ["failed"]
    assert remarks_of(remarks.sections([bare])[0])[0].text == "unknown (1): no reason was recorded"


def test_a_sampled_memory_peak_is_shown_by_its_median(run: Run, run_with_metrics: Callable[..., Run]) -> None:
    time = run.records[0].time
    assert time is not None
    peak = replace(time, median=2048.0)
    assert cells(run_with_metrics(memory_peak=peak), "memory") == ["2.05 kB"]


@each(
    ("argument", "text"),
    [
        (TensorSpec((1024, 1024)), "1024x1024"),
        (TensorSpec(()), "scalar"),
        (TensorSpec((0, 3), "int64"), "0x3:int64"),
        (TensorSpec((2,), values="zeros"), "2:zeros"),
        (TensorSpec((2, 3), strides=(1, 2), range=(0, 5)), "2x3:strides=1,2:range=0..5"),
        (TensorSpec((2,), requires_grad=False), "2:requires_grad=False"),
        (ListOf((TensorSpec((2,)), TensorSpec((3,)))), "[2;3]"),
        (ListOf((TensorSpec((2, 2)),) * 200), "[2x2]*200"),
        (ListOf((TensorSpec((2, 2)), TensorSpec((2,))) * 21), "[2x2;2]*21"),
        (ListOf((1, 2, 1, 2)), "[1;2;1;2]"),
        ((2, 2), "(2,2)"),
        (DType("float16"), "float16"),
        (Device("cpu"), "device:cpu"),
        (TensorSpec((1,), "string", literal=("a",)), "1:string:literal['a']"),
        (Graph(b""), "graph_e3b0c44298fc"),
        (None, "None"),
        (True, "True"),
        (1e-5, "1e-05"),
        ("both", "both"),
        ("two words", "'two words'"),
    ],
)
def test_an_argument_is_written_without_its_defaults(argument: Argument, text: str) -> None:
    assert argument_text(argument) == text


def test_inputs_come_before_attributes() -> None:
    case = Case("sum", {"data": TensorSpec((4, 4), "float64")}, {"axis": 1, "keepdims": False})
    assert case_text(case) == "data=4x4:float64 axis=1 keepdims=False"


def test_the_entry_that_data_is_made_of_is_written_as_its_digest() -> None:
    short, long = (case_text(Case("f", {}, {"made.by": "Rows", "made.of": of})) for of in ("{}", "\ud800" * 5000))
    assert short.startswith("made.by=Rows made.of=sha_")
    assert len(short) == len(long)
    assert short != long


def test_text_that_does_not_print_is_escaped() -> None:
    assert one_line("a\nb\x1b[0m\u202e\ud800") == "a\\nb\\x1b[0m\\u202e\\ud800"
    assert one_line("größe ±") == "größe ±"
    assert first_line("") == ""


def test_reasons_are_grouped_by_message_and_counted() -> None:
    sections = remarks.sections([failed(), failed(MUL), failed(MUL, direction="backward", message="other")])
    assert [section.title for section in sections] == ["failed"]
    assert [note.text for note in remarks_of(sections[0])] == ["raised (2): bad", "raised (1): other"]


def test_warnings_are_grouped_by_slug_and_counted_once_a_trial() -> None:
    twice = replace(failed(), status="ok", warnings=(Warning("busy", "10 of 20"), Warning("busy", "11 of 20", "wait")))
    (section,) = remarks.sections([twice])
    (remark,) = remarks_of(section)
    assert remark.text == "busy (1): 10 of 20"
    assert (below(remark, ""), below(remark, "hint")) == (["11 of 20: add torch forward lhs=2"], ["wait"])


def test_of_many_trials_the_first_are_named_and_the_others_counted() -> None:
    many = [failed(Case(f"op{i}")) for i in range(12)]
    (remark,) = remarks_of(remarks.sections(many)[0])
    assert remark.text == "raised (12): bad"
    assert len(below(remark, "item")) == 6
    assert below(remark, "item")[-1] == "and 7 more"


def test_the_legend_explains_only_marks_that_are_there(run: Run) -> None:
    assert not remarks.legend([failed()])
    legend = remarks.legend(run.records)
    assert [note.text.split(":")[0] for note in legend] == ["[low, high]", "±", "samples", "clock=cpu", "memory"]


def test_the_tally_counts_each_status(run: Run) -> None:
    assert remarks.tally(run.records) == "7 trials: 4 ok, 2 failed, 1 skipped"
    assert remarks.tally([failed()]) == "1 trial: 1 failed"


def test_merging_keeps_equal_trials_of_several_runs_each_with_its_run() -> None:
    merged = merge([run_of(failed(ADD), failed(MUL)), run_of(failed(ADD, message="later"), id="r2")])
    assert [(r.trial.case.operator, r.reason and r.reason.message, r.facts["run"]["id"]) for r in merged] == [
        ("add", "bad", "r"),
        ("mul", "bad", "r"),
        ("add", "later", "r2"),
    ]
    assert merged.id == "r+r2"


def test_merging_counts_what_one_run_has_twice_once() -> None:
    run = run_of(failed(ADD))
    assert len(merge([run, run]).records) == 1


def test_merging_keeps_only_the_facts_that_all_runs_agree_on_and_every_header() -> None:
    one = run_of(labels={"host": "a", "team": "x"}, environment={"cpu": "EPYC", "cores": 2})
    two = run_of(labels={"host": "b", "team": "x"}, environment={"cpu": "EPYC", "cores": 4})
    merged = merge([one, two])
    assert merged.labels == {"team": "x"}
    assert merged.environment["cpu"] == "EPYC"
    assert "cores" not in merged.environment
    assert merged.environment["merged"] == [one.header(), two.header()]


def test_merging_one_run_changes_nothing(run: Run) -> None:
    assert merge([run]) is run


def test_samples_that_count_although_disturbed_are_told_beside_their_number(run: Run) -> None:
    record = run.records[0]
    assert record.time is not None
    timed = replace(record, metrics={"time": replace(record.time, samples=10, discarded=0, disturbed=7)})
    assert cells(run_of(timed), "samples") == ["10/10, 7 disturbed"]
    told = Note("disturbed: used anyway, because too few clean samples remained", about="samples")
    assert told in remarks.legend([timed])


def test_a_floor_is_explained_where_a_row_has_one(run: Run) -> None:
    record = run.records[0]
    floors = [note for note in remarks.legend([replace(record, facts={"noise_floor": 0.05})]) if note.about == "floor"]
    assert [note.text.startswith("floor: how far") for note in floors] == [True]
    assert not any(note.about == "floor" for note in remarks.legend([record]))


def test_a_time_of_zero_has_no_share_of_the_roofline(run: Run) -> None:
    record = run.records[0]
    assert record.time is not None
    none = replace(record.time, median=0.0, clock="profiler")
    timed = replace(record, metrics={"time": none}, facts={"roofline": {"seconds": 1e-6, "bound": "memory"}})
    assert cells(run_of(timed), "roofline") == [""]
    assert any(note.text.startswith("clock=profiler: ") for note in remarks.legend([timed]))


def test_a_quantity_of_zero_is_shown(run_with_metrics: Callable[..., Run]) -> None:
    assert cells(run_with_metrics(memory_peak=Quantity(0)), "memory") == ["0 B"]


OWN, LABEL = Side("numpy", implementation=Code("kernels/mine.py:fast")), "code:kernels/mine.py:fast"


@pytest.mark.parametrize("side", [OWN, Side("numpy", implementation=LABEL)], ids=["measured", "read back"])
def test_a_row_of_ones_own_function_has_its_name_beside_the_operators(side: Side) -> None:
    run = run_of(failed(ADD, Side("numpy")), failed(ADD, side, message="wrong"))
    assert cells(run, "operator") == ["add", "mine.py:fast"]
    assert cells(run, "implementation") == ["", ""]
    assert [row.cells[1].text for row in table_of(run.records).rows] == ["add", "add"]
    assert trial_text(run.records[1].trial) == "mine.py:fast numpy forward lhs=2"
    assert "mine.py:fast numpy forward" in repr(remarks.sections(run.records))


def test_sides_of_a_comparison_are_named_by_ones_own_functions_and_one_on_both_is_what_is_compared() -> None:
    other = Side("numpy", implementation=Code("kernels/mine.py:slow"))
    assert [side_text(OWN, other), side_text(other, OWN)] == ["mine.py:fast", "mine.py:slow"]
    assert [side_text(Side("torch"), OWN), side_text(OWN, Side("torch"))] == ["torch", "mine.py:fast;numpy"]
    builds = [replace(OWN, environment=f"python=/{name}/bin/python") for name in ("old", "new")]
    assert [side_text(*builds), side_text(*builds[::-1])] == ["python=/old/bin/python", "python=/new/bin/python"]
    assert side_text(Side("torch", implementation="aten::mm"), OWN) == "torch:aten::mm"
    compared = Comparison(ADD, "forward", builds[0], builds[1], Verdict("same", 1.0, None, "", 5))
    assert common_subject(compared) == "mine.py:fast"
    assert common_subject(replace(compared, new=other)) == "add"


def sort_of(framework: str, order: str | None, case: Case = ADD) -> Record:
    facts = {} if order is None else {"order_of_equals": order}
    return Record(Trial(case, Side(framework), "forward"), "ok", facts=facts)


def test_a_run_says_which_frameworks_keep_the_order_of_equal_elements() -> None:
    records = [sort_of("jax", "kept"), sort_of("numpy", "any"), sort_of("torch", "any"), sort_of("mxnet", None)]
    text = "sorts: equal elements keep their order in jax, and need not in numpy, torch"
    assert [note.text for note in remarks.legend(records) if note.text.startswith(text)]


def test_a_run_of_one_order_of_equal_elements_says_nothing_of_it() -> None:
    for records in ([sort_of("jax", "kept"), sort_of("numpy", "any", MUL)], [sort_of("numpy", "any")] * 2):
        assert not [note for note in remarks.legend(records) if note.text.startswith("sorts: ")]


def test_a_run_whose_programs_were_loaded_says_how_to_measure_the_time_to_compile() -> None:
    loaded = Record(Trial(ADD, Side("torch"), "forward"), "ok", facts={"compiled": "loaded from the cache in 0.3 s"})
    text = "compiled code was loaded from the cache; `--compile-cache none` measures the time to compile"
    assert text in [note.text for note in remarks.legend([loaded])]
    assert not remarks.legend([replace(loaded, facts={})])
