"""What the trusted side asks of a problem, whichever format it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from opperf.child.judging.problems.functions import Function
from opperf.domain.backend import Backend
from opperf.domain.case import Case, map_tensors
from opperf.domain.problem import Standing
from opperf.domain.tensor import FLOATS, TensorSpec

#: What to do about a package that a problem imports.
MISSING_HINT = "install `{}` beside PyTorch, and name that interpreter: `--environment python=PATH`"


class Problem(Protocol):
    """A reference with its inputs, and how a candidate for it is called.

    `notes` say in words what is other than the problem's files have it: smaller sizes, rewritten devices. A case that
    is asked about may be one of `cases` or `hidden`, the same with other values, or with other floating-point types.
    """

    name: str
    notes: tuple[str, ...]
    #: The timed case in the problem's own words, where it has some.
    workload: Mapping[str, object]

    def cases(self) -> Sequence[Case]:
        """Return the listed sizes; the first is the one that is timed."""

    def hidden(self) -> Sequence[Case]:
        """Return undisclosed sizes near them, by rule."""

    def sizes(self) -> Sequence[Mapping[str, int]]:
        """Return the numbers of each case, listed ones first, where a format has such."""

    def reference(self, case: Case) -> Function:
        """Return the reference, with its weights; in the trusted process alone."""

    def standing(self, case: Case) -> Standing:
        """Return all that the candidate's process has to be told to do the same."""

    def weights(self, case: Case) -> Mapping[str, Any]:
        """Return the weights of the reference by name; none for a function."""

    def mutates(self, case: Case) -> tuple[str, ...]:
        """Return the inputs that a call may write into."""

    def draw(self, case: Case, seed: int) -> Sequence[Any] | None:
        """Return tensors of fresh values as the problem makes them, in the order of inputs.

        None where the case says of each input how it is drawn.
        """


def shapes_key(case: Case) -> str:
    """Return the key of cases of the same shapes and attributes, whatever their values and float types."""

    def change(spec: TensorSpec) -> TensorSpec:
        return TensorSpec(spec.shape, "float32" if spec.is_float else spec.dtype)

    return replace(case, inputs={name: map_tensors(value, change) for name, value in case.inputs.items()}).id


def float_type(case: Case) -> str | None:
    """Return the floating-point type of a case's inputs; None where there is none, or there are several."""
    types = {spec.dtype for spec in case.tensors() if spec.dtype in FLOATS}
    return types.pop() if len(types) == 1 else None


def in_type(tensors: Sequence[Any], problem_case: Case, case: Case, backend: Backend) -> Sequence[Any]:
    """Return the tensors of a listed case in the floating-point type of the one that is asked about."""
    dtype = float_type(case)
    if dtype is None or dtype == float_type(problem_case):
        return tensors
    element = backend.dtype(dtype)
    return [tensor.to(element) if backend.spec(tensor).is_float else tensor for tensor in tensors]
