"""A run as the JSON document that result files hold: everything, in seconds and bytes, readable by `Run.from_json`.

It is JSON by the standard: a number that JSON has no word for is refused, with its place, rather than written as `NaN`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from opperf.domain.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opperf.domain.record import Run


def render(run: Run) -> str:
    """Return the document, indented, with a line break at the end."""
    document = run.to_json()
    try:
        return json.dumps(document, indent=2, allow_nan=False) + "\n"
    except ValueError as error:
        place, value = next(_not_finite(document, ""), ("the run", error))
        raise HarnessError(
            f"{place} is `{value}`, expected a finite number",
            hint="this is a bug of opperf: a value that is not known must be left out",
            slug="not_json",
        ) from error


def _not_finite(data: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the place and the value of every number that is not finite."""
    if isinstance(data, float) and not math.isfinite(data):
        yield place, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _not_finite(value, f"{place}.{name}".lstrip("."))
    elif isinstance(data, (list, tuple)):
        for i, value in enumerate(data):
            yield from _not_finite(value, f"{place}[{i}]")
