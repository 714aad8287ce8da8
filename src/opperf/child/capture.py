"""Which operators one call of the user's function runs: equal calls are one case, with how often and from where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from opperf.backend import Unsupported
from opperf.child import code
from opperf.suite import Program, Suite, SuiteCase

if TYPE_CHECKING:
    from opperf.backend import Backend, Captured
    from opperf.case import Case

#: So many calls of the whole are timed; fewer where they have taken so long.
LEAST_CALLS, MOST_CALLS, ENOUGH_NS = 3, 20, 1_000_000_000


def capture(backend: Backend, path: str, folder: Path) -> dict[str, Any]:
    """Call the user's function, and return a suite of what its last call ran, and what no case can hold.

    The first call makes what is made once: optimizer states, lazy layers. Some are timed, and the last is watched.
    Code that cannot be loaded is `wrong`. Raises `Unsupported` for a framework whose operators cannot be seen yet, and
    what the function raises.
    """
    try:
        function = code.load(path, folder)
    except code.CodeError as error:
        return {"wrong": error.message, "hint": error.hint}
    function()
    program = _timed(backend, function)
    calls = backend.capture(function)
    if calls is None:
        raise Unsupported(f"the operators of {backend.name} cannot be captured yet", slug="no_capture")
    left_out = Counter((call.name, call.why) for call in calls if call.case is None)
    return {
        "suite": _suite(path, calls, program).to_json(),
        "left_out": [{"name": name, "reason": why, "count": count} for (name, why), count in left_out.items()],
    }


def _timed(backend: Backend, function: Callable[[], object]) -> Program:
    """Return what a call of the whole takes, with everything that it asked for."""
    times: list[int] = []
    backend.wait([])
    while len(times) < LEAST_CALLS or (len(times) < MOST_CALLS and sum(times) < ENOUGH_NS):
        begin = backend.clock.wall()
        backend.wait([function()])
        times.append(backend.clock.wall() - begin)
    version = str(backend.facts().get("version", ""))
    return Program(median(times) / 1e9, len(times), backend.name, version, backend.side.threads)


def _suite(path: str, calls: Iterable[Captured], program: Program) -> Suite:
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
    return Suite(function, path, tuple(cases), program)
