"""What a profiled script is told, and which Python it gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Profile
from opperf.domain.profile.watching import FRESH, Watching
from opperf.parent.commands.profile import Options, check


def test_the_profiler_is_told_everything_by_its_variables() -> None:
    asked = Options(Watching(memory=True, modules=True), "mxnet", "operator", "model:step", 1, 3)
    told = asked.variables(Path("/out"), "nvtx")
    assert json.loads(told.pop("OPPERF_PROFILER_OPTIONS")) == {
        "framework": "mxnet",
        "memory": True,
        "shapes": False,
        "stacks": False,
        "modules": True,
        "api": False,
        "granularity": "operator",
        "function": "model:step",
        "skip": 1,
        "calls": 3,
        "ranges": "nvtx",
        "record": False,
        "allocator": "default",
        "memory_limit": None,
        "plugins": [],
    }
    assert told == {
        "OPPERF_PROFILER_AUTOSTART": "1",
        "OPPERF_PROFILER_OUTPUT": "/out",
        "OPPERF_PROFILER_QUIET": "1",
        "MXNET_EXEC_BULK_EXEC_INFERENCE": "0",
        "MXNET_EXEC_BULK_EXEC_TRAIN": "0",
    }


def test_graphs_run_as_they_always_do_unless_their_operators_are_asked_for() -> None:
    assert not [name for name in Options().variables(Path()) if name.startswith("MXNET")]
    assert Options().notes(Profile(processes={1: {"framework": "mxnet"}})) == ()


def test_a_report_says_what_was_changed_for_the_sake_of_operators() -> None:
    asked = Options(granularity="operator")
    (note,) = asked.notes(Profile(processes={1: {"framework": "mxnet"}}))
    assert "MXNET_EXEC_BULK_EXEC_INFERENCE=0 MXNET_EXEC_BULK_EXEC_TRAIN=0" in note
    (note,) = asked.notes(Profile(processes={1: {"framework": "torch"}}))
    assert note == "`--granularity operator` has no effect here: it changes how MXNet runs"


def test_a_limit_that_bounds_nothing_is_told() -> None:
    asked = Options(Watching(memory_limit=1000))
    assert asked.notes(Profile(processes={1: {"framework": "torch"}})) == ()
    (note,) = asked.notes(Profile(processes={1: {"framework": "jax"}}))
    assert note == "`--memory-limit` has no effect here: it bounds PyTorch's recording"


def test_what_a_script_paid_for_memory_comes_with_what_to_try() -> None:
    paid = Profile(notes=(f"gave 40000 {FRESH}: times hold that",))
    assert [Options(allocator=one).notes(paid) for one in ("default", "fixed")] == [
        ("`--allocator fixed` retains freed memory, as `opperf run` does",),
        ("memory is mapped again at each call, although freed memory is retained: try `--allocator default`",),
    ]
    assert Options().notes(Profile()) == ()


def test_a_framework_that_no_profiler_sees_is_refused() -> None:
    with pytest.raises(InputError, match="the operators of numpy cannot be profiled") as refused:
        Options(framework="numpy")
    assert (refused.value.slug, refused.value.hint) == ("no_profiler", "known: torch, mxnet, jax, tensorflow")
    with pytest.raises(InputError, match="no framework `torhc`"):
        Options(framework="torhc")
    with pytest.raises(InputError, match="no granularity `fine`"):
        Options(granularity="fine")
    with pytest.raises(InputError, match="no allocator `fix`"):
        Options(allocator="fix")


def test_a_suite_of_a_framework_that_records_no_arguments_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import jax, numpy")
    words = [str(tmp_path / "train.py")]
    with pytest.raises(InputError, match="arguments of operators, which jax does not record") as refused:
        check(words, Options(record=True))
    assert refused.value.slug == "no_suite"
    with pytest.raises(InputError, match="which mxnet does not record"):
        check(words, Options(record=True, framework="mxnet"))
    check(words, Options())
    (tmp_path / "train.py").write_text("import jax, torch")
    check(words, Options(record=True))
    (tmp_path / "train.py").write_text("import trainer")
    check(words, Options(record=True))
