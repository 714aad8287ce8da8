"""What is timed is what is checked: timed calls get values that nobody knows, and results of some are compared.

A function that is checked once, on a small case, before anything is timed, may be wrong in every call that is timed:
its cache goes by the address of its input, which is the same in each of them, or its fast path is for large shapes.
So before each turn the inputs get new values where they lie. The first call on new values is looked at alone, before
any sample: what goes by the address is wrong there, and fails at once. Of each sample one result is held back, that of
a call that is drawn then, and the last one is compared afterwards with what the reference makes of a copy of the same
values.
Without a reference it is the function itself that is called on the copy: what depends on anything but the values is
seen then.

The work is measured, and done only while it takes a small share of the time that the trial takes, but for the first.
The values come from the operating system's randomness, never from the seed of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.child.measure.block import Block
from opperf.child.measure.calibrate import SETTLE_CALLS, settle
from opperf.child.worker import arguments, spot_check
from opperf.child.worker.correctness import WrongResult, leeway
from opperf.child.worker.directions import Ready, call_once, host_values, ready
from opperf.child.worker.fresh import Draw, Supply, draw_below, rebind, substitute
from opperf.child.worker.names import Names
from opperf.child.worker.side_work import Overseer, Unfair
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.code import Code
from opperf.domain.measurement import Sample
from opperf.domain.plan import Trial
from opperf.domain.registry import MADE_BY

#: The share of a trial's time that checks may take, and after how many turns one is made whatever it takes.
SHARE, MOST_UNCHECKED = 0.04, 6
#: The seconds after which the inputs of a long measurement get new values, where that is affordable.
ROUND_SECONDS = 0.1
#: A call of new values that takes this many times what one of the same values takes, in every one of some pairs, means
#: that results are remembered. Short calls have more pairs; a difference below some nanoseconds is none.
REMEMBERS, PAIRS, LEAST_NS, LONG_NS = 2.0, 8, 2_000, 2_000_000
#: A call that takes longer is not made once more before the first sample, in nanoseconds.
LONG_FIRST_NS = 100_000_000
#: Whose results those of a function without a reference are compared with.
COPY = "a call on a copy of the same values"


class TimedCheck:
    """The check of one trial in this process, over all its preparations."""

    def __init__(self, backend: Backend, names: Names, trial: Trial, seed: int, overseer: Overseer) -> None:
        """Prepare to check a trial; raises `Unsupported` with why that cannot be."""
        self._why(backend, names, trial)
        self._backend, self._trial, self._seed = backend, trial, seed
        self._definition = catalog().get(trial.case.operator)
        self._call = names.call(trial)
        reference = names.reference(trial, trial.case)
        self._reference: Call | None = None if reference is None else reference[0]
        self.against = COPY if reference is None else reference[1]
        self.supply = Supply(backend, trial.case, seed)
        self.overseer = overseer
        overseer.start()
        self.check_seal = names.check_seal
        self.calls = self.turns = self.checks = self._last_check = 0
        #: Whether it has been looked at what goes on after calls, and at calls of the same values.
        self.looks: set[str] = set()
        #: Why results cannot be compared after all.
        self.why: str | None = None
        self._since, self._spent = perf_counter(), 0.0

    def _why(self, backend: Backend, names: Names, trial: Trial) -> None:
        """Raise `Unsupported` where results of timed calls cannot be compared."""
        definition, is_code = catalog().get(trial.case.operator), isinstance(trial.side.implementation, Code)
        forward = trial.direction == "forward"
        random = definition.random if definition is not None else names.draws(str(trial.side.implementation))
        if backend.blank:
            raise Unsupported("its tensors have no elements")
        if trial.side.device != "cpu":
            raise Unsupported("timed calls are checked on the CPU only")
        if trial.side.mode == "cuda_graph" or not (forward or trial.side.mode == "eager"):
            raise Unsupported(f"in mode `{trial.side.mode}` timed calls of this direction are not checked")
        if not (forward or is_code):
            raise Unsupported("gradients of timed calls are checked for your own code only")
        if random:
            raise Unsupported("its results are random")
        if MADE_BY in trial.case.attributes:
            raise Unsupported("a generator makes its inputs")

    def affords(self, seconds: float) -> bool:
        """Whether there is time for something that takes so long."""
        return self._spent + seconds <= SHARE * (perf_counter() - self._since)

    def is_due(self) -> bool:
        """Whether some result is to be compared whatever it takes."""
        return self.checks == 0 or self.turns - self._last_check >= MOST_UNCHECKED

    def spend(self, seconds: float) -> float:
        """Count what some work of the check took, and return that."""
        self._spent += seconds
        return seconds

    def count_check(self) -> None:
        """Count a result that was compared."""
        self.checks += 1
        self._last_check = self.turns

    @property
    def adapts(self) -> bool:
        """Whether a call gets other tensors than the case has, as where a framework has another order of extents."""
        return bool(self._call.adapt or self._call.derive)

    def expected(self, work: Work, bound: Bound, draw: Draw) -> list[HostValue]:
        """Return the expected results for the values of a draw, computed on copies of them."""
        copies = self.supply.copies(draw, anew=bool(bound.mutated) or self._trial.direction != "forward")
        call = self._reference or self._call

        def bind() -> Bound:
            case, definition = self._trial.case, self._definition
            return arguments.bind(case, call, definition, self._backend, self._seed, copies)

        if self._trial.direction != "forward":
            sound = ready(self._backend, bind, self._trial.direction, None, str(self._seed))
            return host_values(self._backend, call_once(self._backend, sound.work), None)
        if self._reference is not None or self.adapts:
            other = bind()
            function, words, keywords = other.function, other.arguments, other.keywords
        else:
            instead = _instead(self._backend, bound.values, copies)
            own = work if work.before is None else bound
            function, words = own.function, substitute(own.arguments, instead)
            keywords = substitute(dict(own.keywords), instead)
        with work.scope():
            result = function(*words, **keywords)
            self._backend.wait([result])
        return host_values(self._backend, result, call.layout)

    def copy(self, result: object, bound: Bound) -> list[HostValue]:
        """Return the results of a timed call, as they are now; raises `WrongResult` for no tensors of the framework."""
        self._check_types(result, self._backend.leaves(list(bound.values.values())))
        return host_values(self._backend, result, self._call.layout if self._trial.direction == "forward" else None)

    def compare(self, values: Sequence[HostValue], expect: Callable[[], list[HostValue]]) -> None:
        """Raise `WrongResult` where the result of a timed call is not the expected one."""
        expected = expect()
        try:
            spot_check.compare(values, expected, self.against, leeway(self._trial))
        except WrongResult:
            if self._reference is not None or self._is_steady(expected, expect):
                raise

    def _is_steady(self, expected: Sequence[HostValue], expect: Callable[[], list[HostValue]]) -> bool:
        """Whether the same call gives the same result again; if not, there is nothing to compare with."""
        try:
            spot_check.compare(expect(), expected, self.against, leeway(self._trial))
        except WrongResult:
            self.why = "its results differ from call to call"
            return False
        return True

    def _check_types(self, result: object, own: Sequence[object]) -> None:
        """Raise `WrongResult` for tensors of a type that is not the framework's: it may put off what it computes."""
        roots = {type(leaf).__module__.partition(".")[0] for leaf in own}
        for place, leaf in enumerate(self._backend.leaves(result)):
            kind = type(leaf)
            if roots and kind.__module__.partition(".")[0] not in roots:
                raise WrongResult(
                    f"tensor {place} is a `{kind.__module__}.{kind.__qualname__}`, no tensor of its own framework"
                )

    def exam(self, sound: Ready, draw: Draw, mutable: Collection[str]) -> Exam:
        """Return the check of a preparation; raises `WrongResult` for a function that changes what it may not.

        `mutable` are the inputs that it may change, and what changes others computes something else.
        """
        assert sound.bound is not None
        changed = [name for name in sound.bound.mutated if name not in mutable]
        if changed and self._reference is not None:
            names, declared = ", ".join(f"`{name}`" for name in changed), ", ".join(f'"{name}"' for name in changed)
            remedy = f"declare that: `@opperf.operator(mutates=[{declared}])`"
            raise WrongResult(f"it changes {names}, and {self.against} does not; {remedy}")
        return Exam(self, self._backend, sound, sound.bound, draw, self._trial.direction == "forward")

    @property
    def fact(self) -> str:
        """What was checked, as a record has it."""
        if self.why is not None:
            return f"no: {self.why}"
        same = f"; the values of {', '.join(self.supply.fixed)} are always the same" if self.supply.fixed else ""
        return f"timed calls against {self.against}{same}"


def _instead(backend: Backend, values: Mapping[str, Any], copies: Mapping[str, object]) -> dict[int, object]:
    """Return the counterpart of each tensor among arguments of the same names, by its identity."""
    pairs = (zip(backend.leaves(values[name]), backend.leaves(copy)) for name, copy in copies.items() if name in values)
    return {id(own): other for several in pairs for own, other in several}


def timed_check(backend: Backend, names: Names, trial: Trial, seed: int, overseer: Overseer) -> TimedCheck | str:
    """Return the check of a trial's timed calls, or why there is none."""
    try:
        return TimedCheck(backend, names, trial, seed, overseer)
    except Unsupported as why:
        return str(why)


class Exam:
    """The check of one prepared trial: the witness of its samples.

    Where nothing can be written into tensors, its `work` has other ones after each draw.
    """

    def __init__(
        self, check: TimedCheck, backend: Backend, sound: Ready, bound: Bound, draw: Draw, forward: bool
    ) -> None:
        self._check, self._backend, self._sound = check, backend, sound
        self._bound, self._draw = bound, draw
        self.work: Work = sound.work
        self._round = perf_counter()
        #: The number of the call whose result a block holds, and that block.
        self._pending: tuple[int, Block] | None = None
        #: What a comparison takes, in seconds, and a call; the most calls of a sample.
        self._cost = self._call_ns = 0.0
        self._most = 1
        # Inputs that are put back before each call hold what was remembered, and a graph what it was made with.
        self._fixed = set(bound.mutated)
        self._renews = forward and not check.adapts and bool(check.supply.names - self._fixed)

    @property
    def facts(self) -> dict[str, object]:
        """What was checked."""
        check = self._check
        is_told = check.checks or check.why is not None
        return {"checked": check.fact if is_told else "no: no result of a timed call was seen"}

    def begin(self, block: Block | None) -> None:
        """Begin a turn: with new values, and a look at the process."""
        self._check.turns += 1
        if self._renews:
            self._renew(block, self._check.supply.draw())
            if block is not None and "first" not in self._check.looks:
                self._check.looks.add("first")
                self._look_at_first(block)
        self._check.overseer.begin()

    def _look_at_first(self, block: Block) -> None:
        """Compare the first call on new values, which is in no sample; it is no substitute for the others."""
        if min(self._sound.took, default=0) > LONG_FIRST_NS:
            return
        start = perf_counter()
        with block.scope():
            block.keep()
        self._check.spend(perf_counter() - start)
        self._check.calls += 1
        self._pending = self._check.calls, block
        self._compare()
        self._check.checks = 0  # of what is sampled, none was

    def end(self, block: Block) -> None:
        """End a turn: look at the process, and compare the result that was held back; raises what is wrong."""
        check = self._check
        self._compare(check.overseer.end)
        block.results.clear()  # which may be as large as all inputs
        check.check_seal()
        if "idle" not in check.looks:
            check.looks.add("idle")
            check.overseer.idle(lambda: self._run(block))
        if "memory" not in check.looks and self._renews and not block.one_by_one:
            self._look_for_memory(block)

    def before(self, block: Block) -> None:
        """Give new values in the middle of a long measurement, where time has gone by."""
        if perf_counter() - self._round < ROUND_SECONDS or not self._renews or self._pending is None:
            return
        cost = 2 * self._cost + SETTLE_CALLS * self._call_ns / 1e9
        if self._check.affords(cost):
            self._sound.check()
            self._compare()
            self._renew(block, self._check.supply.draw())
            settle(block)
        self._round = perf_counter()

    def place(self, calls: int) -> int:
        """Return the place of the call whose result may be compared."""
        return draw_below(calls)

    def see(self, block: Block, place: int, sample: Sample) -> None:
        """Take note of a sample, so that its result may be compared."""
        self._pending = self._check.calls + place + 1, block
        self._check.calls += sample.calls
        self._call_ns = sample.wall_ns / sample.calls
        self._most = max(self._most, sample.calls)

    def _renew(self, block: Block | None, draw: Draw) -> None:
        """Give the inputs the values of a draw, where they lie."""
        start = perf_counter()
        instead = self._check.supply.fill(self._bound.values, draw, self._fixed)
        places = {place: start for place, start in draw.starts.items() if place[0] not in self._fixed}
        self._draw = Draw({**self._draw.starts, **places})
        if instead:
            self._bound = rebind(self._bound, instead)
            words, keywords = substitute(self.work.arguments, instead), substitute(dict(self.work.keywords), instead)
            self.work = replace(self.work, arguments=words, keywords=keywords)
            if block is not None:
                block.bind(self.work)
        elif self._sound.watch is not None:
            self._sound.watch.look()
        self._round = perf_counter()
        self._check.spend(self._round - start)

    def _compare(self, between: Callable[[], None] = lambda: None) -> None:
        """Compare the result that was held back, where that is affordable.

        It is copied at once, before a thread can finish it, and `between` called then.
        """
        pending, self._pending = self._pending, None
        check = self._check
        if pending is None or check.why is not None or not (check.is_due() or check.affords(self._cost)):
            between()
            return
        number, block = pending
        start = perf_counter()
        try:
            values = check.copy(block.results[0], self._bound)
            block.results.clear()
            between()
            check.compare(values, lambda: check.expected(self.work, self._bound, self._draw))
        except WrongResult as wrong:
            raise WrongResult(f"wrong result in timed call {number}: {wrong}") from wrong
        self._cost = check.spend(perf_counter() - start)
        check.count_check()

    def _run(self, block: Block) -> None:
        with block.scope():
            block.run(self._most)

    def _look_for_memory(self, block: Block) -> None:
        """Raise `Unfair` for a function that remembers results: it takes less time for values that it has had."""
        if self._call_ns > LONG_NS and not self._check.affords(2 * self._call_ns / 1e9):
            return
        self._check.looks.add("memory")
        start = perf_counter()
        with block.scope():
            for _ in range(PAIRS):
                new, same = self._pair(block)
                remembers = new > REMEMBERS * same + LEAST_NS
                if not remembers:
                    break
        self._check.spend(perf_counter() - start)
        if remembers:
            raise Unfair(
                f"remembers results: a call takes {new / 1000:.1f} us with new values, and {same / 1000:.1f} us with "
                "those of the call before",
                slug="remembers_results",
                hint="compute each of them, or measure it anyway with `--no-check`",
            )

    def _pair(self, block: Block) -> tuple[int, int]:
        """Return the nanoseconds of a call of new values, and of one of the same values, written once more."""
        draw = self._check.supply.draw()
        self._renew(block, draw)
        new = block.run(1)
        self._renew(block, draw)
        return new, block.run(1)
