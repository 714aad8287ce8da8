"""The library is as wide as the command line: every function, what it returns, and the options that it takes."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any

import numpy
import pytest
from tests.functional.conftest import invoke
from typer.main import get_command

import opperf
from opperf.domain.profile.event import Event
from opperf.domain.profile.event import Profile as ProfileOfCalls
from opperf.parent.cli.main import app
from opperf.parent.commands.history import archive
from opperf.parent.commands.profile import ProfileResult
from opperf.parent.documents.trace import Replay as ReplayDocument
from opperf.parent.documents.trace import Trace, TracedCase
from opperf.parent.store.database.history import entries

SLOWER = "null;slowdown=1.5"
#: Options that no argument stands for, and why; and those whose argument has another name.
ELSEWHERE = {
    "help": "help(opperf.run)",
    "debug": "an exception has its traceback",
    "format": "an object has `to_json`, `to_csv`, `to_markdown`, `_repr_html_`",
    "top": "an object is sliced",
    "strict": "the records say what failed",
    "dry_run": "nothing is asked before a call that Python can stop",
    "markdown": "`Gate.to_markdown`, `Contrast.to_markdown`",
    "junit": "the command writes it for a CI system",
    "github": "the command writes it for a CI system",
    "save_suite": "`Replay.suite`",
    "html": "`to_html`; `Profile._repr_html_`",
    "plot": "`to_svg`",
    "database": "`add_to`",
    "read": "`opperf.load`",
    "by": "`Results.groups`, `Comparisons.groups`; an argument of `profile`",
    "depth": "`Profile.modules`",
    "tokens": "`Profile.paces`",
    "replacement": "`compare` with the function measures it; the sum is the command's",
    "second": "the command measures two suites in one run, and has one report of both",
    "diff": "`Profile.diff`; of traces the command's",
    "asv_results": "`opperf history export` writes asv's files; a project's own names are the command's",
    "print_autostart": "for processes that are not started by opperf",
}
#: What an object's `save` writes, where no journal is kept.
SAVED = {"output": "`save`", "force": "`save` is asked for"}
NAMES = {
    "every": "all",
    "attribute": "attributes",
    "label": "labels",
    "no_samples": "keep_samples",
    "no_check": "check",
    "words": "arguments",
    "context": "script",
    "files": "path",
    "patterns": "pattern",
}


DOCUMENTS = ["compare", "gate", "noise", "run", "suite"]


def suite() -> opperf.Suite:
    """Return the suite of a file."""
    case = {"operator": "add", "inputs": {"lhs": {"shape": [2]}, "rhs": {"shape": [2]}}}
    Path("s.json").write_text(json.dumps({"schema_version": 1, "name": "s", "cases": [{"case": case, "count": 3}]}))
    result = opperf.load("s.json")
    assert isinstance(result, opperf.Suite)
    return result


REPORTS: dict[str, Callable[[], Any]] = {
    "compare": lambda: opperf.compare("null:steady", base="null", new=["null", SLOWER]),
    "contrast": lambda: opperf.contrast("exp", base="null", new=["null", "null;slowdown=3"], pairs=3),
    "gate": lambda: opperf.gate("null:steady", base="null", new=SLOWER),
    "noise": lambda: opperf.noise("null:steady", repeats=1, pairs=3),
    "operators": lambda: opperf.operators(category="softmax"),
    "run": lambda: opperf.run(["null:steady", "null:raise"], runs=5),
    "suite": suite,
}


@cache
def measured(kind: str) -> Any:
    """Return what a function of the library returned, once: it never changes."""
    return REPORTS[kind]()


@pytest.mark.parametrize("kind", [*DOCUMENTS, "contrast", "operators"])
def test_an_object_has_every_form(kind: str) -> None:
    report = measured(kind)
    assert repr(report).startswith(f"<opperf.{type(report).__name__}: ")
    assert "\n" not in repr(report)
    assert len(str(report).splitlines()) > 2
    assert "<table" in report._repr_html_()
    assert json.loads(report.to_json()) == report.to_dict()
    assert len(report.to_pandas()) == len(report.to_csv().splitlines()) - 1
    assert "| " in report.to_markdown()
    assert [*report] == [report[i] for i in range(len(report))]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_what_is_saved_is_loaded_again(kind: str, here: Path) -> None:
    report = measured(kind)
    report.save(here / "saved.json")
    again = opperf.load("saved.json")
    assert type(again) is type(report)
    assert str(again) == str(report)
    assert again.to_dict() == report.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compare", "gate", "noise", "run"])
def test_an_object_has_the_page_and_the_picture_that_the_command_draws(kind: str, here: Path) -> None:
    measured(kind).save("saved.json")
    invoke("show", "saved.json", "--html", "c.html", "--plot", "c.svg")
    report = opperf.load("saved.json")
    assert isinstance(report, opperf.Results | opperf.Comparisons | opperf.Gate | opperf.Noise)
    assert report.to_html() == (here / "c.html").read_text()
    assert report.to_svg() == (here / "c.svg").read_text()


def test_where_nothing_was_measured_there_is_a_page_and_no_picture() -> None:
    failed = opperf.run("null:raise", runs=3)
    assert "null:raise" in failed.to_html()
    with pytest.raises(opperf.InputError, match="no measurement to draw"):
        failed.to_svg()


def test_a_replay_has_its_page_its_picture_and_its_place_in_a_database(here: Path) -> None:
    run = measured("run").run
    trace = Trace("step", (TracedCase(run.records[0].trial.case, 3),))
    replay = opperf.Replay(ReplayDocument(trace, run))
    assert "null:steady" in replay.to_html()
    assert replay.to_svg().endswith("</svg>\n")
    assert replay.add_to("team.db") == run.id


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["compare", "gate", "noise", "run"])
def test_an_object_is_added_to_a_database_once(kind: str, here: Path) -> None:
    report = measured(kind)
    assert report.add_to("team.db") == report.add_to("team.db") == report.run.id
    with archive("team.db") as store:
        assert [entry.key for entry in entries(store)] == [report.run.id]
        assert store.document_json(report.run.id) is not None


def test_the_database_is_the_usual_one_unless_it_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_DATABASE", "usual.db")
    measured("run").add_to()
    assert (here / "usual.db").exists()
    with pytest.raises(opperf.InputError, match="cannot read the address"):
        measured("run").add_to("postgresql://u:secret@h:port/d")


def test_samples_are_kept_in_a_database_where_they_are_asked_for(here: Path) -> None:
    results = measured("run")
    for name, kept in (("with.db", True), ("without.db", False)):
        results.add_to(name, samples=kept)
        with archive(name) as store:
            again = store.run(results.run.id)
        assert again is not None
        assert bool(again.records[0].samples) is kept


def test_a_journal_is_loaded_as_the_results_so_far(here: Path) -> None:
    for kept in ("run.json", "run.json.journal"):
        assert len(opperf.run("null:steady", runs=5, output=f"to_{kept}")) == 1
    assert not [*here.glob("*.journal.journal")]
    result = opperf.load("to_run.json")
    assert repr(result) == "<opperf.Results: 1 record: 1 ok>"


def test_a_run_holds_its_output_and_does_not_overwrite_it(here: Path) -> None:
    opperf.run("null:steady", runs=5, output="k.json")
    with pytest.raises(opperf.InputError, match="already exists"):
        opperf.run("null:steady", runs=5, output="k.json")
    again = opperf.run("null:steady", runs=5, output="k.json", force=True)
    assert opperf.run("null:steady", runs=5, resume="k.json").run.id == again.run.id


def test_what_opperf_did_not_write_is_refused(here: Path) -> None:
    (here / "x.json").write_text('{"a": 1}')
    with pytest.raises(opperf.InputError, match=r"x\.json: not a document of opperf"):
        opperf.load("x.json")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["comparisons"], 3),
        (["comparisons", 0, "memory"], {"peak": [1]}),
        (["comparisons", 0, "memory"], {"peak": [1, 2]}),
        (["comparisons", 0, "explanation"], {"failures": {}}),
        (["gate", "findings", 0, "comparison"], 9),
        (["run"], None),
    ],
)
def test_a_broken_document_is_an_input_error(place: list[Any], value: object, here: Path) -> None:
    data = json.loads(measured("gate").to_json())
    reduce(lambda part, key: part[key], place[:-1], data)[place[-1]] = value
    (here / "x.json").write_text(json.dumps(data))
    with pytest.raises(opperf.InputError, match=r"x\.json: "):
        opperf.load("x.json")


def test_a_comparison_says_which_side_is_slower() -> None:
    same, slower = measured("compare")
    assert [same.verdict.verdict, slower.verdict.verdict] == ["same", "slower"]
    assert slower.verdict.ratio == pytest.approx(1.5)


def test_a_contrast_is_its_gaps_and_has_all_comparisons(here: Path) -> None:
    contrast = measured("contrast")
    assert [(gap.rank, gap.operator, round(gap.ratio, 2)) for gap in contrast] == [(1, "exp", 3.0)]
    assert contrast[0].command.startswith("opperf compare exp --base null --new 'null;slowdown=3'")
    assert [one.verdict.verdict for one in contrast.comparisons] == ["inconclusive", "slower"]
    assert [(row.group, round(row.ratio, 2)) for row in contrast.groups()] == [("elementwise", 1), ("elementwise", 3)]
    assert [(one.side, one.beyond) for one in contrast.categories()] == [("null;slowdown=3", 1), ("null", 0)]
    contrast.save("saved.json")
    assert [*opperf.load("saved.json")] == [*contrast.comparisons]


def test_a_contrast_goes_on_from_what_it_kept(here: Path) -> None:
    words: Any = {"base": "null", "new": "null;slowdown=3", "pairs": 3}
    assert not [*opperf.contrast("exp", **words, confirm=0, output="k.json")]
    with pytest.raises(opperf.InputError, match="already exists"):
        opperf.contrast("exp", **words, output="k.json")
    assert len(opperf.contrast("exp", **words, resume="k.json")) == 1
    assert [one.name for one in here.iterdir() if "journal" in one.name] == []
    with pytest.raises(opperf.InputError, match="`base` and `new`"):
        opperf.contrast("exp", base="null", new=[])


def test_results_are_compared_as_they_were_recorded(here: Path) -> None:
    old, new = (opperf.run("null:steady", runs=5, processes=3) for _ in range(2))
    by_value = opperf.compare(old, new)
    old.save("old.json")
    new.save("new.json")
    assert by_value.to_dict()["comparisons"] == opperf.compare("old.json", "new.json").to_dict()["comparisons"]
    with pytest.raises(opperf.InputError, match="nothing to compare"):
        opperf.compare("old.json")


def test_a_gate_passes_or_does_not() -> None:
    assert opperf.gate("null:steady", base="null", new="null", pairs=3).passed
    failed = measured("gate")
    assert isinstance(failed, opperf.Gate)
    assert (failed.passed, failed.exit_code, failed[0].kind) == (False, 1, "slower")


@pytest.mark.slow
def test_a_gate_reads_its_file_and_numbers_in_its_place(here: Path) -> None:
    (here / "opperf.toml").write_text(f'operators = ["null:steady"]\nbase = "null"\nnew = "{SLOWER}"\n')
    assert not opperf.gate().passed
    assert opperf.gate(tolerance=0.6).passed


def test_expectations_are_recorded_and_judged_by(here: Path) -> None:
    recorded = opperf.gate("null:steady", expected="e.json", update_expected=True)
    assert isinstance(recorded, opperf.Results)
    judged = opperf.gate("null:steady", expected="e.json", threshold=0.2)
    assert judged.passed


def test_noise_counts_false_alarms() -> None:
    (floor,) = opperf.noise("null:steady", repeats=2, pairs=3)
    assert (floor.alarms, floor.comparisons) == (0, 2)


def test_operators_are_names_that_can_be_measured() -> None:
    names = list(opperf.operators("*softmax"))
    assert sorted(names) == ["log_softmax", "softmax"]
    assert len(opperf.run(names, framework="null", size="small", direction="forward", runs=3)) == 2
    with pytest.raises(opperf.InputError, match="no operator `sofmax`"):
        opperf.operators("sofmax")


def test_a_suite_is_measured_as_it_is() -> None:
    results = opperf.run(suite=suite(), framework="null", direction="forward", runs=3)
    assert [record.trial.count for record in results] == [3]


@pytest.mark.slow
def test_a_function_stands_wherever_a_name_does(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "kernels.py").write_text("def plain(x):\n    return x\n\ndef other(x):\n    return x\n")
    monkeypatch.syspath_prepend(str(here))
    kernels = importlib.import_module("kernels")
    monkeypatch.delitem(sys.modules, "kernels")
    monkeypatch.setitem(sys.modules, "kernels", kernels)
    inputs: Any = {"x": (4, 4)}
    few: Any = {"framework": "numpy", "inputs": inputs, "pairs": 3, "tolerance": "1000%"}
    (record,) = opperf.run(kernels.plain, framework="numpy", inputs=inputs, runs=3)
    assert record.trial.side.spelling == f"code:{here}/kernels.py:plain"
    for result in (
        opperf.compare(kernels.plain, kernels.other, **few),
        opperf.compare(kernels.plain, base="numpy", new=kernels.other, **few),
    ):
        assert (result[0].status, result[0].new.spelling) == ("ok", f"code:{here}/kernels.py:other")


@pytest.mark.slow
def test_nothing_is_printed_unless_progress_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    for make in REPORTS.values():
        make()
    assert capfd.readouterr() == ("", "")
    opperf.run("null:steady", runs=3, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "measuring null:steady" in err


def test_ctrl_c_is_a_keyboard_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("opperf.parent.workers.pool.Pool.measure", stop)
    with pytest.raises(KeyboardInterrupt):
        opperf.run("null:steady", runs=3)
    monkeypatch.setattr("opperf.parent.workers.duel.Duel.compare", stop)
    with pytest.raises(KeyboardInterrupt):
        opperf.compare("null:steady", base="null", new="null")


@pytest.mark.slow
def test_a_script_may_call_the_library_without_a_guard(here: Path) -> None:
    (here / "bench.py").write_text(
        "import opperf\nFACTOR = 2\ndef f(x):\n    return x * FACTOR\ndef g(x):\n    return f(x) * 1\n"
        "print(opperf.run(f, framework='numpy', inputs={'x': (8, 8)}, runs=3)[0].status)\n"
        "print(len(opperf.compare(f, g, framework='numpy', inputs={'x': (8, 8)}, pairs=3, tolerance='1000%')))\n"
    )
    done = subprocess.run([sys.executable, "bench.py"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("ok\n1\n", "")


def test_a_script_is_profiled_and_a_missing_profile_is_an_error(here: Path) -> None:
    (here / "idle.py").write_text("print('hello')\n")
    with pytest.raises(opperf.HarnessError, match="wrote no profile; its exit code is 0"):
        opperf.profile("idle.py")
    with pytest.raises(opperf.InputError, match="no script"):
        opperf.profile("nowhere.py")
    for wrong in ({"by": "nam"}, {"sort": "slf"}, {"skip": 1}, {"function": "f"}, {"framework": "numpy"}):
        with pytest.raises(opperf.InputError):
            opperf.profile("idle.py", **wrong)


def profile(**lengths: int) -> opperf.Profile:
    """Return a profile with a call of each operator, one after the other, that lasts so many nanoseconds."""
    calls = enumerate(lengths.items())
    events = (Event(name, "operator", 10_000 * place, length, 1, "main") for place, (name, length) in calls)
    return opperf.Profile(ProfileOfCalls(tuple(events)))


def test_a_profile_has_its_modules_and_how_many_tokens_a_second_it_works_through() -> None:
    steps = [Event(f"step {i}", "step", 1000 * i, 1000, 1, "main") for i in range(3)]
    result = opperf.Profile(ProfileOfCalls((*steps, *profile(matmul=500).profile.events)))
    assert [round(pace.per_second) for pace in result.paces(5)] == [5_000_000]
    assert [(row.name, round(row.total, 9)) for row in result.modules()] == [("(no module)", 5e-7)]


def test_records_are_summed_up_by_groups_of_operators() -> None:
    (row,) = opperf.run(["add", "multiply"], framework="null", direction="forward").groups()
    assert (row.group, row.operators) == ("elementwise", 2)


def test_two_profiles_differ_operator_by_operator_as_the_command_says(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = profile(matmul=1000, add=10), profile(matmul=1500, exp=20)
    diff = before.diff(after)
    assert repr(diff) == "<opperf.ProfileDiff: 3 rows>"
    assert [change.name for change in diff] == ["matmul", "exp", "add"]
    assert (diff[0].ratio, diff[1].before, diff[2].after) == (1.5, None, None)
    before.save("before.json")
    after.save("after.json")
    with pytest.raises(SystemExit):
        app(["profile", "--diff", "before.json", "after.json", "--format", "csv"])
    assert diff.to_csv() == capsys.readouterr().out
    with pytest.raises(opperf.InputError, match="no grouping `line`"):
        before.diff(after, by="line")


def test_a_suite_of_a_profile_is_refused_where_nobody_records_arguments(here: Path) -> None:
    (here / "train.py").write_text("import jax\nopen('ran', 'w')\n")
    with pytest.raises(opperf.InputError, match="needs the arguments of operators, which jax does not record"):
        opperf.profile("train.py", save_suite="s.json")
    with pytest.raises(opperf.InputError, match="cannot write"):
        opperf.profile("train.py", framework="torch", save_suite=here / "nowhere" / "s.json")
    assert not (here / "ran").exists()


def test_a_profile_that_has_no_arguments_says_where_it_lies(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "train.py").write_text("import torch\n")
    left = ProfileResult(0, profile(add=1).profile, (Path("p.json"),), ("operators_1.json: not JSON",))
    monkeypatch.setattr("opperf.parent.commands.profile.python_for", lambda *words: Path(sys.executable))
    monkeypatch.setattr("opperf.parent.commands.profile.run", lambda *words, **named: left)
    with pytest.raises(
        opperf.HarnessError, match=r"no suite: s\.json is not written; operators_1\.json: not JSON"
    ) as told:
        opperf.profile("train.py", save_suite="s.json")
    assert "`opperf.load` reads the profile: p.json" in str(told.value)
    assert not (here / "s.json").exists()
    assert len(opperf.profile("train.py")) == 1


def test_dir_lists_the_library() -> None:
    verbs = {"capture", "compare", "gate", "load", "noise", "operators", "profile", "replay", "run"}
    assert verbs <= set(dir(opperf)) == set(opperf.__all__)
    assert all(getattr(opperf, name).__doc__ for name in dir(opperf) if name != "__version__")


def test_errors_are_one_tree() -> None:
    errors = [getattr(opperf, name) for name in dir(opperf) if name.endswith(("Error", "Failure"))]
    assert len(errors) == 7
    assert all(issubclass(error, opperf.OpperfError) for error in errors)


@pytest.mark.parametrize("command", ["run", "compare", "gate", "profile", "capture", "replay", "noise", "operators"])
def test_every_option_of_a_command_is_an_argument_or_has_a_reason(command: str) -> None:
    options = {option.name for option in get_command(app).commands[command].params}  # type: ignore[attr-defined]
    arguments = inspect.signature(getattr(opperf, command)).parameters
    elsewhere = ELSEWHERE.keys() | (SAVED.keys() if "output" not in arguments else set())
    lacking = {name for name in options if not {name, NAMES.get(name or "")} & set(arguments)}
    assert lacking - elsewhere == set()


@pytest.mark.parametrize("command", ["run", "compare", "noise", "replay", "profile", "capture"])
def test_a_default_is_that_of_the_option(command: str) -> None:
    arguments = inspect.signature(getattr(opperf, command)).parameters
    for option in get_command(app).commands[command].params:  # type: ignore[attr-defined]
        argument = arguments.get(option.name or "")
        if argument is not None and option.default is not None and argument.kind is argument.KEYWORD_ONLY:
            text = str(option.default)
            number = float(text.rstrip("%")) / (100 if "%" in text else 1) if text[0].isdigit() else option.default
            assert argument.default == number or str(argument.default) == text, option.name


def test_a_child_gets_the_elements_of_an_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    array = numpy.random.default_rng(0).random(1000)
    total = float(array.sum())

    def checked(x: Any) -> Any:
        if float(x.sum()) != total:
            raise ValueError("other values")
        return x + 1

    run = partial(opperf.run, framework="numpy", direction="forward", runs=1, check=False)
    ok, other = run(checked, inputs=[{"x": array}, {"x": array + 1}])
    assert ok.status == "ok"
    assert other.reason is not None
    assert other.reason.message == "other values"
    spec = ok.trial.case.get("x")
    assert isinstance(spec, opperf.TensorSpec)
    lost = tmp_path / "arrays" / spec.values.removeprefix("data=")
    lost.write_bytes(lost.read_bytes()[::-1])
    (changed,) = run(checked, inputs=[{"x": spec}])
    assert changed.reason is not None
    assert changed.reason.slug == "no_such_values"


def test_a_judge_takes_no_array() -> None:
    with pytest.raises(opperf.InputError, match="a judge draws the values of inputs itself"):
        opperf.judge("def f(data):\n    return data\n", against="exp", inputs={"data": numpy.ones(4)})


def test_a_comparison_reads_as_a_sentence_and_its_verdict_as_a_word() -> None:
    one = opperf.compare("null:steady", base="null", new=SLOWER)[0]
    assert one.verdict == "slower"
    assert f"{one.verdict}" == "slower"
    assert one.ratio == pytest.approx(1.5)
    assert str(one).startswith("null:steady forward: slower, 1.500 [1.500, 1.500] (the first pairs were enough")


def test_errors_of_the_library_speak_of_its_arguments() -> None:
    with pytest.raises(opperf.InputError) as caught:
        opperf.compare("null:steady", base="null", new="null", max_pairs=20)
    assert str(caught.value) == "`max_pairs` needs `settle=True`\n\nhint: add `settle=True`"
    with pytest.raises(opperf.InputError, match="`cpus` names CPU 4095"):
        opperf.run("null:steady", cpus="4095")


def test_functions_that_compute_different_things_are_compared_as_they_are() -> None:
    one = opperf.compare(numpy.max, numpy.min, inputs=[{"a": (16, 16), "axis": 0}], direction="forward", pairs=3)[0]
    assert (one.case.operator, one.case.attributes) == ("numpy:numpy.max", {"axis": 0})
    assert [one.base.implementation, one.new.implementation] == ["numpy.max", "numpy.min"]
    assert one.status == "ok"
