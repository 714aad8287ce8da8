"""Which operators one call of the user's function runs: equal calls are one case, with how often and from where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.backend import Unsupported
from opperf.child import code
from opperf.suite import Suite, SuiteCase

if TYPE_CHECKING:
    from opperf.backend import Backend, Captured
    from opperf.case import Case


def capture(backend: Backend, path: str, folder: Path) -> dict[str, Any]:
    """Call the user's function twice, and return a suite of what the second call ran, and what no case can hold.

    The first call makes what is made once: optimizer states, lazy layers. Code that cannot be loaded is `wrong`. Raises
    `Unsupported` for a framework whose operators cannot be seen yet, and what the function raises.
    """
    try:
        function = code.load(path, folder)
    except code.CodeError as error:
        return {"wrong": error.message, "hint": error.hint}
    function()
    calls = backend.capture(function)
    if calls is None:
        raise Unsupported(f"the operators of {backend.name} cannot be captured yet", slug="no_capture")
    left_out = Counter((call.name, call.why) for call in calls if call.case is None)
    return {
        "suite": _suite(path, calls).to_json(),
        "left_out": [{"name": name, "reason": why, "count": count} for (name, why), count in left_out.items()],
    }


def _suite(path: str, calls: Iterable[Captured]) -> Suite:
    """Return the cases in the order in which each was first called."""
    counts: Counter[Case] = Counter()
    origins: dict[Case, dict[str, None]] = {}
    function = path.rpartition(":")[2]
    for call in calls:
        if call.case is not None:
            counts[call.case] += 1
            place = f"{call.module or function}{' backward' if call.backward else ''}"
            origins.setdefault(call.case, {})[place] = None
    cases = (SuiteCase(case, count, ", ".join(origins[case]), ("forward",)) for case, count in counts.items())
    return Suite(function, path, tuple(cases))
