"""The user's own iterators and data generators in a plan: what they make of a config, asked of the child that has them.

An iterator's entries are checked as those of a file are. What a generator makes is described in the case, and made anew
where it is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from opperf.catalog.param.cases import check, entry_of, named_specs
from opperf.catalog.param.config import ConfiguredOperator, Entry, GeneratedArguments, Spec, Way
from opperf.catalog.param.document import read_spec
from opperf.catalog.param.grammar import CONFIG_KEYS
from opperf.catalog.param.problems import Problems, key
from opperf.domain.case import Argument, argument_from_json
from opperf.domain.files.json_text import show
from opperf.domain.message.replies import Arguments, Descriptions, Entries
from opperf.domain.message.requests import Generate, Iterate, R, Request


class Ask(Protocol):
    """Has a child iterate or generate."""

    def __call__(self, request: Request[R], /) -> R:
        """Return the reply."""


def settle(operator: ConfiguredOperator, ask: Ask, problems: Problems) -> ConfiguredOperator:
    """Return an operator of a config of which nothing is left to the user's own code; `problems` take what is wrong."""
    if operator.is_settled:
        return operator
    settling = _Settling(ask, problems)
    before = len(problems.mistakes)
    places = (f"{operator.place}.config[{i}]" for i in range(len(operator.entries)))
    result = replace(operator, entries=tuple(map(settling.entry, operator.entries, places)))
    if len(problems.mistakes) == before:
        check(result, problems)
    return result


@dataclass(frozen=True)
class _Settling:
    ask: Ask
    problems: Problems

    def entry(self, entry: Entry, place: str) -> Entry:
        """Return an entry with what its ways make of it."""
        parts: list[tuple[tuple[Spec, ...], bool]] = []
        for part, specs, way, swept in zip(CONFIG_KEYS, (entry.builds, entry.inputs), entry.ways, entry.swept):
            inside, specs_here = key(place, part), specs or ()
            if way.iterator is not None and part in entry.given:
                specs_here, swept = self._go_through(entry.given, part, way, inside), False
            if way.generator is not None and specs_here:
                specs_here, swept = self._made(specs_here, way.generator, inside, swept=swept), False
            parts.append((specs_here, swept))
        (builds, builds_swept), (inputs, inputs_swept) = parts
        return Entry(builds or None, inputs, (builds_swept, inputs_swept))

    def _go_through(self, given: Mapping[str, object], part: str, way: Way, place: str) -> tuple[Spec, ...]:
        """Return the entries that an iterator gives, each with its id."""
        answer = self.ask(Iterate(str(way.iterator), given, part))
        if self._is_right(answer, place) and not answer.entries:
            self.problems.add(place, f"`{way.iterator}` gave no entry")
        specs = []
        for i, (name, entry) in enumerate(answer.entries):
            inside = f"{place}, step {i} of `{way.iterator}`"
            if not isinstance(name, (str, int)):
                self.problems.add(inside, f"found {show(name)}, expected an id: a number or a short name")
                continue
            fields = {**entry, "id": str(name)} if isinstance(entry, dict) else entry
            specs.append(read_spec(fields, inside, self.problems, sweeps=False, way=way))
        return tuple(specs)

    def _made(self, specs: Sequence[Spec], generator: str, place: str, *, swept: bool) -> tuple[Spec, ...]:
        """Return entries with descriptions of what a generator makes of them."""
        plain = [(spec.id or str(i), spec) for i, spec in enumerate(specs)]
        named = list(named_specs(specs, swept=True)) if swept else plain
        answer = self.ask(Generate(generator, tuple(entry_of(spec) for _, spec in named)))
        self._is_right(answer, place)
        return tuple(
            replace(spec, id=name, described=GeneratedArguments(generator, *_arguments(arguments, place)))
            for (name, spec), arguments in zip(named, answer.described)
        )

    def _is_right(self, answer: Entries | Descriptions, place: str) -> bool:
        if answer.wrong is not None:
            self.problems.add(place, answer.wrong, answer.hint)
        return answer.wrong is None


def _arguments(arguments: Arguments, place: str) -> tuple[tuple[Argument, ...], Mapping[str, Argument]]:
    """Return the arguments of a description by place and by name."""
    args = tuple(argument_from_json(value, place) for value in arguments.args)
    return args, {name: argument_from_json(value, place) for name, value in arguments.kwargs.items()}
