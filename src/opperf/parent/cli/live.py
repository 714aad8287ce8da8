"""A live comparison, as `compare` and `gate` run it: whatever stops it, what is decided is kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opperf.domain.comparison import ComparisonRun
    from opperf.domain.plan import Settings
    from opperf.parent.analysis.verdict import Rule
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.side_text import SideText


def base_of(operators: list[str] | None, base: str | None, new: list[str] | None) -> tuple[list[str], str | None]:
    """Return the operators and the base: `compare mine.py:f --new mine.py:g` compares the one with the other."""
    from opperf.domain.code import is_code
    from opperf.domain.registry import split_implementation

    named = list(operators or ())
    alone = base is None and new and len(named) == 1
    if alone and (is_code(named[0]) or split_implementation(named[0])[0] is not None):
        return [], named[0]
    return named, base


def sides_named(texts: Sequence[str], others: Sequence[SideText] = ()) -> list[SideText]:
    """Read sides as a user names them, beside `others` that a file has; raises `InputError`.

    Code that does not tell its framework is of the one that it is declared for, that its file imports, or that another
    side is of; else of the only one that imports here.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.planning.side_text import side_named
    from opperf.parent.sources.plugin_file import framework_of
    from opperf.parent.workers.interpreters import importable

    def beside() -> str | None:
        found = [other.side.framework for other in others]
        for text in texts:
            with suppress(InputError):
                found.append(side_named(text, framework_of).side.framework)
        return found[0] if found else importable()[0] if len(importable()) == 1 else None

    return [side_named(text, lambda code: framework_of(code) or beside()) for text in texts]


def compare_live(
    selection: Selection,
    base: SideText,
    new: Sequence[SideText],
    settings: Settings,
    rule: Rule,
    labels: Mapping[str, str],
    *,
    explain: bool = False,
) -> tuple[ComparisonRun, BaseException | None]:
    """Return the document of a comparison, and what to raise for what stopped it, None when nothing did.

    `explain` asks what ran on each side of what is slower or faster.
    """
    from opperf.domain.errors import InputError, way_out
    from opperf.parent import explain as explaining
    from opperf.parent.calibration import stored_floors
    from opperf.parent.cli.progress import Bar, planning
    from opperf.parent.compare import Comparing, report

    bar = Bar()
    comparing = Comparing(settings, rule, bar.note, floors=stored_floors(), plugins=selection.plugins)
    with planning(bar):
        contests = comparing.contests(selection, base, new)
    stopped: BaseException | None = None
    try:
        comparing.run(contests)
        if explain:
            explaining.explain(contests, settings, bar.note, spent=comparing.spent, plugins=selection.plugins)
    except InputError:
        raise
    except BaseException as stop:  # a fault of opperf's own among them: hours of measuring may lie behind
        stopped = way_out(stop)
    return report(contests, comparing, labels=labels, command=("opperf", *sys.argv[1:])), stopped
