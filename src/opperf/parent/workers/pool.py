"""The children of a run: one at a time on a device, started when a trial needs it, replaced when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from opperf.catalog import catalog
from opperf.catalog.valid_values import unbounded
from opperf.domain.code import Code, SuiteCode
from opperf.domain.dataclass import dataclass
from opperf.domain.device import NO_DEVICE
from opperf.domain.errors import InputError, OperatorFailure, OpperfError, WorkerFailure
from opperf.domain.files.json_text import JsonObject
from opperf.domain.kernels import wants_kernels
from opperf.domain.measurement import CountedTimes, Measurement, Outcome
from opperf.domain.message import requests
from opperf.domain.message.replies import Discovery, Meaning, Recording
from opperf.domain.message.requests import Ask, R, Request
from opperf.domain.plan import NATIVE, Part, Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.registry import ARRAY_API, BEST_DEVICE, BUILT_IN
from opperf.domain.stats.order import median
from opperf.domain.tensor_text import tensor_text
from opperf.parent.workers.instructions import variables
from opperf.parent.workers.package import cache_folder, ensure_folder
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.reference import Reference
from opperf.parent.workers.second_children import SecondChildren, kernels_seen
from opperf.parent.workers.starting import start

#: Names and arguments of functions are looked up within this many seconds.
DESCRIBE_TIMEOUT = 60.0
#: Registered operators are listed, and cases of them made, within this many: PyTorch runs samples of all of its own.
DISCOVER_TIMEOUT = 300.0
#: How a call ends whose indices lie outside of what they index.
MISPLACED = ("operator_error", "crash")
#: A compiler gets this long: PyTorch's headers take it 10 s on a quiet machine.
BUILD_TIMEOUT = 330.0
#: A child is replaced when it holds this many bytes more than after its first trial: some frameworks keep scratch
#: space of their operators, which then lies beside the tensors of all that follow.
MOST_HELD = 3 << 28


#: The types and extents of more results than these are not kept: an optimizer returns hundreds.
MOST_RESULTS = 4


@dataclass(frozen=True)
class Facts:
    """What a side's environment said of itself when its first child started."""

    framework: str
    environment: str
    python: str
    build: Mapping[str, object]


class Pool:
    """Holds the child that is in use; another side's trial ends it and starts its own."""

    def __init__(self, settings: Settings, progress: Callable[[str], None], plugins: Sequence[Path] = ()) -> None:
        """Start none yet; `plugins` have the user's own iterators and generators."""
        self._settings = settings
        self._jobs = 1
        self._progress = progress
        self._plugins = plugins
        self._worker: Worker | None = None
        #: The Python of that child while it imports its framework.
        self._importing_in: Path | None = None
        #: The child that has compiled its native loops.
        self._with_loops: Worker | None = None
        self._beside = SecondChildren(settings, progress, plugins)
        self._reference = Reference(settings, progress)
        self._broken: dict[tuple[object, ...], Reason] = {}
        self.facts: dict[tuple[object, ...], Facts] = {}
        #: The seconds that all calls of the trials of a side take, as far as they were measured.
        self._whole: dict[tuple[object, ...], float] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reference.close()
        if kind is None:
            self.close()
        else:
            self._kill()
            self._beside.close()

    def for_job(self, cpus: tuple[int, ...], jobs: int) -> Pool:
        """Return a pool for one of several jobs, on CPUs of its own; what is known of the sides is common to all."""
        other = Pool(replace(self._settings, cpus=cpus), self._progress, self._plugins)
        other._jobs, other._broken, other.facts, other._whole = jobs, self._broken, self.facts, self._whole
        return other

    def interrupt(self) -> None:
        """Kill the children from another thread; whoever waits for one learns of its end, and cleans up."""
        for worker in (self._worker, self._reference.worker, *self._beside.workers):
            if worker is not None:
                worker.interrupt()

    def close(self) -> None:
        """End the child, so that the next trial gets a fresh one."""
        self._beside.close()
        self._close_own()

    def _close_own(self) -> None:
        if self._importing_in is not None:
            self._kill()  # it hears nothing yet
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _kill(self) -> None:
        """End the child at once."""
        if self._worker is not None:
            self._worker.kill()
        self._worker = self._importing_in = None

    def begin(self, trial: Trial) -> None:
        """Start the children that a trial needs, which import their packages while something else is done.

        What keeps its own child from starting is the outcome of the trials of its side.
        """
        self._reference.begin(trial)
        try:
            self._begin(trial.side)
        except OpperfError as error:
            self._broken[trial.side.process] = _start_failure(trial.side, error)

    def worker(self, side: Side) -> Worker:
        """Return a child that serves this side; raises what keeps it from starting."""
        worker = self._begin(side)
        if self._importing_in is not None:
            try:
                worker.greet()
            except BaseException:
                self._kill()
                raise
            python, self._importing_in = str(self._importing_in), None
            if side.device == BEST_DEVICE:
                worker.side = side = replace(side, device=worker.devices[0])
            self.facts.setdefault(side.process, Facts(side.framework, side.environment, python, worker.facts))
        return worker

    def _begin(self, side: Side) -> Worker:
        """Return a child that serves this side, which may still import its framework."""
        if self._worker is not None and not self._worker.alive:
            self._worker = self._importing_in = None
        if self._worker is not None:
            if self._worker.side.process == side.process:
                return self._worker
            self.close()
        self._worker, self._importing_in = start(
            side,
            Launch(self._settings.cpus, plugins=self._plugins, variables=variables(self._settings)),
            progress=self._progress,
            sharing=self._jobs,
            greet=False,
            compile_cache=self._settings.compile_cache,
        )
        return self._worker

    def _started(self, side: Side) -> Worker | Reason:
        """Return a child that serves this side, or what keeps it from starting: that is found out once."""
        if side.process not in self._broken:
            try:
                return self.worker(side)
            except OpperfError as error:
                self._broken[side.process] = _start_failure(side, error)
        return self._broken[side.process]

    def check_devices(self, sides: Collection[Side]) -> None:
        """Raise `InputError` where each of these sides is on a device that it does not find.

        The child of the first that finds its own stays for what is measured there.
        """
        reasons = []
        for side in sides:
            worker = None if side.device == "cpu" else self._started(side)
            if not isinstance(worker, Reason) or worker.slug != NO_DEVICE[0]:
                return
            reasons.append(worker)
        if reasons:
            messages = dict.fromkeys(reason.message for reason in reasons)
            raise InputError("; ".join(messages), hint=reasons[0].hint, slug=NO_DEVICE[0])

    def looking_worker(self, side: Side) -> Worker:
        """Return a child on the best device that it sees, or the side's own; raises what keeps both from starting.

        A child on the CPU keeps JAX, TensorFlow and CuPy from looking.
        """
        try:
            return self.worker(replace(side, device=BEST_DEVICE))
        except OpperfError:
            return self.worker(side)

    def describe(self, side: Side, name: str | Code) -> Meaning:
        """Ask what the name of an implementation means, or code; raises when the environment is of no use."""
        # To import the user's own file may be to compile it.
        timeout = max(DESCRIBE_TIMEOUT, self._settings.timeout if isinstance(name, Code) else 0.0)
        return self._reply(side, requests.Describe(name), name, timeout)

    def discover(self, side: Side, path: str | Code | SuiteCode | None, size: str) -> Discovery:
        """Ask for the framework's own operators, or for example cases of the one at `path`."""
        limit = self._settings.timeout if isinstance(path, SuiteCode) else None  # of each file
        try:
            return self._reply(side, requests.Discover(path, size, limit=limit), path, DISCOVER_TIMEOUT + (limit or 0))
        except WorkerFailure as error:
            if error.slug != "no_registry":
                raise
            # The framework has more than its list.
            self._progress(f"{error.message} ({error.hint})")
            return Discovery()

    def listing(self, side: Side, files: SuiteCode) -> tuple[JsonObject, ...]:
        """Ask what another tool itself lists of benchmark files."""
        return self._reply(side, requests.Discover(files, listing=True), files).listing

    def workload(self, side: Side, request: Request[R]) -> R:
        """Have the user's own iterators or data generators asked; what is `wrong` is in the reply."""
        return self._reply(side, request)

    def _reply(
        self,
        side: Side,
        request: Request[R],
        name: str | Code | SuiteCode | None = None,
        timeout: float = DISCOVER_TIMEOUT,
    ) -> R:
        worker = self._usable(side)
        try:
            return worker.ask(request, timeout)
        except OperatorFailure as failed:
            reason = failed.reason
            own = name.name if isinstance(name, Code) else None if name is None else str(name)
            place = side.framework if own is None else f"{side.framework}:{own}"
            raise WorkerFailure(f"`{place}`: {failed.message}", hint=reason.hint, slug=reason.slug) from failed

    def _usable(self, side: Side) -> Worker:
        try:
            return self.worker(side)
        except OperatorFailure as failed:
            reason = _start_failure(side, failed)
            if reason.slug == NO_DEVICE[0]:
                raise InputError(reason.message, hint=reason.hint, slug=reason.slug) from failed
            text = f"`{side.framework}` does not start in environment `{side.environment}`: {failed.message}"
            raise WorkerFailure(text, slug="import_failed") from failed

    def capture(
        self, side: Side, what: requests.Capture | requests.CaptureModel | requests.CaptureConfiguration
    ) -> Recording:
        """Ask which operators the user's code runs, or a model; raises `OperatorFailure` with what was raised."""
        return self._timed_ask(self._usable(side))(what)

    def measure(self, trial: Trial, process: int, *, is_last: bool = False) -> Outcome:
        """Measure one trial, the last of its child or not; whatever goes wrong is the outcome."""
        if trial.side.process not in self._broken:
            self._reference.begin(trial)
        worker = self._started(trial.side)
        if isinstance(worker, Reason):
            return Outcome(trial, process, "failed", reason=worker)
        version = str(worker.facts.get("version"))
        try:
            measurement = self._ask(worker, trial, is_last=is_last)
        except OperatorFailure as failed:
            status = "skipped" if failed.skipped else "failed"
            reason = failed.reason if failed.skipped else _with_bounds(failed.reason, trial)
            return Outcome(trial, process, status, reason=reason, version=version)
        except WorkerFailure as lost:
            self._worker = None
            reason = Reason(lost.slug, lost.message, lost.hint, signal=lost.signal, stderr=lost.stderr)
            reason = _with_bounds(reason, trial)
            return Outcome(trial, process, "failed", reason=reason, version=version)
        return Outcome(trial, process, "ok", measurement, version=version)

    def _ask(self, worker: Worker, trial: Trial, *, is_last: bool) -> Measurement:
        """Check a trial's operator, then prepare, measure and release the trial: each within the timeout.

        Its kernels are watched last of all that its child does, or in another one.
        """
        settings = self._settings
        check_facts = self._reference.check(trial, self._timed_ask(worker))
        if settings.loop == NATIVE and worker is not self._with_loops:
            self._build_loops(worker)
        ask = self._timed_ask(worker)
        # Frameworks are ranked by what they have in common: a neutral operator, whose results may be of other types.
        neutral = trial.case.operator in catalog()
        preparation = ask(
            requests.Prepare(
                *(trial, settings.seed, settings.check_of(trial.side)),
                memory_limit=settings.memory_limit,
                results=neutral,
            )
        )
        handle, results = preparation.handle, preparation.results
        watched = preparation.watched and wants_kernels(settings)
        try:
            reply = ask(requests.Measure(handle, settings, self._part(trial)))
            if watched and is_last:
                reply = kernels_seen(lambda: ask(requests.WatchKernels(handle, settings.runs))).added_to(reply)
        finally:
            if self._worker is worker and worker.alive:
                growth = ask(requests.Release(handle)).size
                # What a trial freed decides how the next one gets its memory, unless the thresholds are fixed.
                if growth > MOST_HELD or trial.side.allocator == "default" or (watched and is_last):
                    self.close()
        if watched and not is_last:
            reply = self._beside.kernels(trial, self._close_own).added_to(reply)
        if settings.by_share:
            time = CountedTimes.of([reply.time], trial.side)
            self._whole[trial.side.process] = self._whole.get(trial.side.process, 0.0) + trial.count * median(
                time.pooled
            )
        reply = self._beside.with_instructions(trial, reply)
        checks = [str(facts["checked"]) for facts in (check_facts, reply.facts) if "checked" in facts]
        more: dict[str, object] = {"checked": "; ".join(checks)} if checks else {}
        if 0 < len(results) <= MOST_RESULTS:
            more["results"] = list(results)
        return replace(reply, facts={**reply.facts, **more})

    def _build_loops(self, worker: Worker) -> None:
        """Have a child compile what calls its framework without Python, once in its life."""
        folder = ensure_folder(cache_folder() / "loops")
        worker.ask(requests.BuildLoops(str(folder)), BUILD_TIMEOUT)
        self._with_loops = worker

    def _part(self, trial: Trial) -> Part | None:
        """Return the group of a trial: those of its side measured before; None where each stands for itself."""
        if not self._settings.by_share:
            return None
        return Part(trial.count, self._whole.get(trial.side.process, 0.0))

    def _timed_ask(self, worker: Worker) -> Ask:
        """Return a function that asks a child until the timeout of a trial, or a capture, is over, counted from now."""
        settings = self._settings
        deadline = time.monotonic() + settings.timeout

        def ask(request: Request[R]) -> R:
            try:
                return worker.ask(request, max(0.0, deadline - time.monotonic()))
            except WorkerFailure as lost:
                if lost.slug == "timeout":
                    lost.message = f"not finished within {settings.timeout:g} s; opperf killed the child process"
                    lost.hint = "raise the limit with `--timeout`"
                raise

        return ask


def _with_bounds(reason: Reason, trial: Trial) -> Reason:
    """Return why a trial failed, with a hint where an input may be an index, of which only the user knows."""
    names = () if reason.slug not in MISPLACED or trial.case.operator in catalog() else unbounded(trial.case)
    if reason.hint is not None or not names:
        return reason
    spec = next(trial.case.tensors(names[:1]))
    example = f"--input {names[0]}={tensor_text(replace(spec, range=(0, 64)))}"
    hint = f"`{names[0]}` is drawn from all of its type; if it holds indices, say which, as in `{example}`"
    return replace(reason, hint=hint)


def _start_failure(side: Side, error: OpperfError) -> Reason:
    """Say why no child of this side can be had; every trial of the side gets this reason."""
    place = f"`{side.framework}` in environment `{side.environment}`"
    if isinstance(error, OperatorFailure):
        reason = error.reason
        return replace(
            reason,
            slug=NO_DEVICE[0] if reason.slug in NO_DEVICE else "import_failed",
            message=f"{place} cannot be used: {reason.message}",
            hint=_start_hint(side, reason.hint),
        )
    if isinstance(error, WorkerFailure):
        message = f"{place} did not start: {error.message}"
        return Reason(error.slug, message, error.hint, error.signal, stderr=error.stderr)
    return Reason(error.slug, error.message, error.hint)


def _start_hint(side: Side, text: str | None) -> str:
    """Say what may help where a framework does not start: never the environment that it did not start in."""
    if side.device != "cpu":
        own = f"an environment whose {side.framework} has `{side.device}`, as `--environment python=PATH`"
        return f"measure on the CPU, or give {own}" + ("" if text is None else f" ({text})")
    if side.framework not in BUILT_IN and side.framework.startswith(f"{ARRAY_API}:"):
        return "install the library where opperf runs, or name a Python that has it: `--environment python=PATH`"
    if side.framework not in BUILT_IN:
        return f"fix `start` in the plugin for `{side.framework}`; the traceback is in the JSON document"
    if side.environment != side.framework:
        return f"try `--environment {side.framework}`, which opperf builds"
    return f"rebuild it after `opperf env remove {side.framework}`, or use a Python that has it: `python=PATH`"
