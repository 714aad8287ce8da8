"""From a bound call to a piece of work in one direction, checked before anything is timed.

A backward pass on a graph that is kept must give the same gradients at every call. Some operators silently do not
(MXNet's Dropout loses its mask after the first), so the gradients of the first three calls are compared. Where they
differ, each call gets a forward of its own, untimed. Two calls do where they take long: what is lost is lost after the
first. All calls made here count as warm-up.

No call is timed on what another has left of its inputs. Where the first calls have changed one, everything is made
again, with that input put back before each call; of a suite's benchmark only if calls read what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

from opperf.catalog import Operator
from opperf.child.worker import inputs
from opperf.child.worker.mutation import Changed, Place, Watch, overwritten, remember
from opperf.domain.backend import Backend, HostValue, NativeLoop, Unsupported
from opperf.domain.call import Bound, Layout, Work, nothing
from opperf.domain.dataclass import dataclass
from opperf.domain.reason import Warning
from opperf.domain.registry import FRAMEWORKS
from opperf.domain.tensor import ITEM_SIZES
from opperf.domain.units import format_bytes

#: Calls of a backward whose gradients must agree: two, and a third unless they took so long, in nanoseconds.
CHECKED_CALLS, LONG_CALLS = 3, 200_000_000
#: Bytes of a gradient that are compared, at most: they are held while the next call runs.
MOST_COMPARED = 1 << 25
#: An output of more bytes is its own cotangent: another would take as much memory again, and twice that to be made.
MOST_COTANGENT = 1 << 30


@dataclass(frozen=True)
class Ready:
    """Work that has run and was found sound, the bytes that one call returns, and the nanoseconds of each call made.

    `watch` looks whether later calls change inputs that are not put back, and `bound` is the call with all that are.
    `result` is what the last of the calls returned.
    """

    work: Work
    output_bytes: int
    took: tuple[int, ...] = ()
    watch: Watch | None = None
    bound: Bound | None = None
    result: object = None

    def end_turn(self) -> None:
        """Check after the first turn, the second, fourth, eighth...: to read all inputs may take as long as a turn."""
        if self.watch is not None:
            self.watch.turns += 1
            if self.watch.turns.bit_count() == 1:
                self.watch.check()

    def release(self) -> None:
        """Let go of what the call was bound to."""
        if self.bound is not None:
            self.bound.release()

    def check(self) -> None:
        """Raise `Changed` where a call since has changed an input that is not put back."""
        if self.watch is not None:
            self.watch.check()


@dataclass(frozen=True)
class Aim:
    """What work is wanted of a call: its direction, from which seed, and whether its results are `random`."""

    direction: str
    seed: str
    random: bool


@dataclass(frozen=True)
class Changes:
    """What calls change of their inputs: those of `names` are put back before each, at `places` each writes over."""

    names: frozenset[str] = frozenset()
    places: frozenset[Place] = frozenset()


def ready(
    backend: Backend,
    bind: Callable[[], Bound],
    direction: str,
    operator: Operator | None,
    seed: str,
    *,
    random: bool = False,
) -> Ready:
    """Return the work of a direction after a first call; raises `Unsupported` if it cannot be trusted.

    `bind` makes the inputs, at every call those of the first. `random` says that results may differ from call to call,
    as the operator's definition can say too.
    """
    _check_mode(backend)
    aim = Aim(direction, seed, random or (operator is not None and operator.random))
    changes = Changes()
    earlier: Bound | None = None
    while True:
        bound = bind()
        _check_anew(bound, earlier, {*changes.names, *dict(changes.places)})
        earlier, bound = bound, _left_as_it_was(backend, bound)
        try:
            return _steady(backend, bound, changes, aim)
        except BaseException as error:
            with suppress(Exception):  # what has failed may not be fit to be let go
                bound.release()
            if not isinstance(error, Changed) or changes.names.issuperset(error.names):
                raise
            may_stay = direction == "forward" and not aim.random and changes == Changes() and _is_set_up(bound)
            places = frozenset(_overwritten(backend, bind(), error.names) if may_stay else ())
            changes = Changes(changes.names.union(() if places else error.names), places)


def _is_set_up(bound: Bound) -> bool:
    """Whether a call is a suite's, with data of its own: others are checked by the values that they are given."""
    return bound.renew is None and (bound.as_is or bound.release is not nothing)


def _overwritten(backend: Backend, bound: Bound, names: Collection[str]) -> set[Place]:
    """Return the places of inputs that each call writes over, and let the call go."""
    bound = _left_as_it_was(backend, bound)
    try:
        work = _forward(backend, bound)
        return overwritten(backend, bound, names, lambda: call_once(backend, work))
    finally:
        bound.release()


def _check_anew(bound: Bound, earlier: Bound | None, names: Collection[str]) -> None:
    """Raise `Unsupported` where what was changed is not made anew: its first values are nowhere."""
    if earlier is None or bound.release is nothing:  # only what is set up says what it shares
        return
    old = sorted(name for name in names if name not in bound.shared and bound.inputs[name] is earlier.inputs[name])
    if old:
        listing = ", ".join(f"`{name}`" for name in old)
        message = f"calls change {listing}, which is not made anew for the next: not every call had the same inputs"
        raise Unsupported(message, slug="mutates", hint="have its `setup` make a copy")


def _left_as_it_was(backend: Backend, bound: Bound) -> Bound:
    """Return a call that leaves what others share with it as it was, when it is let go."""
    if not bound.shared:
        return bound
    restore, release = remember(backend, bound, bound.shared), bound.release

    def leave() -> None:
        restore()
        release()

    return replace(bound, release=leave)


def _steady(backend: Backend, bound: Bound, changes: Changes, aim: Aim) -> Ready:
    """Return the work that changes its inputs in these ways alone; raises `Changed`."""
    bound = replace(bound, mutated=(*bound.mutated, *sorted(changes.names.difference(bound.mutated))))
    watch = Watch(backend, bound, changes.places)
    try:
        result = _ready(backend, bound, watch, aim)
    except Exception:  # what one call has left another may not take
        watch.check()
        raise
    result = replace(result, watch=result.watch or watch, bound=bound)
    result.check()
    if not changes.places:
        return result
    note = f"{', '.join(sorted(dict(changes.places)))}: written over by each call, whatever was there"
    return replace(result, work=replace(result.work, notes={**result.work.notes, "mutates": note}))


def _ready(backend: Backend, bound: Bound, watch: Watch, aim: Aim) -> Ready:
    if aim.direction == "forward":
        return _after_a_call(backend, _restoring(backend, bound, lambda: _forward(backend, bound)))
    if not bound.differentiable:
        raise Unsupported("no input of this case has a gradient", slug="no_gradient", hint="measure it forward")

    notes: dict[str, str] = {}

    def cotangents(output: object) -> object:
        if backend.spec(output).nbytes > MOST_COTANGENT:
            notes["cotangent"] = f"the output itself, which is over {format_bytes(MOST_COTANGENT)}"
            return output
        layout = bound.layout
        if layout is None:
            return inputs.tensor(backend, backend.spec(output), f"{aim.seed}/cotangent")
        # The same numbers as in other frameworks, at the same places.
        return layout.own(inputs.tensor(backend, backend.spec(layout.neutral(output)), f"{aim.seed}/cotangent"))

    if aim.direction == "forward_backward":
        work = _restoring(backend, bound, lambda: backend.forward_backward(bound, cotangents))
        result = _after_a_call(backend, work)
    else:
        result = _backward(backend, bound, watch, cotangents, random=aim.random)
    return replace(result, work=replace(result.work, notes={**result.work.notes, **notes}))


def _forward(backend: Backend, bound: Bound) -> Work:
    if bound.as_is:
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)
    return backend.forward(bound)


def _check_mode(backend: Backend) -> None:
    modes, mode = FRAMEWORKS[backend.name].modes, backend.side.mode
    if mode not in modes:
        message = f"{backend.name} has no mode `{mode}`"
        raise Unsupported(message, slug="no_such_mode", hint=f"`--mode {modes[0]}`")


def call_once(backend: Backend, work: Work) -> Any:
    """Make one call, wait for it, and return its result."""
    return _time(backend, work)[0]


def host_values(backend: Backend, result: object, layout: Layout | None) -> list[HostValue]:
    """Return the elements of each tensor of a result, in the order in which the catalog has them."""
    tensors = backend.leaves(result)
    return [backend.to_host(tensor if layout is None else layout.neutral(tensor)) for tensor in tensors]


def _time(backend: Backend, work: Work) -> tuple[object, int]:
    """Make one call, wait for it, and return its result and the nanoseconds that it took."""
    with work.scope():
        arguments = work.make_arguments()
        start = backend.clock.wall()
        result = work.function(*arguments, **work.keywords)
        backend.wait([result])
        return result, backend.clock.wall() - start


def _after_a_call(backend: Backend, work: Work) -> Ready:
    result, took = _time(backend, work)
    return Ready(work, _bytes(backend, result), (took,), result=result)


def _backward(
    backend: Backend, bound: Bound, watch: Watch, cotangents: Callable[[object], object], *, random: bool
) -> Ready:
    """Return the gradients alone.

    A graph that is kept had its forward once: what that has left of its inputs is there at every call. Few walks back
    change it; MXNet's batch normalization moves its statistics in both directions.
    """
    restore = remember(backend, bound, bound.mutated)
    work = backend.backward(bound, cotangents, fresh=False)
    left, restore_left = Watch(backend, replace(bound, mutated=())), remember(backend, bound, bound.mutated)
    result = _agreeing(backend, work)
    if result is not None:
        changed = left.changed()
        if not changed:
            return replace(result, watch=left)
        if not {*changed}.issubset(bound.mutated):
            raise Changed(changed)
        return replace(result, work=_put_back(work, restore_left, changed), watch=Watch(backend, bound))
    watch.check()
    restore()
    work = _restoring(backend, bound, lambda: backend.backward(bound, cotangents, fresh=True))
    result = _after_a_call(backend, work) if random else _agreeing(backend, work)
    if result is None:
        raise Unsupported(
            "the gradients of the first calls differ between a retained graph and a fresh one",
            slug="unsteady_gradients",
            hint="measure `--direction forward_backward` instead",
        )
    return result


def _agreeing(backend: Backend, work: Work) -> Ready | None:
    """Return the work when every checked call gives the same gradients."""
    result, took = _time(backend, work)
    gradients, calls = _values(backend, result), [took]
    while len(calls) < CHECKED_CALLS and not (len(calls) == 2 and sum(calls) > LONG_CALLS):
        result, took = _time(backend, work)
        if not backend.same(gradients, _values(backend, result)):
            return None
        calls.append(took)
    return Ready(work, _bytes(backend, result), tuple(calls), result=result)


def _values(backend: Backend, result: object) -> list[HostValue]:
    """Return the values by which gradients of calls are compared."""
    return [_value(backend, gradient) for gradient in backend.leaves(result)]


def _compare(gradient: HostValue) -> HostValue:
    raw, _, dtype = gradient
    if len(raw) <= MOST_COMPARED:
        return gradient
    return raw[:MOST_COMPARED], (MOST_COMPARED // ITEM_SIZES[dtype],), dtype


def native_loop(backend: Backend, work: Work) -> NativeLoop:
    """Return a loop that calls without Python, with the results that Python gives; raises `Unsupported`.

    Of what differs from call to call, as random numbers do, only shapes and element types are compared.
    """
    try:
        with work.scope():
            loop = backend.native_loop(work)
            loop.bind(work.make_arguments())
            results = loop.result()
    except Unsupported:
        raise
    except Exception as error:  # it ran from Python, which is what the record is about
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Unsupported(f"without Python it fails: {why[:300]}", slug="not_native") from error
    expected, again = ([_value(backend, leaf) for leaf in backend.leaves(call_once(backend, work))] for _ in range(2))
    own = [_value(backend, leaf) for leaf in results]
    steady = backend.same(expected, again)
    if not (backend.same(expected, own) if steady else _shapes(expected) == _shapes(own)):
        raise Unsupported("without Python it computes a different result", slug="not_native")
    return loop


def _value(backend: Backend, tensor: object) -> HostValue:
    return _compare(backend.to_host(tensor))


def _shapes(values: Sequence[HostValue]) -> list[tuple[tuple[int, ...], str]]:
    return [(shape, dtype) for _, shape, dtype in values]


def _restoring(backend: Backend, bound: Bound, make: Callable[[], Work]) -> Work:
    """Put the inputs that a call changes back before each call, or make all of them anew.

    What they hold is remembered before the work is made: to compile it, or to capture it, a backend calls it.
    """
    if bound.renew is not None:
        return _before_each(make(), bound.renew, "made anew before each call")
    if not bound.mutated:
        return make()
    restore = remember(backend, bound, bound.mutated)
    return _put_back(make(), restore, bound.mutated)


def _put_back(work: Work, restore: Callable[[], None], names: Collection[str]) -> Work:
    return _before_each(work, restore, f"{', '.join(names)}: restored before each call")


def _before_each(work: Work, prepare: Callable[[], tuple[object, ...] | None], note: str) -> Work:
    def before() -> tuple[object, ...]:
        arguments = prepare()
        return work.make_arguments() if arguments is None else arguments

    return replace(work, before=before, notes={**work.notes, "mutates": note})


def _bytes(backend: Backend, result: object) -> int:
    return sum(backend.spec(tensor).nbytes for tensor in backend.leaves(result))


def place_doubts(backend: Backend, result: object) -> tuple[Warning, ...]:
    """Return a warning where all that a call on a device returned lies in the machine's memory."""
    if backend.side.device == "cpu" or {backend.place(leaf) for leaf in backend.leaves(result)} != {"cpu"}:
        return ()
    text = f"its results lie in the machine's memory: {backend.name} ran it on the CPU, not on `{backend.side.device}`"
    return (Warning("ran_on_cpu", text, "measure it with `--device cpu`, or name an implementation for the device"),)
