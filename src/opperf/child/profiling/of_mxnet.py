"""MXNet's own profiler with its results as JSON, for scripts of MXNet alone.

What they call stays what it was, but what makes no sense is refused, and work that was asked for is waited for: MXNet's
profiler drops what is not done when it stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from opperf.child.backends.mxnet.allocations import steps
from opperf.child.backends.mxnet.profile import configure, holds, mend, original, scratch_file, wait
from opperf.child.profiling.recording import Recording
from opperf.child.profiling.summary import Ledger, summary
from opperf.domain.errors import check_known
from opperf.domain.profile.watching import Watching


class OfMxnet:
    """The functions of `opperf.profiler` on MXNet's profiler; `settings` are those of its `set_config`.

    Without a `filename`, its events go to a file that is removed with the process. Settings that are None leave the
    profiler as the script itself configured it.
    """

    def __init__(self, settings: Mapping[str, object] | None) -> None:
        self._settings: dict[str, object] = {}
        self._ledger = Ledger()
        # What may follow what, also beside blocks; it watches nothing, which MXNet's profiler does.
        self._turns = Recording(Watching())
        self._written = False
        if settings is not None:
            file = Path(str(settings.get("filename") or scratch_file()))
            self._settings = {**settings, "filename": str(file.absolute())}
            configure(self._settings)

    @property
    def idle(self) -> bool:
        """Whether it may be configured now."""
        return self._turns.state == "stopped"

    def set_state(self, state: str, *more: object, **options: object) -> None:
        """Start (`run`) or stop it; the configuration made here holds whatever used the profiler in between."""
        check_known("state", state, ("run", "stop"))
        if state == "run":
            self._turns.start()
            self._configure()
            self._written = False
        else:
            self._turns.stop()
        try:
            wait()
        finally:  # what fails meanwhile is raised once the profiler is where it is said to be
            original.set_state(state, *more, **options)

    def pause(self, *more: object, **options: object) -> None:
        """See nothing until `resume`."""
        self._turns.pause()
        try:
            wait()
        finally:
            original.pause(*more, **options)

    def resume(self, *more: object, **options: object) -> None:
        """See again."""
        self._turns.resume()
        self._written = False
        try:
            wait()
        finally:
            original.resume(*more, **options)

    def dumps(self, reset: bool, format: str, *more: object, **options: object) -> str:
        """Return MXNet's own statistics, which has the file written, too."""
        text: str = original.dumps(reset, format, *more, **options)
        self._written = True
        return text

    def dump(self, *more: object, **options: object) -> None:
        """Write MXNet's own file, which it does only once; raises `ProfilerError` while running."""
        self._turns.collect()
        if not self._written:
            original.dump(*more, **options)
            self._written = True
        if self._settings:
            mend(Path(str(self._settings["filename"])))

    def get_summary(self, reset: bool) -> str:
        """Return as JSON text what the profiler saw since the last reset.

        `Time` is as the profiler tells it, in milliseconds. `Memory` holds for each device the number of allocations,
        the bytes of all of them and the most that they held together. Either is null where the profiler was not
        configured to tell it.
        """
        self._configure()
        text = self.dumps(False, "json")
        self._ledger.add(self._changes())
        result = summary(text, self._ledger)
        if reset:
            self._ledger = Ledger()
            if text:  # without times added up there is nothing to reset, and MXNet refuses to
                original.dumps(reset=True)
        return result

    def reset(self) -> None:
        """Forget what was seen until now."""
        self.get_summary(reset=True)

    def _configure(self) -> None:
        """Have the configuration hold that was made here; opperf's own measurements make others."""
        if self._settings and not holds(self._settings):
            configure(self._settings)

    def _changes(self) -> dict[str, list[int]] | None:
        """Return allocations and releases since the last reading; None where the file that has them is not known."""
        if not self._settings:
            return None
        file = Path(str(self._settings["filename"]))
        return steps(file.read_text(errors="replace")) if file.exists() else {}
