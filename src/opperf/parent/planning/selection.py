"""What a user asks for, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.code import Code, SuiteCode, check_name, own_name, read_suite_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import BEST_DEVICE, LAYER_LIBRARIES, split_implementation
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.sources.asv_folder import AsvFolder
from opperf.parent.sources.shapes_file import Row
from opperf.parent.sources.suite_file import read_suite
from opperf.parent.workers.passwords import environment_of

if TYPE_CHECKING:
    from opperf.param.config import ParamConfig


@dataclass(frozen=True)
class Selection:
    """Operators by name, category or all; where to measure them; with which inputs.

    Each entry of `inputs`, and of `rows`, makes one case of every operator; names are neutral ones or the framework's
    own. In `rows`, which come from a file, attributes stand next to inputs. `plugins` are files of the user's own: they
    declare the functions in `declared`, register operators with a framework, and have iterators and data generators for
    `configs`. `benchmarks` are files of other tools, of which `select` is a pattern of names; `suite_folders` has the
    settings of those of asv. With `as_named`, a name of a framework means its own function, also where the catalog has
    it. Empty fields mean the defaults that `sides` and `expand` choose.

    A name is a `str`; `Code` comes from what the user names, never from a file.
    """

    operators: Sequence[str | Code] = ()
    benchmarks: Sequence[SuiteCode] = ()
    suite_folders: Sequence[AsvFolder] = ()
    select: str | None = None
    categories: Sequence[str] = ()
    every: bool = False
    skip: Sequence[str] = ()
    suite: Path | Suite | None = None
    configs: Sequence[ParamConfig] = ()
    plugins: Sequence[Path] = ()
    declared: Sequence[Code] = ()
    frameworks: Sequence[str] = ()
    environments: Sequence[str] = ()
    devices: Sequence[str] = ()
    modes: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    sizes: Sequence[str] = ()
    directions: Sequence[str] = ()
    inputs: Sequence[Mapping[str, object]] = ()
    as_named: bool = False
    rows: Sequence[Row] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    values: Sequence[str] = ()
    random: int | None = None
    threads: int = Side.threads
    engine: str = Side.engine
    allocator: str = Side.allocator

    @property
    def selects(self) -> bool:
        """Whether anything is selected, apart from what sides and configs bring."""
        return bool(self.operators or self.benchmarks or self.categories or self.every or self.suite)

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that the settings of benchmark files list."""
        return tuple(dict.fromkeys(package for folder in self.suite_folders for package in folder.packages))

    @property
    def wants_best_device(self) -> bool:
        """Whether each side is to be on the best device that its framework has."""
        return tuple(self.devices) == (BEST_DEVICE,)

    @property
    def named_devices(self) -> Sequence[str]:
        """The devices that are named, none where the best is wanted."""
        return () if self.wants_best_device else self.devices

    @property
    def benchmarks_alone(self) -> bool:
        """Whether nothing but benchmark files is selected, which say their directions themselves."""
        return bool(self.benchmarks) and not (self.operators or self.categories or self.every or self.suite)

    @property
    def user_rows(self) -> list[Row]:
        """The user's inputs, a row for each case; empty where operators use their own cases."""
        alone = [Row({})] if self.attributes else []
        return [*map(Row, self.inputs), *self.rows] or alone

    @property
    def libraries(self) -> frozenset[str]:
        """The libraries of layers that the operators belong to."""
        names = [name for name in self.operators if isinstance(name, str)]
        names += [entry.case.operator for entry in self.suite_cases]
        owners = {split_implementation(name)[0] for name in names}
        return frozenset(owner for owner in owners if owner in LAYER_LIBRARIES)

    @cached_property
    def whole_suite(self) -> Suite | None:
        """The suite, read; raises `InputError` for a file that is not one."""
        return self.suite if self.suite is None or isinstance(self.suite, Suite) else read_suite(self.suite)

    @cached_property
    def suite_cases(self) -> tuple[SuiteCase, ...]:
        """The cases of the suite; raises `InputError` for an invalid file, or code that only the file names."""
        suite = self.whole_suite
        if suite is None:
            return ()
        where = suite.name if isinstance(self.suite, Suite) else str(self.suite)
        for i, entry in enumerate(suite.cases):
            if self.code(entry.case.operator) is None:
                check_name(entry.case.operator, f"{where}: cases[{i}]")
        return suite.cases

    def measurable(self, trial: Trial, where: str) -> Trial:
        """Return a trial of a file, with code where the user names it; raises `InputError` where they do not.

        Programs and settings, variables of the environment among them, are the user's to name too.
        """
        side, environments = trial.side, [environment_of(text).text for text in self.environments]
        if not EnvironmentSpec.parse(side.environment).is_public and side.environment not in environments:
            raise InputError(
                f"{where}: a file cannot choose the environment, but this one asks for `{side.environment}`",
                hint=f"name it yourself: `--environment {side.environment}`",
                slug="code_in_file",
            )
        if side.variables:
            raise InputError(f"{where}: a file cannot set environment variables", slug="code_in_file")
        if side.settings:
            names = ", ".join(f"`{name}`" for name in side.settings)
            raise InputError(f"{where}: a file cannot set options of a side, found {names}", slug="code_in_file")
        trial = trial.as_user_named()
        if side.spelling is not None and read_suite_code(side.spelling) is not None:
            files = next((files for files in self.benchmarks if str(files) == side.spelling), None)
            if files is None:
                check_name(side.spelling, where)
            return replace(trial, side=replace(trial.side, implementation=files))
        name = own_name(trial.side.implementation)
        if name is None:
            return trial
        code = self.code(name)
        if code is None:
            check_name(str(trial.side.implementation), where)
        return replace(trial, side=replace(trial.side, implementation=code))

    def code(self, name: str) -> Code | None:
        """Return the code that the user named and a file has the name of; None for code that the user did not name."""
        own = [*self.declared, *(code for code in self.operators if isinstance(code, Code))]
        return next((code for code in own if code.name == own_name(name) or code.name == name), None)
