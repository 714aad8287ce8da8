"""Configs in a script: what each operator is, and how its entries are gone through and made."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opperf.compat.param.operators import OperatorInterface, device_engine, operator
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import value_of
from opperf.domain.files.text_file import read_json
from opperf.domain.workload import (
    GENERATORS,
    ITERATORS,
    ConfigIterator,
    DataGenerator,
    register_config_iterator,
    register_data_generator,
)
from opperf.param.arguments import Checker
from opperf.param.config import Spec
from opperf.param.grammar import DEFAULT_GENERATOR, DEFAULT_ITERATOR, OLD_NAMES, RANGE_ITERATOR
from opperf.param.problems import Problems, refuse
from opperf.param.sweeps import as_swept, combinations


class DefaultConfigIterator(ConfigIterator):
    """Takes the entries as they are."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        super().__init__(configs, key, device)
        self._entries = iter(enumerate(configs[key]))

    def __next__(self) -> tuple[Any, dict[str, Any]]:
        return next(self._entries)


class RangeConfigIterator(ConfigIterator):
    """Sweeps the ranges of each entry."""

    def __init__(self, configs: dict[str, Any], key: str, device: str) -> None:
        super().__init__(configs, key, device)
        self._entries = self._sweep()

    def _sweep(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        for i, entry in enumerate(self.configs[self.key]):
            spec = Spec(entry.get("args", []), entry.get("kwargs", {}))
            for n, point in enumerate(combinations(spec)):
                yield f"{i}_{n}", dict(as_swept(point).raw)

    def __next__(self) -> tuple[Any, dict[str, Any]]:
        return next(self._entries)


register_config_iterator(DEFAULT_ITERATOR, DefaultConfigIterator)
register_config_iterator(RANGE_ITERATOR, RangeConfigIterator)


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
        place = device_engine(device)
        positional = [place.value(spec, f"args/{i}") for i, spec in enumerate(args)]
        return positional, {name: place.value(spec, f"kwargs/{name}") for name, spec in kwargs.items()}


register_data_generator(DEFAULT_GENERATOR, DefaultDataGenerator)


@dataclass
class OperatorConfig:
    """An operator of a config."""

    name: str
    info: dict[str, Any]
    op: OperatorInterface
    build_iterator: type[ConfigIterator]
    input_iterator: type[ConfigIterator]
    build_data_generator: type[DataGenerator]
    input_data_generator: type[DataGenerator]


def make_op_config(op_name: str, op_info: dict[str, Any], device: str) -> OperatorConfig:
    """Return an operator and its entries; raises `InputError` for a name that is not registered."""
    if not op_info.get("input_data_generator"):
        raise InputError(f"`{op_name}` has no `input_data_generator`", hint=DEFAULT_GENERATOR, slug="param_config")

    def iterator(key: str) -> type[ConfigIterator]:
        return ITERATORS.find(op_info.get(key) or DEFAULT_ITERATOR)

    def generator(key: str) -> type[DataGenerator]:
        name = op_info.get(key) or DEFAULT_GENERATOR
        return GENERATORS.find(OLD_NAMES.get(name, name))

    return OperatorConfig(
        op_name,
        op_info,
        operator(op_name, device),
        iterator("build_iterator"),
        iterator("input_iterator"),
        generator("build_data_generator"),
        generator("input_data_generator"),
    )


class BenchmarkConfig:
    """A config, read from a file, from text or from objects; its operators are `op_configs`."""

    def __init__(self, run_options: dict[str, Any]) -> None:
        self.run_options = run_options
        self.bench_config: dict[str, Any] = {}
        self.op_configs: list[OperatorConfig] = []

    def load_json_file(self, config_file_name: str | Path) -> None:
        """Read a file."""
        self.load(read_json(Path(config_file_name)))

    def load_json(self, config_json: str) -> None:
        """Read text; raises `InputError` for what is no JSON."""
        try:
            document = value_of(config_json.encode())
        except ValueError as error:
            raise InputError(f"the config is not JSON ({error})", slug="param_config") from error
        self.load(document)

    def load(self, config: object) -> None:
        """Take objects."""
        if not isinstance(config, dict) or not all(isinstance(info, dict) for info in config.values()):
            raise InputError("the config is not an object of operators by name", slug="param_config")
        self.bench_config = copy.deepcopy(config)
        device = self.run_options["device"]
        self.op_configs = [make_op_config(name, info, device) for name, info in self.bench_config.items()]
