"""Which operators the user's function runs, or a model in a file: equal calls are one case, with count and origins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path

from opperf.child import backends
from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import Counters
from opperf.child.worker import code, inputs
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import CapturedCall, Work
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.measurement import CountedTimes, Sample, Samples
from opperf.domain.message import requests
from opperf.domain.message.replies import Recording
from opperf.domain.registry import FRAMEWORKS
from opperf.domain.stats.order import median
from opperf.domain.suite import ABSTRACT, UNFUSED, LeftOut, Program, Suite, SuiteCase
from opperf.domain.tensor import TensorSpec

#: The fewest and the most calls of the whole to time, and the nanoseconds after which the fewest will do.
LEAST_CALLS, MOST_CALLS, ENOUGH_NS = 3, 30, 1_000_000_000


def capture_code(backend: Backend, request: requests.Capture, folder: Path, counters: Counters) -> Recording:
    """Return a suite of one call of the user's function, with the operators that no case can hold.

    Raises `Unsupported` for operators that cannot be seen, and what the function raises.
    """
    if request.abstract:
        return _capture_abstract(backend, request.code, folder)
    return capture(backend, request.code, folder, counters)


def capture(backend: Backend, function_code: Code, folder: Path, counters: Counters) -> Recording:
    """Call the user's function, and return a suite of its last call.

    The first call makes what is made once: optimizer states, lazy layers. Some are timed, and the last is watched.
    Code that cannot be loaded is `wrong`.
    """
    try:
        function = code.load(function_code, folder)
    except code.CodeError as error:
        return Recording(wrong=error.message, hint=error.hint)
    function()
    program = _time(backend, function, counters)
    calls = backend.capture(function)
    if calls is None:
        message = f"the operators of {backend.name} cannot be captured yet"
        raise Unsupported(message, slug="no_capture", hint="known: torch, mxnet, jax, tensorflow")
    return Recording(_suite(function_code.name, function_code.name + _unfused(backend), calls, program))


def _unfused(backend: Backend) -> str:
    """Return how a source ends: what is compiled whole stands in a suite as it was before that made it fewer."""
    return UNFUSED if FRAMEWORKS[backend.name].mode == "compiled" else ""


def _capture_abstract(backend: Backend, function_code: Code, folder: Path) -> Recording:
    """Call the user's function by shapes alone, twice as ever, and return a suite of its last call.

    Nothing runs, so nothing is timed; what was assumed of values is among the notes.
    """
    try:
        captured = backend.capture_abstract(lambda: code.load(function_code, folder))
    except code.CodeError as error:
        if isinstance(error.__cause__, Unsupported):  # what the file asks for while it is loaded
            raise error.__cause__ from error
        return Recording(wrong=error.message, hint=error.hint)
    source = function_code.name + ABSTRACT + _unfused(backend)
    return Recording(_suite(function_code.name, source, captured.calls, None), captured.assumed)


def capture_configuration(backend: Backend, request: requests.CaptureConfiguration) -> Recording:
    """Build a model by its configuration, and return a suite of one call of its phase, by shapes alone."""
    builder, notes = backends.configurations(backend.name), dict[str, None]()
    try:
        captured = backend.capture_abstract(
            lambda: builder.load(request.configuration, request.usage, lambda text: notes.setdefault(text, None))
        )
    except InputError as error:
        return Recording(wrong=error.message, hint=error.hint)
    name = f"{request.name}:{request.usage.phase}"
    assumed = (*(f"assumed: {text}" for text in notes), *captured.assumed)
    return Recording(_suite(name, name + ABSTRACT, captured.calls, None), assumed)


def capture_model(backend: Backend, path: str, descriptions: Mapping[str, object], counters: Counters) -> Recording:
    """Run the model in a file, and return a suite of its nodes, what no case can hold, and `notes` on its inputs.

    `descriptions` are inputs by name; the others are made by the shapes in the file. What cannot be read or run is
    `wrong`. Raises `Unsupported` for a framework whose models are no files.
    """
    reader = backends.model_file(backend.name)
    try:
        specs = {name: TensorSpec.from_json(spec, name) for name, spec in descriptions.items()}
        model = reader.read(path, specs, backend.side)
        tensors = {name: inputs.tensor(backend, spec, f"0/{name}") for name, spec in model.inputs.items()}
        calls = model.capture_nodes(tensors)
        program = _time(backend, model.running(tensors), counters)
    except InputError as error:
        return Recording(wrong=error.message, hint=error.hint)
    name = Path(path).name
    return Recording(_suite(name, name, calls, program), tuple(model.notes))


def _time(backend: Backend, function: Callable[[], object], counters: Counters) -> Program:
    """Return the time of the whole call, with all that it asked for, by the rules of every measurement."""

    def whole() -> None:
        function()
        backend.wait(None)

    block = Block(Work(whole, (), {}, nullcontext), backend, counters)
    samples: list[Sample] = []
    backend.wait(None)
    counters.watch()
    while len(samples) < LEAST_CALLS or (
        len(samples) < MOST_CALLS and sum(sample.wall_ns for sample in samples) < ENOUGH_NS
    ):
        samples.append(block.sample(1))
    samples_kept = CountedTimes.of([Samples(tuple(samples))], backend.side)
    version = str(backend.facts().get("version", ""))
    return Program(
        median(samples_kept.pooled), len(samples), backend.name, version, backend.side.threads, samples_kept.clock
    )


def _suite(path: str, source: str, calls: Iterable[CapturedCall], program: Program | None) -> Suite:
    """Return the cases in the order of their first calls, separately for each direction.

    Calls that no case can hold are left out, and listed in the suite with a reason.
    """
    from opperf.catalog.valid_values import restrict  # late, as in `arguments`

    left_out: Counter[tuple[str, str]] = Counter()
    counts: Counter[tuple[Case, str]] = Counter()
    origins: dict[tuple[Case, str], dict[str, None]] = {}
    function = path.rpartition(":")[2]
    for call in calls:
        if call.case is not None:
            key = restrict(call.case), call.direction
            counts[key] += call.count
            place = f"{call.module or function} {call.phase}".rstrip()
            origins.setdefault(key, {})[place] = None
        else:
            left_out[call.name, call.why] += call.count
    cases = (SuiteCase(key[0], count, ", ".join(origins[key]), (key[1],)) for key, count in counts.items())
    left_out_calls = (LeftOut(name, count, why) for (name, why), count in left_out.items())
    return Suite(function, source, tuple(cases), program, tuple(left_out_calls))
