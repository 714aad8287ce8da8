"""Judge a change in CI, against a live base or expectations, as a gate file and options say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.plan import Plan, Settings
from opperf.domain.record import Run
from opperf.domain.registry import parse_device
from opperf.parent.analysis.gate import compare_expected, expectations_of, judgement_of, merge_expectations
from opperf.parent.analysis.two_runs import FLOOR
from opperf.parent.commands.compare import Order, base_of, live, parse_sides
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import floor_key
from opperf.parent.documents.judgement import Expectation, Judgement
from opperf.parent.measuring.calibration import stored_floors
from opperf.parent.measuring.progress import Progress, planning
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.planning import request as requests
from opperf.parent.planning.commit_sides import check_building, is_commit, with_commits, with_frameworks
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText, read_side
from opperf.parent.planning.wishes import Wishes
from opperf.parent.sources.gate_file import GateFile, find_gate_file, overridden, read_gate_file
from opperf.parent.sources.option import Overrides, group_of
from opperf.parent.sources.options import Building, GateOptions, What, Where
from opperf.parent.sources.plugin_file import named_side, operators_of
from opperf.parent.store.documents import read_expected, write_expected
from opperf.parent.workers.passwords import environment_of

#: The options that only one way of judging reads.
LIVE_ONLY = ("base", "new", "tolerance", "pairs", "settle", "max_pairs", "explain", "metric", "clock", "repo", "build")
RECORDED_ONLY = ("threshold", "processes", "framework", "environment", "device")
#: The options that say how operators are measured, whoever selects them.
HOW = ("size", "dtype", "values", "direction", "attributes")


@dataclass(frozen=True)
class Gate:
    """A gate: the settings of its file, the `options` that override them, and settings that only options have.

    `base` and `new` are sides that the user names; those of the file are in `file`.
    """

    file: GateFile
    options: Overrides[GateOptions] = field(default_factory=Overrides)
    base: str | None = None
    new: Sequence[str] = ()
    update_expected: bool = False
    explain: bool = False
    check: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    fleet: Wishes | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether it judges by expectations."""
        has_expectations = self.options.has("expected") or self.update_expected
        has_sides = self.base or self.new or self.file.base is not None or self.file.new
        return has_expectations or (self.file.expected is not None and not has_sides)

    def check_options(self) -> None:
        """Raise `InputError` for an option that would be ignored: the user expects it to have an effect."""
        if (self.base or self.new) and (self.options.has("expected") or self.update_expected):
            raise InputError(
                "`--base` and `--new` compare live; `--expected` and `--update-expected` use recorded expectations",
                hint="use one or the other",
            )
        options = {**self.options.values, "base": self.base, "new": self.new, "explain": self.explain}
        names = LIVE_ONLY if self.is_recorded else RECORDED_ONLY
        idle = sorted(name for name in names if self.options.has(name) or options.get(name))
        if idle and self.is_recorded:
            raise InputError(
                f"`{_flag(idle[0])}` does not apply to expectations", hint="use `--threshold` and `--processes`"
            )
        if idle:
            raise InputError(
                f"`{_flag(idle[0])}` does not apply to a live comparison",
                hint="give `--expected FILE` to judge by expectations; a side says its framework, environment and "
                "device itself",
            )

    def settings(self, processes: int = 1) -> Settings:
        """Return how it measures; raises `InputError`."""
        file = self.file
        what = (Settings.clock, Settings.metric) if self.is_recorded else (file.clock, file.metric)
        request = Request(how=file, jobs=file.jobs, check=self.check, latency=False, **requests.decisive(*what))
        return requests.settings(request, processes=processes)


@dataclass(frozen=True)
class GateResult:
    """What a gate says of a comparison, and what stopped that, None when nothing did."""

    run: ComparisonRun
    judgement: Judgement
    cause: BaseException | None = None


@dataclass(frozen=True)
class ExpectationUpdate:
    """A run that updated expectations: how many come from it, and how many are kept from before.

    Where it was stopped the file is as it was, and `cause` says by what.
    """

    run: Run
    path: Path
    measured: int = 0
    others: int = 0
    cause: BaseException | None = None

    @property
    def failed(self) -> int:
        """How many trials failed."""
        return sum(record.status == "failed" for record in self.run)

    @property
    def exit_code(self) -> int:
        """0 when all is written, 3 when a trial failed or none was measured."""
        return 0 if self.cause is not None or (self.measured and not self.failed) else 3


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def gate_file(config: Path | None, options: Overrides[GateOptions], plugins: Sequence[Path] = ()) -> GateFile:
    """Return the gate file with overriding options applied; raises `InputError`.

    Sides and CPUs of the file are read at once, so that an error names its place.
    """
    path = find_gate_file(Path()) if config is None else config
    plugin_files = requests.plugin_files(plugins)
    file = GateFile() if path is None else read_gate_file(path, lambda: operators_of(plugins))
    checks: tuple[tuple[str, Callable[[Any], object], Sequence[object]], ...] = (
        ("base", lambda text: _side_of_file(text, plugin_files), (file.base,)),
        ("new", lambda text: _side_of_file(text, plugin_files), file.new),
        ("cpus", requests.usable_cpus, (file.cpus,)),
    )
    for key, check, texts in checks:
        for text in texts:
            with at_place(f"{path}: `{key}`"):
                if text is not None and not is_commit(text):
                    check(text)
    return overridden(file, options)


def judge(operators: Sequence[str], what: What, gate: Gate, progress: Progress) -> GateResult | ExpectationUpdate:
    """Compare as a gate says and judge, or update its expectations. Raises `InputError`."""
    file = gate.file
    if file.base is None and not (file.operators or file.category or file.suite):
        operators, base_name = base_of(operators, gate.base, gate.new)
        gate = replace(gate, base=base_name)
    base, new = _sides(gate, operators, requests.plugin_files(what.plugin))
    tells = any(side is not None and side.side.implementation is not None for side in (base, *new))
    others = tells or (file.expected is not None and not gate.update_expected)
    selection = selection_of(file, operators, what, others=others, note=progress.note)
    gate.check_options()
    if gate.is_recorded:
        return _against_expected(gate, selection, progress)
    return _against_base(gate, selection, base, new, progress)


def selection_of(
    file: GateFile, operators: Sequence[str], what: What, *, others: bool, note: Callable[[str], None]
) -> Selection:
    """Return the measured selection: what the user selects in place of what the file does, then how, one by one.

    Of operators the file has names alone; those of your own functions are known where a plugin is their file.
    """
    selects = bool(operators or what.category or what.all or what.suite)
    cases = replace(
        what,
        **{name: getattr(what, name) or getattr(file, name) for name in HOW},
        random=file.random if what.random is None else what.random,
        inputs=what.inputs or (() if what.shapes else file.inputs),
    )
    if not selects:
        cases = replace(cases, category=file.category, suite=file.suite, skip=what.skip or file.skip)
    request = Request(cases, Where(file.framework, file.environment, file.device, file.mode))
    names = () if selects else file.operators
    return requests.selection(operators, request, names=names, others=others, note=note)


def _side_of_file(text: str, plugins: Sequence[Path]) -> SideText:
    """Return a side of the gate file, whose name may be that of a function in a plugin which the user names."""
    own = named_side(text, plugins)
    return read_side(text) if own == text else parse_sides([own])[0]


def _sides(gate: Gate, operators: Sequence[str], plugins: Sequence[Path]) -> tuple[SideText | None, list[SideText]]:
    """Return base and new: those that the user names, which may be code, else those of the file."""
    gate = _with_frameworks(gate, operators)
    file, base, new = gate.file, gate.base, [named_side(text, plugins) for text in gate.new]
    base_of_file = [] if base is not None or file.base is None else [_side_of_file(file.base, plugins)]
    new_of_file = [] if new else [_side_of_file(text, plugins) for text in file.new]
    own = [] if base is None else [named_side(base, plugins)]
    sides = parse_sides([*own, *new], [*base_of_file, *new_of_file])
    first = [*base_of_file, *(sides[:1] if base is not None else ())]
    sides = with_commits([*first, *(new_of_file or sides[len(sides) - len(new) :])], operators, file)
    return (sides[0] if first else None), sides[len(first) :]


def _with_frameworks(gate: Gate, operators: Sequence[str]) -> Gate:
    """Return the gate whose sides say their framework; raises `InputError` for options that would build nothing.

    A side of the file that one of the user's replaces is not looked at.
    """
    file = gate.file
    bases = [side for side in (gate.base or file.base,) if side is not None]
    sides = [*bases, *(gate.new or file.new)]
    check_building(sides, group_of(Building, gate.options.values))
    sides = with_frameworks(sides, operators)
    base, new = (sides[0] if bases else None), tuple(sides[len(bases) :])
    file = replace(file, base=None if gate.base else base, new=() if gate.new else new)
    return replace(gate, file=file, base=base if gate.base else None, new=new if gate.new else ())


def _against_base(
    gate: Gate, selection: Selection, base: SideText | None, new: Sequence[SideText], progress: Progress
) -> GateResult:
    """Compare live, and judge."""
    if base is None or not new:
        raise InputError(
            "a gate needs a base and a new side, or expectations",
            hint="`base` and `new` in opperf.toml, `--base SIDE --new SIDE`, or `--expected FILE`",
            slug="nothing_to_compare",
        )
    file = gate.file
    order = Order(file, file, gate.explain, gate.labels, gate.command, gate.fleet)
    document, cause = live(selection, base, new, gate.settings(), order, progress)
    return GateResult(
        document, judgement_of(document.comparisons, file.tolerance, inconclusive=file.inconclusive), cause
    )


def _against_expected(gate: Gate, selection: Selection, progress: Progress) -> GateResult | ExpectationUpdate:
    """Measure as `run` does; then judge by the expectations, or update them."""
    path = gate.file.expected
    if gate.fleet is not None:
        raise InputError(
            "`--fleet` compares live, but expectations belong to one machine",
            hint="leave out `--fleet`, or `--expected`",
        )
    if path is None:
        raise InputError(
            "no file of expectations given",
            hint="give `--expected FILE`, or `file` in the table `[expected]`",
            slug="expected_file",
        )
    settings = gate.settings(gate.file.processes)
    expectations = () if gate.update_expected and not path.exists() else read_expected(path)
    cause: BaseException | None = None
    with Session(selection, settings, progress) as session:
        with planning(progress):
            plan = _plan(session, gate.file, selection, expectations, settings)
        try:
            run = session.run(plan, Options(labels=gate.labels, command=gate.command))
        except Interrupted as stop:
            run, cause = stop.run, stop.cause
    progress.close()
    if not gate.update_expected:
        return _judge(run, expectations, gate.file, progress.note, cause)
    these = () if cause is not None else expectations_of(run)
    merged = merge_expectations(expectations, these)
    if these:
        write_expected(path, merged)
    return ExpectationUpdate(run, path, len(these), len(merged) - len(these), cause)


def _plan(
    session: Session, file: GateFile, selection: Selection, expectations: tuple[Expectation, ...], settings: Settings
) -> Plan:
    """Return the selected trials or, where nothing is selected, those that have expectations."""
    if selection.selects:
        return session.plan()
    order = (
        ("framework", file.framework),
        ("environment", tuple(environment_of(text).text for text in file.environment)),
        ("device", tuple(parse_device(text) for text in file.device)),
        ("mode", file.mode),
    )
    trials = [
        selection.measurable(expectation.trial, f"{file.expected}: expectations[{i}]")
        for i, expectation in enumerate(expectations)
        if all(not names or getattr(expectation.trial.side, field) in names for field, names in order)
    ]
    if not trials:
        raise InputError(
            "nothing to measure: you named no operators, and the file has no expectations",
            hint="name operators, or select them in the gate file",
            slug="empty_plan",
        )
    return Plan(tuple(trials), settings)


def _judge(
    run: Run,
    expectations: tuple[Expectation, ...],
    file: GateFile,
    note: Callable[[str], None],
    cause: BaseException | None,
) -> GateResult:
    floors = stored_floors()
    comparisons = tuple(compare_expected(expectations, run, file.threshold, floors))
    judgement = judgement_of(comparisons, file.threshold, against="expected", inconclusive=file.inconclusive)
    for name in file.threshold.idle({one.case.operator for one in comparisons}):
        note(f"note: the threshold of `{name}` applies to none of the operators that were compared")
    if file.threshold.least < FLOOR and any(floor_key(record.trial) not in floors for record in run):
        note(
            f"the threshold of {file.threshold.least:.0%} is below the {FLOOR:.0%} by which identical code may vary "
            "between runs on a shared machine; measure this machine with `opperf noise`"
        )
    return GateResult(ComparisonRun(replace(run, records=()), comparisons), judgement, cause)
