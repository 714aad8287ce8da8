"""Compare sides live: plan cases, restart pairs of children, look at fixed counts, confirm what stands out.

All operators run in each pair of processes, so that imports are paid once. A stop keeps decided comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.code import own_metric
from opperf.domain.metric import compared_metric
from opperf.domain.plan import INSTRUCTIONS, Settings, Trial
from opperf.domain.stats.order import CONFIDENCE
from opperf.parent.analysis.counts import LAYOUTS, by_clock, by_counts, counting, together
from opperf.parent.analysis.modes import bound, hold
from opperf.parent.analysis.verdict import (
    LEAST_PAIRS,
    Progress,
    Rule,
    confirm,
    decide,
    decide_early,
    manifold,
    screen,
    spending,
    sufficient,
)
from opperf.parent.documents.comparison import Verdict
from opperf.parent.documents.floor import Floor, floor_key, series_key, series_side
from opperf.parent.measuring.contest import Contest, start, stop_name, unfinished
from opperf.parent.measuring.pace import first_answer
from opperf.parent.measuring.pairs import Pairs
from opperf.parent.measuring.shares import leave_small, settle_tail
from opperf.parent.planning.benchmarks import added_trials, settings_notes
from opperf.parent.planning.expand import expand
from opperf.parent.planning.implementations import comparison_selection, trial_on
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText
from opperf.parent.planning.suites import forward_unless_said, unmeasured
from opperf.parent.planning.values import notes
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.instructions import check
from opperf.parent.workers.interpreters import settled_side
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.pool import Pool


class Comparing(Pairs):
    """A live comparison of one base with one or more new sides."""

    def __init__(
        self,
        settings: Settings,
        rule: Rule,
        note: Callable[[str], None],
        *,
        floors: Mapping[tuple[object, ...], Floor] | None = None,
        pasts: Mapping[tuple[object, ...], float] | None = None,
        plugins: Sequence[Path] = (),
        duel: Callable[..., Pair] = Duel,
        timed: bool = True,
        thrifty: bool = False,
    ) -> None:
        """Start nothing yet; `plugins` have the user's own operators. Counts alone do where nothing is `timed`.

        `pasts` are the log-ratios that series of builds moved by before, by `series_key`. A `thrifty` comparison of a
        suite spends few pairs on cases that are next to nothing of the whole.
        """
        super().__init__(settings, note, plugins, duel)
        self._floors, self._pasts = floors or {}, pasts or {}
        self._timed, self._thrifty = timed, thrifty
        self._rule, self._metric = rule, settings.decisive
        self.start = start()

    def contests(self, selection: Selection, base: SideText, new: Sequence[SideText]) -> list[Contest]:
        """Return the contests; raises `InputError` for bad input."""
        with Pool(self.settings, self._note, selection.plugins) as pool:
            needs = selection.libraries, selection.packages
            sides = [replace(text, side=settled_side(text.side, *needs)) for text in (base, *new)]
            if self.settings.clock == INSTRUCTIONS:
                check(text.side for text in sides)
            selection = comparison_selection(selection, sides, pool.describe)
            plain = replace(sides[0].side, implementation=None)
            selection = forward_unless_said(selection)
            plan = expand(selection, self.settings, [plain], pool, registered=False, note=self._note)
            more = [added_trials(selection, plan.trials, other.side, pool, self._note) for other in sides[1:]]
        about = (*settings_notes(selection, [text.side for text in sides]), *unmeasured(selection, {plain.framework}))
        idle = [
            f"the tolerance of `{name}` applies to none of the operators that are compared"
            for name in self._rule.tolerances.idle({trial.case.operator for trial in plan.trials})
        ]
        for note in (*about, *idle, *notes(selection.values, (trial.case for trial in plan.trials))):
            self._note(f"note: {note}")
        pairs = [
            (trial_on(trial, sides[0]), trial_on(trial, other), trial)
            for other, added in zip(sides[1:], more)
            for trial in (*plan.trials, *added)
        ]
        return [self.contest(*pair) for pair in pairs]

    def contest(self, base: Trial, new: Trial, key: Trial) -> Contest:
        """Return a contest that knows the floor of its noisier side."""
        by_itself = own_metric(base.side.implementation, key.case.operator)
        metric = by_itself if by_itself is not None and self._metric.name == "time" else self._metric.name
        floor = self._floor(base, new) if metric == "time" else None
        return Contest(base, new, key, floor=floor, metric=metric)

    def _floor(self, *trials: Trial) -> Floor | None:
        """Return the floor of the noisier side, where one is known."""
        floors = [self._floors[key] for key in map(floor_key, trials) if key in self._floors]
        return max(floors, key=lambda floor: floor.spread, default=None)

    def _rule_of(self, contest: Contest) -> Rule:
        rule = self._rule.for_operator(contest.key.case.operator).with_floor(contest.floor)
        if not self._pasts:
            return rule
        key = series_key(contest.new.case.id, contest.new.direction, series_side(contest.new.side), contest.metric)
        return replace(rule, past=self._pasts.get(key, 0.0))

    def run(self, contests: list[Contest], pairs: int | None = None) -> None:
        """Bring every contest to a verdict, within the budget; what a stop leaves open is inconclusive.

        With `pairs` each is measured by so many and by no more, whatever they say: they are no verdict yet.
        """
        self._prepare(contests)
        self._by_whole = self._is_suite and self._thrifty and self._rule.most is None
        cause: BaseException | None = None
        try:
            if self._metric.compared == "exact":
                self._count(contests)
            elif pairs is not None:
                for contest in contests:
                    contest.planned = pairs
                self._pairs([(contest, pairs) for contest in contests], lambda contest: contest.stage1)
            else:
                self._second_stage(self._first_stage(contests))
        except BaseException as stop:
            cause = stop
            raise
        finally:
            self._close()
            progress = [Progress(one.seconds, one.pairs, 0 if one.decided else one.missing) for one in contests]
            budget = sufficient(time.monotonic() - self._began, progress)
            for contest in contests:
                if contest.verdict is None:
                    contest.verdict = self._open(contest, budget, cause)
                elif not contest.counts:
                    rule = self._rule_of(contest)
                    verdict = hold(contest.verdict, contest.doubt(rule.change))
                    contest.verdict = bound(verdict, contest.resolution, rule.band)

    def _count(self, contests: list[Contest]) -> None:
        """Measure each contest by a few pairs, each in another layout of memory: they decide.

        Where they count instructions, the contest is timed at one look too.
        """
        counts_instructions = self._metric.name == INSTRUCTIONS
        is_timed = self._timed and counts_instructions
        for contest in contests:
            contest.planned = LAYOUTS[0] + (self._rule.pairs if is_timed else 0)
        undecided = contests
        for layouts in LAYOUTS:
            looks = [(contest, layouts) for contest in undecided]
            self._pairs(looks, lambda contest: contest.counts, counted=counts_instructions)
            undecided = [
                one for one in undecided if one.failure is None and self._by_counts(one).verdict == "inconclusive"
            ]
        ready = [one for one in contests if one.failure is None and len(one.count_ratios) >= LAYOUTS[0]]
        if is_timed:
            self._pairs([(contest, self._rule.pairs) for contest in ready], lambda contest: contest.stage1)
        for contest in ready:
            if contest.failure is not None:
                continue
            if len(contest.ratios1) >= LEAST_PAIRS:
                contest.time = by_clock(contest.ratios1, self._rule_of(contest))
            verdict = self._by_counts(contest)
            text = together(verdict, contest.time, "work" if counts_instructions else self._metric.words)
            contest.verdict = replace(verdict, reason=f"{text}; {verdict.reason}")

    def _by_counts(self, contest: Contest) -> Verdict:
        rule = self._rule_of(contest)
        return by_counts(contest.count_ratios, counting(rule) if self._metric.name == INSTRUCTIONS else rule)

    def _first_stage(self, contests: list[Contest]) -> list[Contest]:
        """Measure pairs up to each look; return what stands out. What is far beyond is decided before them."""
        outliers: list[Contest] = []
        for contest in contests:
            contest.planned = self._rule_of(contest).looks[-1]
        self._pairs([(contest, LEAST_PAIRS) for contest in contests], lambda contest: contest.stage1)
        self._without_manifold(contests)
        if self._rule.looks[0] > LEAST_PAIRS and (text := first_answer(contests, lambda one: self._rule_of(one).band)):
            self._note(text)
        if self._by_whole:
            self._leave_small(contests, 0)
            settle_tail(contests, self._rule_of)
        undecided = [contest for contest in contests if not contest.decided]
        for look in range(len(self._rule.looks)):
            looks = [(contest, self._plan(contest, look)) for contest in undecided]
            self._pairs(looks, lambda contest: contest.stage1)
            undecided = self._without_manifold(undecided)
            ratios = {i: contest.ratios1 for i, contest in enumerate(undecided)}
            bands = {i: self._rule_of(contest).band for i, contest in enumerate(undecided)}
            standing_out, same = screen(ratios, look, self._rule, bands)
            for i in same:
                undecided[i].verdict = decide(undecided[i].ratios1, self._rule_of(undecided[i]))
            for i in sorted(standing_out):
                undecided[i].verdict = self._outright(undecided[i])
                outliers += [undecided[i]] if undecided[i].verdict is None else []
            if self._by_whole:
                self._leave_small(contests, look + 1)
                outliers = [contest for contest in outliers if not contest.decided]
            undecided = [one for i, one in enumerate(undecided) if i not in standing_out | same and not one.decided]
            if not undecided or self.spent():
                break
        for contest in undecided:
            self._decide(contest, decide(contest.ratios1, self._rule_of(contest)))
        for contest in outliers:
            contest.planned = len(contest.stage1) + self._rule_of(contest).second_looks(contest.ratios1)[-1]
        return outliers

    def _leave_small(self, contests: Sequence[Contest], look: int) -> None:
        """Let wholes that are decided at a look leave their small cases; the first look is that of the least pairs."""
        share = spending((LEAST_PAIRS, *self._rule.looks))[look]
        leave_small(contests, self._rule_of, self._rule, (1 - CONFIDENCE) * share, self._note)

    def _without_manifold(self, contests: Sequence[Contest]) -> list[Contest]:
        """Decide those whose pairs are all far beyond the tolerance, and those that no pair gives a ratio.

        Returns those that are still open. A number that is read once is the same again, so that more pairs say no more.
        """
        for contest in contests:
            if contest.failure is not None:
                continue
            contest.verdict = self._manifold(contest)
            if not contest.ratios1 and len(contest.stage1) >= LEAST_PAIRS and compared_metric(contest.metric).once:
                contest.verdict = decide((), self._rule_of(contest))
        return [contest for contest in contests if not contest.decided]

    def _manifold(self, contest: Contest) -> Verdict | None:
        """Return the verdict that few pairs are enough for; a doubt, or a second stage, calls for more."""
        rule = self._rule_of(contest)
        return (
            None
            if contest.ratios2 or contest.doubt(rule.change)
            else manifold(contest.ratios1, rule, is_long=contest.is_long)
        )

    def _outright(self, contest: Contest) -> Verdict | None:
        """Return the verdict of one stage; a doubt calls for another, whose processes may meet another mode."""
        rule = self._rule_of(contest)
        return decide_early(contest.ratios1, rule) if contest.doubt(rule.change) is None else None

    def _plan(self, contest: Contest, look: int) -> int:
        """Return the pairs of a contest at a look; one that starts with more of them may have fewer looks."""
        looks = self._rule_of(contest).looks
        return looks[min(look, len(looks) - 1)]

    def _second_stage(self, outliers: list[Contest]) -> None:
        """Measure what stands out again, up to each look that is left, until a look decides."""
        plans = [(contest, self._rule_of(contest).second_looks(contest.ratios1)) for contest in outliers]
        look = 0
        while plans and not self.spent():
            self._pairs([(contest, plan[look]) for contest, plan in plans], lambda contest: contest.stage2)
            left = []
            for contest, plan in plans:
                if contest.failure is not None:
                    continue
                verdict = confirm(contest.ratios1, contest.ratios2, self._rule_of(contest), spending(plan)[look])
                if verdict.verdict != "inconclusive" or look == len(plan) - 1:
                    self._decide(contest, verdict)
                else:
                    left.append((contest, plan))
            plans, look = left, look + 1

    def _decide(self, contest: Contest, verdict: Verdict) -> None:
        """Set a verdict; if there is none because the budget ran out before the last look, that is the reason."""
        if verdict.verdict != "inconclusive" or contest.missing == 0 or not self.spent():
            contest.verdict = verdict

    def _open(self, contest: Contest, budget: float | None, cause: BaseException | None) -> Verdict:
        """Return the verdict on a contest that `cause` stopped, or the end of the budget: `budget` would have done."""
        if contest.failure is None and (verdict := self._manifold(contest)) is not None:
            contest.first_only = True
            return verdict
        # Until the second stage has as many pairs as a first look, the first says more.
        contest.first_only = len(contest.ratios2) < self._rule.pairs
        is_stopped = cause is not None or not self.spent()
        return unfinished(contest, budget, stop_name(cause) if is_stopped else None)
