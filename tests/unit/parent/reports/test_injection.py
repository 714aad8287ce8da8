"""One evil name, everywhere that a name or a message can stand, through every report: nothing of it acts."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from tests.each import check_each, each
from tests.unit.parent.reports.conftest import statistics

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.profile.event import Event, Profile
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Value
from opperf.domain.suite import LeftOut
from opperf.domain.tensor import TensorSpec
from opperf.parent.cli.output import tell
from opperf.parent.documents.candidates import Evidence, Judged, JudgedRun, Speed
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Explanations, Verdict
from opperf.parent.documents.floor import Floor, NoiseRun, Unknown
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.trace import Replay, Trace, TracedCase
from opperf.parent.pages import profile_page, result_page
from opperf.parent.pages.charts import picture
from opperf.parent.pages.figures import Result, charts
from opperf.parent.reports import gate, render, report_of
from opperf.parent.reports.document import Code, Column, Document, Legend, Note, Section, table

BODY = (
    "x\x1b[31m\n::error::pwned\r\n<script>alert(1)</script><img src=x onerror=a()> ![i](http://evil.test/i.png) "
    "[l](javascript:a()) **b** `c` |d| @all #12 www.evil.test ##[error]e \u202e\x00 ]]> \ud800"
)
#: Each begins with what acts at the beginning of a line, a field or a paragraph.
EVIL = [f"{start}{BODY}" for start in ("", "::error::", "=1+", "+1+", "-1+", "@sum(", "\t=1+", "# ", "> ", "```\n")]
MACHINE = {"cpu": "A"}


def case(evil: str) -> Case:
    """Return a case whose operator, input and attribute are called so."""
    return Case(evil, {evil: TensorSpec((2,))}, {evil: evil})


def side(evil: str, framework: str = "torch") -> Side:
    """Return a side with the name wherever a side has one."""
    return Side(framework, f"python={evil}", implementation=evil, settings={evil: evil})


def run_of(evil: str) -> Run:
    """Return a run whose records, labels and facts have the name."""
    facts = {"implementation": evil, "version": evil, "suite": {"total": 1.0, "share": 0.5, "cumulative": 0.5}}
    warned = (Warning(evil, evil, evil),)
    metrics: dict[str, Value] = {"time": statistics(1e-3, interval_reason=evil), "memory_peak": Quantity(1, evil)}
    failed = Reason(evil, evil, evil, evil, evil, evil, evil)
    records = (
        Record(Trial(case(evil), side(evil), "forward", evil), "ok", metrics=metrics, warnings=warned, facts=facts),
        Record(Trial(case(evil), side(evil, "numpy"), "forward", evil), "failed", failed, facts=facts),
        Record(Trial(case(evil), side(evil, "jax"), "forward", evil), "skipped", failed, facts=facts),
    )
    program = {"time": 1.0, "calls": 1, "framework": evil, "version": evil, "threads": 1}
    environment = {
        "suite": {"name": evil, "source": evil, "program": program},
        "machine": {"cpu": evil, "kernel": evil, "cores_usable": 2},
        "sides": {"base": {"version": evil, "commit": evil, "blas": evil}, evil: {"version": evil}},
    }
    return Run(evil, evil, ("opperf", evil), Settings(), {evil: evil}, environment, records)


def compared(evil: str) -> ComparisonRun:
    """Return comparisons with the name on both sides, in the reasons, in what ran and as a warning."""
    verdict = Verdict("slower", 1.4, (1.3, 1.5), evil, 5, evil)
    told: Explanations = {"difference": [evil], "alike": 0, "failures": {}}
    one = Comparison(
        case(evil), "forward", side(evil), side(evil, "numpy"), verdict, 1e-3, 1.4e-3, explanation=told, count=2,
        warnings=(Warning(evil, evil, evil),),
    )  # fmt: skip
    return ComparisonRun(run_of(evil), (one,))


def judged(evil: str) -> Judgement:
    """Return a judgement with a finding of each kind that is news."""
    (one,) = compared(evil).comparisons
    return Judgement(tuple(Finding(kind, one, evil) for kind in ("slower", "failed", "inconclusive", "same")), 0.02)


def candidates(evil: str) -> JudgedRun:
    """Return a candidate of the name that is right, and one that is not."""
    evidence = (Evidence(evil, evil, evil, case(evil), {"stderr": evil}),)
    right = Judged(evil, evil, case(evil), "faster", evil, evidence, Speed(1e-3, 2e-3, 2.0, (1.9, 2.1)), room=(evil,))
    return JudgedRun(run_of(evil), (right, Judged(evil, evil, case(evil), "wrong", evil, evidence)))


def floors(evil: str) -> NoiseRun:
    """Return a floor of the name, and a trial without one."""
    trial = Trial(case(evil), side(evil), "forward")
    return NoiseRun(run_of(evil), (Floor(trial, 1e-3, 5, 0.1, 0.1, 0.1, 0, 3, evil),), (Unknown(trial, evil),), 0.02)


def replayed(evil: str) -> Replay:
    """Return a replay in which one case was measured, and another not."""
    other = Case(f"{evil}2", {"data": TensorSpec((2,))})
    trace = Trace(evil, (TracedCase(case(evil), 2), TracedCase(other, 1)), (LeftOut(evil, 1, evil),))
    return Replay(trace, run_of(evil))


def profiled(evil: str) -> Profile:
    """Return a profile in which everything has the name."""
    event = Event(evil, "operator", 0, 1000, 7, evil, module=evil, shapes=((2,),))
    return Profile((event,), (), {7: {"framework": evil, "version": evil, "command": evil, "name": evil}}, (evil,))


def error(evil: str) -> str:
    """Return what an error with the name says."""
    return str(InputError(evil, hint=evil))


def anything(evil: str) -> Document:
    """Return a document that has the name wherever a document has a text."""
    columns: list[Column[str]] = [Column(evil, evil, str, group=evil), Column(evil, f"{evil}2", len, presence="varied")]
    blocks = (
        table(columns, [evil, evil], level=lambda _: "failed"),
        Note(evil, [Note(evil, kind="item"), Note(evil, kind="hint")], about=evil),
        Legend({evil: evil}),
        Code([evil]),
    )
    return Document(evil, [Section(evil, blocks, "warning"), Section("", [Note(evil)])])


def gated(evil: str) -> Document:
    """Return the report of a gate."""
    return gate.document(compared(evil), judged(evil))


Report = Callable[[str], str]
CONSOLE: dict[str, Report] = {
    "run": lambda evil: render(run_of(evil), "console"),
    "run in 80 columns": lambda evil: render(run_of(evil), "console", width=80),
    "compare": lambda evil: render(compared(evil), "console"),
    "compare in 80 columns": lambda evil: render(compared(evil), "console", width=80),
    "gate": lambda evil: render(gated(evil), "console", width=100),
    "noise": lambda evil: render(floors(evil), "console"),
    "judge": lambda evil: render(candidates(evil), "console"),
    "replay": lambda evil: render(replayed(evil), "console", top=1, width=80),
    "profile": lambda evil: render(profiled(evil), "console", by="module"),
    "a table of anything": lambda evil: render(anything(evil), "console", width=40),
}
MARKDOWN: dict[str, Report] = {
    "run": lambda evil: render(run_of(evil), "md"),
    "compare": lambda evil: render(compared(evil), "md"),
    "gate": lambda evil: render(gated(evil), "md"),
    "noise": lambda evil: render(floors(evil), "md"),
    "judge": lambda evil: render(candidates(evil), "md"),
    "replay": lambda evil: render(replayed(evil), "md", top=1),
    "profile": lambda evil: render(profiled(evil), "md"),
    "anything": lambda evil: render(anything(evil), "md"),
}
CSV: dict[str, Report] = {
    "run": lambda evil: render(run_of(evil), "csv"),
    "compare": lambda evil: render(compared(evil), "csv"),
    "noise": lambda evil: render(floors(evil), "csv"),
    "judge": lambda evil: render(candidates(evil), "csv"),
    "replay": lambda evil: render(replayed(evil), "csv"),
    "profile": lambda evil: render(profiled(evil), "csv"),
    "anything": lambda evil: render(anything(evil), "csv"),
}
PAGES: dict[str, Report] = {
    "run": lambda evil: render(run_of(evil), "html"),
    "compare": lambda evil: render(compared(evil), "html"),
    "gate": lambda evil: render(gated(evil), "html"),
    "noise": lambda evil: render(floors(evil), "html"),
    "judge": lambda evil: render(candidates(evil), "html"),
    "replay": lambda evil: render(replayed(evil), "html"),
    "anything": lambda evil: render(anything(evil), "html"),
    "profile": lambda evil: profile_page.render(profiled(evil)),
    "page of a run": lambda evil: page_of(run_of(evil)),
    "page of a comparison": lambda evil: page_of(compared(evil)),
    "page of noise": lambda evil: page_of(floors(evil)),
    "page of candidates": lambda evil: page_of(candidates(evil)),
    "page of a replay": lambda evil: page_of(replayed(evil)),
}


def page_of(result: Result) -> str:
    """Return the page of a result, with a report that has the name wherever a document has a text."""
    return result_page.page(result, report_of(result), charts(result))


def check_lines(shown: str) -> None:
    """Assert that lines hold nothing that a terminal, or GitHub reading a log, obeys."""
    assert all(char == "\n" or char.isprintable() for char in shown)
    for line in shown.split("\n"):
        assert not line.strip().startswith("::")
        assert "##[" not in line


@each("report", CONSOLE)
def test_nothing_acts_in_a_terminal_or_a_log(report: str) -> None:
    def check(evil: str) -> None:
        check_lines(CONSOLE[report](evil))

    check_each(EVIL, check, repr)


def test_nothing_acts_in_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    def check(evil: str) -> None:
        tell(f"error: {error(evil)}")
        said = capsys.readouterr().err
        check_lines(said)
        assert "pwned" in said

    check_each(EVIL, check, repr)


@each("report", MARKDOWN)
def test_nothing_acts_in_markdown(report: str) -> None:
    def check(evil: str) -> None:
        made = MARKDOWN[report](evil)
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(made)
        assert {token.content.strip() for token in tokens if token.type == "html_block"} <= _folds(made)
        inner = [child for token in tokens if token.type == "inline" for child in token.children or ()]
        kinds = {child.type for child in inner} - {"strong_open", "strong_close"}
        assert kinds <= {"text", "code_inline", "softbreak"}
        # Only titles are bold: `**warnings**` of a run, `**what ran: ...**` of a comparison.
        assert not {token.content for token in tokens if token.type == "inline" and token.content.startswith("**b")}
        headings = [token for token in tokens if token.type == "heading_open"]
        assert len(headings) == (1 if report == "gate" else 0)
        told = "".join(child.content for child in inner if child.type == "text")
        assert not re.search(r"@\w|#\d|://|www\.", told)
        assert "pwned" in told

    check_each(EVIL, check, repr)


def _folds(made: str) -> set[str]:
    """Return the markup of opperf's own in a comment."""
    return {*re.findall(r"^<details><summary>[\w ]+</summary>$", made, flags=re.M), "</details>"}


@each("report", CSV)
def test_no_field_is_a_formula(report: str) -> None:
    def check(evil: str) -> None:
        made = CSV[report](evil)
        heading, *rows = csv.reader(io.StringIO(made, newline=""))
        assert rows
        assert made.count("\n") == len(rows) + 1
        for row in rows:
            assert len(row) == len(heading)
            for field in row:
                assert field.isprintable()
                assert not field.strip().startswith(("=", "+", "-", "@")) or _is_number(field)
        assert any("pwned" in field for row in rows for field in row)

    check_each(EVIL, check, repr)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


class Tags(HTMLParser):
    """The tags of a page, with the names of their attributes, as a browser reads them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.seen.append((tag, tuple(name for name, _ in attributes)))


@pytest.mark.parametrize("result", [run_of, compared, floors, replayed])
def test_a_picture_is_well_formed_and_has_the_elements_of_a_harmless_name(result: Callable[[str], Result]) -> None:
    def check(evil: str) -> None:
        made, plain = (ElementTree.fromstring(picture(charts(result(name)))) for name in (evil, "harmless"))
        assert {element.tag for element in made.iter()} == {element.tag for element in plain.iter()}
        assert "pwned" in "".join(made.itertext())

    check_each(EVIL, check, repr)


@each("report", PAGES)
def test_a_page_has_the_tags_that_it_has_of_a_harmless_name(report: str) -> None:
    def check(evil: str) -> None:
        assert set(Tags(PAGES[report](evil)).seen) == set(Tags(PAGES[report]("harmless")).seen)

    check_each(EVIL, check, repr)


def test_an_annotation_is_one_command_and_no_name_makes_another() -> None:
    def check(evil: str) -> None:
        lines = render(gated(evil), "github").splitlines()
        assert len(lines) == 4
        for line in lines:
            result = re.fullmatch(r"::(error|warning|notice) title=([^:,]*)::(.*)", line)
            assert result
            assert result[3].isprintable()

    check_each(EVIL, check, repr)


def test_junit_is_well_formed_and_has_the_elements_of_a_harmless_name() -> None:
    def check(evil: str) -> None:
        made, plain = (ElementTree.fromstring(render(gated(name), "junit")) for name in (evil, "harmless"))
        assert [element.tag for element in made.iter()] == [element.tag for element in plain.iter()]

    check_each(EVIL, check, repr)
