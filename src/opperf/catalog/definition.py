"""What an operator is to opperf: a neutral definition that no framework owns.

A definition says which inputs the operator takes, by role; the default inputs of every size class; how many
floating-point operations and bytes one call needs; and in which directions it can be measured. How a framework spells
the operator is written down in `backends/<framework>/operators/`, in a file of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TypeAlias

from opperf.domain.case import Argument, Case, DType, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import DIRECTIONS as DIRECTIONS
from opperf.domain.tensor import TensorSpec

#: From a case to a count: floating-point operations, or bytes.
Formula: TypeAlias = Callable[[Case], int]
#: From a case to the tensors that one call returns.
Outputs: TypeAlias = Callable[[Case], tuple[TensorSpec, ...]]
#: The arguments of one default case, inputs and attributes together, by neutral name.
Arguments: TypeAlias = Mapping[str, Argument]

#: small: launch cost shows; common: what models use; large: beyond most caches; skewed: one dimension dwarfs another.
SIZES = ("small", "common", "large", "skewed")
#: More elements than 32 bits count: made from the other sizes, not declared.
INT64 = "int64"
FORWARD_ONLY = ("forward",)


@dataclass(frozen=True)
class Operator:
    """A named computation.

    Of the names in `sizes`, those of tensors are its inputs, and all others attributes. `differentiable` lists the
    inputs that a gradient flows to; where there are none, it is measured forward only. `flops` follows the convention
    that one elementwise function of one element is one operation, and one multiply-add is two. `mutates` names inputs
    that a call changes: they are put back before each call, untimed. `random` marks operators whose result differs from
    call to call by design, `rough` those in which rounding piles up or decides between whole numbers, whose results are
    held to less. `backward_flops` is how many times the forward's operations a backward needs, None where the
    convention gives no number. `aliasing` names the directions in which a framework may answer without moving a byte (a
    view, or a gradient that is the cotangent itself): there is no byte count to hold a time against. `reads` names the
    inputs that are read whole, where not all are: an embedding reads its indices, and of the table only the rows that
    they pick: as many bytes as the outputs have, or as `picks` says. With `()` nothing is read at all. `writes` names
    inputs that are written beside the outputs, as an optimizer does with what it remembers. `moves` is the whole byte
    count of a forward where tensors are not stored element by element.
    """

    name: str
    category: str
    summary: str
    sizes: Mapping[str, Arguments]
    outputs: Outputs
    flops: Formula
    differentiable: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    random: bool = False
    rough: bool = False
    backward_flops: int | None = None
    aliasing: tuple[str, ...] = ()
    reads: tuple[str, ...] | None = None
    picks: Formula | None = None
    writes: tuple[str, ...] = ()
    moves: Formula | None = None
    aliases: tuple[str, ...] = field(default=())

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the tensors, in the order of the common size class."""
        return tuple(name for name, value in self.sizes["common"].items() if any(True for _ in tensors_of(value)))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes, in the order of the common size class."""
        return tuple(name for name in self.sizes["common"] if name not in self.inputs)

    @property
    def directions(self) -> tuple[str, ...]:
        """The directions in which it can be measured."""
        return DIRECTIONS if self.differentiable else FORWARD_ONLY

    def case(self, size: str) -> Case:
        """Return the default case of a size class."""
        return self.case_of(self.sizes[size])

    def small_case(self, like: Case) -> Case:
        """Return the case of size class `small`, in the element type that another case of this operator has."""
        case = self.case("small")
        pairs = [(mine, like.get(name)) for name, mine in (*case.inputs.items(), *case.attributes.items())]
        mismatches = [
            theirs.dtype
            for mine, other in pairs
            for ours, theirs in zip(tensors_of(mine), tensors_of(other))
            if ours.dtype == "float32"
        ]
        mismatches += [other.name for mine, other in pairs if mine == DType("float32") and isinstance(other, DType)]
        return case.with_dtype(mismatches[0]) if mismatches else case

    def case_of(self, arguments: Arguments) -> Case:
        """Return the case that these arguments, by neutral name, make."""
        return Case(
            self.name,
            {name: value for name, value in arguments.items() if name in self.inputs},
            {name: value for name, value in arguments.items() if name not in self.inputs},
        )

    def flop_count(self, case: Case, direction: str) -> int | None:
        """Return the floating-point operations of one call in a direction, None where no number is agreed."""
        forward = self.flops(case)
        if direction == "forward":
            return forward
        if self.backward_flops is None:
            return None
        backward = forward * self.backward_flops
        return backward if direction == "backward" else forward + backward

    def byte_count(self, case: Case, direction: str) -> int | None:
        """Return the bytes that one call must move at least, each tensor read or written once; None where none must.

        Forward reads the inputs and writes the outputs. Backward reads the inputs and the cotangents (as large as the
        outputs) and writes one gradient for each differentiable input.
        """
        if direction in self.aliasing or (direction == "forward_backward" and self.aliasing):
            return None
        if self.moves is not None:
            return self.moves(case) if direction == "forward" else None
        outputs = sum(tensor.nbytes for tensor in self.outputs(case))
        read = case.input_bytes if self.reads is None else self._nbytes(case, self.reads)
        rows = 0 if not self.reads else outputs if self.picks is None else self.picks(case)
        forward = read + rows + outputs + self._nbytes(case, self.writes)
        backward = read + outputs + self._nbytes(case, self.differentiable)
        return {"forward": forward, "backward": backward}.get(direction, forward + backward)

    def _nbytes(self, case: Case, names: tuple[str, ...]) -> int:
        """Return the bytes of some inputs of a case."""
        return sum(tensor.nbytes for tensor in case.tensors(names))


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that the given shapes broadcast to by NumPy's rule; raises `InputError` for those that do not.

    >>> broadcast((3, 1), (4,))
    (3, 4)
    """
    rank = max((len(shape) for shape in shapes), default=0)
    rows = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    columns = [{*sizes} - {1} for sizes in zip(*rows)]
    if any(len(sizes) > 1 for sizes in columns):
        texts = ["x".join(map(str, shape)) or "()" for shape in shapes]
        raise InputError(
            f"the shapes {' and '.join(texts)} do not broadcast",
            hint="from the last dimension on, sizes are equal or one of them is 1",
            slug="bad_shape",
        )
    return tuple(next(iter(sizes), 1) for sizes in columns)


def elements(outputs: tuple[TensorSpec, ...]) -> int:
    """Return how many elements the tensors have together."""
    return sum(math.prod(tensor.shape) for tensor in outputs)
