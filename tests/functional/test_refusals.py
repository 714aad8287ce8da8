"""What cannot be understood ends with 2, one message and a hint, before anything is measured or written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.functional.conftest import invoke_module

from opperf.domain.errors import InputError, WorkerFailure
from opperf.domain.plan import Settings
from opperf.parent.workers import gpus
from opperf.parent.workers.process import Worker

Opperf: TypeAlias = Callable[..., Any]

#: What was recorded on a CPU, and an operator of PARAM's configs.
EXPECTED = Path(__file__).parents[1] / "gold" / "version_1" / "expected.json"
TENSOR = {"type": "tensor", "dtype": "float", "shape": [4, 4]}
CONFIG = {"input_data_generator": "PyTorch:DefaultDataGenerator", "config": [{"input": [{"args": [TENSOR]}]}]}
ADD = ("run", "add", "--framework", "null", "--output", "k.json")


@pytest.fixture
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make starting a child an error."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", refuse)


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("run", "ad", "--framework", "null"), "no operator `ad`", "did you mean `add`"),
        (("run", "qqqq", "--framework", "null"), "no operator `qqqq`", "`opperf operators` lists all of them"),
        (("run", "null:", "--framework", "null"), "`null:` names no operator", "write `null:NAME`"),
        ((*ADD, "--category", "reductoin"), "no category `reductoin`", "did you mean `reduction`"),
        ((*ADD, "--category", "zz"), "no category `zz`", "known: elementwise_unary, "),
        (
            (*ADD, "--framework", "tinygrad"),
            "no framework `tinygrad`",
            "known: torch, mxnet, jax, tensorflow, numpy, onnxruntime, null",
        ),
        ((*ADD, "--size", "tiny"), "no size `tiny`", "known: small, common, large, skewed"),
        ((*ADD, "--direction", "up"), "no direction `up`", "known: forward, backward, forward_backward"),
        ((*ADD, "--dtype", "float31"), "no dtype `float31`", "float32"),
        ((*ADD, "--device", "cpu:1"), "no device `cpu:1`", "known: cpu, cuda:0, gpu, gpu(0)"),
        ((*ADD, "--mode", "lazy"), "no mode `lazy`", "known: eager, compiled"),
        ((*ADD, "--engine", "steam"), "no engine `steam`", "known: naive, threaded"),
        ((*ADD, "--allocator", "none"), "no allocator `none`", "known: fixed, default"),
        ((*ADD, "--format", "xml"), "no format `xml`", "known: console, json, csv, md"),
        ((*ADD, "--size", "giant"), "no size `giant`", "known: small, common, large, skewed, int64"),
        ((*ADD, "--environment", "numppy"), "no environment `numppy`", "did you mean `numpy`?"),
        ((*ADD, "--environment", "numpy=1.26"), "cannot read `numpy=1.26` as an environment", "`numpy==1.26`"),
        ((*ADD, "--input", "lhs"), "`--input lhs`: expected NAME=VALUE", "write `--input lhs=1024x1024`"),
        ((*ADD, "--input", "lhs=3y4"), "input `lhs`: `3y4` is not a shape", "write 1024x1024"),
        ((*ADD, "--label", "x"), "`--label x`: expected NAME=VALUE", "write `--label branch=main`"),
        ((*ADD, "--precision", "x"), "`--precision` is `x`", "write, for example, `2%`"),
        ((*ADD, "--timeout", "soon"), "`--timeout` is `soon`", "write, for example, `30`"),
        ((*ADD, "--cpus", "a"), "`--cpus` is `a`, expected a list of CPUs", "write, for example, `0-3,6`"),
        ((*ADD, "--cpus", "3-1"), "`--cpus` is `3-1`, expected a list of CPUs", "write, for example, `0-3,6`"),
        ((*ADD, "--cpus", "0,99999"), "`--cpus` names CPU 99999, which this process may not use", "it may use "),
        ((*ADD, "--resume", "none.json"), "`none.json` and its journal do not exist", "leave out `--resume`"),
        ((*ADD, "--output", "nowhere/k.json"), "cannot write `nowhere/k.json`", "a folder that exists"),
        ((*ADD, "--output", "."), "cannot write `.`", "a folder that exists"),
        (("run", "--framework", "null"), "nothing to measure", "name operators"),
        (
            ("run", "add", "--framework", "null", "--skip", "a*"),
            "nothing to measure for `add`",
            "`--skip` leaves them out",
        ),
        (
            ("run", "matmul", "--framework", "null", "--input", "lhs=3x4", "--input", "rhs=5x6"),
            "lhs=3x4 rhs=5x6: `matmul` multiplies along 4 and 5 elements, which must be equal",
            None,
        ),
        (
            (*ADD, "--input", "lhs=3x4", "--input", "rhs=5x6"),
            "lhs=3x4 rhs=5x6: the shapes 3x4 and 5x6 do not broadcast",
            "sizes are equal or one of them is 1",
        ),
        (
            ("run", "softmax", "--framework", "null", "--attribute", "axis=last"),
            "attribute `axis` is `last`, expected a whole number",
            "`axis=-1`",
        ),
        (
            ("run", "sum", "--framework", "null", "--attribute", "axis=2"),
            "data=1024x1024: `axis` of `sum` is 2, and the tensor has 2 dimensions",
            None,
        ),
        (("operators", "--category", "mx_reduction", "--framework", "null"), "no neutral operator", "`--framework`"),
        (("operators", "ad"), "no operator `ad`", "did you mean `add`"),
        (("operators", "--category", "reductoin"), "no category `reductoin`", "did you mean `reduction`"),
        (("show", "none.json"), "cannot read `none.json`: No such file or directory", None),
        (("env", "create", "current"), "environment `current` is not one that opperf can build", "name a framework"),
        (("env", "python", "python=/nowhere"), "`python=/nowhere`: `/nowhere` does not exist", "the path of a Python"),
        (("env", "remove"), "name an environment to remove, or give `--all`", "`opperf env list`"),
        (("doctor", "--framework", "tinygrad"), "no framework `tinygrad`", "known: torch"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_is_not_known_is_refused(
    words: tuple[str, ...], message: str, hint: str | None, opperf: Opperf, here: Path
) -> None:
    done = opperf(*words)
    assert (done.code, done.out) == (2, "")
    first, *rest = done.err.split("\n\n")
    assert first.strip().startswith(f"error: {message}")
    if hint is not None:
        (last,) = rest
        assert last.startswith("hint: ")
        assert hint in last
    assert not list(here.iterdir())


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize(
    "words",
    [
        ("--runs", "0"),
        ("--runs", "x"),
        ("--warmup", "-1"),
        ("--precision", "0"),
        ("--budget", "0"),
        ("--trial-budget", "-1"),
        ("--timeout", "0"),
        ("--processes", "0"),
        ("--threads", "0"),
        ("--cache", "warm"),
        ("--seed", "x"),
        ("--bogus",),
        ("--suite", "none.json"),
    ],
    ids=" ".join,
)
def test_a_value_that_cannot_be_is_refused_by_the_name_of_its_option(
    words: tuple[str, ...], opperf: Opperf, here: Path
) -> None:
    done = opperf(*ADD, *words)
    assert (done.code, done.out) == (2, "")
    assert (words[0] if words[0] != "--suite" else "none.json") in done.err
    assert "Traceback" not in done.err
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("add", "--input", "foo=3x4"), "`foo`"),
        (("sum", "--attribute", "axes=1"), "`axes`"),
        (("null:ad",), "no operator `null:ad`"),
    ],
)
def test_what_an_operator_does_not_take_is_refused(
    words: tuple[str, ...], message: str, opperf: Opperf, here: Path
) -> None:
    done = opperf("run", *words, "--framework", "null", "--output", "k.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert message in done.err
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a suite that this opperf reads"),
        ('{"schema_version": 99, "cases": []}', "not a suite that this opperf reads"),
        ('{"schema_version": 1, "cases": 3}', "`cases` is int, expected a list"),
        ('{"schema_version": 1, "cases": [{}]}', "cases[0]: expected an object with a `case`"),
        ('{"schema_version": 1, "cases": [{"case": {"operator": "ad", "inputs": {}}}]}', "no operator `ad`"),
    ],
)
def test_a_bad_suite_is_refused_with_its_place(text: str, message: str, opperf: Opperf, here: Path) -> None:
    (here / "suite.json").write_text(text)
    done = opperf("run", "--suite", "suite.json", "--framework", "null", "--output", "k.json")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert [path.name for path in here.iterdir()] == ["suite.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "bad.json: not a "),
        (json.dumps({"schema_version": 99, "run": {}, "records": []}), "schema_version is 99, this opperf reads 1"),
        (json.dumps({"schema_version": 1, "run": {}, "records": [{}]}), "records[0]: no `case`, expected an object"),
    ],
)
@pytest.mark.parametrize("words", [("show",), (*ADD, "--resume")], ids=["show", "resume"])
def test_a_file_that_is_no_result_is_refused_and_left_alone(
    words: tuple[str, ...], text: str, message: str, opperf: Opperf, here: Path
) -> None:
    (here / "bad.json").write_text(text)
    done = opperf(*words, "bad.json")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert (here / "bad.json").read_text() == text
    assert [path.name for path in here.iterdir()] == ["bad.json"]


def test_no_framework_that_imports_is_told_with_a_way_out(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.parent.measuring.session.importable", lambda: ())
    done = opperf("run", "add")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no framework can be imported here")
    assert "hint: name one: `--framework torch`" in done.err


def test_a_failure_of_the_harness_is_a_3(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **options: object) -> None:
        raise WorkerFailure("no process can be started", slug="spawn")

    monkeypatch.setattr(Worker, "__init__", refuse)
    done = opperf("run", "null:steady")
    assert (done.code, done.out, done.err) == (3, "", "error: no process can be started\n")


def test_no_command_prints_the_help(opperf: Opperf) -> None:
    done = opperf()
    assert done.code == 2
    assert "Usage: " in done.out + done.err


@pytest.mark.parametrize(
    ("name", "slug", "why"),
    [
        ("np.load", "refused_function", "`np.load` is not called: it touches files"),
        ("np.testing.assert_equal", "refused_function", "`np.testing.assert_equal` is not called: its module"),
        ("np.nothing", "no_such_operator", "numpy has no `np.nothing` here"),
    ],
)
def test_a_name_in_a_suite_that_may_not_be_called_says_so(
    name: str, slug: str, why: str, opperf: Opperf, here: Path
) -> None:
    case = {"operator": f"numpy:{name}", "inputs": {"file": {"shape": [2], "dtype": "float32"}}, "attributes": {}}
    suite = {"schema_version": 1, "cases": [{"case": case, "directions": ["forward"]}]}
    (here / "suite.json").write_text(json.dumps(suite))
    done = opperf("run", "--suite", "suite.json", "--framework", "numpy", "--format", "json", "--no-check")
    (record,) = done.records
    assert (record["status"], record["reason"]["slug"]) == ("skipped", slug)
    assert record["reason"]["message"].startswith(why)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("run", "add", "--rans", "3"), "`opperf run` has no option `--rans`", "did you mean `--runs`"),
        (("run", "add", "--runs", "x"), "`--runs` is `x`, expected a whole number", "`opperf run --help`"),
        (("run", "add", "--runs"), "`--runs` needs a value", "--help"),
        (("profile", "--memory=1", "train.py"), "`--memory` takes no value", "--help"),
        (("nois",), "`opperf` has no command `nois`", "did you mean `noise`?"),
        (("history", "lst"), "`opperf history` has no command `lst`", "did you mean `list`?"),
        (("judge", "f.py"), "`opperf judge` needs `--against`", "`opperf judge --help`"),
        (
            ("judge", "f.py", "--against", "softmax", "--compile-cache", "none"),
            "`opperf judge` has no option `--compile-cache`",
            "`opperf judge --help`",
        ),
        (("show",), "`opperf show` needs FILE", "`opperf show --help`"),
    ],
)
def test_wrong_words_are_told_as_every_other_bad_input(
    opperf: Opperf, words: tuple[str, ...], message: str, hint: str
) -> None:
    done = opperf(*words)
    assert (done.code, done.out) == (2, "")
    first, _, last = done.err.strip().splitlines()
    assert first == f"error: {message}"
    assert last.startswith("hint: ")
    assert hint in last


def test_a_file_that_is_no_database_is_bad_input_whatever_it_is(opperf: Opperf) -> None:
    Path("notes.txt").write_text("these are notes, and no database at all\n" * 9)
    with closing(sqlite3.connect("foreign.db")) as foreign:
        foreign.execute("CREATE TABLE birds (name TEXT)")
    for file, why in (("notes.txt", "is no database, but another file"), ("foreign.db", "it has a table `birds`")):
        done = opperf("history", "list", "--database", file)
        assert done.code == 2
        assert why in done.err


def test_a_database_that_is_not_there_says_what_names_it(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_DATABASE", "absent.db")
    assert "absent.db`, the one of `$OPPERF_DATABASE`\n" in opperf("history", "list").err
    assert "the one of" not in opperf("history", "list", "--database", "other.db").err


def test_a_file_of_functions_that_is_not_there_is_called_so(opperf: Opperf) -> None:
    done = opperf("run", "nope.py:f", "--framework", "null")
    assert (done.code, done.err) == (2, "error: `nope.py:f`: there is no file `nope.py`\n")


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize(
    "words",
    [
        ("run", "add", "--framework", "numpy", "--device", "cuda:0"),
        ("run", "add", "--framework", "torch", "--device", "gpu"),
        ("compare", "add", "--base", "numpy", "--new", "numpy;device=cuda:0"),
    ],
)
def test_a_gpu_is_refused_before_anything_starts_where_the_machine_has_none(
    opperf: Opperf, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "_may_have_gpu", lambda: False)
    done = opperf(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: no device `cuda:0`: this machine has no GPU\n\nhint: ")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "add", "--framework", "numpy", "--device", "xpu", "--output", "k.json"),
        ("run", "numpy:numpy.add", "--framework", "numpy", "--device", "xpu:1"),
        ("compare", "add", "--base", "numpy", "--new", "numpy;device=npu"),
        ("compare", "add", "--base", "numpy", "--new", "numpy;device=npu", "--jobs", "1", "--metric", "latency"),
        ("judge", "k.py:f", "--against", "neg", "--framework", "numpy", "--device", "mps"),
        ("explore", "add", "--framework", "numpy", "--device", "xpu", "--output", "k.json"),
        ("gate", "add", "--framework", "numpy", "--device", "xpu", "--expected", "k.json", "--update-expected"),
        ("gate", "--expected", "expected.json"),
        ("opperf.compat.param", "-c", "config.json", "--device", "xpu", "-o", "k.json"),
    ],
)
def test_a_device_that_no_framework_has_is_refused_in_one_line_and_nothing_is_written(
    opperf: Opperf, words: tuple[str, ...], forked_children: None
) -> None:
    Path("k.py").write_text("def f(x):\n    return -x\n")
    Path("config.json").write_text(json.dumps({"numpy:negative": CONFIG}))
    recorded = json.loads(EXPECTED.read_text())
    recorded["expectations"][0]["side"] |= {"framework": "numpy", "device": "xpu:0", "settings": {}}
    Path("expected.json").write_text(json.dumps(recorded))
    done = opperf(*words) if "." not in words[0] else invoke_module(*words)
    assert (done.code, done.out, Path("k.json").exists()) == (2, "", False), done.err
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "NumPy computes on the CPU only, not on `" in errors[0]
    assert "\nhint: " in done.err


def test_what_is_measured_on_another_device_is_kept(opperf: Opperf, forked_children: None) -> None:
    where = ("--framework", "numpy", "--device", "xpu", "--device", "cpu", "--direction", "forward", "--runs", "3")
    done = opperf("run", "add", *where, "--format", "json")
    assert (done.code, [record["status"] for record in done.records]) == (0, ["failed", "ok"])


def test_a_number_of_samples_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="`--runs` is `x`, expected a whole number"):
        Settings(runs="x")  # type: ignore[arg-type]  # as from Python


def test_where_all_is_skipped_the_last_line_says_why(opperf: Opperf) -> None:
    done = opperf("run", "argmax", "--framework", "null", "--direction", "backward", "--runs", "3")
    assert done.code == 0
    assert done.err.splitlines()[-1].startswith("nothing was measured: 1 trial skipped, 1 of them since: ")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("own.py:f",), "it takes left, right: give them by the function's own names, as in `--input left=64x64` or "),
        (("own.py:f", "--input", "3x4"), "name them, as in `--input left=64x64`"),
        (("numpy:numpy.add", "--input", "z=3x4"), "it takes lhs, rhs; numpy calls them x1, x2"),
    ],
)
def test_a_hint_names_the_parameters_that_are_known(words: tuple[str, ...], hint: str, opperf: Opperf) -> None:
    Path("own.py").write_text("def f(left, right):\n    return left + right\n")
    done = opperf("run", *words, "--framework", "numpy")
    assert (done.code, done.out) == (2, "")
    assert f"hint: {hint}" in done.err


@pytest.mark.parametrize("parameters", ["", "count=3, *, scale=None"])
def test_a_function_that_needs_no_argument_needs_no_inputs(parameters: str, opperf: Opperf) -> None:
    Path("own.py").write_text(f"def f({parameters}):\n    return sum(range(100))\n")
    done = opperf("run", "own.py:f", "--framework", "numpy", "--runs", "3", "--format", "json")
    assert [(record["status"], record["case"]["inputs"]) for record in done.records] == [("ok", {})]


def test_a_release_of_a_framework_is_an_environment(opperf: Opperf) -> None:
    done = opperf("run", "add", "--framework", "numpy==1.99")
    assert done.code == 2
    assert "hint: a release is an environment: `--environment numpy==1.99`" in done.err


def test_arguments_of_a_framework_s_own_function_are_told_by_the_names_that_the_user_wrote(opperf: Opperf) -> None:
    done = opperf("run", "numpy:numpy.sum", "--input", "a=3y4")
    assert (done.code, done.err.partition("\n")[0]) == (2, "error: input `a`: `3y4` is not a shape")
    done = opperf("run", "numpy:numpy.matmul", "--input", "x1=3x4", "--input", "x2=5x6")
    assert done.code == 2
    assert done.err.startswith("error: x1=3x4 x2=5x6: `matmul` multiplies along 4 and 5 elements")
