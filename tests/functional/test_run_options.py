"""`opperf run`: what each option does, seen in the records."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.catalog import catalog, operator
from opperf.domain.suite import Suite, SuiteCase

Measure: TypeAlias = Callable[..., list[dict[str, Any]]]
Opperf: TypeAlias = Callable[..., Any]

#: One quick trial.
ONE = ("--size", "small", "--direction", "forward", "--runs", "3")


def _shapes(record: dict[str, Any]) -> dict[str, list[int]]:
    return {name: tensor["shape"] for name, tensor in record["case"]["inputs"].items()}


def _names(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(record["case"]["operator"] for record in records))


def plan_rows(text: str) -> list[list[str]]:
    """Return the rows of a plan below its heading, each as its columns."""
    _, _, *rows = text.splitlines()
    return [re.split(r"\s{2,}", row.strip()) for row in rows if row]


def _planned(opperf: Opperf, *words: object) -> list[list[str]]:
    """Return the lines of a plan, each as its columns."""
    done = opperf("run", *words, "--framework", "null", "--dry-run")
    assert done.code == 0, done.err
    return plan_rows(done.out)


# What ----------------------------------------------------------------------------------------------------------------


def test_operators_are_measured_in_the_order_given(measure: Measure) -> None:
    assert _names(measure("subtract", "add", *ONE)) == ["subtract", "add"]


def test_an_alias_is_the_operator(measure: Measure) -> None:
    alias, name = next((known.aliases[0], known.name) for known in catalog().values() if known.aliases)
    assert _names(measure(alias, *ONE)) == [name]


def test_an_operator_named_twice_is_measured_once(measure: Measure) -> None:
    assert len(measure("add", "subtract", "add", *ONE)) == 2


def test_a_script_of_the_null_framework_takes_the_time_that_it_says(measure: Measure) -> None:
    (record,) = measure("null:steady", "--runs", "5")
    assert record["metrics"]["time"]["median"] == pytest.approx(100e-6, rel=1e-9)
    assert record["facts"]["implementation"] == "null:steady"


def test_a_framework_in_the_name_of_the_operator_is_enough(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--format", "json")
    assert [record["side"]["framework"] for record in done.records] == ["null"]


def test_default_directions_are_forward_and_where_it_exists_backward(measure: Measure) -> None:
    records = measure("add", "argmax", "--size", "small", "--runs", "3")
    assert [(record["case"]["operator"], record["direction"]) for record in records] == [
        ("add", "forward"),
        ("add", "backward"),
        ("argmax", "forward"),
    ]


def test_directions_are_those_asked_for(measure: Measure) -> None:
    words = ("--direction", "forward_backward", "--direction", "backward", "--size", "small", "--runs", "3")
    assert {record["direction"] for record in measure("add", *words)} == {"forward_backward", "backward"}


def test_a_direction_that_an_operator_lacks_is_skipped_with_the_reason(measure: Measure) -> None:
    ok, *others = measure("add", "argmax", "--direction", "backward", "--size", "small", "--runs", "3")
    assert ok["status"] == "ok"
    assert [(record["status"], bool(record["reason"]["message"])) for record in others] == [("skipped", True)]


def test_a_category_is_all_its_operators(opperf: Opperf) -> None:
    words = ("--category", "reduction", "--category", "softmax", "--direction", "forward")
    expected = [known.name for known in catalog().values() if known.category in ("reduction", "softmax")]
    assert [line[0] for line in _planned(opperf, *words)] == expected


def test_all_is_every_operator(opperf: Opperf) -> None:
    assert {line[0] for line in _planned(opperf, "--all")} == set(catalog())


def test_skip_leaves_out_by_pattern(opperf: Opperf) -> None:
    words = ("--category", "reduction", "add", "--skip", "arg*", "--skip", "sum")
    names = {line[0] for line in _planned(opperf, *words)}
    assert "add" in names
    assert names >= {"mean", "add"}
    assert not names & {"argmax", "argmin", "sum"}


def test_default_size_is_common(measure: Measure) -> None:
    (record,) = measure("add", "--direction", "forward", "--runs", "3")
    assert record["origin"] == "catalog:common"
    assert _shapes(record)["lhs"] == list(operator("add").case("common").tensor("lhs").shape)


def test_each_size_is_a_case(opperf: Opperf) -> None:
    sizes = ("small", "common", "large", "skewed")
    lines = _planned(opperf, "add", "--direction", "forward", *(word for size in sizes for word in ("--size", size)))
    expected = [f"lhs={operator('add').case(size)['lhs']}" for size in sizes]
    assert [line[3].split(" ")[0] for line in lines] == expected


def test_each_dtype_is_a_case(measure: Measure) -> None:
    records = measure("add", "--dtype", "float64", "--dtype", "int32", *ONE)
    assert [record["case"]["inputs"]["lhs"]["dtype"] for record in records] == ["float64", "int32"]


@pytest.mark.parametrize("written", ["6x4", "(6,4)", "6,4", "[6, 4]"])
def test_an_input_takes_every_spelling_of_a_shape(written: str, measure: Measure) -> None:
    (record,) = measure("add", "--input", f"lhs={written}", "--input", "rhs=6x4", *ONE)
    assert _shapes(record) == {"lhs": [6, 4], "rhs": [6, 4]}
    assert record["origin"] == "user"


def test_an_attribute_takes_the_value_given(measure: Measure) -> None:
    (record,) = measure("sum", "--attribute", "axis=0", "--input", "data=5x7", *ONE)
    assert record["case"]["attributes"]["axis"] == 0


def test_a_suite_is_measured_case_by_case(measure: Measure, here: Path) -> None:
    cases = (operator("multiply").case("small"), operator("sum").case("skewed"))
    suite = Suite("two", "test", tuple(SuiteCase(case, 1, f"model:{case.operator}") for case in cases))
    (here / "suite.json").write_text(json.dumps(suite.to_json()))
    records = measure("--suite", "suite.json", "--direction", "forward", "--runs", "3")
    assert [record["case"]["id"] for record in records] == [case.id for case in cases]
    assert [record["origin"] for record in records] == ["model:multiply", "model:sum"]


def test_what_does_not_fit_into_memory_is_skipped_before_it_is_made(opperf: Opperf) -> None:
    words = ("add", "--size", "small", "--size", "int64", "--dtype", "int8", "--direction", "forward")
    done = opperf("run", *words, "--framework", "null", "--runs", "3", "--format", "json")
    assert done.code == 0
    assert [record["status"] for record in done.records] == ["ok", "skipped"]
    reason = done.records[1]["reason"]
    assert reason["slug"] == "short_of_memory"
    assert "(inputs 4.29 GB, outputs 2.15 GB), but only 4.00 GB is available" in reason["message"]


# Where ---------------------------------------------------------------------------------------------------------------


def test_each_framework_is_a_side(opperf: Opperf) -> None:
    done = opperf("run", "add", "--framework", "null", "--framework", "numpy", *ONE, "--format", "json")
    assert [(record["side"]["framework"], record["status"]) for record in done.records] == [
        ("null", "ok"),
        ("numpy", "ok"),
    ]


def test_an_environment_binds_to_its_framework_and_implies_it(opperf: Opperf) -> None:
    words = ("add", "--environment", "numpy==1.26.4", "--direction", "forward", "--dry-run")
    assert "numpy (numpy==1.26.4, cpu, eager)" in opperf("run", *words).out
    both = plan_rows(opperf("run", *words, "--framework", "null", "--framework", "numpy").out)
    assert ["(current," in row[2] for row in both] == [True, False]


def test_a_python_of_the_users_own_is_an_environment(opperf: Opperf) -> None:
    words = ("add", "--framework", "numpy", "--environment", f"python={sys.executable}", *ONE, "--format", "json")
    (record,) = opperf("run", *words).records
    assert (record["status"], record["side"]["environment"]) == ("ok", f"python={sys.executable}")


@pytest.mark.parametrize(("written", "device"), [("cpu", "cpu"), ("gpu(1)", "cuda:1"), ("cuda", "cuda:0")])
def test_a_device_is_kept_by_its_own_name(written: str, device: str, opperf: Opperf) -> None:
    ((_, _, place, _),) = _planned(opperf, "add", "--device", written, "--direction", "forward")
    assert place == f"null (current, {device}, eager)"


def test_each_mode_is_a_side(measure: Measure) -> None:
    records = measure("add", "--mode", "compiled", "--mode", "eager", *ONE)
    assert [record["side"]["mode"] for record in records] == ["compiled", "eager"]


@pytest.mark.parametrize(
    ("word", "value", "expected"),
    [("threads", "2", 2), ("engine", "threaded", "threaded"), ("allocator", "default", "default")],
)
def test_a_fact_of_the_side_is_in_the_record(word: str, value: str, expected: object, measure: Measure) -> None:
    (record,) = measure("null:steady", "--runs", "3", f"--{word}", value)
    assert record["side"][word] == expected


def test_the_child_is_told_of_the_allocator(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--runs", "3", "--allocator", "default", "--format", "json")
    assert json.loads(done.out)["run"]["environment"]["frameworks"][0]["allocator"] == "default"


# How -----------------------------------------------------------------------------------------------------------------


def test_runs_count_the_samples(measure: Measure) -> None:
    (record,) = measure("null:steady", "--runs", "7")
    assert record["metrics"]["time"]["samples"] == 7


def test_a_native_loop_is_a_second_time_and_the_share_of_python(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--loop", "native", "--format", "json")
    (record,) = done.records
    assert record["metrics"]["time_native"]["median"] == pytest.approx(99.6e-6)
    assert record["metrics"]["python_share"]["value"] == pytest.approx(0.004)
    assert opperf("run", "null:steady", "--loop", "fast").code == 2


def test_instructions_are_counted_beside_the_time(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--framework", "null", "--clock", "instructions", "--format", "json")
    (record,) = done.records
    assert record["metrics"]["instructions"] == {"unit": "instructions", "value": 100_000, "source": "callgrind"}
    assert record["metrics"]["time"]["median"] == pytest.approx(100e-6)
    assert record["facts"]["instructions"]["instruction_set"] == "scripted"
    assert "100 k" in opperf("run", "null:steady", "--clock", "instructions").out


def test_without_valgrind_no_instructions_are_counted_and_the_hint_installs_it(
    opperf: Opperf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = opperf("run", "add", "--framework", "numpy", "--clock", "instructions")
    assert done.code == 2
    assert "needs Valgrind" in done.err
    assert "apt-get install valgrind" in done.err


def test_the_frameworks_own_clock_is_asked_for_and_where_there_is_none_the_trial_is_skipped(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--clock", "profiler", "--format", "json")
    assert done.code == 0
    assert [record["reason"]["slug"] for record in done.records] == ["no_profiler_clock"]


def test_warmup_counts_the_calls_before(measure: Measure) -> None:
    (record,) = measure("null:steady", "--runs", "3", "--warmup", "50")
    assert record["facts"]["warmup_calls"] == 50


def test_warm_up_without_a_count_ends_when_times_no_longer_fall(measure: Measure) -> None:
    (record,) = measure("null:warming", "--runs", "20")
    assert record["metrics"]["time"]["max"] == pytest.approx(100e-6, rel=1e-6)


def test_a_coarser_precision_needs_fewer_samples(measure: Measure) -> None:
    counts = [
        measure("null:noisy", "--precision", precision, "--trial-budget", "60")[0]["metrics"]["time"]["samples"]
        for precision in ("30%", "2%")
    ]
    assert counts[0] == 20 < counts[1]


def test_a_smaller_trial_budget_takes_fewer_samples(measure: Measure) -> None:
    counts = [
        measure("null:noisy", "--precision", "0.01%", "--trial-budget", budget)[0]["metrics"]["time"]["samples"]
        for budget in ("5ms", "50ms")
    ]
    assert counts[0] < counts[1]


def test_a_budget_that_is_spent_skips_what_is_left(opperf: Opperf) -> None:
    words = ("null:hang", "add", "--framework", "null", *ONE, "--timeout", "0.5", "--budget", "0.4")
    done = opperf("run", *words, "--format", "json")
    assert [(record["status"], record["reason"]["slug"]) for record in done.records] == [
        ("failed", "timeout"),
        ("skipped", "budget"),
    ]


@pytest.mark.parametrize("written", ["0.5", "500ms"])
def test_a_trial_ends_at_its_timeout(written: str, opperf: Opperf) -> None:
    done = opperf("run", "null:hang", "--framework", "null", "--timeout", written, "--format", "json")
    assert done.records[0]["reason"]["message"] == "not finished within 0.5 s; opperf killed the child process"


def test_three_processes_give_an_interval(measure: Measure) -> None:
    (record,) = measure("null:noisy", "--runs", "20", "--processes", "3")
    time = record["metrics"]["time"]
    assert (time["processes"], time["samples"]) == (3, 60)
    assert time["interval"] == pytest.approx([time["median"]] * 2)  # every process is scripted alike
    assert time["interval_reason"] is None


def test_one_process_gives_no_interval_and_says_why(measure: Measure) -> None:
    (record,) = measure("null:noisy", "--runs", "20")
    time = record["metrics"]["time"]
    assert time["interval"] is None
    assert "3 processes" in time["interval_reason"]


def test_a_cold_cache_is_in_the_record(measure: Measure) -> None:
    (record,) = measure("null:steady", "--runs", "3", "--cache", "cold")
    assert (record["metrics"]["time"]["cache"], record["metrics"]["time"]["sync"]) == ("cold", "call")


def test_the_seed_is_in_the_run(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--runs", "3", "--seed", "41", "--format", "json")
    assert json.loads(done.out)["run"]["settings"]["seed"] == 41


def test_the_cpus_are_in_the_run(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--runs", "3", "--cpus", "0", "--format", "json")
    assert (done.code, json.loads(done.out)["run"]["settings"]["cpus"]) == (0, [0])


# What comes out ------------------------------------------------------------------------------------------------------


def test_labels_are_kept_with_the_run(opperf: Opperf) -> None:
    words = ("--label", "branch=main", "--label", "note=a = b")
    done = opperf("run", "null:steady", "--runs", "3", *words, "--format", "json")
    assert json.loads(done.out)["run"]["labels"] == {"branch": "main", "note": "a = b"}


def test_samples_are_kept_unless_they_are_not_wanted(measure: Measure) -> None:
    (kept,) = measure("null:steady", "--runs", "3")
    (summary,) = measure("null:steady", "--runs", "3", "--no-samples")
    assert kept["samples"]["time"]
    assert summary["samples"] == {}
    assert summary["metrics"] == kept["metrics"]


def test_the_command_is_in_the_run(opperf: Opperf) -> None:
    done = opperf("run", "null:steady", "--runs", "3", "--format", "json")
    assert json.loads(done.out)["run"]["command"] == [
        "opperf", "run", "null:steady", "--runs", "3", "--format", "json"
    ]  # fmt: skip


def test_a_plan_is_printed_and_nothing_is_measured(opperf: Opperf, here: Path) -> None:
    done = opperf("run", "add", "null:crash", "--framework", "null", "--dry-run", "--output", "k.json")
    assert done.code == 0
    assert [row[:2] for row in plan_rows(done.out)] == [
        ["add", "forward"],
        ["add", "backward"],
        ["null:crash", "forward"],
    ]
    assert re.fullmatch(r"trials: 3, processes: 1, about \d+ s\n", done.err)
    assert not list(here.iterdir())


def test_the_count_of_a_plan_is_that_of_the_run(opperf: Opperf, measure: Measure) -> None:
    words = ("--category", "softmax", "--size", "small", "--runs", "3")
    assert len(_planned(opperf, *words)) == len(measure(*words)) > 1


def test_each_distribution_of_values_is_a_case_of_its_own(measure: Measure) -> None:
    records = measure(
        "sort", "--values", "sorted", "--values", "reversed", "--values", "uniform", "--direction", "forward"
    )
    assert [record["case"]["inputs"]["data"].get("values", "uniform") for record in records] == [
        "sorted", "reversed", "uniform",
    ]  # fmt: skip


def test_each_input_gets_its_own_type_values_and_range(measure: Measure) -> None:
    (record,) = measure(
        "take", *ONE[2:], "--input", "data=9x4:float64:reversed", "--input", "indices=5:sorted:range=2..7"
    )
    assert record["case"]["inputs"] == {
        "data": {"shape": [9, 4], "dtype": "float64", "values": "reversed"},
        "indices": {"shape": [5], "dtype": "int64", "values": "sorted", "range": [2.0, 7.0]},
    }


def test_values_by_name_leave_the_other_inputs_alone(opperf: Opperf) -> None:
    (row,) = _planned(opperf, "take", *ONE[2:4], "--values", "indices=sorted")
    assert re.search(r"data=\S+:sorted", row[-1]) is None
    assert re.search(r"indices=\S+:sorted:range=", row[-1])


def test_values_of_all_inputs_say_which_these_are_and_unknown_names_are_refused(opperf: Opperf) -> None:
    done = opperf("run", "take", *ONE, "--framework", "null", "--values", "sorted")
    assert "note: `--values sorted` applies to data and indices of `take`" in done.err
    wrong = opperf("run", "take", *ONE, "--framework", "null", "--values", "index=sorted")
    assert wrong.code == 2
    assert "there is no input `index`" in wrong.err


def test_values_by_name_are_those_of_a_suites_cases_that_have_the_input(measure: Measure, here: Path) -> None:
    entries = tuple(SuiteCase(operator(name).case("small")) for name in ("take", "sort"))
    path = here / "suite.json"
    path.write_text(json.dumps(Suite("two", "test", entries).to_json()))
    records = measure("--suite", path, *ONE[2:], "--values", "uniform", "--values", "indices=sorted")
    assert [
        (record["case"]["operator"], {name: own.get("values") for name, own in record["case"]["inputs"].items()})
        for record in records
    ] == [
        ("take", {"data": None, "indices": None}),
        ("take", {"data": None, "indices": "sorted"}),
        ("sort", {"data": None}),
    ]
    assert [record["count"] for record in records] == [1, 1, 1]


def test_a_table_says_between_which_bounds_whole_numbers_lie(opperf: Opperf) -> None:
    for dtype, bounds in (("int64", "-2^31..2^31"), ("uint8", "0..256")):
        done = opperf("run", "sort", *ONE, "--framework", "null", "--dtype", dtype)
        assert f":{dtype}:range={bounds} " in done.out


def test_a_failure_says_that_integers_which_may_be_indices_have_the_whole_of_their_type(opperf: Opperf) -> None:
    for name in ("null:raise", "null:crash"):
        words = ("--input", "at=3:int64", "--input", "at=3:int64:range=0..3", "--framework", "null")
        wide, bounded = json.loads(opperf("run", name, *ONE[2:], *words, "--format", "json").out)["records"]
        assert wide["reason"]["hint"] == (
            "`at` is drawn from all of its type; if it holds indices, say which, as in `--input at=3:int64:range=0..64`"
        )
        assert bounded["reason"]["hint"] is None


def test_an_unknown_distribution_is_refused_before_anything_runs(opperf: Opperf) -> None:
    done = opperf("run", "sort", "--framework", "null", "--values", "gaussian")
    assert done.code == 2
    assert "no value distribution `gaussian`" in done.err


def test_random_cases_are_the_same_for_a_seed(opperf: Opperf) -> None:
    drawn = [
        _planned(opperf, "conv2d", "--random", "20", "--seed", seed, "--direction", "forward") for seed in (7, 7, 8)
    ]
    assert len(drawn[0]) == 20
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_a_random_case_says_where_it_is_from(measure: Measure) -> None:
    records = measure("add", "--random", "2", "--seed", "5", "--direction", "forward", "--runs", "3")
    assert [record["origin"] for record in records] == ["random:5", "random:5"]


@pytest.mark.parametrize(
    "words", [("--random", "0"), ("--random", "2", "--size", "small"), ("--random", "2", "--input", "lhs=3")]
)
def test_random_cases_are_refused_where_they_make_no_sense(words: tuple[str, ...], opperf: Opperf) -> None:
    done = opperf("run", "add", "--framework", "null", *words)
    assert done.code == 2
    assert "--random" in done.err


def test_a_repeated_input_makes_two_cases(measure: Measure) -> None:
    words = ("lhs=2x2", "rhs=2x2", "lhs=4x4", "rhs=4x4")
    result = measure("matmul", *(part for word in words for part in ("--input", word)), "--direction", "forward")
    assert [one["case"]["inputs"]["lhs"]["shape"] for one in result] == [[2, 2], [4, 4]]


def test_equal_inputs_are_measured_once_and_said_to_be_equal(opperf: Opperf) -> None:
    words = ("run", "exp", "--framework", "null", "--input", "data=3", "--input", "data=3", "--runs", "3")
    done = opperf(*words, "--direction", "forward", "--format", "json")
    assert len(done.records) == 1
    assert "note: 1 of 2 trials are equal to earlier ones; each is measured once" in done.err


def test_equal_cases_of_a_suite_keep_their_calls_and_share(measure: Measure, here: Path) -> None:
    names = ("steady", "noisy", "steady")
    entries = [{"case": {"operator": f"null:{name}"}, "count": count} for name, count in zip(names, (3, 2, 5))]
    (here / "s.json").write_text(json.dumps({"schema_version": 1, "cases": entries}))
    result = measure("--suite", "s.json", "--runs", "3")
    assert [one["count"] for one in result] == [8, 2]
    median = result[0]["metrics"]["time"]["median"]
    assert result[0]["facts"]["suite"]["total"] == pytest.approx(8 * median)


def test_rows_of_mxnets_benchmark_are_refused_where_another_framework_is_asked_for(opperf: Opperf, here: Path) -> None:
    (here / "rows.json").write_text('{"matmul": [{"lhs": [8, 8], "rhs": [8, 8]}]}')
    alone = opperf("run", "--suite", "rows.json", "--framework", "numpy")
    named = opperf("run", "matmul", "--suite", "rows.json", "--framework", "numpy")
    assert (alone.code, named.code) == (2, 2)
    assert "they are operators of mxnet: `--framework mxnet`" in alone.err
    assert "no case of `matmul` in rows.json" in named.err
    assert "`mxnet:nd.matmul`" in named.err


def test_each_row_of_a_file_is_measured(measure: Measure, here: Path) -> None:
    (here / "s.csv").write_text("data,axis\n4x8,0\n8x8,1\n")
    result = measure("softmax", "--shapes", "s.csv", "--direction", "forward", "--runs", "3")
    assert [(one["case"]["inputs"]["data"]["shape"], one["case"]["attributes"]["axis"]) for one in result] == [
        ([4, 8], 0),
        ([8, 8], 1),
    ]


def test_a_bad_row_is_refused_with_file_and_line(opperf: Opperf, here: Path) -> None:
    (here / "s.csv").write_text("data,axis\n4x8,0\n8y8,1\n")
    done = opperf("run", "softmax", "--shapes", "s.csv", "--framework", "null")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error: s.csv:3: input `data`: `8y8` is not a shape\n\nhint: write 1024x1024, (1024,1024) or () for a scalar\n"
    )


def test_a_shape_without_a_name_and_a_short_dtype_are_measured(measure: Measure) -> None:
    (result,) = measure("matmul", "--input", "8x8", "--dtype", "bf16", "--direction", "forward", "--runs", "3")
    assert result["case"]["inputs"] == {name: {"shape": [8, 8], "dtype": "bfloat16"} for name in ("lhs", "rhs")}
