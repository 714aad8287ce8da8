"""The functions of `opperf.profiler` on opperf's own recording, for every framework but MXNet by itself."""

from __future__ import annotations

import json
from pathlib import Path

from opperf.child.profiling.recording import Recording, imported
from opperf.child.profiling.summary import document
from opperf.domain.errors import InputError, unknown
from opperf.domain.profile.chrome import save
from opperf.domain.profile.columns import table
from opperf.domain.profile.watching import Watching

#: Where `dump` writes to when nothing is said: the name that MXNet gives it.
FILENAME = "profile.json"


class ScriptProfiler:
    """Starts, stops and tells as MXNet's functions do, but refuses what makes no sense."""

    def __init__(self, framework: str | None, watching: Watching, filename: str | None) -> None:
        self._framework = framework
        self._watching = watching
        self._path = Path(filename or FILENAME).absolute()
        self._recording = Recording(watching)

    @property
    def idle(self) -> bool:
        """Whether it may be configured anew."""
        return self._recording.state == "stopped"

    def set_state(self, state: str, *more: object, **options: object) -> None:
        """Start (`run`) or stop."""
        _refuse(more, options)
        if state not in ("run", "stop"):
            raise unknown("state", state, ("run", "stop"), hint="known: run, stop")
        if state == "stop":
            self._recording.stop()
        else:
            self._recording.include(*imported(self._framework))
            self._recording.start()

    def pause(self, *more: object, **options: object) -> None:
        """See nothing until `resume`."""
        _refuse(more, options)
        self._recording.pause()

    def resume(self, *more: object, **options: object) -> None:
        """See again."""
        _refuse(more, options)
        self._recording.resume()

    def dumps(self, reset: bool, format: str, *more: object, **options: object) -> str:
        """Return the table, or the summary as JSON text."""
        _refuse(more, options)
        if format not in ("table", "json"):
            raise unknown("format", format, ("table", "json"), hint="known: table, json")
        text = self.get_summary(reset=False) if format == "json" else table(self._recording.profile())
        if reset:
            self.reset()
        return text

    def dump(self, *more: object, **options: object) -> None:
        """Write Chrome trace events into the configured file."""
        _refuse(more, options)
        save(self._recording.profile(), self._path)

    def get_summary(self, reset: bool) -> str:
        """Return the summary as JSON text."""
        text = json.dumps(document(self._recording.profile(), memory=self._watching.memory), indent=2)
        if reset:
            self.reset()
        return text

    def reset(self) -> None:
        """Forget what was seen."""
        self._recording.reset()


def _refuse(more: tuple[object, ...], options: dict[str, object]) -> None:
    """Refuse what only MXNet's profiler takes; raises `InputError`. Its `worker` is what everybody has."""
    names = {*more, *options.values()} - {"worker"}
    if names:
        raise InputError(
            f"{', '.join(repr(value) for value in names)} is only known to MXNet's own profiler", slug="unknown_setting"
        )
