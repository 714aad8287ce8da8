"""An array or tensor that a program hands over, as the description of a tensor with its elements.

Few elements stand in the description itself. More lie in opperf's cache, under the digest by which they are named.
"""

from __future__ import annotations

import ctypes
import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from opperf.domain.errors import InputError
from opperf.domain.files.destination import ensure_private, write_parts
from opperf.domain.tensor import DATA, TensorSpec, parse_dtype, row_major

#: The most elements that stand in a description, and how long the elements of others are kept. Seconds.
MOST_WRITTEN = 64
KEEP_FOR = 30 * 24 * 3600.0


def given_inputs(inputs: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return inputs with descriptions in place of arrays, whose elements are kept in `folder`.

    Raises `InputError` for an array of a type that opperf does not know.
    """
    return {name: _described(value, name, folder) for name, value in inputs.items()}


def has_arrays(inputs: Mapping[str, object]) -> bool:
    """Whether any input is an array, or has arrays in it."""
    return any(_is_array(one) for value in inputs.values() for one in _parts(value))


def _parts(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _described(value: object, name: str, folder: Path) -> object:
    if _is_array(value):
        return array_spec(value, name, folder)
    if isinstance(value, (list, tuple)) and any(map(_is_array, value)):
        return [_described(one, name, folder) for one in value]
    return value


def _is_array(value: object) -> bool:
    """Whether a value is an array of some framework; the description of one has no elements."""
    return not isinstance(value, TensorSpec) and hasattr(value, "shape") and hasattr(value, "dtype")


def array_spec(array: Any, name: str, folder: Path) -> TensorSpec:
    """Return shape, element type, strides and elements of an array; raises `InputError`.

    >>> import numpy
    >>> array_spec(numpy.array([[1, 2], [3, 4]], "int32").T, "x", Path("unused"))
    TensorSpec(shape=(2, 2), dtype='int32', strides=(1, 2), values='literal', range=None, requires_grad=None, \
literal=(1, 3, 2, 4))
    """
    try:
        dtype = parse_dtype(str(getattr(array.dtype, "name", array.dtype)).rpartition(".")[2])
    except InputError as error:
        raise InputError(f"input `{name}`: {error.message}", hint=error.hint, slug=error.slug) from error
    shape, strides = tuple(map(int, array.shape)), _strides(array)
    facts: dict[str, Any] = {"strides": None if strides == row_major(shape) else strides}
    if getattr(array, "requires_grad", False) is True:
        facts["requires_grad"] = True
    raw = _elements(array)
    if TensorSpec(shape, dtype).elements <= MOST_WRITTEN and not dtype.startswith(("complex", "float8")):
        return TensorSpec(shape, dtype, literal=tuple(_flat(array)), **facts)
    digest = hashlib.sha256(raw).hexdigest()[:16]
    _drop_old(folder)
    ensure_private(folder)
    write_parts(folder / digest, (raw,))
    return TensorSpec(shape, dtype, values=f"{DATA}{digest}", **facts)


def _strides(array: Any) -> tuple[int, ...] | None:
    """Return the strides in elements, None where a framework has none or tells none."""
    if callable(getattr(array, "stride", None)):
        return tuple(map(int, array.stride()))
    steps = getattr(array, "strides", None)
    return tuple(step // array.itemsize for step in steps) if isinstance(steps, tuple) and array.itemsize else None


def _elements(array: Any) -> bytes:
    """Return the elements in row-major order."""
    if hasattr(array, "data_ptr"):  # PyTorch, whose element types NumPy has not all
        plain = array.detach().resolve_conj().resolve_neg().cpu().contiguous()
        return ctypes.string_at(plain.data_ptr(), plain.nbytes) if plain.nbytes else b""
    raw: bytes = _host(array).tobytes()
    return raw


def _host(array: Any) -> Any:
    """Return an array of NumPy, or what has its methods."""
    for name in ("asnumpy", "numpy", "get"):  # MXNet, TensorFlow, CuPy
        if callable(getattr(array, name, None)):
            return getattr(array, name)()
    return array if hasattr(array, "tobytes") else array.__array__()


def _flat(array: Any) -> list[Any]:
    """Return the elements as numbers of Python."""
    host = array.detach().cpu() if hasattr(array, "data_ptr") else _host(array)
    values: list[Any] = host.reshape(-1).tolist()
    return values


def _drop_old(folder: Path) -> None:
    """Remove what was kept long ago."""
    for path in folder.glob("*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > KEEP_FOR:
                path.unlink()
