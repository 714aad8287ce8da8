"""Calls without Python, for trials that ask for them: compiled once for a child, or the reason why there are none."""

from __future__ import annotations

from pathlib import Path

from opperf.child.worker.directions import native_loop
from opperf.domain.backend import Backend, NativeLoop, Unsupported
from opperf.domain.call import Work
from opperf.domain.message import replies, requests
from opperf.domain.reason import Warning


class NativeLoops:
    """The loops that a backend brings."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._reason: Unsupported | None = None

    def build(self, request: requests.BuildLoops) -> replies.Agreement:
        """Compile what calls the framework without Python; what keeps that from working is said on each record."""
        self._reason = None
        try:
            self._backend.build_loops(Path(request.folder))
        except Unsupported as unsupported:
            self._reason = unsupported
        except OSError as error:
            self._reason = Unsupported(f"the native loop does not load: {error}", slug="no_build")
        return replies.Agreement()

    def of_work(self, work: Work) -> tuple[NativeLoop | None, list[Warning]]:
        """Return a loop that calls without Python, or the warning why there is none."""
        try:
            if self._reason is not None:
                raise self._reason
            return native_loop(self._backend, work), []
        except Unsupported as reason:
            text = f"measured from Python only: {reason}"
            return None, [Warning(reason.slug, text, reason.hint or "leave out `--loop native`")]
