"""The judgement of a gate: a finding on each comparison, and the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from statistics import median

from opperf.domain.codec import Fields, check_version, decode, encode, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.json_text import JsonObject
from opperf.domain.plan import Trial
from opperf.domain.registry import framework, parse_device
from opperf.domain.type_hint import Natural, Positive, wrong
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.documents.tolerances import Tolerances

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Expectation(Fields):
    """What is expected of a trial. `times` has the clean minimum of each process, in seconds."""

    trial: Trial
    times: tuple[Positive, ...]
    memory_peak: Natural | None = None
    memory_source: str | None = None
    version: str | None = None
    machine: Mapping[str, object] = field(default_factory=dict)
    recorded: str | None = None

    flat = ("trial",)
    beside = ("time",)

    @property
    def time(self) -> float:
        """The median over processes, in seconds."""
        return median(self.times)

    @classmethod
    def from_json(cls, data: object, where: str = "expectation") -> Expectation:
        """Read the JSON form, in which the trial's keys are inlined; raises `InputError` that names the place."""
        if not isinstance(data, dict):
            raise wrong(data, where, "an object")
        fields = {name: value for name, value in data.items() if (name, value) != ("machine", None)}
        expectation = decode(cls, fields, where)
        if not expectation.times:
            raise wrong([], f"{where}.times", "the seconds of each process")
        side = expectation.trial.side
        for name, check in (("framework", framework), ("device", parse_device), ("environment", EnvironmentSpec.parse)):
            with at_place(f"{where}.side.{name}"):
                check(getattr(side, name))
        return expectation


def document(expectations: Iterable[Expectation]) -> dict[str, object]:
    """Read a file of expectations."""
    return {"schema_version": SCHEMA_VERSION, "expectations": encode(tuple(expectations))}


def from_document(data: object, where: str) -> tuple[Expectation, ...]:
    """Read what `document` wrote; raises `InputError` that names the place."""
    if not isinstance(data, dict) or "expectations" not in data:
        raise InputError(
            f"{where}: not an expectations file",
            hint="create one with `opperf gate --update-expected`",
            slug="expected_file",
        )
    check_version(data.get("schema_version"), SCHEMA_VERSION, where)
    expectations = read_as(tuple[Expectation, ...], data["expectations"], f"{where}: expectations")
    keys: set[tuple[object, ...]] = set()
    for i, expectation in enumerate(expectations):
        if expectation.trial.key in keys:
            raise InputError(f"{where}: expectations[{i}] repeats the trial of an earlier one", slug="expected_file")
        keys.add(expectation.trial.key)
    return expectations


#: The kinds of findings, in the order in which a reader needs them.
KINDS = ("slower", "memory", "failed", "inconclusive", "skipped", "expected", "faster", "same")
#: The kinds that are regressions.
REGRESSIONS = ("slower", "memory")
#: What an inconclusive comparison does to the gate.
POLICIES = ("fail", "pass")

FINE, REGRESSION, FAILURE, INCONCLUSIVE = 0, 1, 3, 4


@dataclass(frozen=True)
class Finding:
    """What the gate makes of one comparison, and the sentence that says so.

    `change` is the name of the step between two builds that it shows, for decisions on it.
    """

    kind: str
    comparison: Comparison
    message: str
    change: str | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, object], comparisons: Sequence[Comparison], where: str) -> Finding:
        """Read the JSON form, which names its comparison by its place; raises `InputError` that names its own."""
        place = read_as(Natural, data.get("comparison"), f"{where}.comparison")
        if place >= len(comparisons):
            raise InputError(f"{where}.comparison: there are {len(comparisons)} comparisons")
        return decode(cls, data, where, comparison=comparisons[place])


@dataclass(frozen=True)
class Judgement:
    """The findings of a gate under its rule.

    `tolerance` is the smallest change worth reporting, `own` those of operators by name or pattern. `against` says what
    was compared with: `base`, a live side, or `expected`, recorded expectations. `inconclusive` is `fail` or `pass`.
    """

    findings: tuple[Finding, ...]
    tolerance: float
    against: str = "base"
    inconclusive: str = "fail"
    own: Mapping[str, float] = field(default_factory=dict)

    @property
    def tolerances(self) -> Tolerances:
        """The tolerance of each operator."""
        return Tolerances(self.tolerance, self.own)

    def of_kind(self, *kinds: str) -> tuple[Finding, ...]:
        """Return the findings of these kinds; regressions come largest first."""
        findings = [finding for finding in self.findings if finding.kind in kinds]
        return tuple(sorted(findings, key=lambda finding: (KINDS.index(finding.kind), -_size(finding))))

    @property
    def regressions(self) -> tuple[Finding, ...]:
        """The findings that fail the gate, largest first."""
        return self.of_kind(*REGRESSIONS)

    @property
    def exit_code(self) -> int:
        """0 fine, 1 a regression, 3 something could not be measured or nothing was compared, 4 inconclusive."""
        if self.regressions:
            return REGRESSION
        if self.of_kind("failed") or len(self.of_kind("skipped")) == len(self.findings):
            return FAILURE
        if self.of_kind("inconclusive") and self.inconclusive == "fail":
            return INCONCLUSIVE
        return FINE

    @classmethod
    def from_json(cls, data: object, comparisons: Sequence[Comparison], where: str) -> Judgement:
        """Read the JSON form of a judgement of these comparisons; raises `InputError` that names the place."""
        form = read_as(Mapping[str, object], data, where)
        findings = read_as(tuple[Mapping[str, object], ...], form.get("findings"), f"{where}.findings")
        own = read_as(Mapping[str, float], form.get("tolerances", {}), f"{where}.tolerances")
        every = (Finding.from_json(one, comparisons, f"{where}.findings[{i}]") for i, one in enumerate(findings))
        return decode(cls, form, where, findings=tuple(every), own=own)

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; a finding names its comparison by its place in the document."""
        return {
            "exit_code": self.exit_code,
            "against": self.against,
            "tolerance": self.tolerance,
            **({"tolerances": dict(self.own)} if self.own else {}),
            "inconclusive": self.inconclusive,
            "counts": {kind: len(self.of_kind(kind)) for kind in KINDS},
            "findings": [
                {
                    "comparison": place,
                    "kind": finding.kind,
                    "message": finding.message,
                    **({} if finding.change is None else {"change": finding.change}),
                }
                for place, finding in enumerate(self.findings)
            ],
        }


@dataclass(frozen=True)
class GateDocument:
    """The document of a gate: comparisons and their judgement."""

    run: ComparisonRun
    judgement: Judgement

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> GateDocument:
        """Read the document; raises `InputError` that names the place."""
        run = ComparisonRun.from_json(data, where)
        return cls(run, Judgement.from_json(data.get("gate"), run.comparisons, f"{where}: gate"))


def _size(finding: Finding) -> float:
    return finding.comparison.verdict.ratio or 0.0
