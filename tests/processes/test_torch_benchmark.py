"""`torch.utils.benchmark` with one import changed: in a Python that has PyTorch and nothing of opperf's parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

import opperf
from opperf.domain.stats.significance import log_interval

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "torch_timers.py"
#: Says, by name, what each of the functions below returns.
SCRIPT = '''
import gc
import json
import pickle
import timeit
import warnings

import torch
import torch.utils.benchmark as theirs

import opperf.compat.torch_benchmark as ours
from opperf.compat.torch_benchmark.counting import counted
from opperf.domain.reason import Warning as Doubt


def slugs(measurement):
    return [doubt.slug for doubt in measurement.doubts]


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)


def names():
    own = {name for name, value in vars(theirs).items() if getattr(value, "__module__", "").startswith(theirs.__name__)}
    return len(own), sorted(own - {*ours.__all__})


def calls_of_timeit():
    calls = []
    measurement = ours.Timer("calls.append(1)", globals={"calls": calls}).timeit(1000)
    return len(calls), measurement.number_per_run * (len(measurement.times) + measurement.discarded)


def setups():
    setups = []
    def count(stmt, **number):
        setups.clear()
        timer = ours.Timer(stmt, "x = torch.ones(4); setups.append(1)", globals={"setups": setups})
        measurement = timer.timeit(**number) if number else timer.blocked_autorange(min_run_time=0.01)
        return len(setups), len(measurement.times) + measurement.discarded, slugs(measurement)
    return {
        "unchanged": count("x + 1"), "changed": count("x.add_(1)"), "changed, timeit": count("x.add_(1)", number=50)
    }


def multiple_lines():
    found = []
    ours.Timer(
        """
        x = x + 1
        if x == 2:
            found.append(x)
        """,
        """
        x = 0
        """,
        globals={"found": found},
    ).timeit(2)
    return found


def module_that_changes():
    norm = torch.nn.BatchNorm1d(3)
    return slugs(ours.Timer("norm(x)", globals={"norm": norm, "x": torch.rand(5, 3)}).timeit(3))


class Clock:
    """Stands still but for what the statement adds."""
    now = 0.0


def own_clock():
    told = []
    timer = ours.Timer("clock.now += 0.001", timer=lambda: clock.now, globals={"clock": (clock := Clock())})
    blocked = timer.blocked_autorange(lambda *block: told.append(block), min_run_time=0.05)
    adaptive = timer.adaptive_autorange(min_run_time=0.02)
    return [
        [blocked.median, blocked.number_per_run, len(blocked.times) + blocked.discarded],
        [adaptive.median, len(adaptive.times) + adaptive.discarded],
        [len(told), sum(calls for calls, _ in told), sum(seconds for _, seconds in told)],
    ]


def left_alone():
    before = torch.get_num_threads(), gc.isenabled()
    seen = set()
    ours.Timer("seen.add(torch.get_num_threads())", globals={"seen": seen}, num_threads=2).timeit(3)
    why = raised(lambda: ours.Timer("1 / 0").blocked_autorange())
    return sorted(seen), why, (torch.get_num_threads(), gc.isenabled()) == before


def refusals():
    return [
        raised(lambda: ours.Timer("x +")),
        raised(lambda: ours.Timer("x + 1", "x = 1").timeit(0)),
        raised(lambda: ours.Timer("missing").timeit(5)),
    ]


def loop_of_a_subclass():
    class Fixed:
        def __init__(self, **known): pass
        def timeit(self, number): return 0.5 * number
    class Subclass(ours.Timer):
        _timer_cls = Fixed
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        measurement = Subclass("pass").timeit(4)
    return measurement.median, type(measurement) is theirs.Measurement, [str(one.message) for one in caught]


def task(seconds, process, **more):
    spec = ours.TaskSpec("x + 1", "pass", label="add", description="size 4")
    return ours.Measurement(2, [2 * second for second in seconds], spec, process=process, **more)


def merged():
    doubt = Doubt("drifting", "the times drift")
    parts = [task([1e-6, 3e-6], "a", discarded=2), task([2e-6], "b", discarded=1, doubts=(doubt,)), task([4e-6], "c")]
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    (whole,) = ours.Measurement.merge(parts)
    (again,) = ours.Measurement.merge([whole, task([4e-6], "c")])
    table = ours.Compare(parts)
    plain = str(table)
    table.highlight_warnings()
    return {
        "times": whole.times, "interval": whole.interval, "discarded": whole.discarded, "warns": whole.has_warnings,
        "first": [parts[0].interval, parts[0].has_warnings], "text": repr(whole).splitlines()[1:], "again": again.times,
        "same": parts[0] == task([1e-6, 3e-6], "a", discarded=2), "plain": plain, "marked": str(table),
        "theirs": str(theirs.Compare(parts)),
    }


def counts():
    function_counts = ours.FunctionCounts((ours.FunctionCount(900, "f"),), False)
    loop = ours.FunctionCounts((ours.FunctionCount(100, "f"),), False)
    file = """
events: Ir
summary: 900

fn=(1) add
0x10 3 400
cfn=(2) malloc
calls=2 0x40 7
+4 * 390
cfn=(2)
calls=1 0x40 7
+8 +1 60

fn=(2)
0x40 7 450
"""
    spec = ours.TaskSpec("x + 1", "pass")
    stats = ours.CallgrindStats(spec, 10, True, loop, loop, function_counts, function_counts, file)
    mine = counted(stats, retains_file=False)
    return mine.instructions, mine.as_standardized().instructions, mine.counts(), mine.stmt_callgrind_out, repr(mine)


TOPICS = (
    names, calls_of_timeit, setups, multiple_lines, module_that_changes, own_clock, left_alone, refusals,
    loop_of_a_subclass, merged, counts,
)
print(json.dumps({topic.__name__: topic() for topic in TOPICS}))
'''


def run(script: Path, folder: Path) -> str:
    """Run a script where PyTorch is, with opperf on its path; return what it prints."""
    return printed("torch", script, folder=folder, PYTHONPATH=str(Path(opperf.__file__).parents[1]))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("timers")
    (folder / "script.py").write_text(SCRIPT)
    loaded: dict[str, Any] = json.loads(run(folder / "script.py", folder).splitlines()[-1])
    return loaded


def test_every_public_name_of_pytorchs_is_there(result: dict[str, Any]) -> None:
    count, absent = result["names"]
    assert (count > 15, absent) == (True, [])


def test_a_number_of_calls_is_made_and_no_more(result: dict[str, Any]) -> None:
    made, timed = result["calls_of_timeit"]
    warm = 10
    assert (made - timed, timed <= 1000, timed > 500) == (warm, True, True)


def test_a_setup_is_made_again_before_each_sample_only_where_calls_change_what_it_made(result: dict[str, Any]) -> None:
    setups, samples, slugs = result["setups"]["unchanged"]
    assert (setups, "mutates" in slugs) == (2, False)
    setups, samples, slugs = result["setups"]["changed"]
    assert (setups, "mutates" in slugs) == (2 + samples, True)
    setups, samples, slugs = result["setups"]["changed, timeit"]
    assert (setups, "mutates" in slugs) == (2, True)


def test_names_last_from_call_to_call_in_statements_of_several_lines(result: dict[str, Any]) -> None:
    # Two calls ahead, which are enough to warm up, then two that are timed after a setup of their own.
    assert result["multiple_lines"] == [2, 2]


def test_a_module_that_its_call_changes_is_noticed(result: dict[str, Any]) -> None:
    assert "mutates" in result["module_that_changes"]


def test_the_clock_that_a_timer_is_given_takes_the_times(result: dict[str, Any]) -> None:
    blocked, adaptive, told = result["own_clock"]
    assert blocked == [pytest.approx(0.001), 1, pytest.approx(50, abs=1)]
    assert adaptive == [pytest.approx(0.001), pytest.approx(20, abs=1)]
    assert told == [blocked[2], blocked[2], pytest.approx(0.05, abs=0.0015)]


def test_threads_are_those_of_the_timer_meanwhile_and_what_it_raises_is_raised(result: dict[str, Any]) -> None:
    assert result["left_alone"] == [[2], ["ZeroDivisionError", "division by zero"], True]


def test_statements_that_cannot_run_are_refused_as_by_pytorch(result: dict[str, Any]) -> None:
    syntax, number, name = result["refusals"]
    assert syntax[0] == "SyntaxError"
    assert number == ["InputError", "`number` is 0, expected 1 or more"]
    assert name == ["NameError", "name 'missing' is not defined"]


def test_a_loop_that_a_subclass_brings_is_left_to_pytorch_and_that_is_said(result: dict[str, Any]) -> None:
    said = "`Fixed` is timed by PyTorch's own loop, not by opperf's rules"
    assert result["loop_of_a_subclass"] == [0.5, True, [said]]


def test_three_processes_of_one_task_make_an_interval(result: dict[str, Any]) -> None:
    merged = result["merged"]
    expected = log_interval([2e-6, 2e-6, 4e-6])
    assert expected is not None
    assert merged["interval"] == pytest.approx(list(expected))
    assert merged["times"] == pytest.approx([1e-6, 3e-6, 2e-6, 4e-6])
    assert merged["again"] == pytest.approx([1e-6, 3e-6, 2e-6, 4e-6, 4e-6])
    assert merged["first"] == [None, True]  # its two times differ widely, which PyTorch warns of
    assert (merged["discarded"], merged["warns"], merged["same"]) == (3, True, True)
    assert any(line.startswith("  Interval: [") and line.endswith("over 3 processes") for line in merged["text"])
    assert "  3 disturbed samples left out" in merged["text"]
    assert "  WARNING: the times drift" in merged["text"]


def test_a_table_is_pytorchs_and_names_doubts_below_where_warnings_are_asked_for(result: dict[str, Any]) -> None:
    merged = result["merged"]
    assert merged["plain"] == merged["theirs"]
    assert merged["marked"].splitlines()[-1] == "! add, size 4, 1 thread: the times drift"


def test_instructions_are_counted_by_opperfs_rule_for_allocators(result: dict[str, Any]) -> None:
    instructions, standardized, counts, file, text = result["counts"]
    # 900 executed: 450 of them in three calls of malloc, which count as 100 each; 100 are the loop's; ten calls.
    assert (instructions, standardized) == (65.0, 65.0)
    assert (counts, file) == (900, None)
    assert "65 instructions a call, by opperf's rule" in text


def test_the_example_prints_a_table(tmp_path: Path) -> None:
    out = run(EXAMPLE, tmp_path)
    assert "[-------" in out
    assert "mul and sum" in out
