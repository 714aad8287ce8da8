"""`opperf operators`, `opperf env list`, `opperf doctor`: what there is, told without measuring."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.each import check_each

from opperf.catalog import catalog, categories
from opperf.domain.registry import PRESETS
from opperf.parent.commands import peaks
from opperf.parent.commands.peaks import rates_of
from opperf.parent.documents.machine_signs import Signs
from opperf.parent.workers import machine_noise

Opperf: TypeAlias = Callable[..., Any]


def test_every_operator_has_a_line(opperf: Opperf) -> None:
    done = opperf("operators")
    assert (done.code, done.err) == (0, "")
    titles, _, *lines = done.out.splitlines()
    assert titles.split() == ["operator", "category", "directions", "arguments", "meaning"]
    assert [line.split()[0] for line in lines] == list(catalog())


def test_a_line_says_what_an_operator_takes_and_means(opperf: Opperf) -> None:
    (line,) = opperf("operators", "add").out.splitlines()[2:]
    assert [cell.strip() for cell in line.split("  ") if cell.strip()] == [
        "add", "elementwise_binary", "forward, backward", "lhs, rhs", catalog()["add"].summary
    ]  # fmt: skip


def test_a_category_can_be_listed(opperf: Opperf) -> None:
    def check(category: str) -> None:
        lines = opperf("operators", "--category", category).out.splitlines()[2:]
        assert [line.split()[0] for line in lines] == [
            known.name for known in catalog().values() if known.category == category
        ]

    check_each(categories(), check)


def test_a_group_of_another_tool_can_be_listed(opperf: Opperf) -> None:
    lines = opperf("operators", "--category", "mx_join_split").out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["mxnet:nd.concat", "mxnet:nd.split", "mxnet:nd.stack"]
    lines = opperf("operators", "--category", "sort_and_search").out.splitlines()[2:]
    assert {line.split()[0] for line in lines} == {"sort", "argsort", "topk", "argmax", "argmin"}


def test_names_can_be_listed_by_pattern(opperf: Opperf) -> None:
    lines = opperf("operators", "conv*").out.splitlines()[2:]
    assert {line.split()[0] for line in lines} == {name for name in catalog() if name.startswith("conv")}
    assert lines


def test_environments_are_the_current_one_and_the_presets_that_can_be_built(
    opperf: Opperf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "empty"))
    done = opperf("env", "list")
    assert (done.code, done.err) == (0, "")
    assert "current" in done.out
    missing = [line.split()[0] for line in done.out.splitlines() if "not built" in line]
    assert set(missing) <= set(PRESETS) - {"null"}
    assert {"torch", "mxnet", "jax", "fbgemm"} <= set(missing)
    assert not (tmp_path / "empty").exists()  # to list is not to make


def test_the_path_of_a_python_is_all_that_stdout_gets(opperf: Opperf) -> None:
    done = opperf("env", "python", f"python={sys.executable}")
    assert (done.code, done.out, done.err) == (0, f"{sys.executable}\n", "")


def test_doctor_says_what_an_environment_is(opperf: Opperf) -> None:
    done = opperf("doctor", "--framework", "null")
    assert (done.code, done.err) == (0, "")
    parts = [part.splitlines() for part in done.out.split("\n\n")]
    assert [part[0] for part in parts] == ["machine", "noise", "peaks of cpu, 1 thread", "environments"]
    environment = [line.strip() for line in parts[3][1:]]
    assert environment[:2] == ["null 1 in `current`", "devices: cpu"]
    assert "threads: 1" in environment


def test_doctor_tells_the_remedy_below_each_noise(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_noise, "signs", lambda: Signs(2, governor="powersave"))
    done = opperf("doctor", "--framework", "null")
    assert (
        "noise\n  governor: the frequency governor is `powersave`, so the clock follows the load\n    hint: "
        in done.out
    )


def test_peaks_of_a_busy_machine_are_marked_and_replace_none_that_are_higher(
    opperf: Opperf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(peaks, "ROWS", (4, 32))
    monkeypatch.setattr(peaks, "PRODUCTS", {"float32": (8,)})

    def measure(load: float, *words: object) -> tuple[str, list[dict[str, Any]]]:
        monkeypatch.setattr(machine_noise, "signs", lambda: Signs(2, load=load))
        done = opperf("doctor", "--peaks", "--framework", "null", "--format", "json", *words)
        assert done.code == 0, done.err
        return done.err, json.loads(done.out)["peaks"]

    crowd = "the load average is 25.3 on 2 CPUs"
    err, rates = measure(25.3)
    assert f"warning: {crowd}: peaks are marked as too low" in err
    assert {rate["doubt"] for rate in rates} == {crowd}
    done = opperf("run", "add", "--framework", "null", "--size", "small", "--direction", "forward")
    assert f"roofline: its limits may be too low: measured on a busy machine ({crowd})" in done.out
    err, rates = measure(0.1)
    assert "warning" not in err
    assert not any("doubt" in rate for rate in rates)
    monkeypatch.setattr(
        peaks, "rates_of", lambda record, moment: (replace(one, rate=1.0) for one in rates_of(record, moment))
    )
    assert measure(25.3)[1] == rates


def test_doctor_goes_on_after_an_environment_that_cannot_be_used(opperf: Opperf, here: Path) -> None:
    words = ("--framework", "numpy", "--framework", "null", "--environment", "python=/nowhere")
    done = opperf("doctor", *words)
    assert done.code == 0
    assert "cannot be used: `python=/nowhere`: `/nowhere` does not exist" in done.out
    assert "null 1 in `current`" in done.out


def test_help_names_every_verb(opperf: Opperf) -> None:
    done = opperf("--help")
    assert (done.code, done.err) == (0, "")
    commands = done.out.split("Commands:")[1]
    assert {line.split()[0] for line in commands.splitlines() if line.startswith("  ")} >= {
        "run", "show", "operators", "doctor", "env"
    }  # fmt: skip


def test_what_a_framework_has_is_asked_of_it(opperf: Opperf) -> None:
    done = opperf("operators", "add", "--framework", "null", "--format", "md")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "| operator | category | null |",
        "| --- | --- | --- |",
        "| add | elementwise_binary | forward, backward |",
    ]


def test_an_unknown_format_of_the_list_is_refused(opperf: Opperf) -> None:
    assert opperf("operators", "--format", "junit").code == 2


def test_several_patterns_list_what_any_of_them_matches(opperf: Opperf) -> None:
    names = [line.split()[0] for line in opperf("operators", "scatter*", "index_add").out.splitlines()[2:]]
    assert "index_add" in names
    assert {name for name in names if name != "index_add"} == {name for name in catalog() if name[:7] == "scatter"}
    done = opperf("operators", "scatter*", "index_ad")
    assert (done.code, done.out) == (2, "")
    assert "no operator `index_ad`" in done.err


def test_a_file_in_place_of_a_function_is_told_what_it_declares(opperf: Opperf, here: Path) -> None:
    (here / "mine.py").write_text("import opperf\n@opperf.operator()\ndef fast(x): ...\ndef other(x): ...\n")
    done = opperf("run", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert "`mine.py` is a file, expected a function in it" in done.err
    assert "name one of `mine.py:fast`; or measure all that it declares: `--plugin mine.py`" in done.err
    (here / "plain.py").write_text("def total(x): ...\ndef _hidden(x): ...\n")
    assert "name one of `plain.py:total`" in opperf("run", "plain.py").err
    assert opperf("run", "missing.py").code == 2
