"""The profilers of MXNet and JAX, watched in their own environments: counts, totals, memory, threads, modules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.mxnet_names import OF_THE_ENGINE

HERE = Path(__file__).parent
#: Bytes of the result of the product of two matrices of 256 x 256.
SQUARE = 256 * 256 * 4
#: How MXNet can run the same program: in the calling thread, in threads of its own in bulks, or there one by one.
ENGINES = {
    "naive": {"MXNET_ENGINE_TYPE": "NaiveEngine"},
    "bulks": {"MXNET_ENGINE_TYPE": "ThreadedEnginePerDevice"},
    "single": {
        "MXNET_ENGINE_TYPE": "ThreadedEnginePerDevice",
        "MXNET_EXEC_BULK_EXEC_INFERENCE": "0",
        "MXNET_EXEC_BULK_EXEC_TRAIN": "0",
    },
}


def run(framework: str, folder: Path, **variables: str) -> dict[str, Any]:
    """Return what a script found in a framework's environment."""
    script = HERE / f"watched_{framework}.py"
    text = printed(framework, "-W", "ignore", script, folder=folder, fresh=False, **variables)
    result: dict[str, Any] = json.loads(text.splitlines()[-1])
    return result


@pytest.fixture(scope="module")
def mxnet(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What was found of MXNet under an engine; each runs once."""
    return cache(lambda engine: run("mxnet", tmp_path_factory.mktemp(engine), **ENGINES[engine]))


@pytest.fixture(scope="module")
def jax(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was found of JAX."""
    return run("jax", tmp_path_factory.mktemp("jax"), JAX_PLATFORMS="cpu", NPROC="1")


def profile(told: dict[str, Any]) -> Profile:
    """Return the profile of one program."""
    return from_trace(told["trace"], "the script's answer")


def named(told: dict[str, Any], name: str) -> list[Event]:
    """Return the operators of a name."""
    return [event for event in profile(told).of_kind("operator") if event.name == name]


def counts(told: dict[str, Any]) -> dict[str, int]:
    """Return how often each operator was called."""
    return dict(Counter(event.name for event in profile(told).of_kind("operator")))


# MXNet ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_mxnets_operators_are_counted_whatever_runs_them(mxnet: Callable[[str], dict[str, Any]], engine: str) -> None:
    result = mxnet(engine)
    assert counts(result["products"]) == {"dot": 3, "relu": 1}
    assert counts(result["interrupted"]) == {"dot": 2}
    facts = profile(result["products"]).processes
    assert [(one["framework"], one["engine"]) for one in facts.values()] == [
        ("mxnet", "naive" if engine == "naive" else "threaded")
    ]


@pytest.mark.parametrize("engine", ["naive", "single"])
@pytest.mark.parametrize("program", ["products", "trained"])
def test_mxnets_times_add_up_to_those_of_its_own_summary(
    mxnet: Callable[[str], dict[str, Any]], engine: str, program: str
) -> None:
    told = mxnet(engine)[program]
    own = {name: one for name, one in told["own"]["Time"]["operator"].items() if name not in OF_THE_ENGINE}
    assert counts(told) == {name: one["Count"] for name, one in own.items()}
    for name, one in own.items():
        total = sum(event.duration for event in named(told, name)) / 1e6
        assert total == pytest.approx(one["Total"], rel=0.01), name


def test_mxnets_summary_is_off_where_it_would_change_what_runs(mxnet: Callable[[str], dict[str, Any]]) -> None:
    assert mxnet("bulks")["products"]["own"] is None


@pytest.mark.parametrize("engine", ENGINES)
def test_mxnets_memory_is_exact_for_each_call(mxnet: Callable[[str], dict[str, Any]], engine: str) -> None:
    told = mxnet(engine)["products"]
    for event in profile(told).of_kind("operator"):
        assert (event.allocated, event.peak) == (SQUARE, SQUARE)
    assert max(reading.size for reading in profile(told).readings) in range(SQUARE, 4 * SQUARE + 1)
    assert {reading.device for reading in profile(told).readings} == {"cpu/0"}
    assert named(mxnet(engine)["interrupted"], "dot")[0].allocated is None


@pytest.mark.parametrize("engine", ENGINES)
def test_memory_that_was_planned_before_is_not_told_as_none(
    mxnet: Callable[[str], dict[str, Any]], engine: str
) -> None:
    told = profile(mxnet(engine)["planned"])
    assert {event.allocated for event in told.of_kind("operator")} == {None, 32}  # 32: the result, a new one each time
    assert any("before its operators run" in note for note in told.notes)


@pytest.mark.parametrize("engine", ENGINES)
def test_everything_lies_between_the_times_around_it(mxnet: Callable[[str], dict[str, Any]], engine: str) -> None:
    for name, told in mxnet(engine).items():
        before, after = told["between"]
        seen = profile(told)
        assert all(before <= event.begin <= event.end <= after for event in seen.events), name
        assert all(before <= reading.time <= after for reading in seen.readings), name


@pytest.mark.parametrize("engine", ENGINES)
def test_mxnets_steps_follow_each_other_and_hold_their_operators(
    mxnet: Callable[[str], dict[str, Any]], engine: str
) -> None:
    told = mxnet(engine)["products"]
    first, second = profile(told).of_kind("step")
    assert (first.name, second.name, first.end) == ("products", "rest", second.begin)
    assert all(first.begin <= event.begin and event.end <= first.end for event in named(told, "dot"))
    assert all(second.begin - 1000 <= event.begin and event.end <= second.end for event in named(told, "relu"))


def test_threads_bear_pythons_names_where_they_are_pythons(mxnet: Callable[[str], dict[str, Any]]) -> None:
    told = mxnet("naive")["elsewhere"]
    assert [named(told, name)[0].thread for name in ("dot", "relu")] == ["MainThread", "worker"]
    engines = {event.thread for event in profile(mxnet("single")["elsewhere"]).of_kind("operator")}
    assert not engines & {"MainThread", "worker"}


def test_blocks_are_known_where_operators_run_in_the_calling_thread(mxnet: Callable[[str], dict[str, Any]]) -> None:
    told = mxnet("naive")["trained"]
    assert [event.module for event in named(told, "FullyConnected")] == [f"HybridSequential.{i}" for i in range(3)]
    assert [event.module for event in named(told, "Activation")] == [f"HybridSequential.{i}.act" for i in range(2)]
    backward = named(told, "_backward_FullyConnected")
    assert [(event.backward, event.module) for event in backward] == [(True, "")] * 3
    assert {"HybridSequential", "HybridSequential.0.act"} <= {event.name for event in profile(told).of_kind("module")}
    threaded = profile(mxnet("bulks")["trained"])
    assert any("NaiveEngine" in note for note in threaded.notes)
    assert not threaded.of_kind("module")


def test_bulks_are_told_as_what_they_are(mxnet: Callable[[str], dict[str, Any]]) -> None:
    trained = profile(mxnet("bulks")["trained"])
    assert any(event.fused for event in trained.of_kind("operator"))
    assert any("ImperativeBulk" in note for note in trained.notes)
    single = profile(mxnet("single")["trained"])
    assert not any(event.fused for event in single.of_kind("operator"))
    assert not any("ImperativeBulk" in note for note in single.notes)


@pytest.mark.parametrize(
    ("engine", "operators"),
    [
        ("naive", ["FullyConnected", "Activation,FullyConnected,Activation", "FullyConnected"]),
        ("bulks", ["ImperativeBulk", "Activation,FullyConnected,Activation", "ImperativeBulk"]),
        ("single", ["FullyConnected", "Activation", "FullyConnected", "Activation", "FullyConnected"]),
    ],
)
def test_a_compiled_graph_is_told_once_as_it_is_run(
    mxnet: Callable[[str], dict[str, Any]], engine: str, operators: list[str]
) -> None:
    # What reads the input or makes the output is run apart: these arrays are others in each call.
    assert [event.name for event in profile(mxnet(engine)["inferred"]).of_kind("operator")] == operators


@pytest.mark.parametrize("engine", ENGINES)
def test_a_custom_operator_is_told_with_what_it_calls(mxnet: Callable[[str], dict[str, Any]], engine: str) -> None:
    result = counts(mxnet(engine)["custom"])
    assert (result["CustomAddOne::pure_python"], result["CustomAddOne::_plus_scalar"]) == (1, 1)


def test_what_fails_is_raised_once_the_profile_is_safe(mxnet: Callable[[str], dict[str, Any]]) -> None:
    told = mxnet("bulks")["failing"]
    assert told["raised"]
    assert counts(told)["dot"] == 1


def test_shapes_are_known_of_operators_that_are_called_one_by_one(mxnet: Callable[[str], dict[str, Any]]) -> None:
    told = mxnet("naive")["products"]
    assert [event.shapes for event in named(told, "dot")] == [((256, 256), (256, 256))] * 3
    assert [event.shapes for event in named(told, "relu")] == [((256, 256),)]
    threaded = profile(mxnet("bulks")["products"])
    assert not any(event.shapes for event in threaded.events)
    assert any("NaiveEngine" in note for note in threaded.notes)


def test_what_mxnets_profiler_does_not_tell_is_said(mxnet: Callable[[str], dict[str, Any]]) -> None:
    result = mxnet("naive")
    assert [note.split(" ")[0] for note in profile(result["products"]).notes] == ["MXNet's", "shapes"]
    assert profile(result["interrupted"]).notes == ()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_script_that_uses_mxnets_profiler_has_its_file_and_opperf_what_is_in_it(
    mxnet: Callable[[str], dict[str, Any]], engine: str
) -> None:
    told = mxnet(engine)["started"]
    assert counts(told) == {"dot": 1, "relu": 1, "exp": 1}
    assert [event.allocated for event in named(told, "exp")] == [SQUARE]
    assert [note for note in profile(told).notes if "`own.json`" in note]
    of_script = Counter(event["name"] for event in told["file"]["traceEvents"] if event["ph"] == "B")
    assert {name: of_script[name] for name in ("dot", "relu", "exp", "abs")} == {
        "dot": 0,
        "relu": 1,
        "exp": 1,
        "abs": 0,
    }


def test_a_script_that_only_configures_mxnets_profiler_changes_nothing(
    mxnet: Callable[[str], dict[str, Any]],
) -> None:
    told = mxnet("naive")["configured"]
    assert counts(told) == {"dot": 1}
    assert profile(told).notes == ()


def test_calls_of_mxnets_interface_are_told_when_they_are_asked_for(mxnet: Callable[[str], dict[str, Any]]) -> None:
    result = mxnet("naive")
    calls = Counter(event.name for event in profile(result["products"]).of_kind("api"))
    assert calls["MXImperativeInvokeEx"] == 4
    assert not profile(result["interrupted"]).of_kind("api")


# JAX ------------------------------------------------------------------------------------------------------------------


def test_watching_jax_leaves_the_choice_of_devices_to_the_program(jax: dict[str, Any]) -> None:
    assert jax["first"]["devices"] is False
    assert {event.module for event in profile(jax["first"]).of_kind("operator")} & {"add", "broadcast_in_dim"}


def test_jaxs_operators_are_the_instructions_of_the_program_each_time_it_runs(jax: dict[str, Any]) -> None:
    operators = profile(jax["calls"]).of_kind("operator")
    assert len(operators) == jax["instructions"] > 0
    assert {event.module for event in operators} == {"layer"}
    assert {event.shapes[0] for event in operators} == {(64, 64)}


def test_jaxs_times_add_up_to_those_of_its_own_files(jax: dict[str, Any]) -> None:
    told = jax["calls"]
    (own,) = told["own"]
    operators = profile(told).of_kind("operator")
    assert len(operators) == sum(map(len, own.values()))
    total = sum(event.duration for event in operators) / 1000
    assert total == pytest.approx(sum(map(sum, own.values())), rel=0.01)


def test_jaxs_spans_lie_between_the_times_around_them_in_named_threads(jax: dict[str, Any]) -> None:
    for name in ("first", "calls", "interrupted"):
        before, after = jax[name]["between"]
        assert all(before <= event.begin <= event.end <= after for event in profile(jax[name]).events), name
    assert all(event.thread for event in profile(jax["calls"]).events)


def test_jaxs_steps_are_the_programs_and_the_watchers(jax: dict[str, Any]) -> None:
    seen = profile(jax["calls"])
    assert sorted(event.name for event in seen.of_kind("step")) == ["calls", "train 3"]
    (train,) = (event for event in seen.of_kind("step") if event.name == "train 3")
    operators = seen.of_kind("operator")
    assert all(train.begin <= event.begin and event.end <= train.end for event in operators)
    assert [event.name for event in seen.of_kind("api")].count("PjitFunction(layer)") == 5


def test_what_jax_runs_between_a_stop_and_the_next_start_is_not_seen(jax: dict[str, Any]) -> None:
    modules = Counter(event.module for event in profile(jax["interrupted"]).of_kind("operator"))
    assert modules == {"layer": 2 * jax["instructions"] // 5, "sin": 1}


def test_what_jaxs_profiler_does_not_tell_is_said(jax: dict[str, Any]) -> None:
    notes = profile(jax["calls"]).notes
    assert [note.split(" ")[0] for note in notes] == ["JAX's", "JAX's", "shapes", "operators"]


def test_a_program_that_records_by_itself_keeps_jaxs_profiler(jax: dict[str, Any]) -> None:
    assert jax["refused"].startswith("JAX's profiler cannot be started: Profile has already been started")
