"""Which operators a function runs, with their arguments as they were: seen where Python calls MXNet's library.

All imperative operators go through one function of the C API, which is replaced while the user's function runs; so is
the one that walks back, which then knows of every recorded operator that its gradient is computed. A hybridized block
is run operator by operator. What MXNet calls by other ways is not seen: executors of its older `Module`, and
`np.zeros` and `np.tensordot`.

The cached graph of such a block, which would run as a whole, is run so too: each of its operators is captured with its
arrays, and autograd records it separately. The results are the graph's.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import mxnet as mx
from mxnet import autograd
from mxnet.base import _LIB, NDArrayHandle, SymbolHandle

from opperf.child.backends.mxnet import registry
from opperf.child.backends.mxnet.flow import flowing
from opperf.child.backends.mxnet.specs import array_at, case_of, spec
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

#: Functions of the C API that return a view. They compute nothing, and their gradients do.
VIEWS = ("MXNDArrayReshape64", "MXNDArraySlice", "MXNDArraySlice64", "MXNDArrayAt", "MXNDArrayAt64")
#: From so many gradients of one array on, MXNet adds them up one by one (MXNET_EXEC_INPLACE_GRAD_SUM_CAP).
ADDED_AT_ONCE = 8


def of_call(function: Callable[[], Any]) -> list[CapturedCall]:
    """Call a function and return every operator that it runs, in forward and backward, in order."""
    recorder = Recorder()
    with watching(recorder):
        function()
        mx.nd.waitall()
    return recorder.calls


@contextmanager
def watching(recorder: Recorder) -> Iterator[None]:
    """Have a recorder take what Python calls, for a while."""
    with ExitStack() as stack:
        for owner, name, watch in (
            (_LIB, "MXImperativeInvokeEx", recorder.invoking),
            (_LIB, "MXAutogradBackwardEx", recorder.walking),
            *((_LIB, name, recorder.viewing) for name in VIEWS if hasattr(_LIB, name)),
            (mx.nd.CachedOp, "__call__", recorder.running),
            (mx.gluon.Block, "__call__", recorder.entering),
        ):
            stack.enter_context(stand_in(owner, name, watch))
        yield


@contextmanager
def stand_in(owner: Any, name: str, watch: Callable[[Any], Any]) -> Iterator[None]:
    """Put what `watch` makes of a function in the function's place, for a while."""
    function = getattr(owner, name)
    setattr(owner, name, watch(function))
    try:
        yield
    finally:
        setattr(owner, name, function)


class Recorder:
    """Takes operators as they are called; `shape` describes an array."""

    def __init__(self, shape: Callable[[Any], TensorSpec] = spec) -> None:
        self._shape = shape
        self.calls: list[CapturedCall] = []
        self._blocks: list[Any] = []
        self._within = ""
        self._recorded: dict[str, CapturedCall] = {}
        self._views: dict[str, tuple[TensorSpec, str]] = {}

    @property
    def _here(self) -> str:
        """The name of the innermost block; empty outside of every block."""
        return self._within or (str(self._blocks[-1].name) if self._blocks else "")

    # What is put in the place of MXNet's functions -------------------------------------------------------------------

    def entering(self, call: Any) -> Any:
        """Return a function that calls a block and knows that it is inside."""

        def watch_call(block: Any, *args: Any, **kwargs: Any) -> Any:
            self._blocks.append(block)
            try:
                return call(block, *args, **kwargs)
            finally:
                self._blocks.pop()

        return watch_call

    def invoking(self, invoke: Any) -> Any:
        """Return a function that calls an operator and takes it; described before, as it may change its inputs."""

        def watch_invoke(
            handle: Any, count: Any, inputs: Any, output_count: Any, outputs: Any, *attributes: Any
        ) -> Any:
            arrays = [inputs[i] for i in range(count.value)]
            output_arrays = [outputs._obj[i] for i in range(output_count._obj.value)]
            number, keys, values, _ = attributes
            attributes_by_name = {keys[i].decode(): values[i].decode() for i in range(number.value)}
            call = self._describe(registry.name_at(handle.value), arrays, attributes_by_name, output_arrays)
            status = invoke(handle, count, inputs, output_count, outputs, *attributes)
            if not status:
                self.calls.append(call)
                recording = bool(output_count._obj.value) and autograd.is_recording()
                node = node_name(outputs._obj[0]) if recording else None
                if node is not None:
                    self._recorded[node] = call
            return status

        return watch_invoke

    def walking(self, walk: Any) -> Any:
        """Return a function that computes gradients and takes them."""

        def watch_backward(count: Any, heads: Any, *rest: Any) -> Any:
            graph = graph_behind(list(heads))
            status = walk(count, heads, *rest)
            if not status:
                self.calls += self._gradients(graph)
            return status

        return watch_backward

    def viewing(self, view: Any) -> Any:
        """Return a function that makes a view and remembers of which array, for its gradient."""

        def watch_view(handle: Any, *rest: Any) -> Any:
            status = view(handle, *rest)
            if not status and autograd.is_recording():
                self._note_view(handle.value, rest[-1]._obj.value)
            return status

        return watch_view

    def running(self, run: Any) -> Any:
        """Return a function that runs a cached graph operator by operator."""

        def watch_cached(cached: Any, *arrays: Any, **keywords: Any) -> Any:
            block = next((one for one in reversed(self._blocks) if getattr(one, "_cached_op", None) is cached), None)
            results = None if block is None or keywords else self._run(block, arrays)
            if results is None:
                self.calls.append(CapturedCall("CachedOp", why="a graph that only runs as a whole", module=self._here))
                return run(cached, *arrays, **keywords)
            return results[0] if len(results) == 1 else results

        return watch_cached

    # What is made of it ----------------------------------------------------------------------------------------------

    def _describe(
        self, name: str, arrays: Sequence[int], attributes: dict[str, str], outputs: Sequence[int]
    ) -> CapturedCall:
        """Return a call of an operator with arrays at some addresses."""
        try:
            tensors = [self._shape(array_at(address)) for address in arrays]
            case = case_of(name, tensors, attributes, [array_at(address) for address in outputs])
        except Unsupported as error:
            return CapturedCall(name, why=str(error), module=self._here)
        return CapturedCall(name, case, module=self._here)

    def _run(self, block: Any, arrays: Sequence[Any]) -> list[Any] | None:
        """Return the results of a block's graph; None where it cannot be run operator by operator."""
        prefixes = list(_prefixes(block))

        def enter(node: str) -> None:
            owners = [prefix for prefix in prefixes if prefix and node.startswith(prefix)]
            self._within = max(owners, key=len, default=block.prefix).rstrip("_")

        before = len(self.calls)
        try:
            results = run(block._cached_graph[1], arrays, enter)
        except mx.MXNetError:  # a shape that is known to the whole graph only
            del self.calls[before:]
            results = None
        finally:
            self._within = ""
        return results

    def _gradients(self, graph: dict[str, Any]) -> list[CapturedCall]:
        """Return the gradients of recorded operators, the last first, and what adds up those of one array."""
        blocked = {name: _blocked(call.case) for name, call in self._recorded.items() if call.case is not None}
        flows = flowing(graph, blocked)
        gradients: list[CapturedCall] = []
        uses: dict[tuple[int, int], list[TensorSpec]] = {}
        for node, flow in reversed(list(zip(graph["nodes"], flows))):
            if node["op"] == "null" or not flow:
                continue
            call = self._recorded.get(node["name"]) or self._view(node)
            shut = blocked.get(node["name"], ())
            flows_in = [flows[entry[0]] and i not in shut for i, entry in enumerate(node["inputs"])]
            gradients.append(_gradient(call, flows_in))
            if call.case is not None:
                for entry, tensor, flow in zip(node["inputs"], call.case.tensors(), flows_in):
                    if flow:
                        uses.setdefault((entry[0], entry[1]), []).append(replace(tensor, range=None))
        return gradients + [one for tensors in uses.values() if len(tensors) > 1 for one in _sums(tensors)]

    def _note_view(self, source: int, target: int) -> None:
        """Remember what each operator reads that autograd takes a view for: a row is a slice of one row, reshaped."""
        try:
            view, source_spec = self._shape(array_at(target)), self._shape(array_at(source))
        except Unsupported:
            return
        if not view.shape:  # `Reshape`, which autograd takes it for, makes no such array
            return
        names = operators_between(target, source)
        read = [replace(view, shape=(1, *view.shape))] * (len(names) - 1) + [source_spec]
        self._views.update({name: (tensor, self._here) for name, tensor in zip(names, read)})

    def _view(self, node: Any) -> CapturedCall:
        """Return a view as the operator that autograd takes it for."""
        if node["name"] not in self._views:
            return CapturedCall(node["op"], why="its call was not recorded")
        tensor, module = self._views[node["name"]]
        return CapturedCall(node["op"], case_of(node["op"], [tensor], node.get("attrs", {}), []), module=module)


def _prefixes(block: Any) -> Iterator[str]:
    """Yield how the names of operators begin in a block, and in those below it."""
    yield block.prefix
    for child in block._children.values():
        yield from _prefixes(child)


def _blocked(case: Case) -> set[int]:
    """Return the places of the inputs that no gradient flows to: integers, and indices that stand in floats."""
    from opperf.catalog.valid_values import restrict  # late, as where a suite is made

    tensors = enumerate(restrict(case).tensors())
    return {place for place, tensor in tensors if not tensor.is_float or tensor.requires_grad is False}


def _gradient(call: CapturedCall, flows: Sequence[bool]) -> CapturedCall:
    """Return the gradient of a call, to those of its arrays that one flows to."""
    if call.case is None:
        return replace(call, backward=True)
    inputs = {
        name: replace(tensor, requires_grad=None if flow or not tensor.is_float else False)
        for name, tensor, flow in zip(call.case.inputs, call.case.tensors(), flows)
    }
    return replace(call, case=replace(call.case, inputs=inputs), backward=True, direction="backward")


def _sums(tensors: Sequence[TensorSpec]) -> list[CapturedCall]:
    """Return the calls that add up the gradients of an array which several operators read."""
    count = len(tensors)
    if count < ADDED_AT_ONCE:
        case = Case("mxnet:nd.add_n", {f"args{i}": tensor for i, tensor in enumerate(tensors)}, {"num_args": count})
        return [CapturedCall("add_n", case, backward=True)]
    case = Case("mxnet:nd._internal._grad_add", {"lhs": tensors[0], "rhs": tensors[0]})
    return [CapturedCall("_grad_add", case, backward=True, count=count - 1)]


def node_name(address: int) -> str | None:
    """Return the name, never given twice, of the operator that made the array at an address; None if none is known."""
    symbol = _symbol(address)
    return None if symbol is None else str(symbol.name)


def operators_between(target: int, source: int) -> list[str]:
    """Return the names of the operators that made one array of another and of nothing else, the last first.

    There are none where autograd does not know both.
    """
    symbol, end = _symbol(target), node_name(source)
    names: list[str] = []
    while end is not None and symbol is not None:
        if symbol.name == end:
            return names
        names.append(str(symbol.name))
        symbol = symbol.get_children()
    return []


def graph_behind(addresses: Sequence[int]) -> dict[str, Any]:
    """Return the operators and variables that the arrays at some addresses come from, as MXNet writes a symbol.

    There are none behind an array that autograd does not know; MXNet has its own word for that.
    """
    symbols = [_symbol(address) for address in addresses]
    if any(symbol is None for symbol in symbols):
        return {"nodes": [], "heads": []}
    graph: dict[str, Any] = json.loads(mx.sym.Group(symbols).tojson(remove_amp_cast=False))
    return graph


def _symbol(address: int) -> Any:
    symbol = SymbolHandle()
    error = _LIB.MXAutogradGetSymbol(NDArrayHandle(address), ctypes.byref(symbol))
    return None if error else mx.sym.Symbol(symbol)


def run(graph: Any, arrays: Sequence[Any], enter: Callable[[str], None]) -> list[Any] | None:
    """Return the results of a graph, a symbol, from the arrays of its inputs; None where it has graphs within.

    `enter` is told the name of each operator before that is called. Raises `MXNetError` where a shape is known only
    to the graph as a whole.
    """
    document = json.loads(graph.tojson(remove_amp_cast=False))
    nodes = document["nodes"]
    if any("subgraphs" in node for node in nodes):
        return None
    inputs = dict(zip(graph.list_inputs(), arrays))
    values: dict[tuple[int, int], Any] = {}
    for place, node in enumerate(nodes):
        if node["op"] == "null":
            outputs = [inputs[node["name"]]]
        else:
            enter(node["name"])
            outputs = call_node(node, [values[entry[0], entry[1]] for entry in node["inputs"]])
        values.update({(place, i): array for i, array in enumerate(outputs)})
    numpy = isinstance(graph, mx.sym.np._Symbol)
    results = [values[head[0], head[1]] for head in document["heads"]]
    return [array.as_np_ndarray() if numpy else array.as_nd_ndarray() for array in results]


def call_node(node: Any, arrays: Sequence[Any]) -> list[Any]:
    """Return the results of an operator of a graph; raises `MXNetError` for one that is not registered."""
    operator = registry.find(node["op"])
    if operator is None:
        raise mx.MXNetError(f"no operator {node['op']}")
    attributes = {name: text for name, text in node.get("attrs", {}).items() if not name.startswith("__")}
    outputs = operator(*arrays, **attributes)
    return outputs if isinstance(outputs, list) else [outputs]
