"""The judgement of a gate: a finding on each comparison, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass

from opperf.domain.comparison import Comparison

#: The kinds of findings, in the order in which a reader needs them.
KINDS = ("slower", "memory", "failed", "inconclusive", "skipped", "faster", "same")
#: The kinds that are regressions.
REGRESSIONS = ("slower", "memory")
#: What an inconclusive comparison does to the gate.
POLICIES = ("fail", "pass")

FINE, REGRESSION, FAILURE, INCONCLUSIVE = 0, 1, 3, 4


@dataclass(frozen=True)
class Finding:
    """What the gate makes of one comparison, and the sentence that says so."""

    kind: str
    comparison: Comparison
    message: str


@dataclass(frozen=True)
class Judgement:
    """The findings of a gate under its rule.

    `tolerance` is the smallest change worth reporting; `against` says what was compared with: `base`, a live side, or
    `expected`, recorded expectations. `inconclusive` is `fail` or `pass`.
    """

    findings: tuple[Finding, ...]
    tolerance: float
    against: str = "base"
    inconclusive: str = "fail"

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

    def to_json(self) -> dict[str, object]:
        """Return the JSON form; a finding names its comparison by its place in the document."""
        return {
            "exit_code": self.exit_code,
            "against": self.against,
            "tolerance": self.tolerance,
            "inconclusive": self.inconclusive,
            "counts": {kind: len(self.of_kind(kind)) for kind in KINDS},
            "findings": [
                {"comparison": place, "kind": finding.kind, "message": finding.message}
                for place, finding in enumerate(self.findings)
            ],
        }


def _size(finding: Finding) -> float:
    return finding.comparison.verdict.ratio or 0.0
