"""The bench: the examiner, and the memory that it shares with the stands of a reference and its candidates."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from opperf.domain.case import Case
from opperf.domain.code import Code, ProblemCode
from opperf.domain.errors import HarnessError, OpperfError
from opperf.domain.judging import Geometry, area_size, geometry, tensors
from opperf.domain.message.replies import Inspection, Outlined
from opperf.domain.message.requests import Draw, Examine, Inspect, Pose, R, Request, TryDummies
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.problem import OpenedProblem, Standing
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.measuring.judge.problems import WEIGHT_BYTES, hidden_files, readable_files
from opperf.parent.measuring.judge.seat import Seat, Turned
from opperf.parent.measuring.judge.stands import Stands
from opperf.parent.workers.area import Area
from opperf.parent.workers.claims import claim
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.pair_cpus import starting_cpus
from opperf.parent.workers.process import Launch
from opperf.parent.workers.room import Room, belongings, probe, room_of, under
from opperf.parent.workers.source import Source, share_import
from opperf.parent.workers.starting import start

#: Bytes that the slots of a case may take; a case that is larger gets as few as two.
SLOT_BYTES = 1 << 26
#: Bytes of one result at most. Pages that nobody touches cost nothing.
RESULT_BYTES = 1 << 33
#: Slots of a case that is only checked.
FEW_SLOTS = 4


class Bench:
    """Where the cases of one problem are laid out; `trial` is the reference at the size that is timed."""

    def __init__(
        self,
        trial: Trial,
        settings: Settings,
        note: Callable[[str], None],
        *,
        plugins: Sequence[Path] = (),
        confined: bool = True,
        constant: Sequence[str] = (),
        cpus: tuple[int, ...] | None = None,
        problem: OpenedProblem | None = None,
    ) -> None:
        """Start the examiner; raises `OpperfError` where it does not start, or the reference fails.

        Raises it too where another command measures on the same device. The `constant` inputs have values of their own
        each time that a case is laid out, the same in all slots.
        """
        self.trial, self._settings, self._note = trial, settings, note
        self._plugins, self._cpus, self.constant, self.problem = plugins, cpus, tuple(constant), problem
        #: What stands are told of the case of a problem.
        self.standing: Standing | None = None
        self.case = trial.case
        #: Whether the candidate wants inputs that it may write, when it is timed.
        self.writable = False
        environment = EnvironmentSpec.parse(trial.side.environment)
        self._python = interpreter(environment, framework=trial.side.framework, progress=note)
        self._open = ExitStack()
        self.stands = Stands(self._seat, self._key)
        #: The CPUs beside those where stands stay, on which imports run; every other one, where each stand imports.
        self._beside = starting_cpus(trial.side, trial.side, settings.cpus)
        self._apart = itertools.cycle([self._beside, None])
        #: What imports for stands, once they have rooms in which none can reach it.
        self._source: Source | None = None
        try:
            claim([trial.side], shared=settings.share_device, note=note)
            self._inputs = Area("inputs", area_size(trial.case, SLOT_BYTES, self.constant))
            self._open.callback(self._inputs.close)
            self._copies = Area("results", RESULT_BYTES)
            self._open.callback(self._copies.close)
            self._copied = self._copies.map()
            # Program and device are the candidate's affair: what is right does not depend on them.
            side = replace(trial.side, mode="eager", device="cpu")
            self._weights = Area("weights", WEIGHT_BYTES if problem else 0)
            self._open.callback(self._weights.close)
            files = (self._inputs.descriptor, self._copies.descriptor, self._weights.descriptor)
            self._examiner, _ = start(side, Launch(plugins=plugins, files=files), progress=note, sharing=3, greet=False)
            self._open.callback(self._examiner.close)
            # It imports while a room is tried out, and then beside the first stand of the reference. That loads what it
            # will call only when all is sealed.
            #: What confines stands, by name.
            self.room = probe(self._room(trial.side)) if confined else ()
            self._open.callback(self.stands.close)
            self._open.callback(self._end_source)  # before them: none waits then for an import
            self.stands.prepare([trial.side])
            self._examiner.greet()
            self.lay(trial.case, FEW_SLOTS)
            self._inputs.seal()
            self._weights.seal()
        except BaseException:
            self._open.close()
            raise

    def lay(self, case: Case, slots: int, kind: str = "plain") -> tuple[Outlined, ...]:
        """Lay out a case in up to so many slots, and return how the reference's results lie.

        What is constant is of this kind. Raises `OperatorFailure` where the reference fails at it.
        """
        if self.problem is not None and (self.standing is None or case != self.case):
            pose = Pose(self.problem, case, self._weights.descriptor)
            self.standing = self._examiner.ask(pose, self._settings.timeout)
        self.case = case
        self.geometry: Geometry = geometry(case, SLOT_BYTES, slots, self.constant)
        trial = replace(self.trial, case=case, side=replace(self.trial.side, mode="eager", device="cpu"))
        request = Examine(trial, self.geometry, self._inputs.descriptor, self._copies.descriptor, kind)
        self.outlines = self._examiner.ask(request, self._settings.timeout).tensors
        return self.outlines

    def _seat(self, side: Side) -> Seat:
        """Start a stand for a side; it imports on the CPUs where it stays, or on those beside."""
        source = self._living_source()
        starting = next(self._apart) if source is None else self._beside
        return Seat(
            replace(self.trial, side=side),
            self._inputs,
            self._settings.timeout,
            briefing=self._brief,
            weights=self._weights,
            cpus=self._cpus,
            launch=Launch(
                starting or self._cpus,
                plugins=self._plugins,
                under=under(self._room(side, starting), self.room) if self.room else (),
                source=source,
                sharers=2,
            ),
        )

    def _living_source(self) -> Source | None:
        """Find the source that stands are forked from, or begin one; None where each stand imports for itself.

        Only a room with namespaces keeps a stand from others of the same source, and holds what loses its parent.
        """
        if "namespaces" not in self.room or not share_import(self.trial.side, self.trial.side):
            return None
        if self._source is None or not self._source.alive:
            self._source = Source(most=None)
        return self._source

    def import_anew(self) -> None:
        """Have stands that start from now on forked from another import, whose memory lies elsewhere."""
        if self._source is not None:
            self._source.retire()
        self._source = None

    def _end_source(self) -> None:
        if self._source is not None:
            self._source.close()

    def _brief(self) -> Standing | None:
        return self.standing

    def _key(self, side: Side) -> tuple[Path, ...]:
        """Return the key of the stand of a side: the files that it may read."""
        return tuple(_files(side)) if self.room else ()

    def _room(self, side: Side, starting: tuple[int, ...] | None = None) -> Room:
        """Return the room of a stand: it has its own code, and a candidate's has none of the reference's.

        Nobody in it chooses the CPUs that it starts on, so they are those of the room.
        """
        files, reference = _files(side), self.trial.side
        problem = reference.implementation
        others = hidden_files(problem) if isinstance(problem, ProblemCode) else _files(reference)
        hidden = [] if side == reference else [file for file in others if file not in files]
        return room_of(self._python, [*map(belongings, files), *self._plugins], hidden, cpus=starting or self._cpus)

    def draw(self, slots: Sequence[int], kinds: Sequence[str]) -> None:
        """Write values that nobody has seen into slots, while every stand is asleep."""
        self._ask(Draw(tuple(slots), tuple(kinds)))

    def fault(self) -> str:
        """Return why the case that is laid out tells nothing of a candidate; empty where it does."""
        passing = self._examiner.ask(TryDummies(), self._settings.timeout)
        if not passing.steady:
            return "the reference returns another result each time"
        if not passing.alike:
            return "the shape of what the reference returns depends on the values, and results are read by one shape"
        names = " and ".join(passing.dummies)
        return f"what nobody has computed would pass for right: {names}" if names else ""

    def inspect(self, seat: Seat, turned: Turned, place: int, slot: int) -> Inspection:
        """Compare the result of one call of a turn with what the reference makes of its slot."""
        seat.copy(turned, place, self._copied)
        return self._ask(Inspect(slot, seat.outlines))

    def _ask(self, request: Request[R]) -> R:
        """Ask the examiner; what goes wrong in it is no candidate's fault."""
        try:
            return self._examiner.ask(request, self._settings.timeout)
        except OpperfError as error:
            raise HarnessError(f"the examiner failed: {error.message}", hint=error.hint, slug="examiner") from error

    @property
    def alive(self) -> bool:
        """Whether the examiner can be asked."""
        return self._examiner.alive

    def interrupt(self) -> None:
        """Kill all children from another thread; whoever waits for one learns of its end."""
        self.stands.interrupt()
        self._examiner.interrupt()

    @property
    def facts(self) -> Mapping[str, object]:
        """What the examiner says of its framework."""
        return self._examiner.facts

    @property
    def input_bytes(self) -> int:
        """The bytes of the inputs of one call."""
        return sum(spec.nbytes for _, spec in tensors(self.case))

    def close(self) -> None:
        """End the examiner, and let go of the memory."""
        self._open.close()


def _files(side: Side) -> list[Path]:
    """Return the file that a side's own code is in, where the name tells it; of a module it is the package here."""
    if isinstance(side.implementation, ProblemCode):
        return readable_files(side.implementation)
    if not isinstance(side.implementation, Code):
        return []
    place = side.implementation.name.rpartition(":")[0]
    if place.endswith((".py", ".json")):
        return [Path(place)]
    top = Path(place.partition(".")[0])
    return [path for path in (top, top.with_suffix(".py")) if path.exists()]
