"""How the arguments of an entry are made, by name: opperf's own generator."""

from __future__ import annotations

from typing import Any

from opperf.catalog.param.arguments import Checker
from opperf.catalog.param.grammar import DEFAULT_GENERATOR
from opperf.catalog.param.problems import Problems, refuse
from opperf.compat.param.engine import here
from opperf.domain.workload import DataGenerator, register_data_generator


class DefaultDataGenerator(DataGenerator):
    """Makes what the entry says; the same values every time."""

    def __init__(self, cache: bool = False) -> None:
        """Start; `cache` is taken as PARAM has it, and changes nothing."""

    def get_data(self, config: dict[str, Any], device: str) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments; raises `InputError` that lists every mistake in the entry."""
        args, kwargs = config.get("args", []), config.get("kwargs", {})
        problems = Problems()
        Checker(problems, sweeps=False).spec(args, kwargs, "$")
        refuse("arguments", problems.mistakes)
        place = here(device)
        positional = [place.value(spec, f"args/{i}") for i, spec in enumerate(args)]
        return positional, {name: place.value(spec, f"kwargs/{name}") for name, spec in kwargs.items()}


register_data_generator(DEFAULT_GENERATOR, DefaultDataGenerator)
