"""JAX's brackets and layouts."""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding, Missing, composed


def get_item(data: Any, index: int) -> Any:
    """Return the part at the index."""
    return data[index]


BINDINGS: dict[str, Binding] = {
    "get_item": composed(get_item, "data, index", note="`data[index]`"),
    "contiguous": Missing("XLA lays arrays out as it likes, and users have no say in it"),
    "to_numpy": Missing("an array of JAX keeps its copy on the host, so only its first conversion does any work"),
}
