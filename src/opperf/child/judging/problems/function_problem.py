"""A problem whose reference is a function: all but those with models.

A format says which cases there are, how their tensors become arguments, and how fresh values of them are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems import functions
from opperf.child.judging.problems.functions import Function
from opperf.child.judging.problems.problem import in_type, shapes_key
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.problem import Standing, Tree
from opperf.domain.tensor import TensorSpec

#: Draws the tensors of a case for a seed.
Draw = Callable[[int], Sequence[Any]]


@dataclass(frozen=True)
class Entry:
    """A case, and how a call of it is made. `draw` is None where the case says how each input is drawn.

    `results` are those that a candidate may be given to write into, `outputs` the inputs that are there to be written.
    `workload` is what the format itself says of it.
    """

    case: Case
    arguments: tuple[Tree, ...]
    keywords: Mapping[str, Tree] = field(default_factory=dict)
    draw: Draw | None = None
    results: tuple[TensorSpec, ...] = ()
    outputs: tuple[str, ...] = ()
    workload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Form:
    """A format by its kind, and the function that is the reference."""

    kind: str
    reference: Callable[..., Any]


class FunctionProblem:
    """A function with listed cases, and a rule for those that are not."""

    def __init__(
        self,
        name: str,
        backend: Backend,
        form: Form,
        entries: Sequence[Entry],
        neighbours: Callable[[], Sequence[Entry]],
        notes: Sequence[str] = (),
    ) -> None:
        """Take the cases; `neighbours` are asked for once, when they are needed."""
        self.name, self.notes, self.workload = name, tuple(notes), entries[0].workload
        self._backend, self._form = backend, form
        self._main_entries, self._neighbours = entries, neighbours

    def cases(self) -> Sequence[Case]:
        """Return the listed cases."""
        return [entry.case for entry in self._main_entries]

    def hidden(self) -> Sequence[Case]:
        """Return the others."""
        return [entry.case for entry in self._hidden]

    def sizes(self) -> Sequence[Mapping[str, int]]:
        """Return none: cases of functions are told by their shapes."""
        return ()

    def reference(self, case: Case) -> Function:
        """Return the reference."""
        entry = self._of(case)
        return Function(functions.bind(self._form.reference, entry.arguments, entry.keywords, self._backend))

    def standing(self, case: Case) -> Standing:
        """Return how it is called."""
        entry = self._of(case)
        return Standing(
            self._form.kind, entry.arguments, entry.keywords, results=entry.results, mutates=self.mutates(case)
        )

    def weights(self, case: Case) -> Mapping[str, Any]:  # as of every problem
        """Return none."""
        return {}

    def mutates(self, case: Case) -> tuple[str, ...]:
        """Return the inputs that wait for a result."""
        return self._of(case).outputs

    def draw(self, case: Case, seed: int) -> Sequence[Any] | None:
        """Return tensors of fresh values, where the case does not say how they are drawn."""
        entry = self._of(case)
        if entry.draw is None:
            return None
        with backends.problem_tools(self._backend.name).seeded(seed):
            return in_type(entry.draw(seed), entry.case, case, self._backend)

    def _of(self, case: Case) -> Entry:
        return self._entries.get(shapes_key(case)) or self._all_entries[shapes_key(case)]

    @cached_property
    def _hidden(self) -> Sequence[Entry]:
        return self._neighbours()

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        return {shapes_key(entry.case): entry for entry in self._main_entries}

    @cached_property
    def _all_entries(self) -> Mapping[str, Entry]:
        return {**self._entries, **{shapes_key(entry.case): entry for entry in self._hidden}}
