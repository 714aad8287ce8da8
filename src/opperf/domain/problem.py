"""A problem: what a candidate is held against; and what of it the candidate's own process is told.

The trusted side reads a problem, which is code (`ProblemCode`), and draws inputs for it. The process of a candidate
gets a `Standing` alone: data that says how to build the candidate and how tensors become its arguments. It holds no
source, no expected value and no seed of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Optional, TypeAlias, Union

from opperf.domain.case import Argument, Case, argument_from_json, argument_to_json
from opperf.domain.code import PROBLEM_KINDS, ProblemCode
from opperf.domain.codec import Exact, encode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.judging import ALIGNMENT
from opperf.domain.tensor import TensorSpec
from opperf.domain.type_hint import Form, Natural, OneOf, wrong

#: Trees within trees are read to this depth: no format nests its arguments further.
MOST_LEVELS = 16


@dataclass(frozen=True)
class Slot:
    """The place of a tensor: its number among those that a function is called with."""

    number: int

    def to_json(self) -> object:
        """Return the JSON form."""
        return {"slot": self.number}


@dataclass(frozen=True)
class Constant:
    """A value that is no tensor."""

    value: Argument

    def to_json(self) -> object:
        """Return the JSON form."""
        return {"value": argument_to_json(self.value)}


@dataclass(frozen=True)
class Branch:
    """A list, a tuple, or a dictionary, which has `keys`."""

    kind: str
    items: tuple[Tree, ...]
    keys: tuple[str, ...] = ()

    def to_json(self) -> object:
        """Return the JSON form: of a dictionary its keys and its values.

        >>> Branch("tuple", (Slot(0), Constant(2))).to_json()
        {'tuple': [{'slot': 0}, {'value': 2}]}
        """
        items = [item.to_json() for item in self.items]
        return {"dict": [list(self.keys), items]} if self.kind == "dict" else {self.kind: items}


#: How the arguments of a function are made of tensors and other values.
Tree: TypeAlias = Union[Slot, Constant, Branch]


def tree_from_json(data: object, where: str, levels: int = MOST_LEVELS) -> Tree:
    """Read a tree; raises `InputError` that names the place."""
    if isinstance(data, dict) and len(data) == 1 and levels:
        ((kind, value),) = data.items()
        if kind == "slot" and type(value) is int and value >= 0:
            return Slot(value)
        if kind == "value":
            return Constant(argument_from_json(value, f"{where}.value"))
        keys: object = []
        if kind == "dict" and isinstance(value, list) and len(value) == 2:
            keys, value = value
        if kind in ("list", "tuple", "dict") and isinstance(value, list) and isinstance(keys, list):
            items = tuple(tree_from_json(item, f"{where}.{kind}[{i}]", levels - 1) for i, item in enumerate(value))
            if len(keys) == (len(items) if kind == "dict" else 0) and all(isinstance(key, str) for key in keys):
                return Branch(kind, items, tuple(keys))
    raise wrong(data, where, "a tree of slots and values")


def problem_to_json(problem: ProblemCode) -> object:
    """Return the JSON form of a problem in a request."""
    return {"problem": [problem.kind, problem.path]}


def problem_from_json(data: object, where: str) -> ProblemCode:
    """Read a problem from a request; raises `InputError`."""
    words = data.get("problem") if isinstance(data, dict) and len(data) == 1 else None
    if isinstance(words, list) and len(words) == 2 and words[0] in PROBLEM_KINDS and isinstance(words[1], str):
        return ProblemCode(*words)
    raise wrong(data, where, "a problem")


#: A problem that the user named, in a request of the parent: read of a field of this type alone.
OwnProblem: TypeAlias = Annotated[ProblemCode, Form("a problem", problem_to_json, problem_from_json)]
#: A tree in a message.
SentTree: TypeAlias = Annotated[Tree, Form("a tree of slots and values", encode, tree_from_json)]


@dataclass(frozen=True)
class Standing(Exact):
    """What the process of a candidate is told: how it is built, and how the tensors of a case become its arguments.

    `build` are the arguments of its constructor, None for a function. `mutates` are the tensors that a call may write
    into. `results` are those that it writes into, for a candidate that
    takes those behind its arguments. `seed` is that of the framework's generator while it is built. `dtype` is the type
    of the floating-point inputs where it is not the listed one: a module gets weights of the same. `sizes` are numbers
    that the problem's module assigns, as it has them and as they were scaled: a candidate whose own module assigns the
    same gets the scaled ones. `weights` are those of the reference, in the order in which they lie in memory.
    """

    kind: Annotated[str, OneOf(PROBLEM_KINDS)]
    arguments: tuple[SentTree, ...]
    keywords: Mapping[str, SentTree] = field(default_factory=dict)
    build: Optional[tuple[SentTree, ...]] = None
    results: tuple[TensorSpec, ...] = ()
    seed: Natural = 0
    dtype: Optional[str] = None
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    weights: Mapping[str, TensorSpec] = field(default_factory=dict)
    mutates: tuple[str, ...] = ()


class WrongWeights(InputError):
    """A candidate does not take the weights of the reference."""


def weight_places(weights: Mapping[str, TensorSpec]) -> tuple[dict[str, int], int]:
    """Return where each weight begins in their memory, in bytes, and the bytes that all of them take.

    >>> weight_places({"a": TensorSpec((3,)), "b": TensorSpec((2,))})
    ({'a': 0, 'b': 64}, 128)
    """
    places, end = {}, 0
    for name, spec in weights.items():
        places[name] = end
        end += -(-spec.nbytes // ALIGNMENT) * ALIGNMENT
    return places, end


@dataclass(frozen=True)
class OpenedProblem(Exact):
    """A problem that was looked into: its listed cases, of which the first is timed, and the undisclosed ones.

    `notes` say in words what is other than the problem's files have it, for a `budget` of bytes. `sizes` are the
    numbers of each case, listed ones first, where a format has such; who opens it again with them need not look for
    them. `workload` is what the timed case is called in the problem's own files, as an object of JSON.
    """

    problem: OwnProblem
    budget: int
    cases: tuple[Case, ...]
    hidden: tuple[Case, ...]
    notes: tuple[str, ...] = ()
    sizes: tuple[Mapping[str, int], ...] = ()
    workload: Mapping[str, object] = field(default_factory=dict)
