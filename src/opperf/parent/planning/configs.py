"""PARAM's configs in a plan: which framework measures which of their cases, and which operators it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opperf.catalog.param.cases import ConfigCase, cases
from opperf.catalog.param.config import ParamConfig
from opperf.catalog.param.names import Meaning
from opperf.catalog.param.problems import Problems, refuse
from opperf.domain.message import replies
from opperf.parent.planning.workloads import Ask, settle

#: What a neutral operator of a config is measured on where no framework is named: the one that PARAM is for.
USUAL = "torch"
#: How an origin begins that is a run id of a config.
ORIGIN = "config:"


def configured_frameworks(configs: Sequence[ParamConfig], *, named: bool) -> list[str]:
    """Return the frameworks of the operators in configs; neutral ones have one only where none is `named`."""
    frameworks = [operator.meaning.framework for config in configs for operator in config.operators]
    return [framework or USUAL for framework in frameworks if framework is not None or not named]


def unknown_operators(config: ParamConfig, framework: str, describe: Callable[[str], replies.Meaning]) -> Problems:
    """Return the operators of a config that a framework does not have; `known` says what a path means there."""
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


def configured(
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
        for made in cases(whole, seed):
            cases_by_meaning.setdefault((made.case.id, made.meaning), []).append(made)
    for several in cases_by_meaning.values():
        yield replace(several[0], run_id=", ".join(made.run_id for made in several))
