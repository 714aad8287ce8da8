"""Results of the library: values of the domain that can be rendered in every format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opperf.domain.profile import event
from opperf.domain.profile.chrome import save
from opperf.domain.profile.module_tree import ModuleRow, module_rows
from opperf.domain.profile.pace import Pace, paces
from opperf.domain.profile.rows import BY_NAME, Change, Row, changes, rows
from opperf.domain.record import Record, Run
from opperf.domain.suite import LeftOut, SuiteCase
from opperf.domain.suite import Suite as SuiteDocument
from opperf.domain.units import plural
from opperf.parent.documents.bisection import Answer
from opperf.parent.documents.bisection import Bisection as BisectionDocument
from opperf.parent.documents.candidates import Judged, JudgedRun
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.exploration import Anomaly
from opperf.parent.documents.exploration import Exploration as ExplorationDocument
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.suite_change import Row as SuiteRow
from opperf.parent.documents.suite_change import SuiteChange as SuiteChangeDocument
from opperf.parent.documents.trace import Replay as ReplayDocument
from opperf.parent.documents.trace import ReplayedCase
from opperf.parent.documents.what_if import WhatIfRun
from opperf.parent.library.report import Measured, Pictured, Report
from opperf.parent.reports import contrast as contrasts
from opperf.parent.reports import gate as gates
from opperf.parent.reports import profile_change, render, report_of
from opperf.parent.reports import suite as suites
from opperf.parent.reports.comparison_groups import ComparedGroup, compared_groups
from opperf.parent.reports.contrast import Gap, Share
from opperf.parent.reports.document import Document
from opperf.parent.reports.run_groups import GroupRow, group_rows


class Results(Measured, Report[Record]):
    """The records of a run; `run` is the whole of it."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.records, report_of(run))
        self.run = self._result = run

    def groups(self) -> Sequence[GroupRow]:
        """Return a row for each group of operators, all calls of a suite counted, the largest first."""
        return group_rows(self)

    def _summary(self) -> str:
        words = ("ok", "failed", "skipped")
        counts = {word: sum(record.status == word for record in self) for word in words}
        tally = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return f"{plural(len(self), 'record')}: {tally or 'none'}"


class Comparisons(Measured, Report[Comparison]):
    """The comparisons of a base with other sides; `run` is the header that they stand under."""

    def __init__(self, document: ComparisonRun) -> None:
        super().__init__(document.comparisons, report_of(document))
        self.run, self._result = document.run, document

    def groups(self) -> Sequence[ComparedGroup]:
        """Return a row for each group of operators, all calls of a suite counted, the largest ratio first."""
        return compared_groups(self)

    def _summary(self) -> str:
        from opperf.parent.reports.comparison import tally

        return tally(self)


class Contrast(Measured, Report[Gap]):
    """The gaps that were confirmed, the largest first; `comparisons` are of all cases, most of them one brief look.

    A file of it is loaded as `Comparisons`.
    """

    def __init__(self, document: ComparisonRun, factor: float) -> None:
        super().__init__(contrasts.gaps(document), contrasts.document(document, factor))
        self.run, self.comparisons, self._result = document.run, document.comparisons, document
        self._categories, self._gaps = contrasts.categories(document, factor), contrasts.gaps_document(document)

    def to_csv(self) -> str:
        """Return one row for each gap, in full precision."""
        return render(self._gaps, "csv")

    def categories(self) -> Sequence[Share]:
        """Return the ratios of each category of the catalog, the largest median first."""
        return self._categories

    def groups(self) -> Sequence[ComparedGroup]:
        """Return a row for each group of operators, the largest ratio first."""
        return compared_groups(self.comparisons)

    def _summary(self) -> str:
        return f"{plural(len(self), 'gap')} in {plural(len(self.comparisons), 'comparison')}"


class WhatIf(Pictured, Report[Comparison]):
    """What a step would take with one operator replaced, and the comparisons of that operator that it follows from.

    `prediction` is None where the operator or its replacement could not be measured; `run` has the whole suite.
    """

    def __init__(self, document: WhatIfRun) -> None:
        super().__init__(document.comparison.comparisons, report_of(document))
        self.run, self.prediction, self._result = document.run, document.what_if, document


class SuiteChange(Pictured, Report[SuiteRow]):
    """Two suites beside each other, module by module; `verdict` is that on all their calls, `run` has each case."""

    def __init__(self, document: SuiteChangeDocument) -> None:
        super().__init__(document.rows, report_of(document))
        self.run, self.verdict, self._result = document.run, document.verdict, document


class Gate(Measured, Report[Finding]):
    """What a gate says of a change: a finding on each comparison, and whether the change may pass."""

    def __init__(self, run: ComparisonRun, judgement: Judgement) -> None:
        super().__init__(judgement.findings, gates.document(run, judgement))
        self.run, self.comparisons, self._result = run.run, run.comparisons, run
        self.judgement = judgement

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 fine, 1 a regression, 3 not measured, 4 inconclusive."""
        return self.judgement.exit_code

    @property
    def passed(self) -> bool:
        """Whether the change may pass."""
        return self.exit_code == 0


class Noise(Measured, Report[Floor]):
    """The noise floors of a machine; `unknown` are trials without one, each with why, where that is known.

    `suites` has how often the whole suite was called changed, where error rates were measured.
    """

    _noun = "floor"

    def __init__(self, document: NoiseRun) -> None:
        super().__init__(document.floors, report_of(document))
        self.run, self.unknown, self._result = document.run, document.unknown, document
        self.suites = document.suites


class Judgements(Measured, Report[Judged]):
    """The judgements of candidates, in the order in which they were made; each has its `score`."""

    def __init__(self, document: JudgedRun) -> None:
        super().__init__(document.judgements, report_of(document))
        self.run, self._result = document.run, document


class Bisection(Pictured, Report[Answer]):
    """What is said of each operator: the builds between which it changed, or that it did not."""

    def __init__(self, document: BisectionDocument) -> None:
        super().__init__(document.answers, report_of(document))
        self.run, self.builds, self.built, self._result = document.run, document.builds, document.built, document

    def _summary(self) -> str:
        return "; ".join(f"{answer.case.operator}: {answer.reason}" for answer in self)


class Exploration(Pictured, Report[Anomaly]):
    """The cases that cost too much, each with its region and what to do instead."""

    _noun = "finding"

    def __init__(self, document: ExplorationDocument) -> None:
        super().__init__(document.anomalies, report_of(document))
        self.run, self.territories, self._result = document.run, document.territories, document
        self._suite = document.suite

    def suite(self) -> Suite:
        """Return the cases, and the neighbours that they are held against, as a suite."""
        return Suite(self._suite())


class Replay(Measured, Report[ReplayedCase]):
    """The operators of a recorded program with their standalone costs, the most expensive first."""

    _noun = "case"

    def __init__(self, document: ReplayDocument) -> None:
        super().__init__(document.calls, report_of(document))
        self.run, self.trace, self._result = document.run, document.trace, document

    def suite(self) -> Suite:
        """Return the cases as a suite."""
        return Suite(self.trace.suite())


class Profile(Report[Row]):
    """The operators that a program spent its time in.

    `files` are those that the profiler left, `notes` what to know of how the program ran, and `exit_code` is its own.
    """

    _noun = "row"

    def __init__(
        self,
        profile: event.Profile,
        *,
        by: str = BY_NAME,
        sort: str | None = None,
        exit_code: int = 0,
        files: Sequence[Path] = (),
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(rows(profile, by), report_of(profile, by=by, sort=sort))
        self.profile, self.exit_code = profile, exit_code
        self.files, self.notes = tuple(files), tuple(notes)

    def grouped(self, by: str = BY_NAME, sort: str | None = None) -> Profile:
        """Return the same profile with other rows: by name, group, shape, module, stack or kernel."""
        again = {"exit_code": self.exit_code, "files": self.files, "notes": self.notes}
        return Profile(self.profile, by=by, sort=sort, **again)  # type: ignore[arg-type]

    def diff(self, after: Profile, by: str = BY_NAME, sort: str | None = None) -> ProfileDiff:
        """Return the differences between this profile and a later one, by name, shape, module, stack or kernel.

        Rows are sorted by the change of the typical call, or by that of `self`, `total`, `calls` or `mean`.
        """
        return ProfileDiff(self.profile, after.profile, by, sort)

    def modules(self, depth: int | None = None) -> Sequence[ModuleRow]:
        """Return the modules as a tree of so many levels, or of all, with equal layers summed up."""
        return module_rows(self.profile, depth)

    def paces(self, tokens: int) -> Sequence[Pace]:
        """Return the pace of each process in tokens or samples a second, where a step has `tokens` of them."""
        return paces(self.profile, tokens)

    def save(self, path: str | Path) -> None:
        """Write the events to a file, which `opperf.load` and Perfetto read."""
        save(self.profile, Path(path))


class ProfileDiff(Report[Change]):
    """Two profiles operator by operator, what differs most first."""

    _noun = "row"

    def __init__(self, before: event.Profile, after: event.Profile, by: str = BY_NAME, sort: str | None = None) -> None:
        rows = changes(before, after, by, profile_change.field_of(sort))
        super().__init__(rows, profile_change.document(before, after, by, sort))
        self._profiles = before, after

    def to_html(self) -> str:
        """Return a page of both: call trees and timelines beside each other, and tables."""
        from opperf.parent.pages.profile_page.change import render

        return render(*self._profiles)


class Suite(Report[SuiteCase]):
    """Cases with how often each occurs; `left_out` are calls that no case holds, `notes` what was seen of the rest."""

    def __init__(self, suite: SuiteDocument, notes: Sequence[str] = ()) -> None:
        super().__init__(suite.cases, suites.document(suite))
        self.suite, self.notes = suite, tuple(notes)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Calls that no case holds, each with the reason."""
        return self.suite.left_out

    def _summary(self) -> str:
        return f"{plural(len(self), 'case')} of {plural(self.suite.calls, 'call')}"


class Operators(Report[str]):
    """The names of operators; the report says what each means, or what frameworks make of it."""

    _noun = "operator"

    def __init__(self, names: Sequence[str], document: Document) -> None:
        super().__init__(names, document)
