"""PARAM's configs in a plan: which framework measures which of their cases, and which operators it does not have.

The child that has the user's iterators and data generators expands a config with them. An iterator's
entries are checked as those of a file are. What a generator makes is described in the case, and made anew where it is
measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from opperf.domain.case import Argument, argument_from_json
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import show
from opperf.domain.message import replies
from opperf.domain.message.replies import Arguments, Descriptions, Entries
from opperf.domain.message.requests import Ask, Generate, Iterate
from opperf.param.cases import ConfigCase, cases, check, named_specs
from opperf.param.config import ConfiguredOperator, Entry, GeneratedArguments, ParamConfig, Spec, Way
from opperf.param.document import read_spec
from opperf.param.grammar import CONFIG_KEYS
from opperf.param.names import Meaning
from opperf.param.problems import Problems, key, refuse
from opperf.param.sweeps import entry_of


def settle(operator: ConfiguredOperator, ask: Ask, problems: Problems) -> ConfiguredOperator:
    """Return an operator of a config of which nothing is left to the user's own code; `problems` take what is wrong."""
    if operator.is_complete:
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
        """Return an entry expanded by its iterators and generators."""
        parts: list[tuple[tuple[Spec, ...], bool]] = []
        for part, specs, way, swept in zip(CONFIG_KEYS, (entry.builds, entry.inputs), entry.ways, entry.swept):
            inside, expanded = key(place, part), specs or ()
            if way.iterator is not None and part in entry.raw:
                expanded, swept = self._go_through(entry.raw, part, way, inside), False
            if way.generator is not None and expanded:
                expanded, swept = self._describe(expanded, way.generator, inside, swept=swept), False
            parts.append((expanded, swept))
        (builds, builds_swept), (inputs, inputs_swept) = parts
        return Entry(builds or None, inputs, (builds_swept, inputs_swept), raw=entry.raw)

    def _go_through(self, raw: Mapping[str, object], part: str, way: Way, place: str) -> tuple[Spec, ...]:
        """Return the entries that an iterator gives, each with its id."""
        answer = self.ask(Iterate(str(way.iterator), raw, part))
        if self._is_right(answer, place) and not answer.entries:
            self.problems.add(place, f"`{way.iterator}` yielded no entry")
        specs = []
        for i, (name, entry) in enumerate(answer.entries):
            inside = f"{place}, step {i} of `{way.iterator}`"
            if not isinstance(name, (str, int)):
                self.problems.add(inside, f"found {show(name)}, expected an id: a number or a short name")
                continue
            fields = {**entry, "id": str(name)} if isinstance(entry, dict) else entry
            spec = read_spec(fields, inside, self.problems, sweeps=False, way=way)
            specs.append(replace(spec, raw=entry) if isinstance(entry, dict) else spec)
        return tuple(specs)

    def _describe(self, specs: Sequence[Spec], generator: str, place: str, *, swept: bool) -> tuple[Spec, ...]:
        """Return entries with descriptions of the arguments that a generator makes."""
        plain = [(spec.id or str(i), spec) for i, spec in enumerate(specs)]
        specs_by_name = list(named_specs(specs, swept=True)) if swept else plain
        answer = self.ask(Generate(generator, tuple(entry_of(spec) for _, spec in specs_by_name)))
        self._is_right(answer, place)
        return tuple(
            replace(spec, id=name, described=GeneratedArguments(generator, *_arguments(arguments, place)))
            for (name, spec), arguments in zip(specs_by_name, answer.described)
        )

    def _is_right(self, answer: Entries | Descriptions, place: str) -> bool:
        if answer.wrong is not None:
            self.problems.add(place, answer.wrong, answer.hint)
        return answer.wrong is None


def _arguments(arguments: Arguments, place: str) -> tuple[tuple[Argument, ...], Mapping[str, Argument]]:
    """Return the arguments of a description by place and by name."""
    args = tuple(argument_from_json(value, place) for value in arguments.args)
    return args, {name: argument_from_json(value, place) for name, value in arguments.kwargs.items()}


#: What a neutral operator of a config is measured on where no framework is named: the one that PARAM is for.
USUAL = "torch"
#: How an origin begins that is a run id of a config.
ORIGIN = "config:"


def configured_frameworks(configs: Sequence[ParamConfig], *, explicit: bool) -> list[str]:
    """Return the frameworks of the operators in configs; neutral ones have one unless `explicit`."""
    frameworks = [operator.meaning.framework for config in configs for operator in config.operators]
    return [framework or USUAL for framework in frameworks if framework is not None or not explicit]


def unknown_operators(config: ParamConfig, framework: str, describe: Callable[[str], replies.Meaning]) -> Problems:
    """Return the operators of a config that a framework does not have; `describe` says what a path means there."""
    problems = Problems()
    for operator in config.operators:
        meaning = operator.meaning
        if meaning.framework != framework or meaning.certain:
            continue
        meaning_there = describe(meaning.path)
        if meaning_there.path is None and meaning_there.operator is None:
            near = meaning_there.near
            names = [name if framework == USUAL else f"{framework}:{name}" for name in near]
            problems.no_such(operator.place, "operator", operator.name, names)
    return problems


def config_cases(
    configs: Sequence[ParamConfig], framework: str, seed: int, describe: Callable[[str], replies.Meaning], ask: Ask
) -> Iterator[ConfigCase]:
    """Yield the cases of configs that one framework measures, each once, with all of its run ids.

    `ask` has the framework's child do what is left to the user's own code. Raises `InputError` with every operator that
    the framework does not have, and with everything that is wrong in what that code made.
    """
    cases_by_meaning: dict[tuple[str, Meaning], list[ConfigCase]] = {}
    for config in configs:
        unknown = unknown_operators(config, framework, describe)
        if not config.lenient:
            refuse(str(config.path), unknown.mistakes)
        problems, nowhere = Problems(), {problem.place for problem in unknown.mistakes}
        mine = [
            one for one in config.operators if one.meaning.framework in (None, framework) and one.place not in nowhere
        ]
        whole = replace(config, operators=tuple(settle(one, ask, problems) for one in mine))
        refuse(str(config.path), problems.mistakes)
        for case in cases(whole, seed):
            cases_by_meaning.setdefault((case.case.id, case.meaning), []).append(case)
    for several in cases_by_meaning.values():
        yield replace(several[0], run_id=", ".join(case.run_id for case in several))
