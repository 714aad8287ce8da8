"""Run in MXNet's environment: capture functions, run every case again, and print how it does.

python rerun_mxnet.py FOLDER FILE:FUNCTION...

What imperative calls take and return is seen where Python calls MXNet's library. What the gradients of single operators
are is not: MXNet walks back by itself. So each graph that was walked is walked again, with a zero added to whatever
flows into an operator or out of it: the gradient of a zero is that of what it is added to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import mxnet as mx
import numpy
from mxnet import autograd
from mxnet.base import _LIB
from rerun import RecordedCall, main

from opperf.child.backends.mxnet import capture
from opperf.child.backends.mxnet.flow import flowing
from opperf.child.backends.mxnet.runtime import MxnetBackend
from opperf.child.backends.mxnet.specs import array_at
from opperf.child.worker import inputs
from opperf.domain.backend import HostValue
from opperf.domain.call import CapturedCall
from opperf.domain.case import Case, tensors_of
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

backend = MxnetBackend(Side("mxnet"))
invoke, walk = _LIB.MXImperativeInvokeEx, _LIB.MXAutogradBackwardEx
#: How the names of operators begin that draw numbers.
DRAWING = ("Dropout", "_random_", "_sample_")


@dataclass(frozen=True)
class Call:
    """What an imperative call took, what was left there, and what it returned.

    Of the arrays at `addresses` the first so many were `read`, and it was told to write into the rest.
    """

    addresses: Sequence[int]
    read: int
    given: Sequence[HostValue]
    left: Sequence[HostValue]
    returned: Sequence[HostValue]


@dataclass(frozen=True)
class Flow:
    """What an operator took, and what flows back through it: to what it returned, and from there to what it took."""

    given: Sequence[HostValue]
    cotangents: Sequence[HostValue]
    gradients: Sequence[HostValue]


class Keeping:
    """Takes the numbers of what is called, and the graphs that are walked back."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.recorded: dict[str, Call] = {}
        self.walks: list[tuple[dict[str, Any], list[HostValue | None]]] = []

    def invoking(self, handle: Any, count: Any, given: Any, made_count: Any, made: Any, *attributes: Any) -> int:
        """Call an operator, and keep its numbers."""
        taken = [*(given[i] for i in range(count.value)), *(made._obj[i] for i in range(made_count._obj.value))]
        before = numbers(taken)
        status = int(invoke(handle, count, given, made_count, made, *attributes))
        if not status:
            returned = [made._obj[i] for i in range(made_count._obj.value)]
            call = Call(taken, count.value, before, numbers(taken), numbers(returned))
            self.calls.append(call)
            node = capture.node_name(returned[0]) if returned and autograd.is_recording() else None
            if node is not None:
                self.recorded[node] = call
        return status

    def walking(self, count: Any, heads: Any, given: Any, *rest: Any) -> int:
        """Compute gradients, and keep the graph and the gradients that its heads were given; None stands for ones."""
        addresses = list(given) if isinstance(given, ctypes.Array) else [None] * len(heads)
        cotangents = [None if one is None else numbers([one])[0] for one in addresses]
        self.walks.append((capture.graph_behind(list(heads)), cotangents))
        return int(walk(count, heads, given, *rest))

    def walked(self) -> Iterator[Flow | None]:
        """Yield what flows through each operator whose gradient was computed; None where that cannot be seen."""
        for graph, cotangents in self.walks:
            flows = flowed(graph, cotangents, self.recorded)
            for node, moves in reversed(list(zip(graph["nodes"], flowing(graph)))):
                if node["op"] != "null" and moves:
                    yield flows.get(node["name"])


def numbers(addresses: Sequence[int]) -> list[HostValue]:
    """Return the elements of the arrays at some addresses."""
    return [backend.to_host(array_at(address)) for address in addresses]


def array(value: HostValue) -> Any:
    """Return an array of elements."""
    raw, shape, dtype = value
    return inputs.of_elements(backend, TensorSpec(shape, dtype), bytearray(raw))


def flowed(
    graph: Mapping[str, Any], cotangents: Sequence[HostValue | None], recorded: Mapping[str, Call]
) -> dict[str, Flow]:
    """Walk a graph again, and return what flows through each operator, by the names of its nodes.

    What operators took is what they take now: what one draws differs. There is nothing where an array that the graph
    begins with was not seen.
    """
    nodes, moves = graph["nodes"], flowing(graph)
    values = beginning(nodes, recorded)
    if not nodes or any(node["op"] == "null" and (place, 0) not in values for place, node in enumerate(nodes)):
        return {}
    seen: dict[str, tuple[list[HostValue], list[Any], list[Any]]] = {}
    with autograd.record():
        for place, node in enumerate(nodes):
            if node["op"] == "null":
                continue
            entries = [(entry[0], entry[1]) for entry in node["inputs"]]
            flow = [moves[place] and moves[entry[0]] for entry in entries]
            taken, into = add([values[entry] for entry in entries], flow)
            given = [backend.to_host(one) for one in taken]
            made = capture.call_node(node, taken)
            made, out = add(made, [moves[place]] * len(made))
            seen[node["name"]] = given, out, into
            values.update({(place, i): one for i, one in enumerate(made)})
    heads = [values[head[0], head[1]] for head in graph["heads"]]
    autograd.backward(heads, [None if one is None else array(one) for one in cotangents])
    return {name: Flow(given, gradients(out), gradients(into)) for name, (given, out, into) in seen.items()}


def beginning(nodes: Sequence[Any], recorded: Mapping[str, Call]) -> dict[tuple[int, int], Any]:
    """Return the arrays that a graph begins with, as the operators took them that read them."""
    result: dict[tuple[int, int], Any] = {}
    for node in nodes:
        call = recorded.get(node["name"])
        for entry, value in zip(node.get("inputs", ()), call.given if call else ()):
            if nodes[entry[0]]["op"] == "null":
                result.setdefault((entry[0], entry[1]), array(value))
    return result


def add(arrays: Sequence[Any], flow: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """Return arrays with zeros added to those of fractions that something flows through, and the zeros."""
    result, zeros = list(arrays), []
    for i, one in enumerate(arrays):
        if flow[i] and numpy.dtype(one.dtype).kind == "f":
            with autograd.pause():
                zeros.append(mx.nd.zeros(one.shape, dtype=one.dtype))
                zeros[-1].attach_grad()
            result[i] = one + zeros[-1]
    return result, zeros


def gradients(arrays: Sequence[Any]) -> list[HostValue]:
    """Return the gradients of arrays."""
    return [backend.to_host(one.grad) for one in arrays]


def forward(call: CapturedCall, was: Call) -> RecordedCall:
    """Return a call with its numbers."""
    if call.case is None:
        return RecordedCall(call)
    looks = [(shape, dtype, None) for _, shape, dtype in was.returned]
    given = taken_by(call.case, was.given)
    return RecordedCall(call, given, looks, was.returned, left_by(call.case, was), undecided=draw(call))


def backward(call: CapturedCall, flow: Flow | None) -> RecordedCall:
    """Return the gradient of a call with its numbers."""
    if call.case is None:
        return RecordedCall(call)
    moving = [one for one in call.case.tensors() if one.is_float and one.requires_grad is not False]
    looks = [(one.shape, one.dtype, None) for one in moving]
    if flow is None:
        return RecordedCall(call, looks=looks, undecided="not seen")
    return RecordedCall(call, flow.given, looks, flow.gradients, cotangents=flow.cotangents, undecided=draw(call))


def taken_by(case: Case, arrays: Sequence[HostValue]) -> Sequence[HostValue]:
    """Return the numbers of the arrays that a case has: not all have those that are written into."""
    values = (*case.inputs.values(), *case.attributes.values())
    return arrays[: sum(1 for value in values for _ in tensors_of(value))]


def left_by(case: Case, was: Call) -> Sequence[HostValue]:
    """Return what is left in the arrays of a case, where none is both read and written into, as a weight may be."""
    left = list(taken_by(case, was.left))
    written = was.addresses[was.read : len(left)]
    same = [i for i, address in enumerate(was.addresses[: was.read]) if address in written]
    return [was.given[i] if i in same else value for i, value in enumerate(left)]


def draw(call: CapturedCall) -> str:
    """Return why the inputs of an operator do not decide its numbers; empty where they do."""
    return "drawn" if call.name.startswith(DRAWING) else ""


def kept(function: Callable[[], Any]) -> Iterator[RecordedCall]:
    """Call a function, and yield every operator that it runs, and every gradient."""
    function()  # shapes of parameters are known from the first call on
    keeping = Keeping()
    with (
        patch.object(_LIB, "MXImperativeInvokeEx", keeping.invoking),
        patch.object(_LIB, "MXAutogradBackwardEx", keeping.walking),
    ):
        calls = capture.of_call(function)
    forwards, backwards = iter(keeping.calls), keeping.walked()
    for call in calls:
        if call.direction == "backward":
            yield backward(call, next(backwards))
        elif call.backward:
            yield RecordedCall(call, undecided="not seen")
        else:
            yield forward(call, next(forwards))
    assert not [*forwards, *backwards]


if __name__ == "__main__":
    main(backend, kept)
