"""Tensors in a file of safetensors: eight bytes with the length of a header, the header in JSON, and the elements."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import NotJSON, show, value_of
from opperf.domain.tensor import TensorSpec

#: What the format calls element types.
DTYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "I32": "int32",
    "U32": "uint32",
    "I64": "int64",
    "U64": "uint64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
}
#: No header is longer, so says the format.
MOST_HEADER = 100_000_000


def read(path: Path, name: str) -> tuple[bytearray, TensorSpec]:
    """Return the elements of a tensor, and its shape and type; raises `InputError`."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= MOST_HEADER:
            raise InputError(f"{path}: no safetensors: found a header of {size} bytes")
        try:
            header = value_of(file.read(size))
        except NotJSON as error:
            raise InputError(f"{path}: no safetensors: its header is not JSON ({error})") from error
        entry = header.get(name) if isinstance(header, dict) else None
        if not isinstance(entry, dict):
            names = ", ".join(list(header)[:8]) if isinstance(header, dict) else "none"
            raise InputError(f"{path}: no tensor {show(name)}", hint=f"it has {names}")
        bounds, shape = entry.get("data_offsets"), entry.get("shape")
        whole = all(isinstance(row, list) and all(type(n) is int for n in row) for row in (bounds, shape))
        if not whole or len(bounds) != 2 or entry.get("dtype") not in DTYPES:  # type: ignore[arg-type]  # a list
            raise InputError(f"{path}: {show(name)}: found {show(entry)}, expected `dtype`, `shape` and `data_offsets`")
        spec = TensorSpec(tuple(shape), DTYPES[entry["dtype"]])  # type: ignore[arg-type]  # a list
        start, end = bounds  # type: ignore[misc]  # a list
        file.seek(8 + size + start)
        raw = bytearray(file.read(max(end - start, 0)))
    if len(raw) != spec.nbytes:
        raise InputError(f"{path}: {show(name)}: found {len(raw)} bytes, expected {spec.nbytes} of {spec}")
    return raw, spec
