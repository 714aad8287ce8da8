"""Which distribution of values which inputs get: `sorted` for all of them, `weight=denormal` for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.tensor import UNIFORM, parse_distribution


@dataclass(frozen=True)
class ValueChoice:
    """A distribution for every input that has it, or, by name, for some."""

    every: str = UNIFORM
    by_name: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> ValueChoice:
        """Read a word of `--values`; raises `InputError`.

        >>> ValueChoice.parse("data=sorted,weight=sparse:0.90").by_name
        {'data': 'sorted', 'weight': 'sparse:0.9'}
        """
        if "=" not in text:
            return cls(parse_distribution(text))
        by_name: dict[str, str] = {}
        for part in text.split(","):
            name, equals, values = (word.strip() for word in part.partition("="))
            if not equals or not name or name in by_name:
                raise InputError(
                    f"`{text}`: expected one distribution for each input",
                    hint="write, for example, `weight=denormal` or `ids=uniform,data=sorted`",
                )
            by_name[name] = parse_distribution(values)
        return cls(by_name=by_name)

    def of(self, case: Case) -> Case:
        """Return a case with these values, as far as its inputs have them."""
        return case.with_values(self.every, self.by_name)

    def inputs(self, case: Case) -> list[str]:
        """Return the inputs of a case that have them."""
        distributions = self.by_name or dict.fromkeys(case.inputs, self.every)
        return [
            name for name, values in distributions.items() if any(one.values == values for one in case.tensors([name]))
        ]

    def __str__(self) -> str:
        return ",".join(f"{name}={values}" for name, values in self.by_name.items()) or self.every
