"""The user's own iterators and data generators, in the child that has their framework: asked for entries and arguments.

Plugins register them when loaded, which happens on demand.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

from opperf.child.worker.code import CodeError, Plugins
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.case import Argument, Case, ListOf, argument_to_json
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Arguments, Descriptions, Entries
from opperf.domain.message.requests import Generate, Iterate
from opperf.domain.registry import MADE_BY, MADE_OF
from opperf.domain.workload import GENERATORS, ITERATORS

#: Entries of one iterator: more than anyone waits for, and an end for one that has none.
MOST_ENTRIES = 100_000


class Workload:
    """Asks what the plugins of a command registered."""

    def __init__(self, backend: Backend, plugins: Plugins) -> None:
        self._backend = backend
        self._plugins = plugins

    def entries(self, request: Iterate) -> Entries:
        """Return the ids and entries that an iterator gives for a part of a config, or what is wrong with it."""
        try:
            self._plugins.load()
            iterate = ITERATORS.find(request.iterator)
            with _one_message(request.iterator):
                steps = iterate(copy.deepcopy(dict(request.config)), request.part, self._backend.side.device)
                pairs = tuple((name, entry) for name, entry in islice(steps, MOST_ENTRIES))
                json.dumps(pairs)  # values that JSON cannot hold fail here
        except InputError as error:
            return Entries(wrong=error.message, hint=error.hint)
        return Entries(pairs)

    def descriptions(self, request: Generate) -> Descriptions:
        """Return how the arguments look that a generator makes of each entry, or what is wrong with it."""
        try:
            return Descriptions(tuple(self._describe(request.generator, entry) for entry in request.entries))
        except (InputError, Unsupported) as error:
            return Descriptions(wrong=getattr(error, "message", str(error)), hint=error.hint)

    def arguments(self, case: Case) -> dict[str, object]:
        """Return the arguments of a case that a generator makes, by name; raises `InputError`."""
        if MADE_BY not in case.attributes:
            return {}
        of = json.loads(str(case.attributes[MADE_OF]))
        args, kwargs = self._data(str(case.attributes[MADE_BY]), of["entry"])
        return {**dict(zip(of["names"], args)), **kwargs}

    def _describe(self, generator: str, entry: Mapping[str, object]) -> Arguments:
        args, kwargs = self._data(generator, entry)
        return Arguments(
            tuple(argument_to_json(self._argument(value, generator)) for value in args),
            {name: argument_to_json(self._argument(value, generator)) for name, value in kwargs.items()},
        )

    def _data(self, generator: str, entry: Mapping[str, object]) -> tuple[Sequence[object], Mapping[str, object]]:
        """Return the data that a generator makes of an entry; raises `InputError`."""
        self._plugins.load()
        generator_class = GENERATORS.find(generator)
        with _one_message(generator):
            args, kwargs = generator_class().get_data(copy.deepcopy(dict(entry)), self._backend.side.device)
            return list(args), dict(kwargs)

    def _argument(self, value: object, generator: str) -> Argument:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return ListOf(tuple(self._argument(item, generator) for item in value))
        if isinstance(value, tuple):
            return tuple(self._argument(item, generator) for item in value)
        if not any(leaf is value for leaf in self._backend.leaves(value)):
            raise CodeError(
                f"`{generator}` made a value of type `{type(value).__name__}`",
                hint=f"tensors of {self._backend.name}, numbers, strings, None, and lists of them",
            )
        spec = self._backend.spec(value)
        # PyTorch's tensors say whether they have a gradient; those of others do not.
        fixed = spec.is_float and getattr(value, "requires_grad", None) is False
        return replace(spec, requires_grad=False if fixed else None)


@contextmanager
def _one_message(name: str) -> Iterator[None]:
    """Make what the user's code raises one message."""
    try:
        yield
    except Exception as error:
        raise CodeError(f"`{name}` raised {type(error).__name__}: {error}") from error
