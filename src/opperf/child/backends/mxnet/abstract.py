"""Which operators a function runs, by shapes alone: MXNet's arrays whose memory is never asked for.

MXNet makes an array when it is first written. So every operator that Python calls gets results of the shapes and types
that MXNet infers, and does not run: nothing is allocated or computed, not even by what is loaded. What autograd would
record is noted here in its place, and so are the gradients that it would compute.

No value is there to be asked for. An operator whose result depends on values has no shape, and what runs outside of
these calls (executors, sparse arrays, functions of the user's own with gradients) is refused.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count
from typing import Any, TypeAlias

import mxnet as mx
import numpy
from mxnet import autograd
from mxnet._ctypes.symbol import _symbol_creator
from mxnet.base import _LIB, NDArrayHandle, check_call
from mxnet.ndarray.ndarray import _new_alloc_handle

from opperf.child.backends.mxnet import capture, registry
from opperf.child.backends.mxnet.flow import VARIABLE
from opperf.child.backends.mxnet.specs import array_at, plain
from opperf.domain.backend import Unsupported
from opperf.domain.call import AbstractCapture
from opperf.domain.tensor import TensorSpec

Load: TypeAlias = Callable[[], Callable[[], Any]]
_HINT = "capture it without `--abstract` in a smaller size"
#: Functions of the C API that make an array, and the place where they are told whether its memory can wait.
MAKING, DELAY = ("MXNDArrayCreateEx", "MXNDArrayCreateEx64"), 4
#: What has nothing to do where there are no values: copies from and to memory of the program, and waiting.
IDLE = ("MXNDArraySyncCopyFromCPU", "MXNDArraySyncCopyFromNDArray", "MXNDArrayWaitToRead", "MXNDArrayWaitToWrite")
#: Functions of the C API that cannot do without values, and what a program does that calls them.
REFUSED = {
    "MXNDArraySyncCopyToCPU": "it reads an array",
    "MXNDArraySave": "it saves arrays",
    "MXNDArrayToDLPack": "it hands an array to another library",
    "MXNDArrayCreateSparseEx": "it makes a sparse array",
    "MXNDArrayCreateSparseEx64": "it makes a sparse array",
    "MXCustomFunctionRecord": "it has a gradient of its own in Python",
    "MXExecutorSimpleBindEx": "it runs an executor",
    "MXExecutorSimpleBindEx64": "it runs an executor",
    "MXInvokeCachedOpEx": "it runs a graph that only runs as a whole",
    "MXExecutorBindEX": "it runs an executor",
}


#: The storage type of arrays that are not sparse.
DENSE = 0


def of_call(load: Load) -> AbstractCapture:
    """Load a function and return every operator of its second call, in forward and backward, in order.

    Raises `Unsupported` where a value decides, and what the function raises.
    """
    recorder = capture.Recorder(plain)
    with ExitStack() as stack:
        for name, watch in _tape().stand_ins().items():
            if hasattr(_LIB, name):
                stack.enter_context(capture.stand_in(_LIB, name, watch))
        for name, watch in (("zeros", _zeros), ("tensordot", _refuse("it calls `tensordot`"))):
            stack.enter_context(capture.stand_in(mx.nd.numpy._op._api_internal, name, watch))
        stack.enter_context(capture.watching(recorder))
        function = load()
        function()
        recorder.calls.clear()
        function()
    return AbstractCapture(recorder.calls)


@cache
def _tape() -> Tape:
    """Return the tape of all functions of a process, which may share arrays."""
    return Tape()


class Tape:
    """What autograd would know of arrays, by their addresses: the symbol of each, down to what it is computed from."""

    def __init__(self) -> None:
        self._symbols: dict[int, Any] = {}
        self._variables: dict[str, int] = {}
        self._numbers = count()

    def stand_ins(self) -> dict[str, Callable[[Any], Any]]:
        """Pair functions of the C API with their stand-ins."""
        return {
            **dict.fromkeys(MAKING, self.making),
            **dict.fromkeys(IDLE, lambda _: lambda *_: 0),
            **{name: _refuse(what) for name, what in REFUSED.items()},
            **dict.fromkeys(capture.VIEWS, self.viewing),
            "MXImperativeInvokeEx": lambda _: self.invoke,
            "MXAutogradMarkVariables": self.marking,
            "MXAutogradGetSymbol": lambda _: self.get_symbol,
            "MXAutogradBackwardEx": lambda _: self.backward,
            "MXShallowCopyNDArray": self.copying,
            "MXNDArrayFree": self.freeing,
        }

    # What is put in the place of MXNet's functions -------------------------------------------------------------------

    def invoke(self, handle: Any, number: Any, inputs: Any, output_count: Any, outputs: Any, *rest: Any) -> int:
        """Make the results of an operator, without its running; arrays that are given for them stay as they are."""
        length, keys, values, storage_types = rest
        attributes = {keys[i].decode(): values[i].decode() for i in range(length.value)}
        addresses = [inputs[i] for i in range(number.value)]
        if not output_count._obj.value:
            arrays = [array_at(address) for address in addresses]
            context = arrays[0].context if arrays else _context(attributes.get("ctx"))
            handles = [
                _new_alloc_handle(shape, context, True, dtype)
                for shape, dtype in results(handle.value, [plain(array) for array in arrays], attributes)
            ]
            output_count._obj.value = len(handles)
            _point(outputs._obj, (NDArrayHandle * len(handles))(*handles))
            _point(storage_types._obj, (ctypes.c_int * len(handles))(*[DENSE] * len(handles)))
        if autograd.is_recording():
            results_at = [outputs._obj[i] for i in range(output_count._obj.value)]
            self._record(handle.value, addresses, attributes, results_at)
        return 0

    def making(self, make: Any) -> Any:
        """Return a function that makes an array whose memory can wait."""

        def make_later(*arguments: Any) -> Any:
            status = make(*arguments[:DELAY], ctypes.c_int(1), *arguments[DELAY + 1 :])
            self._symbols.pop(arguments[-1]._obj.value, None)  # of an array that was there before
            return status

        return make_later

    def marking(self, mark: Any) -> Any:
        """Return a function that notes of which arrays there are gradients."""

        def mark_and_note(number: Any, arrays: Any, requests: Any, gradients: Any) -> Any:
            for i in range(_number(number)):
                if _number(requests[i]):
                    name, address = f"{VARIABLE}{next(self._numbers)}", _number(arrays[i])
                    self._symbols[address], self._variables[name] = mx.sym.var(name), address
            return mark(number, arrays, requests, gradients)

        return mark_and_note

    def viewing(self, view: Any) -> Any:
        """Return a function that makes a view and records it as the operators that autograd takes it for."""

        def view_and_record(handle: Any, *rest: Any) -> Any:
            status = view(handle, *rest)
            if not status and autograd.is_recording() and handle.value in self._symbols:
                self._symbols[rest[-1]._obj.value] = self._view(handle.value, view.__name__, rest)
            return status

        return view_and_record

    def get_symbol(self, handle: Any, symbol: Any) -> int:
        """Give away a copy of the symbol of an array; -1 where autograd would not know of it."""
        if handle.value not in self._symbols:
            return -1
        return int(_LIB.MXSymbolCopy(self._symbols[handle.value].handle, symbol))

    def backward(self, number: Any, heads: Any, head_gradients: Any, *rest: Any) -> int:
        """Make the gradients that are returned, and say of the others that they are fresh; none is computed."""
        variable_count, variables, _, create_graph, _, gradients, storage_types = rest
        if _number(create_graph):
            raise Unsupported("it computes gradients of gradients", slug="no_capture", hint=_HINT)
        length = _number(variable_count)
        if length:
            arrays = [array_at(_number(variables[i])) for i in range(length)]
            handles = [_new_alloc_handle(array.shape, array.context, True, array.dtype) for array in arrays]
            _point(gradients._obj, (NDArrayHandle * length)(*handles))
            _point(storage_types._obj, (ctypes.c_int * length)(*[DENSE] * length))
            return 0
        roots = [self._symbols[heads[i]] for i in range(_number(number)) if heads[i] in self._symbols]
        for name in mx.sym.Group(roots).list_inputs() if roots else ():
            if self._variables.get(name) in self._symbols:
                check_call(_LIB.MXNDArraySetGradState(NDArrayHandle(self._variables[name]), ctypes.c_int(1)))
        return 0

    def copying(self, copy: Any) -> Any:
        """Return a function that makes another array of the same memory, and of the same symbol."""

        def copy_and_note(handle: Any, target: Any) -> Any:
            status = copy(handle, target)
            if handle.value in self._symbols:
                self._symbols[target._obj.value] = self._symbols[handle.value]
            return status

        return copy_and_note

    def freeing(self, free: Any) -> Any:
        """Return a function that frees an array, whose address may be that of another one later."""

        def free_and_forget(handle: Any) -> Any:
            self._symbols.pop(handle.value, None)
            return free(handle)

        return free_and_forget

    # What is made of it ----------------------------------------------------------------------------------------------

    def _record(
        self, handle: int, addresses: Sequence[int], attributes: Mapping[str, str], results_at: Sequence[int]
    ) -> None:
        """Note by what results are computed, if a gradient may flow through it."""
        if any(address in self._symbols for address in addresses):
            operands = [
                self._symbols[address] if address in self._symbols else self._unmarked() for address in addresses
            ]
            node = self._node(handle, operands, attributes)
            for place, address in enumerate(results_at):
                self._symbols[address] = node[place]

    def _view(self, source: int, function: str, arguments: Sequence[Any]) -> Any:
        """Return the symbol of a view: a reshape, a slice of rows, or one row, which is both."""
        symbol, shape = self._symbols[source], array_at(arguments[-1]._obj.value).shape
        text = f"[{','.join(map(str, shape))}]"  # as autograd spells it
        if "Reshape" not in function:
            begin = _number(arguments[0])
            end = _number(arguments[1]) if "Slice" in function else begin + 1
            symbol = self._operator("slice", symbol, {"begin": str(begin), "end": str(end)})
        return symbol if "Slice" in function else self._operator("Reshape", symbol, {"shape": text})

    def _operator(self, name: str, operand: Any, attributes: Mapping[str, str]) -> Any:
        return self._node(registry.handle(name), [operand], attributes)

    def _node(self, handle: int, operands: Sequence[Any], attributes: Mapping[str, str]) -> Any:
        return symbol_of(handle, operands, attributes, f"node{next(self._numbers)}")

    def _unmarked(self) -> Any:
        """Return the symbol of an array that no gradient flows to."""
        return mx.sym.var(f"null{next(self._numbers)}")


def symbol_of(handle: int, operands: Sequence[Any], attributes: Mapping[str, str], name: str) -> Any:
    """Return an operator of symbols, which MXNet does not count by itself as it does arrays."""
    length = registry.signature(registry.name_at(handle)).length
    if length:
        attributes = {length: str(len(operands)), **attributes}
    return _symbol_creator(handle, operands, None, [*attributes], [*attributes.values()], name, False)


def results(
    handle: int, operands: Sequence[TensorSpec], attributes: Mapping[str, str]
) -> list[tuple[tuple[int, ...], Any]]:
    """Return the shape and element type of each result of an operator; raises `Unsupported` where values decide."""
    variables = [mx.sym.var(f"input{i}", shape=spec.shape, dtype=spec.dtype) for i, spec in enumerate(operands)]
    symbol = symbol_of(handle, variables, attributes, "result")
    _, shapes, _ = symbol.infer_shape_partial()
    _, dtypes, _ = symbol.infer_type()
    if shapes is None or dtypes is None or not all(map(_is_known, shapes)):
        raise Unsupported(
            f"the shape of what `{registry.name_at(handle)}` returns depends on values, or MXNet cannot infer it",
            slug="no_capture",
            hint=_HINT,
        )
    return [(tuple(shape), numpy.dtype(dtype)) for shape, dtype in zip(shapes, dtypes)]


def _is_known(shape: Any) -> bool:
    """Whether MXNet has inferred a shape; but for NumPy's functions, 0 and no dimensions mean that it has not."""
    if mx.util.is_np_shape():
        return shape is not None and min(shape, default=0) >= 0
    return bool(shape) and min(shape) > 0


def _zeros(_: Any) -> Any:
    """Return a function that makes an array with NumPy's names, whose memory can wait."""

    def zeros(shape: Any, dtype: Any, context: Any) -> Any:
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
        handle = _new_alloc_handle(extents, _context(context and str(context)), True, dtype or "float32")
        return mx.np.ndarray(handle=handle)

    return zeros


def _refuse(what: str) -> Callable[[Any], Any]:
    """Return the maker of a function that refuses a program for what it does."""

    def refuse(*_: Any) -> Any:
        raise Unsupported(f"{what}, which has no values by shapes alone", slug="no_capture", hint=_HINT)

    return lambda _: refuse


def _context(text: str | None) -> Any:
    """Return the device that MXNet spells so, as `gpu(0)`; without one the current."""
    if not text:
        return mx.current_context()
    kind, _, number = text.rstrip(")").partition("(")
    return mx.Context(kind, int(number or 0))


def _point(pointer: Any, array: Any) -> None:
    """Make a pointer of a caller's one to an array, which lives as long."""
    pointer.contents = array._type_.from_buffer(array)


def _number(value: Any) -> int:
    """Return a number of Python or of C as one of Python."""
    return int(getattr(value, "value", value) or 0)
