"""Noise floors: how far each operator moves when it is compared with itself, and how often comparisons are wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from opperf.domain.plan import Trial
from opperf.domain.stats.significance import clopper_pearson
from opperf.domain.units import format_ratio, format_seconds
from opperf.parent.documents.floor import Detection, Displacement, Floor, NoiseRun, Suites
from opperf.parent.reports.columns import of_jobs
from opperf.parent.reports.document import Block, Check, Column, Document, Legend, Note, table
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.text import case_text, place, short_text, subject

LEGEND = Legend(
    {
        "live floor": "live floor: the change that `opperf compare` must exceed here",
        "between processes": "between processes: slowest / fastest; two recorded runs must differ by more",
        "false alarms": "false alarms: comparisons that called identical code changed",
        "detected": "detected: comparisons that called the extra calls slower",
        "other layouts": "other layouts: the farthest that another layout of memory moved identical code",
        "cost": "cost: time of a comparison of identical code, both sides, imports included",
    }
)


def document(noise: NoiseRun) -> Document:
    """Return the report."""
    sentences = [*_sentences(noise)]
    blocks: list[Block] = [table(COLUMNS, noise.floors), *map(Note, sentences), *map(Note, crowds(noise.run)), LEGEND]
    if noise.suites is not None and (text := _nights(noise.suites)):
        blocks.append(Note(text))
        sentences.append(text)
    return Document(
        "opperf noise", blocks, noise.to_json, [*_checks(noise)], " ".join(sentences), started=noise.run.started
    )


def _checks(noise: NoiseRun) -> Iterator[Check]:
    """Yield what a CI system shows: a floor is a test that passed, a trial without one could not be measured."""
    for floor in noise.floors:
        text = f"live floor {_percent(floor.moved)}"
        if floor.detection is not None:
            text += f"; {_effect(floor.detection)} detected in {_share(*_detections(floor.detection))}"
        numbers = {"time": floor.time, "moved": floor.moved}
        yield Check(*_words(floor.trial), "passed", text, seconds=floor.seconds, numbers=numbers)
    for one in noise.unknown:
        yield Check(*_words(one.trial), "failed", one.reason or "too few pairs", "error", "warning")


def _words(trial: Trial) -> tuple[str, str, str]:
    short = f"{subject(trial.case, trial.side)} {trial.direction}"
    return f"{short} {case_text(trial.case)}".rstrip(), place(trial.side), short


def _sentences(noise: NoiseRun) -> Iterator[str]:
    """Say how often identical code was called changed and extra calls slower, and what could not be measured."""
    if not noise.comparisons:
        yield "No comparison came to its end." if noise.floors else "Nothing was compared."
    else:
        yield (
            f"{noise.alarms} of {noise.comparisons} comparisons of identical code reported a change, at a tolerance of "
            f"{noise.tolerance:.0%}: {_percents(noise.alarms, noise.comparisons)}."
        )
    detections = [floor.detection for floor in noise.floors if floor.detection is not None]
    if detections:
        detected, comparisons = (sum(numbers) for numbers in zip(*map(_detections, detections)))
        unsure = sum(one.inconclusive for one in detections)
        yield (
            f"{detected} of {comparisons} comparisons with {_effect(detections[0])} of extra calls reported slower: "
            f"{_percents(detected, comparisons)}; inconclusive: {unsure}."
        )
    layouts = [floor.displacement for floor in noise.floors if floor.displacement is not None]
    if layouts:
        alarms, comparisons = (sum(numbers) for numbers in zip(*((one.alarms, one.comparisons) for one in layouts)))
        yield (
            f"{alarms} of {comparisons} comparisons of identical code in other layouts of memory reported a change: "
            f"{_percents(alarms, comparisons)}; the farthest moved by {_percent(max(one.moved for one in layouts))}. "
            "The floors allow for it."
        )
    if noise.suites is not None and noise.suites.cut:
        yield (
            f"{noise.suites.cut} more did not come to their end, and are not counted, though they might have been "
            "inconclusive: give more `--budget`."
        )
    for unknown in noise.unknown:
        trial = unknown.trial
        words = subject(trial.case, trial.side), trial.direction, case_text(trial.case)
        yield f"No floor for {' '.join(filter(None, words))}: {unknown.reason or 'too few pairs'}."


def _nights(suites: Suites) -> str | None:
    """Say how often a whole suite of identical code would be called changed, in nights; None for a single case."""
    if suites.cases < 2 or not suites.suites:
        return None
    low, high = clopper_pearson(suites.alarms, suites.suites)
    night = f"a night of {suites.cases} cases cries wolf"
    if not suites.alarms:
        return (
            f"None of {suites.suites} comparisons of the whole suite reported a change: {night} at most once in "
            f"{1 / high:.1f} nights (95 %, Clopper-Pearson)."
        )
    return (
        f"{suites.alarms} of {suites.suites} comparisons of the whole suite reported a change: {night} once in "
        f"{suites.suites / suites.alarms:.1f} nights (95 % interval {1 / high:.1f} to {1 / low:.1f}, Clopper-Pearson)."
    )


def _percents(successes: int, trials: int) -> str:
    low, high = clopper_pearson(successes, trials)
    share = successes / trials if trials else 0.0
    return f"{share:.1%} (95 % interval {low:.1%} to {high:.1%})"


def _share(successes: int, trials: int) -> str:
    """Write a share with its interval, as `9 of 10 (56 to 100 %)`."""
    low, high = clopper_pearson(successes, trials)
    return f"{successes} of {trials} ({100 * low:.0f} to {100 * high:.0f} %)"


def _percent(log_ratio: float | None) -> str:
    return "" if log_ratio is None else f"{100 * math.expm1(log_ratio):.2f} %"


def _effect(detection: Detection) -> str:
    return f"{100 * detection.effect:.3g} %"


def _detections(detection: Detection) -> tuple[int, int]:
    return detection.detections, detection.comparisons


def _of_detection(read: Callable[[Detection], object]) -> Callable[[Floor], object]:
    """Return a reader of a floor's detection, of which not every floor has one."""
    return lambda floor: None if floor.detection is None else read(floor.detection)


def _of_layouts(read: Callable[[Displacement], object]) -> Callable[[Floor], object]:
    return lambda floor: None if floor.displacement is None else read(floor.displacement)


def _detected(detection: Detection) -> str:
    return f"+{_effect(detection)}: {_share(*_detections(detection))}"


COLUMNS: tuple[Column[Floor], ...] = (
    Column("case_id", None, lambda floor: floor.trial.case.id),
    Column("operator", "operator", lambda floor: subject(floor.trial.case, floor.trial.side), least=10),
    Column("direction", "direction", lambda floor: floor.trial.direction, least=8, presence="varied"),
    Column("inputs", None, lambda floor: case_text(floor.trial.case)),
    Column(None, "inputs", lambda floor: short_text(floor.trial.case), least=14, lines=6, presence="varied", place=1),
    Column("side", "side", lambda floor: place(floor.trial.side), least=12, presence="varied"),
    Column("time_s", "time", lambda floor: floor.time, format_seconds, rank=4),
    Column("pairs", "pairs", lambda floor: floor.pairs, rank=0),
    Column("spread", "spread of pairs", lambda floor: floor.spread, _percent, rank=1),
    Column("moved", "live floor", lambda floor: floor.moved, _percent),
    Column("between", "between processes", lambda floor: floor.between, _percent, rank=3),
    Column(None, "false alarms", lambda floor: _share(floor.alarms, floor.comparisons), rank=6),
    Column("alarms", None, lambda floor: floor.alarms),
    Column("comparisons", None, lambda floor: floor.comparisons),
    Column(None, "detected", _of_detection(_detected)),
    Column("effect", None, _of_detection(lambda one: one.effect)),
    Column("detections", None, _of_detection(lambda one: one.detections)),
    Column("detection_comparisons", None, _of_detection(lambda one: one.comparisons)),
    Column("detection_inconclusive", None, _of_detection(lambda one: one.inconclusive)),
    Column("detection_ratio", "ratio", _of_detection(lambda one: one.ratio), format_ratio, rank=2),
    Column("layout_moved", "other layouts", _of_layouts(lambda one: one.moved), _percent, rank=7),
    Column("layout_alarms", None, _of_layouts(lambda one: one.alarms)),
    Column("layout_comparisons", None, _of_layouts(lambda one: one.comparisons)),
    Column("cost_s", "cost", lambda floor: floor.seconds, format_seconds, rank=8),
    Column("detection_cost_s", "cost of slower", _of_detection(lambda one: one.seconds), format_seconds, rank=5),
    *of_jobs(lambda floor: floor.facts),
)
