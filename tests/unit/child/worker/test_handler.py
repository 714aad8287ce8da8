"""What a child answers: trials by handle, names by meaning, and failures by kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.child.backends.binding import Call, Missing, parameters
from opperf.child.backends.null.runtime import NullBackend
from opperf.child.backends.null.scripts import Scripts
from opperf.child.measure.disturbance import NoCounters
from opperf.child.worker.failures import failure
from opperf.child.worker.handler import Handler
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Sample, Samples
from opperf.domain.message.replies import Discovery, Example, Failure, Meaning, Preparation, Remainder
from opperf.domain.message.requests import (
    BuildLoops,
    Describe,
    Discover,
    Evaluate,
    Explain,
    Measure,
    Prepare,
    Quit,
    Release,
    Turn,
)
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.tensor import TensorSpec

if TYPE_CHECKING:
    from pathlib import Path

STEADY = Trial(Case("null:steady"), Side("null", implementation="steady"), "forward")
ADD = Trial(Case("add", {"lhs": TensorSpec((4,)), "rhs": TensorSpec((4,))}), Side("null"), "forward")


@pytest.fixture
def handler() -> Handler:
    """The handler of a child with the null framework."""
    return Handler(NullBackend(Side("null")), NoCounters(), Path())


def prepared(handler: Handler, trial: Trial) -> Preparation:
    """Return the answer to the request to prepare a trial."""
    return handler.answer(Prepare(trial))


@pytest.mark.parametrize(
    ("nanoseconds", "results", "calls"), [(10**8 - 1, False, 2), (10**8, False, 1), (10**8, True, 1)]
)
def test_another_place_for_results_costs_a_call_unless_one_takes_long(
    handler: Handler, nanoseconds: int, results: bool, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scripts, "steady", lambda script, *_: script.spend(nanoseconds))
    handler.answer(Prepare(STEADY, offset=1, results=results))
    assert handler.backend.clock.wall() == calls * nanoseconds


def test_a_prepared_trial_is_measured_by_its_handle(handler: Handler) -> None:
    handle = prepared(handler, STEADY).handle
    result = handler.answer(Measure(handle, Settings(runs=5)))
    assert result.time.seconds() == [1e-4] * 5
    assert result.facts["implementation"] == "null:steady"


def test_the_calls_of_preparing_are_the_first_of_the_warm_up(handler: Handler) -> None:
    answer = prepared(handler, STEADY)
    assert answer.spent["calls"] == 1e-4
    for warmup in (0, 1, 7):
        settings = Settings(runs=1, warmup=warmup)
        result = handler.answer(Measure(answer.handle, settings))
        assert result.facts["warmup_calls"] == max(1, warmup)


def test_a_turn_on_a_gpu_says_what_held_its_clock_down_and_which_setting_slows_its_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Throttled:
        """A GPU whose power limit holds its clock down for half of the time."""

        def __init__(self, clock: Any) -> None:
            self._clock = clock

        def read(self) -> dict[str, int]:
            return {"power_held_ns": self._clock.wall() // 2, "others": 2}

    backend = NullBackend(Side("null", device="cuda:0"))
    monkeypatch.setattr("opperf.child.worker.handler.gpu_of", lambda device: Throttled(backend.clock))
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    handler = Handler(backend, NoCounters(), Path())
    handle = prepared(handler, STEADY).handle
    turns = [handler.answer(Turn(handle, 5)).warnings for _ in range(2)]
    assert turns[0] == turns[1]  # so that a comparison has each once
    assert [warning.slug for warning in turns[0]] == ["gpu_throttled", "gpu_shared", "slow_setting"]
    assert turns[0][0].message == "the GPU ran below its normal clock, because of its power limit"


def test_a_native_loop_is_timed_beside_python(handler: Handler) -> None:
    handle = prepared(handler, STEADY).handle
    handler.answer(BuildLoops("/cache"))
    result = handler.answer(Measure(handle, Settings(runs=5, loop="native")))
    native = result.samples("time_native")
    assert native is not None
    assert result.time.seconds() == [1e-4] * 5
    assert native.seconds() == pytest.approx([99.6e-6] * 5)
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("setting", "slug", "why"),
    [
        ({"compiler": "none"}, "no_compiler", "measured from Python only: there is no C compiler here"),
        ({"native": "wrong"}, "not_native", "measured from Python only: without Python it computes a different result"),
    ],
)
def test_what_cannot_be_called_without_python_is_measured_from_python_and_says_why(
    setting: dict[str, str], slug: str, why: str
) -> None:
    side = Side("null", settings=setting)
    handler = Handler(NullBackend(side), NoCounters(), Path())
    handle = prepared(handler, replace(ADD, side=side)).handle
    handler.answer(BuildLoops("/cache"))
    result = handler.answer(Measure(handle, Settings(runs=5, loop="native")))
    assert result.samples("time_native") is None
    assert len(result.time.samples) == 5
    assert [(warning.slug, warning.message) for warning in result.warnings] == [(slug, why)]


def test_a_framework_whose_profiler_is_not_read_has_no_profiler_clock(handler: Handler) -> None:
    handle = prepared(handler, STEADY).handle
    with pytest.raises(Unsupported) as caught:
        handler.answer(Measure(handle, Settings(clock="profiler")))
    assert caught.value.slug == "no_profiler_clock"


def test_the_profilers_clock_is_the_frameworks_own(handler: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    class Own:
        def measure(self, backend: Any, counters: Any, work: Any, settings: Settings, *, took: Any) -> Measurement:
            return Measurement({"time": Samples((Sample(1, settings.runs or 0, 0),))}, facts={"took": list(took)})

    monkeypatch.setattr("opperf.child.worker.handler.profiler_clock", lambda framework: Own())
    settings = Settings(clock="profiler", runs=5)
    result = handler.answer(Measure(prepared(handler, STEADY).handle, settings))
    assert result.time.samples[0].wall_ns == 5
    assert (result.facts["took"], result.facts["implementation"]) == ([100_000], "null:steady")


def test_handles_are_not_given_twice(handler: Handler) -> None:
    first = prepared(handler, STEADY).handle
    handler.answer(Release(first))
    assert prepared(handler, STEADY).handle != first


def test_a_released_trial_is_gone(handler: Handler) -> None:
    handle = prepared(handler, STEADY).handle
    handler.answer(Release(handle))
    with pytest.raises(KeyError):
        handler.answer(Measure(handle, Settings()))


def test_releasing_twice_does_no_harm(handler: Handler) -> None:
    handle = prepared(handler, STEADY).handle
    handler.answer(Release(handle))
    handler.answer(Release(handle))
    assert prepared(handler, STEADY).handle == handle + 1


def test_a_release_says_what_is_held_beyond_what_was_after_the_first(
    handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = iter([500, 700, 400])
    monkeypatch.setattr("opperf.child.worker.handler.private_bytes", lambda: next(held))
    assert [handler.answer(Release(1)) for _ in range(3)] == [Remainder(0), Remainder(200), Remainder(-100)]


def test_nobody_answers_who_is_told_to_leave(handler: Handler) -> None:
    with pytest.raises(KeyError, match="Quit"):
        handler.answer(Quit())


def test_a_neutral_name_means_its_binding(handler: Handler) -> None:
    assert handler.answer(Describe("add")) == Meaning("add", "add", {"lhs": "lhs", "rhs": "rhs"})


def test_a_function_without_a_binding_means_itself(handler: Handler) -> None:
    assert handler.answer(Describe("steady")) == Meaning("steady")


def test_an_unknown_name_has_near_ones(handler: Handler) -> None:
    answer = handler.answer(Describe("stedy"))
    assert (answer.path, answer.operator) == (None, None)
    assert answer.near[0] == "steady"
    assert len(answer.near) <= 5


@pytest.fixture
def bound_handler(monkeypatch: pytest.MonkeyPatch) -> Handler:
    """The handler of a child whose framework has two names for one function, and lacks an operator."""
    backend = NullBackend(Side("null"))
    bindings = {
        "abs": Call("steady", parameters("x=data"), also=("noisy",), note="by hand"),
        "exp": Missing("nobody wrote it"),
        "log": Call("not.in.this.version", parameters("data"), unsupported={"backward": "no gradient here"}),
    }
    monkeypatch.setattr(backend, "bindings", lambda: bindings)
    scripts = backend.scripts.behaviours()
    monkeypatch.setattr(backend.scripts, "behaviours", lambda: {**scripts, "same": scripts["steady"]})
    return Handler(backend, NoCounters(), Path())


def test_a_path_of_a_binding_means_its_operator(bound_handler: Handler) -> None:
    for name, path in (("steady", "steady"), ("noisy", "noisy")):
        meaning = bound_handler.answer(Describe(name))
        assert (meaning.path, meaning.operator, meaning.arguments) == (path, "abs", {"x": "data"})


def test_what_is_registered_and_bound_to_no_operator_is_discovered(
    bound_handler: Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `same` is another path of what `abs` is bound to; `refused` resolves to nothing, and its trial says why.
    monkeypatch.setattr(NullBackend, "registered", lambda self: ["steady", "same", "noisy", "raise", "refused"])
    assert bound_handler.answer(Discover()) == Discovery(("raise", "refused"))


def test_the_examples_of_a_registered_operator_are_cases(handler: Handler, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("null:steady", {"data": TensorSpec((4,))})
    monkeypatch.setattr(
        NullBackend, "examples", lambda self, path, size: [case] if (path, size) == ("steady", "small") else []
    )
    assert handler.answer(Discover("steady", "small")) == Discovery(examples=(Example(case),))
    assert handler.answer(Discover("steady")) == Discovery()


def test_the_null_framework_has_no_registry(handler: Handler) -> None:
    assert handler.answer(Discover()) == Discovery()
    assert handler.answer(Discover("steady")) == Discovery()


def test_an_operator_that_is_missing_says_why(bound_handler: Handler) -> None:
    answer = bound_handler.answer(Describe("exp"))
    assert (answer.path, answer.reason) == (None, "nobody wrote it")


def test_a_function_that_constants_make_several_operators_of_is_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = NullBackend(Side("null"))
    bindings = {
        "relu": Call("steady", parameters("data, 'relu'")),
        "tanh": Call("steady", parameters("data, 'tanh'")),
        "exp": Call("noisy", parameters("data, 1")),
    }
    scripts = backend.scripts.behaviours()
    monkeypatch.setattr(backend, "bindings", lambda: bindings)
    monkeypatch.setattr(backend.scripts, "behaviours", lambda: scripts)
    handler = Handler(backend, NoCounters(), Path())
    assert handler.answer(Describe("steady")).operator is None
    assert handler.answer(Describe("noisy")).operator == "exp"


def test_a_backward_carries_the_fixed_cost_of_one(handler: Handler) -> None:
    # The scripted backward is the forward twice: 2 us of launches, and 4 bytes moved in no time.
    backward = Trial(ADD.case, ADD.side, "backward")
    assert prepared(handler, backward).facts["backward_fixed_seconds"] == pytest.approx(2e-6, rel=1e-3)
    assert "backward_fixed_seconds" not in prepared(handler, ADD).facts


def trial(name: str, direction: str = "forward", path: str | None = None) -> Trial:
    """Return a trial of a catalog operator."""
    return Trial(operator(name).case("small"), Side("null", implementation=path), direction)


def test_a_trial_of_a_missing_operator_is_not_supported(bound_handler: Handler) -> None:
    with pytest.raises(Unsupported, match="nobody wrote it") as caught:
        prepared(bound_handler, trial("exp"))
    assert caught.value.slug == "no_such_operator"


def test_a_trial_of_an_unbound_operator_is_not_supported(bound_handler: Handler) -> None:
    with pytest.raises(Unsupported, match="not bound yet"):
        prepared(bound_handler, trial("tanh"))


def test_a_direction_that_a_binding_excludes_is_not_supported(bound_handler: Handler) -> None:
    with pytest.raises(Unsupported, match="no gradient here") as caught:
        prepared(bound_handler, trial("log", "backward"))
    assert caught.value.slug == "no_such_direction"


@pytest.mark.parametrize("path", [None, "steady"])
def test_a_trial_takes_the_arguments_of_its_binding_and_keeps_its_note(
    path: str | None, bound_handler: Handler
) -> None:
    facts = prepared(bound_handler, trial("abs", path=path)).facts
    assert facts == {"implementation": "null:steady", "note": "by hand"}


def test_a_trial_of_another_path_takes_the_arguments_of_its_binding_too(bound_handler: Handler) -> None:
    assert prepared(bound_handler, trial("abs", path="noisy")).facts == {"implementation": "null:noisy"}


def test_an_evaluated_trial_leaves_its_tensors_in_files(handler: Handler, tmp_path: Path) -> None:
    (output,) = handler.answer(Evaluate(ADD, 0, str(tmp_path))).outputs
    assert (output.shape, output.dtype) == ((4,), "float32")
    assert (tmp_path / "output_0.bin").read_bytes() == bytes(16)


def test_more_threads_than_asked_for_are_doubted_in_every_measurement() -> None:
    backend = NullBackend(Side("null"))
    backend.threads_seen = 3.7
    handler = Handler(backend, NoCounters(), Path())
    answer = handler.answer(Measure(prepared(handler, STEADY).handle, Settings(runs=3)))
    assert [warning.slug for warning in answer.warnings] == ["threads_not_honoured"]


def test_what_a_framework_cannot_do_is_a_skip() -> None:
    assert failure(Unsupported("no such thing", slug="odd", hint="try another")) == Failure(
        Reason("odd", "no such thing", "try another"), skipped=True
    )


@each(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes"),
        RuntimeError("RESOURCE_EXHAUSTED: Out of range"),
        RuntimeError("std::bad_alloc"),
        OSError("[Errno 12] Cannot allocate memory"),
    ],
)
def test_every_framework_says_in_its_own_way_that_memory_is_short(error: Exception) -> None:
    assert failure(error).reason.slug == "out_of_memory"


def test_other_errors_are_those_of_the_operator() -> None:
    result = failure(ValueError("axis 3 is out of bounds\nand more of that"))
    assert (result.reason.slug, result.reason.exception) == ("operator_error", "ValueError")
    assert result.reason.message == "axis 3 is out of bounds"
    assert not result.skipped


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_error_without_words_is_called_by_its_name(text: str) -> None:
    assert failure(KeyboardInterrupt(text)).reason.message == "KeyboardInterrupt"


def test_a_long_message_and_a_deep_traceback_are_cut() -> None:
    def deep(levels: int) -> None:
        if levels == 0:
            raise RuntimeError("x" * 10_000)
        deep(levels - 1)

    with pytest.raises(RuntimeError) as caught:
        deep(100)
    result = failure(caught.value)
    assert len(result.reason.message) == 500
    assert len(result.reason.traceback or "") == 8000
    assert (result.reason.traceback or "").rstrip().endswith("x")


def test_a_trial_is_explained_by_what_one_call_runs(handler: Handler) -> None:
    told = handler.answer(Explain(STEADY, 0))
    assert told.to_json() == {
        "events": [
            {"name": "steady", "kind": "operator", "calls": 1.0, "seconds": 0.0, "by": None},
            {"name": "script", "kind": "kernel", "calls": 1.0, "seconds": 1e-4, "by": "scripted"},
        ],
        "notes": [],
    }


def test_an_operator_that_cannot_run_cannot_be_explained(handler: Handler) -> None:
    trial = Trial(Case("null:raise"), Side("null", implementation="raise"), "forward")
    with pytest.raises(RuntimeError, match="always raises"):
        handler.answer(Explain(trial, 0))


class Picky(NullBackend):
    """Computes in some element types only, and says so as frameworks do."""

    def __init__(self, *taken: str) -> None:
        super().__init__(Side("null"))
        self.taken = taken

    def forward(self, bound: Any) -> Any:
        if bound.arguments[0].spec.dtype not in self.taken:
            raise RuntimeError("not implemented for 'Char'")
        return super().forward(bound)


def test_an_operator_that_runs_in_float32_is_skipped_in_a_type_that_it_lacks() -> None:
    picky = Handler(Picky("float32"), NoCounters(), Path())
    with pytest.raises(Unsupported) as caught:
        prepared(picky, replace(ADD, case=ADD.case.with_dtype("int8")))
    assert caught.value.slug == "no_such_dtype"
    assert str(caught.value) == "null has no `add` of int8: not implemented for 'Char'"


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_an_operator_that_fails_in_float32_too_fails(dtype: str) -> None:
    picky = Handler(Picky(), NoCounters(), Path())
    with pytest.raises(RuntimeError, match="not implemented"):
        prepared(picky, replace(ADD, case=ADD.case.with_dtype(dtype)))


def test_what_does_not_fit_into_memory_is_refused_before_it_is_made() -> None:
    backend = NullBackend(Side("null", settings={"free": "40"}))
    with pytest.raises(Unsupported, match=r"48 B of memory \(inputs 32 B, outputs 16 B\), but only 40 B"):
        prepared(Handler(backend, NoCounters(), Path()), ADD)
