"""A block of a script that is profiled: `with opperf.profiler.profile() as p:`, then `p.table()`, `p.save(...)`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from opperf.child.profiling.recording import Recording, loaded_frameworks
from opperf.child.profiling.summary import document
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.profile.chrome import save
from opperf.domain.profile.columns import table
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import BY_NAME
from opperf.domain.profile.watching import Watching


class Profiling:
    """Sees the operators that run within its block, of the framework that is named or of all that are imported.

    `memory`, `shapes` (and with them FLOPs where the framework counts them), `stacks`, `modules` and `api` are to be
    seen besides. With a `schedule` only some steps are seen; `step()` says where each ends.

    >>> from opperf.child.backends.null.watcher import span, spend
    >>> with Profiling("null") as p:
    ...     with span("matmul"):
    ...         spend(3000)
    >>> [(event.name, event.duration) for event in p.profile.events]
    [('matmul', 3000)]
    """

    def __init__(
        self,
        framework: str | None = None,
        *,
        memory: bool = False,
        shapes: bool = False,
        stacks: bool = False,
        modules: bool = False,
        api: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        if schedule is not None and not isinstance(schedule, Schedule):
            raise InputError(
                f"`schedule` is {schedule!r}, expected a schedule",
                hint="write `opperf.profiler.schedule(skip=1, active=3)`",
                slug="bad_schedule",
            )
        self._framework = framework
        self._watching = Watching(memory=memory, shapes=shapes, stacks=stacks, modules=modules, api=api)
        self._recording = Recording(self._watching)
        self._schedule = schedule
        self._phase = "off"
        self._step = 0

    def __enter__(self) -> Profiling:
        self._recording.include(*loaded_frameworks(self._framework))
        self._recording.start(paused=True)
        self._step = 0
        try:
            self._turn(self._plan())
        except BaseException:
            self._recording.stop()
            self._phase = "off"
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._turn("off")
        finally:
            self._recording.stop()

    def step(self) -> None:
        """Say that a step of the program ends here."""
        self._recording.step(f"step {self._step}")
        self._step += 1
        self._turn(self._plan())

    def _plan(self) -> str:
        return "on" if self._schedule is None else self._schedule.phase(self._step)

    def _turn(self, phase: str) -> None:
        before, self._phase = self._phase, phase
        if phase == before:
            return
        if before != "off":
            self._recording.pause()
        if before == "warm":
            self._recording.discard()
        elif phase == "warm":  # what comes is thrown away, what was seen is not
            self._recording.collect()
        if phase != "off":
            self._recording.resume()

    @property
    def profile(self) -> Profile:
        """What was seen, span by span."""
        return self._recording.profile()

    def table(self, by: str = BY_NAME, top: int | None = None) -> str:
        """Return a row for each name, shape, module, stack or kernel, at most `top`, as aligned columns."""
        return table(self.profile, by, top)

    def summary(self) -> dict[str, object]:
        """Return calls and times by kind and name, and memory by device, as `get_summary` has them."""
        return document(self.profile, memory=self._watching.memory)

    def save(self, path: str | Path) -> None:
        """Write Chrome trace events, which Perfetto shows and `opperf profile` reads."""
        save(self.profile, Path(path))


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Passes over `skip` steps, then watches `warmup` steps for nothing and `active` ones that count, `repeat` times.

    `repeat=None` goes on to the end. What a profiler sets up at first is seen in the steps that do not count.

    >>> [Schedule(skip=1, warmup=1, active=2).phase(step) for step in range(5)]
    ['off', 'warm', 'on', 'on', 'off']
    """

    skip: int = 0
    warmup: int = 0
    active: int = 1
    repeat: int | None = 1

    def __post_init__(self) -> None:
        for name, least in (("skip", 0), ("warmup", 0), ("active", 1), ("repeat", 1)):
            value = getattr(self, name)
            if value is None and name == "repeat":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(
                    f"`{name}` of a schedule is {value!r}, expected a whole number >= {least}", slug="bad_schedule"
                )

    def phase(self, step: int) -> str:
        """Return whether a step is `off`, `warm` or `on`; steps count from zero."""
        length = self.warmup + self.active
        turn, place = divmod(step - self.skip, length)
        if turn < 0 or (self.repeat is not None and turn >= self.repeat):
            return "off"
        return "warm" if place < self.warmup else "on"
