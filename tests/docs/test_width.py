"""What commands of the pages print is read on 120 columns: what matters stands first, and no number is broken.

Cases, sides and directions are those that the commands name; figures are made up, so that nothing is measured.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle, pairwise, product
from typing import Any

from tests.docs.conftest import PAGES
from tests.docs.test_commands import COMMAND, RECIPES, commands, frameworks_of
from tests.unit.parent.reports.conftest import run_of, statistics

from opperf.catalog import DIRECTIONS, catalog
from opperf.domain.case import Case
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Side, Trial
from opperf.domain.reason import Warning
from opperf.domain.record import Record, Run
from opperf.domain.registry import split_implementation
from opperf.parent.cli.options import with_values
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.planning.commit_sides import with_frameworks
from opperf.parent.planning.side_text import parse_side
from opperf.parent.reports import render, report_of
from opperf.parent.reports.document import Block, Section, Table
from opperf.parent.reports.layout import fit_table, grid, wrap
from opperf.parent.sources.user_inputs import case_with, foreign_case, in_one_shape, input_cases, pairs, split_row

WIDTH, FIRST = 120, 80
#: Figures of very different lengths.
TIMES = (4.2e-7, 1.234e-3, 0.0312, 2.5, 98.7e-6)
RATIOS = (1.52, 0.888, 1.002, 1.013, 12.34)
VERDICTS = ("slower", "faster", "same", "inconclusive", "slower")


def cases_of(params: Mapping[str, Any]) -> Iterator[tuple[str | None, Case]]:
    """Yield the cases that a command names, each with the framework whose own operator it is."""
    rows = input_cases(params.get("input") or params.get("inputs") or ()) or [{}]
    attributes = pairs(params.get("attribute") or params.get("attributes") or (), "--attribute")
    chosen = params.get("category") or params.get("categories") or ()
    names = [*(params.get("operators") or ()), *(name for name, one in catalog().items() if one.category in chosen)]
    if not names:
        names = [split_implementation(name)[1] or name for name in [params.get("base") or ""] if ":" in name]
    for name, row in product(names, rows):
        framework, path = split_implementation(name)
        definition = catalog().get(path) if framework is None else None
        values = dict(row) if definition is None else in_one_shape(definition, row)
        if definition is not None and values.keys() <= {*definition.inputs, *definition.attributes}:
            yield None, case_with(definition, values | attributes)
        else:
            inputs, more = split_row(row)
            yield framework, foreign_case(name, inputs, {**more, **attributes})


def sides_of(params: Mapping[str, Any], own: str | None) -> list[Side]:
    """Return the sides of a run."""
    environments = [EnvironmentSpec.parse(text) for text in params.get("environment") or ()]
    frameworks = [own] if own else params.get("framework") or ["torch"]
    modes = params.get("mode") or ["eager"]
    return [
        Side(name, environment=environments[0].text if environments else name, mode=mode)
        for name, mode in product(frameworks, modes)
    ]


def run(params: Mapping[str, Any]) -> Run:
    """Return the run that a command might end with."""
    times = cycle(TIMES)
    records: list[Record] = []
    for own, case in cases_of(params):
        for side, direction in product(sides_of(params, own), params.get("direction") or DIRECTIONS[:2]):
            time = next(times)
            metrics: dict[str, Any] = {
                "time": statistics(time),
                "latency": statistics(time * 1.2),
                "cpu_time": statistics(time),
                "memory_peak": Quantity(4194304, "torch profiler"),
                "flops": Quantity(1048576.0, "formula"),
                "flop_rate": Quantity(3.353e9),
                "byte_rate": Quantity(40.24e9),
            }
            warned = (Warning("busy_machine", "10 of 100 samples were disturbed", "pin with `--cpus`"),)
            facts = {"version": "2.13.0", "implementation": f"{side.framework}:{case.operator}"}
            records.append(Record(Trial(case, side, direction), "ok", metrics=metrics, warnings=warned, facts=facts))
    return run_of(*records)


def comparison_run(params: Mapping[str, Any]) -> ComparisonRun:
    """Return the comparisons that a command might end with."""
    texts = with_frameworks([params["base"], *params["new"]], params["operators"] or ())
    base, *others = (parse_side(text, lambda code: "torch").side for text in texts)
    figures = cycle(zip(TIMES, RATIOS, VERDICTS))
    comparisons = []
    for _, case in cases_of(params):
        for new, direction in product(others, params.get("direction") or DIRECTIONS[:2]):
            time, ratio, word = next(figures)
            verdict = Verdict(word, ratio, (ratio * 0.98, ratio * 1.0213), "both stages agree", 12)
            memory: Any = {"peak": (4194304.0, 8388608.0), "same": False, "source": "torch profiler"}
            comparisons.append(
                Comparison(
                    case,
                    direction,
                    base,
                    new,
                    verdict,
                    time,
                    time * ratio,
                    memory=memory,
                    base_version="2.12.0",
                    new_version="2.13.0",
                )
            )
    return ComparisonRun(run_of(), tuple(comparisons))


def results() -> Iterator[tuple[str, Run | ComparisonRun]]:
    """Yield each command of the pages that measures, with a result of it."""
    for page in PAGES:
        for block in () if page.path.name in RECIPES else page.blocks("sh"):
            for words in commands(block.text):
                if words[:1] not in (["run"], ["compare"]) or "--help" in words:
                    continue
                verb = COMMAND.commands[words[0]]
                params = verb.make_context(verb.name, with_values(words)[1:]).params
                if words[0] == "compare" and not params["base"]:
                    continue
                with frameworks_of(params.get("plugin") or (), params.get("framework") or ()):
                    yield shlex.join(words), run(params) if words[0] == "run" else comparison_run(params)


def tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """Yield the tables of a document, those of its sections too."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Section):
            yield from tables(block.blocks)


def broken(table: Table) -> Iterator[str]:
    """Yield the words of cells that are broken within a number, or within a range or strides that have room."""
    fit = fit_table(grid(table), WIDTH)
    for row in fit.grid.rows:
        for cell, width in zip(row, fit.widths, strict=True):
            for word in cell.split():
                wholes = re.findall(r"[-\d.]+\.\.[-\d.]+|strides=[\d,]+", word)
                has_room = all(len(one) <= width for one in wholes)
                for before, after in pairwise(wrap(word, width)):
                    ends = re.search(r"\d\.?$", before) or (has_room and re.search(r"\.\.$|\d,$", before))
                    if ends and re.match(r"-?\d", after):
                        yield f"{before} | {after}"


def _count(result: Run | ComparisonRun) -> int:
    return len(result.records if isinstance(result, Run) else result.comparisons)


def test_what_commands_of_the_pages_print_fits_120_columns_and_begins_with_what_matters() -> None:
    seen = {text: result for text, result in results() if _count(result)}
    assert len(seen) > 100
    wrong: list[str] = []
    for text, result in seen.items():
        lines = render(result, width=WIDTH).splitlines()
        headings = lines[: next(place for place, line in enumerate(lines) if line.startswith("---"))]
        first = r"^verdict +ratio\b" if isinstance(result, ComparisonRun) else r"^operator.* time\b"
        if not any((place := re.search(first, line)) and place.end() <= FIRST for line in headings):
            wrong.append(f"{text}: not in the first {FIRST} columns: {headings[-1]}")
        wrong += [f"{text}: {len(line)} columns: {line}" for line in lines if len(line) > WIDTH]
        wrong += [f"{text}: {word}" for table in tables(report_of(result).blocks) for word in broken(table)]
    assert not wrong, "\n".join(wrong)
