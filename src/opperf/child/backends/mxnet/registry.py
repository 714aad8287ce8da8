"""MXNet's own registry: every operator that its library knows, with the names and types of its arguments.

opperf reads the registry, not the Python modules, which omit or rename internal operators. An
operator whose name begins with an underscore is `nd._internal.<name>` to users, any other `nd.<name>`.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from mxnet._ctypes.ndarray import _imperative_invoke
from mxnet.base import _LIB, OpHandle, c_str, check_call, mx_uint, py_str

from opperf.child.backends.mxnet.gradient_rules import inputs_of
from opperf.domain.dataclass import dataclass

#: Operators whose names begin so take and return arrays of the class with NumPy's names.
NUMPY_PREFIXES = ("_np_", "_npi_", "_npx_")
#: Operators that write into arrays they are given, and which of them: the weights among weights, gradients and states.
OUTPUT_ARGUMENTS = {
    "_copyto": slice(1, None),
    "_npi_copyto": slice(1, None),
    "_set_value": slice(0, None),
    "_npi_boolean_mask_assign_scalar": slice(0, 1),
    "_npi_boolean_mask_assign_tensor": slice(0, 1),
    "_scatter_set_nd": slice(0, 1),
    "_npi_scatter_set_nd": slice(0, 1),
    "multi_sgd_update": slice(0, 4, 2),
    "multi_sgd_mom_update": slice(0, 6, 3),
    "multi_mp_sgd_update": slice(0, 6, 3),
    "multi_mp_sgd_mom_update": slice(0, 8, 4),
    "preloaded_multi_sgd_update": slice(0, 4, 2),
    "preloaded_multi_sgd_mom_update": slice(0, 6, 3),
    "preloaded_multi_mp_sgd_update": slice(0, 6, 3),
    "preloaded_multi_mp_sgd_mom_update": slice(0, 8, 4),
    "_multi_adamw_update": slice(0, 8, 4),
    "_multi_mp_adamw_update": slice(0, 10, 5),
    "_multi_lamb_update": slice(0, 8, 4),
    "_multi_mp_lamb_update": slice(0, 10, 5),
}
#: Operators that change their inputs, and so have no gradient.
CHANGING = frozenset(
    {name for name, written in OUTPUT_ARGUMENTS.items() if written.stop is not None} | {"reset_arrays"}
)
#: Operators whose function in Python does not take the states that they keep, so that it cannot be called.
WITH_STATE = frozenset({"BatchNorm_v1", "IdentityAttachKLSparseReg"})
#: Arguments of these types are arrays; the rest are attributes.
ARRAYS = ("NDArray", "Symbol")


@dataclass(frozen=True)
class Signature:
    """What the registry says of one operator: arrays by name, and the types of its attributes as it writes them.

    `real` is the name that an alias stands for. `many` says that the last array is a list of any length; where an
    attribute has to tell how long, that is `length`.
    """

    name: str
    real: str
    arrays: tuple[str, ...]
    many: bool
    attributes: tuple[tuple[str, str], ...]
    length: str = ""

    @property
    def path(self) -> str:
        """Where users find the operator."""
        return f"nd._internal.{self.name}" if self.name.startswith("_") else f"nd.{self.name}"


@dataclass(frozen=True, repr=False)
class RegisteredOperator:
    """An operator that is called by its registered name: arrays by place, attributes by name.

    `places` are those of the arrays that it writes its results into, where it does not make them itself. Without an
    end they stand behind its inputs, else they are inputs that it changes.
    """

    name: str
    handle: int
    numpy: bool
    places: slice | None = None

    def __repr__(self) -> str:
        return self.name

    def __call__(self, *arrays: Any, **attributes: Any) -> Any:
        """Call it at once."""
        places, inputs, out = self.places, arrays, None
        if places is not None:
            if places.step is not None:  # one place for each weight, and no other: what stands behind them is read
                weights = attributes.get("num_weights", attributes.get("num_tensors", 1))
                places = slice(places.start, places.step * int(weights), places.step)
            out = list(arrays[places]) or None
            inputs = arrays[: places.start] if places.stop is None else arrays
        return _imperative_invoke(
            self.handle, inputs, list(attributes), list(attributes.values()), out, self.numpy, False
        )

    def complete(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arrays with one to write into, like the first, where none was given."""
        if self.places is None or self.places.stop is not None or len(arrays) > self.places.start:
            return arrays
        return (*arrays, arrays[0].copy())


@cache
def names() -> tuple[str, ...]:
    """Return the name of every registered operator, aliases too, in the registry's order."""
    count, array = mx_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(array)))
    return tuple(py_str(array[i]) for i in range(count.value))


def find(name: str) -> RegisteredOperator | None:
    """Return a registered operator as a function; None where there is none of that name."""
    if name not in names():
        return None
    return RegisteredOperator(name, handle(name), name.startswith(NUMPY_PREFIXES), places(name))


def places(name: str) -> slice | None:
    """Return which of the arrays given to an operator it writes into; None where it makes its results."""
    inputs = inputs_of(name)
    return OUTPUT_ARGUMENTS.get(name) if inputs is None else slice(inputs, None)


@cache
def signature(name: str) -> Signature:
    """Return the entry of an operator in the registry."""
    real, document, variable, result = (ctypes.c_char_p() for _ in range(4))
    count = mx_uint()
    names, types, texts = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(3))
    answers = (real, document, count, names, types, texts, variable, result)
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(_handle(name), *(ctypes.byref(answer) for answer in answers)))
    arguments = [(py_str(names[i]), py_str(types[i])) for i in range(count.value)]
    arrays = [(own, text) for own, text in arguments if text.startswith(ARRAYS)]
    return Signature(
        name=name,
        real=py_str(real.value),
        arrays=tuple(own for own, _ in arrays),
        many=any(text.endswith("[]") for _, text in arrays),
        attributes=tuple(pair for pair in arguments if pair not in arrays),
        length=py_str(variable.value or b""),
    )


@cache
def name_at(handle: int) -> str:
    """Return the name of the operator at an address; for an alias, the name of its target."""
    name = ctypes.c_char_p()
    check_call(_LIB.MXSymbolGetAtomicSymbolName(OpHandle(handle), ctypes.byref(name)))
    return str(py_str(name.value))


def handle(name: str) -> int:
    """Return the address of an operator."""
    return int(_handle(name).value or 0)


@cache
def _handle(name: str) -> Any:
    handle = OpHandle()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    return handle
