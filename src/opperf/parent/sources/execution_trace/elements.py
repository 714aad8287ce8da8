"""The elements of tensors of whole numbers, which the recorder keeps in files next to the trace.

PyTorch writes those of the operators that a variable names as `nid_NODE_tid_TENSOR.dat`, raw, in the order of memory,
into a folder that is called like the trace: `et.json` has `et_resources`. The tensors that go into a node are numbered
in order, those in lists too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.tensor import MOST_LITERAL, TensorSpec

#: Elements that are kept of one trace, since each stands in a case; of tensors beyond that, the bounds are kept.
MOST_KEPT = 1 << 20
#: Bytes of a file beyond which not even the bounds are looked for.
MOST_READ = 1 << 28
#: How `array` reads an element.
LETTERS = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}  # fmt: skip


@dataclass
class Elements:
    """The files next to a trace; `room` is how many elements may still be kept."""

    folder: Path
    names: frozenset[str]
    room: int = MOST_KEPT

    @classmethod
    def beside(cls, trace: Path) -> Elements:
        """Look for the folder of a trace, however the trace is packed."""
        folder = trace.with_name(re.split(r"\.(?:json|tar|tgz|gz)\b", trace.name)[0] + "_resources")
        try:
            return cls(folder, frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset())
        except OSError as error:
            raise InputError(f"cannot read `{folder}`: {error.strerror}", slug="input") from error

    def of(self, node: int, number: int, tensor: TensorSpec, value: Sequence[object]) -> TensorSpec:
        """Return a tensor of whole numbers with the elements that it had, or their bounds; as it is without a file.

        `value` is what the trace says of it. Raises `ValueError` for a file of another tensor.
        """
        name = f"nid_{node}_tid_{number}.dat"
        if name not in self.names or tensor.dtype not in LETTERS or not _is_whole(value):
            return tensor
        if not tensor.elements or tensor.nbytes > MOST_READ or not _is_dense(tensor):
            return tensor
        values: array[int] = array(LETTERS[tensor.dtype], _read(self.folder / name, tensor.nbytes))
        if tensor.elements > min(MOST_LITERAL, self.room):
            return replace(tensor, range=(float(min(values)), float(max(values)) + 1))
        self.room -= tensor.elements
        return replace(tensor, literal=tuple(values[place] for place in _places(tensor)))


def _read(path: Path, size: int) -> bytes:
    """Return the bytes of a file, which must have this size."""
    try:
        length = path.stat().st_size
        if length == size:
            return path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path.name}: {error.strerror}") from error
    raise ValueError(f"{path.name} has {length} bytes, and the tensor {size}")


def _is_whole(value: Sequence[object]) -> bool:
    """Whether a file holds the tensor: of one on a CPU that begins inside its memory, PyTorch writes other bytes."""
    _, _, offset, _, size, device = value
    return bool(offset == 0 or size == 1 or device != "cpu")


def _is_dense(tensor: TensorSpec) -> bool:
    """Whether every place in memory from the first to the last is that of one element."""
    step = 1
    for stride, size in sorted(zip(tensor.strides or (), tensor.shape)):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _places(tensor: TensorSpec) -> Iterable[int]:
    """Return the memory offset of each element of a dense tensor, in the order of indices."""
    if tensor.strides is None:
        return range(tensor.elements)
    steps = ([stride * i for i in range(size)] for size, stride in zip(tensor.shape, tensor.strides))
    return map(sum, product(*steps))
