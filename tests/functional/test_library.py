"""`opperf.run`: the same records as values in Python."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import opperf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.reports import render


@pytest.fixture(scope="module")
def results(one_cache: Path) -> opperf.Results:
    """One trial that is measured, one that failed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(one_cache))
        return opperf.run(["add", "null:raise"], framework="null", size="small", direction="forward", runs=3)


def test_results_are_a_sequence_of_records(results: opperf.Results) -> None:
    assert len(results) == 2
    assert [record.status for record in results] == ["ok", "failed"]
    assert results[0].trial.case.operator == "add"


def test_the_dictionary_is_the_document_of_a_file(results: opperf.Results, here: Path) -> None:
    results.save(here / "k.json")
    assert results.to_dict() == json.loads((here / "k.json").read_text()) == json.loads(results.to_json())


def test_a_saved_result_can_be_shown_and_resumed_by_the_same_settings(results: opperf.Results, here: Path) -> None:
    results.save(str(here / "k.json"))
    assert opperf.Settings.from_json(results.to_dict()["run"]["settings"]) == results.run.settings


def test_the_texts_are_those_of_the_command(results: opperf.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    assert results.to_csv() == render(results.run, "csv")
    assert results.to_markdown() == render(results.run, "md")
    for columns in (120, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert f"{results}\n" == render(results.run, "console", width=columns)


def test_a_frame_has_a_row_for_each_record_and_numbers_as_numbers(results: opperf.Results) -> None:
    frame = results.to_pandas()
    rows = list(csv.DictReader(io.StringIO(results.to_csv())))
    assert list(frame.columns) == list(rows[0])
    assert list(frame["operator"]) == ["add", "null:raise"]
    median = results[0].time
    assert median is not None
    assert frame["time_median_s"].tolist()[0] == median.median
    assert frame["time_median_s"].isna().tolist() == [False, True]


def test_pandas_is_asked_for_only_by_the_frame(results: opperf.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert results.to_csv()
    with pytest.raises(InputError, match="pandas is not installed"):
        results.to_pandas()


def test_a_notebook_shows_a_table(results: opperf.Results) -> None:
    html = results._repr_html_()
    assert "<table" in html
    assert "add" in html


def test_inputs_are_a_case_each() -> None:
    shapes: list[dict[str, Any]] = [{"lhs": (2, 3), "rhs": (2, 3)}, {"lhs": (4,), "rhs": (4,)}]
    results = opperf.run("add", framework="null", direction="forward", runs=3, inputs=shapes)
    assert [record.trial.case.tensor("lhs").shape for record in results] == [(2, 3), (4,)]


def test_inputs_of_one_case_need_no_list() -> None:
    results = opperf.run("add", framework="null", direction="forward", runs=3, inputs={"lhs": (5,), "rhs": (5,)})
    assert [record.trial.case.tensor("rhs").shape for record in results] == [(5,)]


def test_each_input_gets_its_own_values() -> None:
    words = {"data": "9x4:sorted", "indices": TensorSpec((5,), "int64", range=(0, 9))}
    (record,) = opperf.run("take", framework="null", inputs=words, direction="forward", runs=3)
    (other,) = opperf.run("take", framework="null", values="data=sorted", direction="forward", runs=3)
    assert record.trial.case.tensor("indices") == words["indices"]
    assert [one.trial.case.tensor("data").values for one in (record, other)] == ["sorted", "sorted"]


def test_the_words_of_the_command_are_arguments() -> None:
    results = opperf.run(
        category="softmax", skip="log*", framework="null", size=["small", "skewed"], dtype="float64",
        direction="forward", mode=["eager"], threads=2, labels={"a": "b"}, keep_samples=False, runs=3, processes=2,
    )  # fmt: skip
    assert {record.trial.case.operator for record in results} >= {"softmax"}
    assert not {record.trial.case.operator for record in results} & {"log_softmax"}
    assert {tensor.dtype for record in results for tensor in record.trial.case.tensors() if tensor.dtype[0] == "f"} == {
        "float64"
    }
    assert {record.trial.side.threads for record in results} == {2}
    assert {record.time.processes for record in results if record.time} == {2}
    assert not any(record.samples for record in results)
    assert results.run.labels == {"a": "b"}


def test_what_cannot_be_understood_is_an_input_error() -> None:
    with pytest.raises(opperf.InputError, match="no operator `ad`"):
        opperf.run("ad", framework="null")
    with pytest.raises(opperf.InputError, match="`runs` is 0"):
        opperf.run("add", framework="null", runs=0)


def test_an_unknown_setting_is_a_type_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="rnus"):
        opperf.run("add", framework="null", rnus=3)  # type: ignore[call-overload]


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        opperf.runn  # noqa: B018


def test_every_public_name_is_there() -> None:
    assert {name for name in opperf.__all__ if getattr(opperf, name) is None} == set()


def test_results_keep_the_order_and_the_number_of_inputs() -> None:
    sizes = [8, 4, 8, 16, 4]
    result = opperf.run(
        "add", framework="null", direction="forward", runs=3, inputs=[{"lhs": (n,), "rhs": (n,)} for n in sizes]
    )
    assert [record.trial.case.tensor("lhs").shape for record in result] == [(n,) for n in sizes]
    assert result[0] is result[2]
    assert len(result.to_pandas()) == len(result.to_dict()["records"]) == len(sizes)


def test_the_rows_of_a_file_are_cases(here: Path) -> None:
    (here / "s.jsonl").write_text('{"data": [3]}\n{"data": 4}\n')
    result = opperf.run("exp", framework="null", direction="forward", runs=3, shapes="s.jsonl")
    assert [record.trial.case.tensor("data").shape for record in result] == [(3,), (4,)]
