"""The requests of a judge, answered in one child: by a stand, or by the examiner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opperf.child.judging.slots import mapping
from opperf.child.judging.stand import Stand
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend
from opperf.domain.message import replies, requests
from opperf.domain.message.requests import JudgingRequest, R
from opperf.domain.problem import Standing

if TYPE_CHECKING:
    from opperf.child.judging.problems.posing import Posed


class Desk:
    """Answers what is asked of a child that stands, or examines."""

    def __init__(self, backend: Backend, names: Names) -> None:
        self._backend, self._names = backend, names
        self._stand: Stand | None = None
        self._examiner: Any = None
        self._memory: tuple[memoryview, memoryview] | None = None
        #: How many inputs an element of the result depends on, of each case that was looked at.
        self._terms: dict[str, float] = {}
        #: The problem that is examined, and the memory for its weights.
        self._posed: Posed | None = None
        self._weights: memoryview | None = None

    def answer(self, request: JudgingRequest[R]) -> R:
        """Return the reply to a request; raises what the candidate or the reference raises."""
        return self._answer(request)  # type: ignore[no-any-return]  # of the request's own type

    def _answer(self, request: object) -> Any:
        if isinstance(request, requests.Stand):
            self._stand = None  # what goes with it leaves its ids to the new one's tensors
            self._stand = Stand(self._backend, self._names, request)
            return replies.Agreement()
        if isinstance(request, requests.Examine):
            from opperf.child.judging.examiner import Examiner  # it needs NumPy, which no candidate waits for

            if self._memory is None:  # nobody can map it for writing when it is sealed
                self._memory = mapping(request.inputs, writable=True), mapping(request.results)
            names, make = (self._names, None) if self._posed is None else (self._posed, self._posed.draw)
            self._examiner = Examiner(self._backend, names, request, *self._memory, self._terms, make)
            return self._examiner.outlines
        if isinstance(request, requests.OpenProblem):
            from opperf.child.judging.problems import look_into

            return look_into(request.problem, self._names.folder, self._backend, request.budget)
        if isinstance(request, requests.Pose):
            return self._pose(request)
        if isinstance(request, (requests.Draw, requests.Inspect)):
            return self._examiner.answer(request)
        if isinstance(request, requests.TryDummies):
            return self._examiner.try_dummies()
        if self._stand is None:
            raise ValueError("nothing stands here yet")
        if isinstance(request, requests.Go):
            return self._stand.go()
        if isinstance(request, requests.LineUp):
            return self._stand.line_up(request)
        return self._stand.outline()

    def _pose(self, request: requests.Pose) -> Standing:
        """Return the message to stands about a case."""
        if self._posed is None or self._weights is None:
            from opperf.child.judging.problems import open_problem
            from opperf.child.judging.problems.posing import Posed

            opened = request.opened
            problem = open_problem(opened.problem, self._names.folder, self._backend, opened.budget, opened.sizes)
            self._posed, self._weights = Posed(problem, self._backend), mapping(request.weights, writable=True)
        return self._posed.standing(request.case, self._weights)
