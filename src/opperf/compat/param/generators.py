"""How the arguments of an entry are made, by name."""

from __future__ import annotations

import abc
from typing import Any

from opperf.compat.param.engine import here
from opperf.compat.param.registry import Registry
from opperf.sources.param.arguments import Checker
from opperf.sources.param.grammar import DEFAULT_GENERATOR
from opperf.sources.param.problems import Problems, refuse


class DataGenerator(abc.ABC):
    """Makes the arguments of an entry of `build` or `input`."""

    @abc.abstractmethod
    def get_data(self, config: dict[str, Any], device: str) -> tuple[list[Any], dict[str, Any]]:
        """Return positional arguments, and those by name."""


class DefaultDataGenerator(DataGenerator):
    """Makes what the entry says; the same values every time."""

    def __init__(self, cache: bool = False) -> None:
        """Start; `cache` is taken as PARAM has it, and changes nothing."""

    def get_data(self, config: dict[str, Any], device: str) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments; raises `InputError` that lists every mistake in the entry."""
        args, kwargs = config.get("args", []), config.get("kwargs", {})
        problems = Problems()
        Checker(problems, sweeps=False).spec(args, kwargs, "$")
        refuse("arguments", problems.found)
        place = here(device)
        positional = [place.value(given, f"args/{i}") for i, given in enumerate(args)]
        return positional, {name: place.value(given, f"kwargs/{name}") for name, given in kwargs.items()}


GENERATORS: Registry[type[DataGenerator]] = Registry("data generator")
GENERATORS.add(DEFAULT_GENERATOR, DefaultDataGenerator)


def register_data_generator(name: str, data_gen_class: type[DataGenerator]) -> None:
    """Make a generator known by a name; raises `ValueError` for one that is taken."""
    GENERATORS.add(name, data_gen_class)
