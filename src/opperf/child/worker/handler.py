"""What a child can be asked, verb by verb. Trials that are prepared stay under a handle until they are released."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opperf.child.backends import profiler_clock
from opperf.child.measure.block import Block
from opperf.child.measure.calibrate import LONG_NS
from opperf.child.measure.disturbance import Counters
from opperf.child.measure.doubts import believed, device_doubts, thread_doubts
from opperf.child.measure.engine import Engine
from opperf.child.measure.gpu import doubts as gpu_doubts
from opperf.child.measure.gpu import gpu_of
from opperf.child.measure.host import private_bytes
from opperf.child.measure.placement import place
from opperf.child.worker import promises
from opperf.child.worker.capture import capture_code, capture_configuration, capture_model
from opperf.child.worker.code import Plugins
from opperf.child.worker.correctness import compare
from opperf.child.worker.directions import call_once, host_values
from opperf.child.worker.names import Names
from opperf.child.worker.native_loops import NativeLoops
from opperf.child.worker.preparation import Preparer
from opperf.child.worker.process import Tracers, usable_cpus
from opperf.child.worker.ready_trial import PreparedTrial
from opperf.child.worker.workload import Workload
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Work
from opperf.domain.clock import InstructionClock
from opperf.domain.codec import Fields
from opperf.domain.explanation import Explanation, typical
from opperf.domain.kernels import KernelTimes
from opperf.domain.measurement import Measurement, Sample, Samples
from opperf.domain.message import replies, requests
from opperf.domain.message.requests import R, Request
from opperf.domain.plan import NATIVE, PROFILER, TIMED, UNCHECKED, Trial

#: The number of calls in which to watch what a trial runs, so that a disturbed one is outvoted.
EXPLAINED_CALLS = 7


class Handler:
    """Answers requests with one backend."""

    def __init__(
        self,
        backend: Backend,
        counters: Counters,
        folder: Path,
        plugins: Sequence[str] = (),
        compare: Callable[[requests.Compare], replies.Agreement] = compare,
    ) -> None:
        """Start; the user's own code and `plugins` are looked for in `folder`, and `compare` compares results."""
        self._counters = counters
        loaded = Plugins(folder, plugins)
        self.backend = backend
        self.names = Names(backend, folder, loaded)
        workload = Workload(backend, loaded)
        self._engine = Engine(backend, counters)
        self._preparer = Preparer(backend, self.names, workload, self._engine)
        self._prepared: dict[int, PreparedTrial] = {}
        self._handles = 0
        self._loops = NativeLoops(backend)
        self._held_at_first: int | None = None
        self._instructions: InstructionClock | None = None
        self.tracers = Tracers()
        self._answers: Mapping[type[Request[Fields]], Callable[[Any], Any]] = {
            requests.Prepare: self._prepare,
            requests.Measure: self._measure,
            requests.WatchKernels: self._watch,
            requests.BuildLoops: self._loops.build,
            requests.CountInstructions: self._count_instructions,
            requests.Turn: self._turn,
            requests.Release: self._release,
            requests.Describe: lambda request: self.names.describe(request.name),
            requests.Discover: lambda request: self.names.discover(
                request.path, request.size, request.listing, request.limit
            ),
            requests.Explain: self._explain,
            requests.Evaluate: self._evaluate,
            requests.Compare: compare,
            requests.Capture: lambda request: capture_code(backend, request, folder, counters),
            requests.CaptureModel: lambda request: capture_model(backend, request.model, request.inputs, counters),
            requests.CaptureConfiguration: lambda request: capture_configuration(backend, request),
            requests.Iterate: workload.entries,
            requests.Generate: workload.descriptions,
        }
        self._gpu = gpu_of(backend.side.device)
        self._settings_doubts = tuple(device_doubts(backend.side.device, os.environ))
        self._own_doubts = (
            *thread_doubts(backend.side.threads, backend.threads_seen, usable_cpus()),
            *self._settings_doubts,
        )

    def work(self, trial: Trial, seed: int) -> Work:
        """Return the work of one call of a trial, after it ran once; raises what the framework raises."""
        return self._preparer.ready(trial, seed).sound.work

    def stage(self, request: Request[Any]) -> Callable[[Callable[[], Any]], None] | None:
        """Return the run of the test in which the call of a trial is made, None where a call needs none."""
        trial = request.trial if isinstance(request, (requests.Prepare, requests.Explain, requests.Evaluate)) else None
        return None if trial is None else self.names.stage(trial)

    def settle(self) -> None:
        """Leave what the call of the last trial works on as it was, ahead of its release: its test goes on."""
        if (prepared := self._prepared.get(self._handles)) is not None:
            prepared.sound.release()
            prepared.sound = replace(prepared.sound, bound=None)

    def answer(self, request: Request[R]) -> R:
        """Return the reply to a request; raises what the framework raises."""
        return self._answers[type(request)](request)  # type: ignore[no-any-return]  # of the request's own type

    def _prepare(self, request: requests.Prepare) -> replies.Preparation:
        trial, seed = request.trial, request.seed
        checked = self._preparer.check_of_timed(trial, seed) if request.check == TIMED else None
        facts = self._preparer.check(trial, seed) if request.check != UNCHECKED else {}
        if checked is not None:
            facts = {"checked": f"no: {checked}" if isinstance(checked, str) else checked.fact}
        # What is allocated behind this lies elsewhere in memory than before: where the seed says, or behind a ballast.
        ballast: list[object] = [] if place(request.offset) else [bytearray(request.offset)]
        timed = None if isinstance(checked, str) else checked
        # What an offset is for is prepared again and again, and compared: what it computes nobody reads.
        ready = self._preparer.ready(trial, seed, request.memory_limit, timed, counted=not request.offset)
        results: tuple[str, ...] = ()
        if request.results:
            results = promises.results(self.backend, trial, self.names.call(trial), ready.sound.result)
        ready = replace(ready, sound=replace(ready.sound, result=None))
        if not ready.values and request.offset and min(ready.sound.took, default=0) < LONG_NS:
            # And so do the results of the calls that are timed. Of long calls another one is worth more than that.
            ballast.append(call_once(self.backend, ready.sound.work))
        prepared = replace(ready, ballast=ballast, facts={**ready.facts, **facts})
        self._handles += 1
        self._prepared[self._handles] = prepared
        seconds = {"inputs": prepared.input_seconds, "calls": sum(prepared.sound.took) / 1e9}
        watched = not prepared.values and self.backend.kernel_watch() is not None
        return replies.Preparation(self._handles, prepared.facts, seconds, watched, results, private_bytes())

    def _release(self, request: requests.Release) -> replies.Remainder:
        """Let go of a trial; say how many bytes the process holds more than after the first one."""
        if (prepared := self._prepared.pop(request.handle, None)) is not None:
            prepared.sound.release()
            del prepared
        self.backend.trim()
        self.tracers.restore()
        size = private_bytes()
        if self._held_at_first is None:
            self._held_at_first = size
        return replies.Remainder(size - self._held_at_first)

    def _measure(self, request: requests.Measure) -> Measurement:
        prepared, settings = self._prepared[request.handle], request.settings
        sound, exam = prepared.sound, prepared.exam
        if prepared.values:  # beside it, what the process that told it took
            took = Samples((Sample(1, sound.took[0], 0),))
            return Measurement({"time": took, **prepared.values}, {**prepared.facts, "sync": "call"})
        if exam is not None:
            exam.begin(None if settings.clock == PROFILER else self._block(prepared))
        if settings.clock == PROFILER:
            clock = profiler_clock(self.backend.name)
            measurement: Measurement = clock.measure(
                self.backend, self._counters, sound.work, settings, took=sound.took
            )
        else:
            loop, doubts = self._loops.of_work(prepared.work) if settings.loop == NATIVE else (None, [])
            measurement = self._engine.measure(
                prepared.work,
                settings,
                output_bytes=sound.output_bytes,
                took=sound.took,
                part=request.part,
                native=loop,
                witness=exam,
            )
            measurement = replace(measurement, warnings=(*measurement.warnings, *doubts))
        sound.check()
        if exam is not None:
            exam.end(self._block(prepared))
        return replace(
            measurement,
            facts={**prepared.facts, **measurement.facts, **({} if exam is None else exam.facts)},
            warnings=(
                *(*measurement.warnings, *self._own_doubts, *self.tracers.doubts()),
                *prepared.doubts(measurement),
            ),
        )

    def _watch(self, request: requests.WatchKernels) -> KernelTimes:
        prepared = self._prepared[request.handle]
        result = self._engine.kernels(prepared.work, request.calls, cold=request.cold)
        prepared.sound.check()
        return result

    def _count_instructions(self, request: requests.CountInstructions) -> replies.Instructions:
        # This imports what compiles C, which takes a tenth of the start of a child that needs none of it.
        from opperf.child.measure.instructions import Callgrind, count

        if self._instructions is None:
            own = self.backend.instruction_clock()
            self._instructions = own or Callgrind(Path(request.folder), Path(request.files))
        if self._prepared[request.handle].values:
            raise Unsupported("it tells a number by itself, so no instructions are counted", slug="own_metric")
        sound = self._prepared[request.handle].sound
        counted = count(sound.work, self.backend, self._instructions)
        sound.check()
        return counted

    def _turn(self, request: requests.Turn) -> replies.Sampling:
        """Settle after a switch of sides, then take samples."""
        prepared = self._prepared[request.handle]
        block = self._block(prepared)
        block.calls = request.calls or block.calls
        watch = self.backend.kernel_watch() if request.kernels else None
        if prepared.exam is not None:
            prepared.exam.begin(block)
        before, began = self._readings(), self.backend.clock.wall()
        samples = self._engine.turn(block, request.samples, output_bytes=prepared.sound.output_bytes, watch=watch)
        seconds = (self.backend.clock.wall() - began) / 1e9
        of_gpu = gpu_doubts(before, self._readings(), seconds, in_turns=True)
        prepared.sound.end_turn()
        if prepared.exam is not None:
            prepared.exam.end(block)
        samples, hidden = (samples, []) if request.kernels else believed(samples)
        warnings = (*self.tracers.doubts(), *prepared.warnings, *hidden, *of_gpu, *self._settings_doubts)
        return replies.Sampling(samples, warnings)

    def _readings(self) -> Mapping[str, int]:
        """Return how the GPU of this child runs now; nothing where NVML does not know it."""
        return {} if self._gpu is None else self._gpu.read()

    def _block(self, prepared: PreparedTrial) -> Block:
        if prepared.block is None:
            prepared.block = self._engine.block(prepared.work, prepared.exam)
        return prepared.block

    def _explain(self, request: requests.Explain) -> Explanation:
        """Say what one call of a trial runs."""
        return typical(self.backend.explain(self.work(request.trial, request.seed), EXPLAINED_CALLS))

    def _evaluate(self, request: requests.Evaluate) -> replies.Evaluation:
        """Run a trial once and write each tensor of its result to a file of raw elements."""
        prepared = self._preparer.ready(request.trial, request.seed)
        result = call_once(self.backend, prepared.sound.work)
        layout = self.names.call(request.trial).layout if request.trial.direction == "forward" else None
        files = []
        for i, (raw, shape, dtype) in enumerate(host_values(self.backend, result, layout)):
            path = Path(request.folder) / f"output_{i}.bin"
            path.write_bytes(raw)
            files.append(replies.Output(str(path), tuple(shape), dtype))
        return replies.Evaluation(tuple(files))
