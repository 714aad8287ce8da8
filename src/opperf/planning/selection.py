"""What a user asks for, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from opperf.sources.param.config import ParamConfig
from opperf.sources.shapes_file import Row
from opperf.sources.suite_file import read_suite
from opperf.suite import Suite, SuiteCase


@dataclass(frozen=True)
class Selection:
    """Operators by name, category or all; where to measure them; with which inputs.

    Each entry of `inputs`, and of `rows`, makes one case of every operator; names are neutral ones or the framework's
    own. In `rows`, which a file has, attributes stand beside the inputs. `plugins` are files with iterators and data
    generators of the user's own, for `configs`. Empty fields mean the defaults that `sides` and `expand` choose.
    """

    operators: Sequence[str] = ()
    categories: Sequence[str] = ()
    every: bool = False
    skip: Sequence[str] = ()
    suite: Path | Suite | None = None
    configs: Sequence[ParamConfig] = ()
    plugins: Sequence[Path] = ()
    frameworks: Sequence[str] = ()
    environments: Sequence[str] = ()
    devices: Sequence[str] = ()
    modes: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    sizes: Sequence[str] = ()
    directions: Sequence[str] = ()
    inputs: Sequence[Mapping[str, Any]] = ()
    rows: Sequence[Row] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    values: Sequence[str] = ()
    random: int | None = None
    threads: int = 1
    engine: str = "naive"
    allocator: str = "fixed"

    @property
    def given(self) -> list[Row]:
        """What the user gives the operators, a row for each case; empty where they have cases of their own."""
        alone = [Row({})] if self.attributes else []
        return [*map(Row, self.inputs), *self.rows] or alone

    @cached_property
    def whole_suite(self) -> Suite | None:
        """The suite, read; raises `InputError` for a file that is none."""
        return self.suite if self.suite is None or isinstance(self.suite, Suite) else read_suite(self.suite)

    @property
    def suite_cases(self) -> tuple[SuiteCase, ...]:
        """The cases of the suite; raises `InputError` for a file that is none."""
        return () if self.whole_suite is None else self.whole_suite.cases
