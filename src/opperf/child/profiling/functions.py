"""The profiler as functions with MXNet's names: one for the whole script, in any framework.

A script of MXNet alone has MXNet's own profiler below them, which is configured and answers as it always did; any
other has opperf's recording.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from opperf.child.profiling.recording import Recording, loaded_frameworks
from opperf.child.profiling.summary import document
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, ProfilerError, check_known, unknown
from opperf.domain.profile.chrome import save
from opperf.domain.profile.columns import table
from opperf.domain.profile.watching import Watching

#: The default file of `dump`, named as in MXNet.
FILENAME = "profile.json"


class ScriptProfiler:
    """Starts, stops and reports as MXNet's functions do, but refuses what makes no sense."""

    def __init__(self, framework: str | None, watching: Watching, filename: str | None) -> None:
        self._framework = framework
        self._watching = watching
        self._path = Path(filename or FILENAME).absolute()
        self._recording = Recording(watching)

    @property
    def idle(self) -> bool:
        """Whether it may be configured now."""
        return self._recording.state == "stopped"

    def set_state(self, state: str, *more: object, **options: object) -> None:
        """Start (`run`) or stop."""
        _refuse(more, options)
        check_known("state", state, ("run", "stop"))
        if state == "stop":
            self._recording.stop()
        else:
            self._recording.include(*loaded_frameworks(self._framework))
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
        check_known("format", format, ("table", "json"))
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
    """Refuse what only MXNet's profiler takes; raises `InputError`. `worker` is allowed."""
    names = {*more, *options.values()} - {"worker"}
    if names:
        raise InputError(
            f"only MXNet's own profiler supports {', '.join(repr(value) for value in names)}",
            slug="unknown_setting",
        )


class Functions(Protocol):
    """What stands below the functions; `more` and `options` are of MXNet's own profiler."""

    @property
    def idle(self) -> bool:
        """Whether it may be configured now."""

    def set_state(self, state: str, *more: object, **options: object) -> None:
        """Start or stop."""

    def pause(self, *more: object, **options: object) -> None:
        """See nothing until `resume`."""

    def resume(self, *more: object, **options: object) -> None:
        """See again."""

    def dumps(self, reset: bool, format: str, *more: object, **options: object) -> str:
        """Return the recording as text."""

    def dump(self, *more: object, **options: object) -> None:
        """Write what was seen."""

    def get_summary(self, reset: bool) -> str:
        """Return the recording as JSON text."""

    def reset(self) -> None:
        """Forget what was seen."""


@dataclass(frozen=True)
class Config:
    """What `set_config` was given; `settings` are those of MXNet's profiler, None before it was called."""

    framework: str | None = None
    settings: Mapping[str, object] | None = None
    shapes: bool = False
    stacks: bool = False
    modules: bool = False


_config = Config()
_one: Functions | None = None


def set_config(
    *,
    profile_all: bool | None = None,
    profile_symbolic: bool | None = None,
    profile_imperative: bool | None = None,
    profile_memory: bool | None = None,
    profile_api: bool | None = None,
    aggregate_stats: bool | None = None,
    filename: str | None = None,
    framework: str | None = None,
    shapes: bool = False,
    stacks: bool = False,
    modules: bool = False,
    **mxnet: object,
) -> None:
    """Say what is to be seen, and forget what was.

    The words are those of `mxnet.profiler.set_config`; operators are seen unless only others of them are named, and
    their statistics are always there. `framework` watches one of several that are imported. `filename` is where `dump`
    writes to. Other settings are MXNet's own.
    """
    global _config, _one
    if _one is not None and not _one.idle:
        raise ProfilerError(
            "the profiler is not stopped, so it cannot be configured",
            hint="`set_state('stop')` first",
            slug="profiler_running",
        )
    options = {
        "profile_all": profile_all,
        "profile_symbolic": profile_symbolic,
        "profile_imperative": profile_imperative,
        "profile_memory": profile_memory,
        "profile_api": profile_api,
        "aggregate_stats": aggregate_stats,
        "filename": filename,
        **mxnet,
    }
    settings = {name: value for name, value in options.items() if value is not None}
    _config, _one = Config(framework, settings, shapes, stacks, modules), None
    with suppress(ProfilerError):  # nothing is imported yet; then it is chosen when it is started
        _choose()


def set_state(state: str = "stop", *more: object, **options: object) -> None:
    """Start the profiler (`run`) or stop it, after waiting for outstanding work."""
    _choose().set_state(state, *more, **options)


def pause(*more: object, **options: object) -> None:
    """See nothing until `resume`."""
    _choose().pause(*more, **options)


def resume(*more: object, **options: object) -> None:
    """See again."""
    _choose().resume(*more, **options)


def dumps(reset: bool = False, format: str = "table", *more: object, **options: object) -> str:
    """Return the recording since the last reset as a `table` or as `json`."""
    return _choose().dumps(reset, format, *more, **options)


def dump(*more: object, **options: object) -> None:
    """Write what was seen into the file of `set_config`, as Chrome trace events."""
    _choose().dump(*more, **options)


def get_summary(reset: bool = False) -> str:
    """Return as JSON text what was seen since the last reset: times in milliseconds, and bytes by device.

    With `reset`, the next summary starts from zero.
    """
    return _choose().get_summary(reset)


def reset() -> None:
    """Forget what was seen until now."""
    _choose().reset()


def _choose() -> Functions:
    """Return the profiler behind the functions; raises `ProfilerError` while no framework is imported."""
    global _one
    if _one is None:
        _one = _functions(_config)
    return _one


def _functions(config: Config) -> Functions:
    settings = config.settings or {}
    if loaded_frameworks(config.framework) == ("mxnet",):
        if config.shapes or config.stacks or config.modules:
            raise InputError(
                "MXNet's own profiler records no shapes, stacks or modules",
                hint='`with opperf.profiler.profile("mxnet", ...)` may',
                slug="unknown_setting",
            )
        from opperf.child.profiling.of_mxnet import OfMxnet  # imports MXNet

        return OfMxnet(config.settings)
    names = ("profile_all", "profile_symbolic", "profile_imperative", "profile_memory", "profile_api")
    everywhere = (*names, "aggregate_stats", "filename", "profile_process")
    for name in settings:
        if name not in everywhere:
            hint = "`continuous_dump` and the like are supported by MXNet's own profiler only"
            raise unknown("setting", name, everywhere, hint=hint)
    every, symbolic, imperative, memory, api = (bool(settings.get(name)) for name in names)
    watching = Watching(
        memory=every or memory,
        api=every or api,
        imperative=every or imperative or not symbolic,
        symbolic=every or symbolic or not imperative,
        shapes=config.shapes,
        stacks=config.stacks,
        modules=config.modules,
    )
    return ScriptProfiler(config.framework, watching, None if (file := settings.get("filename")) is None else str(file))
