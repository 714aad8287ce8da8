"""Contrast sides: a brief look at all operators that both have, and pairs for what stands out.

Each look and each confirmed gap is a comparison. They are kept in a journal beside the results, line by line, from
which an interrupted contrast goes on. Contests share pairs of processes, a few at a time, so that little is lost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TypeAlias

from opperf.domain.codec import encode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.compare import parse_sides
from opperf.parent.commands.deciding import rule_of
from opperf.parent.commands.load import read_document
from opperf.parent.documents.comparison import CHANGES, Comparison, ComparisonRun, Verdict
from opperf.parent.measuring.calibration import stored_floors
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, header, outcome, start
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.reports.contrast import is_view, look_ratio
from opperf.parent.sources.options import Contrasting
from opperf.parent.sources.plugin_file import named_side
from opperf.parent.store.journal import journal_of
from opperf.parent.store.search_journal import SearchJournal, check_shares, read_rows
from opperf.parent.workers import gpus

#: A look is one pair of processes, in which a case takes samples for so many seconds; where the machine left too few of
#: them undisturbed, it is repeated for longer.
LOOKS, LOOK_SECONDS = 1, (0.1, 0.6, 2.0)
#: Cases that share a pair of processes at a look and when they are confirmed: so many are lost by a kill.
LOOKED_AT, CONFIRMED = 40, 8

Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Order:
    """What stands out, where results go, and those of an interrupted contrast to go on from."""

    search: Contrasting = field(default_factory=Contrasting)
    output: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()

    @property
    def journal(self) -> Path | None:
        """The journal beside the results."""
        return None if self.output is None else _journal_of(self.output)

    def drop_journal(self) -> None:
        """Remove the journal of a contrast that is finished and kept."""
        if self.journal is not None:
            self.journal.unlink(missing_ok=True)

    def rule(self) -> Rule:
        """Return the rule that confirms; raises `InputError` for options that mean nothing."""
        search = self.search
        if not 1 < search.factor < 1000:
            raise InputError(f"`--factor` is {search.factor:g}, expected a number above 1, such as 1.5")
        if search.confirm < 0:
            raise InputError(f"`--confirm` is {search.confirm}, expected a whole number >= 0")
        return rule_of(search)


def contrast(
    operators: Sequence[str],
    request: Request,
    order: Order,
    progress: Progress,
    *,
    base: str | None = None,
    new: Sequence[str] = (),
) -> tuple[ComparisonRun, BaseException | None]:
    """Return a comparison of each case, and the exception that stopped the contrast or None.

    Without operators, categories or a suite these are all operators. Raises `InputError` for bad input.
    """
    rule = order.rule()
    if base is None or not new:
        raise InputError(
            "a contrast needs both `--base SIDE` and `--new SIDE`",
            hint="`opperf contrast --base numpy --new torch --category reduction`",
        )
    what = request.what
    if not (operators or what.category or what.suite):
        request = replace(request, what=replace(what, all=True))
    plugins = requests.plugin_files(what.plugin, request.where.framework, [base, *new], note=progress.note)
    sides = parse_sides([named_side(text, plugins) for text in (base, *new)])
    gpus.check_devices((text.side.framework, text.side.device) for text in sides)
    selection = requests.selection(operators, request, note=progress.note)
    search = Search(selection, requests.settings(request), order, rule, progress)
    with planning(progress):
        contests = search.comparing(rule).contests(selection, sides[0], sides[1:])
    with Stoppable() as measuring:
        search.run(contests)
    return search.document(contests), measuring.cause


class Search:
    """One contrast: `run` it, then read the `document`, also after it was stopped."""

    def __init__(self, selection: Selection, settings: Settings, order: Order, rule: Rule, progress: Progress) -> None:
        self._selection, self._settings, self._order = selection, settings, order
        self._rule, self._progress = rule, progress
        self._comparisons = {} if order.resume is None else read_earlier(order.resume)
        self._facts: dict[str, object] = {}
        self._start, self._began = start(), time.monotonic()

    def run(self, contests: Sequence[Contest]) -> None:
        """Look at each case once, and confirm those that stand out, within the budget."""
        keys = {*map(_key, contests)}
        check_shares(not self._comparisons or bool(keys & {*self._comparisons}), self._order.resume)
        earlier = (encode(comparison) for key, comparison in self._comparisons.items() if key in keys)
        self._journal = SearchJournal(self._order.journal, earlier)
        for number, seconds in enumerate(LOOK_SECONDS):
            left = [contest for contest in contests if self._lacks_look(contest)]
            if left or not number:
                words = f"again, for {seconds:g} s," if number else "briefly"
                self._progress.note(f"looking {words} at {plural(len(left), 'case')}")
            for part in _parts(left, LOOKED_AT):
                self._measure(part, replace(self._rule, sampling=seconds), LOOKS)
        gaps = self.gaps(contests)
        most = self._order.search.confirm
        unconfirmed = [one for one in gaps[:most] if not is_confirmed(self._comparisons[_key(one)])]
        factor = self._order.search.factor
        self._progress.note(
            f"{plural(len(gaps), 'gap')} beyond a factor of {factor:g}; confirming {len(unconfirmed)} by pairs"
        )
        for part in _parts(unconfirmed, CONFIRMED):
            self._measure(part, self._rule)

    def _lacks_look(self, contest: Contest) -> bool:
        comparison = self._comparisons.get(_key(contest))
        return comparison is None or (comparison.status == "ok" and look_ratio(comparison) is None)

    def gaps(self, contests: Sequence[Contest]) -> list[Contest]:
        """Return those whose new side takes longer by the factor at a look for the same work, the largest first."""
        ratios = {}
        for contest in contests:
            comparison = self._comparisons.get(_key(contest))
            ratio = None if comparison is None or is_view(comparison) else look_ratio(comparison)
            if ratio is not None and ratio >= self._order.search.factor:
                ratios[_key(contest)] = ratio
        beyond = [contest for contest in contests if _key(contest) in ratios]
        return sorted(beyond, key=lambda contest: -ratios[_key(contest)])

    def comparing(self, rule: Rule) -> Comparing:
        """Return a comparison by a rule, for as long as the budget lasts."""
        settings, elapsed = self._settings, time.monotonic() - self._began
        if settings.budget is not None:
            settings = replace(settings, budget=max(0.001, settings.budget - elapsed))
        comparing = Comparing(
            *(settings, rule, self._progress.note), floors=stored_floors(), plugins=self._selection.plugins
        )
        comparing.follow(self._progress)
        return comparing

    def _measure(self, contests: Sequence[Contest], rule: Rule, pairs: int | None = None) -> None:
        """Measure some cases in the same processes; with `pairs` they are looked at, else brought to a verdict."""
        budget = self._settings.budget
        if budget is not None and time.monotonic() - self._began > budget:
            return
        comparing = self.comparing(rule)
        fresh = [comparing.contest(one.base, one.new, one.key) for one in contests]
        ended = False
        try:
            comparing.run(fresh, pairs)
            ended = not comparing.spent()
        finally:
            self._facts.update(comparing.facts)
            self._keep([_look(one) for one in fresh if one.pairs or one.failure] if pairs is not None else
                       [outcome(one) for one in fresh if ended or one.failure or _is_sure(one)])  # fmt: skip

    def _keep(self, comparisons: Sequence[Comparison]) -> None:
        self._comparisons |= {_key_of(one): one for one in comparisons}
        self._journal.add(*map(encode, comparisons))

    def document(self, contests: Sequence[Contest]) -> ComparisonRun:
        """Return the comparisons that are known, on the sides that this command names."""
        order = self._order
        run = header(self._settings, self._start, self._facts, labels=order.labels, command=order.command)
        pairs = ((contest, self._comparisons.get(_key(contest))) for contest in contests)
        # Sides that stood in a file are those of the same key that were named now.
        measured = (replace(one, base=contest.base.side, new=contest.new.side) for contest, one in pairs if one)
        return ComparisonRun(run, tuple(measured))


def is_confirmed(comparison: Comparison) -> bool:
    """Whether pairs were measured after the look, or nothing can be."""
    return comparison.status != "ok" or comparison.verdict.pairs > LOOKS


def _is_sure(contest: Contest) -> bool:
    return contest.verdict is not None and contest.verdict.verdict in (*CHANGES, "same")


def _look(contest: Contest) -> Comparison:
    """Return the comparison of a case that was looked at."""
    comparison = outcome(contest)
    if contest.absent:  # on whichever side: a contrast is of what both have
        return replace(comparison, status="skipped", verdict=replace(comparison.verdict, verdict="skipped"))
    if comparison.status != "ok":
        return comparison
    if look_ratio(comparison) is None:
        return replace(comparison, verdict=replace(comparison.verdict, settle="look again on a quieter machine"))
    verdict = Verdict("inconclusive", None, None, "one brief look", LOOKS, "confirm it with `opperf compare`")
    base, new = contest.stage1[-1].levels or (None, None)
    return replace(comparison, verdict=verdict, base_time=base, new_time=new)


def _key(contest: Contest) -> Key:
    return contest.key.case.id, contest.key.direction, contest.base.side.key, contest.new.side.key


def _key_of(comparison: Comparison) -> Key:
    return comparison.case.id, comparison.direction, comparison.base.key, comparison.new.key


def _journal_of(path: Path) -> Path:
    return path if path.suffix == ".journal" else journal_of(path)


def _parts(contests: Sequence[Contest], size: int) -> Iterator[Sequence[Contest]]:
    return (contests[place : place + size] for place in range(0, len(contests), size))


def read_earlier(path: Path) -> dict[Key, Comparison]:
    """Return the comparisons of an interrupted contrast: of its results, and of the journal beside them.

    Raises `InputError` for a file that is neither.
    """
    journal = _journal_of(path)
    comparisons: dict[Key, Comparison] = {}
    if path != journal and (path.exists() or not journal.exists()):
        document = read_document(path)
        if not isinstance(document, ComparisonRun):
            raise InputError(f"{path}: expected the results of `opperf contrast`", slug="bad_journal")
        comparisons = {_key_of(one): one for one in document.comparisons}
    if path == journal or journal.exists():
        comparisons |= {_key_of(one): one for _, one in read_rows(journal, "contrast", Comparison)}
    return comparisons
