"""MXNet's one profiler in the hands of a script that uses it while opperf watches.

What a script configures takes effect when it starts the profiler. From then on the profiler is the script's: it records
what the script asked for, into the script's file, and that file is read each time that MXNet has written it. Until then
its calls change nothing, because nothing that they speak of has been recorded.

MXNet appends to its file (`continuous_dump`, the default) only where that is the first that it has written, and here
that is opperf's. So each dump writes the file anew, and what stood there of this script is put before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet.profile import configure, original

#: What MXNet's profiler is configured to where a script only starts it.
DEFAULTS: Mapping[str, Any] = {"filename": "profile.json", "profile_symbolic": True}
#: Said of a script that has used it.
HANDED_OVER = "the script runs MXNet's profiler itself: from there on, this is what it recorded into `{}`"


class Handover:
    """Stands in for functions of `mx.profiler`.

    `watched` are the settings of opperf's own recording, which `give_up` ends; `follow` is told when the script's
    begins and ends.
    """

    def __init__(self, watched: Mapping[str, Any], give_up: Callable[[], None], follow: Callable[[bool], None]) -> None:
        self._watched = watched
        self._give_up = give_up
        self._follow = follow
        self._settings = dict(DEFAULTS)
        self._file = Path(str(DEFAULTS["filename"])).absolute()
        self._is_running = False
        self._written = ""
        self._has_news = False
        self._texts: list[str] = []
        self._stand_ins: dict[str, Callable[..., Any]] = {
            "set_config": self._configure,
            "profiler_set_config": self._configure_by_mode,
            "set_state": self._set_state,
            "resume": self._resume,
            "pause": self._pause,
            "dump": self._dump,
            "dumps": self._dumps,
        }
        #: Whether the profiler is the script's.
        self.is_done = False

    @property
    def note(self) -> str:
        """What a reader of the profile must know."""
        return HANDED_OVER.format(self._file.name)

    def stand_in(self) -> None:
        """Take the script's calls from now on; where the profiler is the script's, it runs as it did."""
        for name, function in self._stand_ins.items():
            setattr(mx.profiler, name, function)
        if self.is_done and self._is_running:
            original.set_state("run")
            self._follow(True)

    def step_back(self) -> None:
        """Give MXNet's functions back; a profiler that is the script's sees nothing meanwhile."""
        for name in self._stand_ins:
            setattr(mx.profiler, name, getattr(original, name))
        if self.is_done and self._is_running:
            original.set_state("stop")

    def take(self) -> str:
        """Return the records of the script's profiler since the last time, which are in the script's file, too."""
        if self._has_news:  # else MXNet raises
            original.dump(finished=False)
            self._read()
        texts, self._texts = self._texts, []
        return "\n".join(texts)

    def _configure(self, **settings: Any) -> None:
        self._settings = {**settings, "continuous_dump": False}
        self._file, self._written = Path(str(settings.get("filename", DEFAULTS["filename"]))).absolute(), ""
        original.set_config(**self._settings)  # raises for what MXNet refuses
        if not self.is_done:
            configure(self._watched)

    def _configure_by_mode(self, mode: str = "symbolic", filename: str = "profile.json") -> None:
        self._configure(**{f"profile_{mode}": True, "filename": filename})

    def _set_state(self, state: str = "stop", *more: Any, **options: Any) -> None:
        if state == "run":
            self._begin()
        if self.is_done or state != "stop":
            original.set_state(state, *more, **options)
            self._note(state == "run")

    def _pause(self, *more: Any, **options: Any) -> None:
        if self.is_done:
            original.pause(*more, **options)
            self._note(False)

    def _resume(self, *more: Any, **options: Any) -> None:
        if self.is_done:
            original.resume(*more, **options)
            self._note(True)

    def _dump(self, *more: Any, **options: Any) -> None:
        if self._has_news:
            original.dump(*more, **options)
            self._go_on()

    def _dumps(self, *more: Any, **options: Any) -> str:
        self._begin()
        text: str = original.dumps(*more, **options)
        self._go_on()
        return text

    def _go_on(self) -> None:
        """Read what was written; MXNet writes more only after another start."""
        self._read()
        if self._is_running:
            original.set_state("run")
            self._has_news = True

    def _begin(self) -> None:
        """Hand the profiler over, once; what was called before is still opperf's."""
        if not self.is_done:
            mx.nd.waitall()
            self._give_up()
            original.set_config(**self._settings)
            self.is_done = True

    def _note(self, is_running: bool) -> None:
        self._has_news |= is_running
        if is_running != self._is_running:
            self._is_running = is_running
            self._follow(is_running)

    def _read(self) -> None:
        """Take over what has just been written into the script's file."""
        if self._has_news and self._file.exists():
            text = self._file.read_text(errors="replace")
            self._texts.append(text)
            self._written = append(self._written, text)
            self._file.write_text(self._written)
        self._has_news = False


def append(earlier: str, text: str) -> str:
    """Return a document of MXNet's, with the events of an earlier one before its own."""
    parts = [one[one.find("[") + 1 : one.rfind("]")].strip().strip(",").strip() for one in (earlier, text)]
    return text[: text.find("[") + 1] + ", ".join(filter(None, parts)) + text[text.rfind("]") :]
