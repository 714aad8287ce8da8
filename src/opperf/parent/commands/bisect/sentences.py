"""What is said of steps between builds: of those that were confirmed, and of a story that is not certain yet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from opperf.domain.metric import Metric
from opperf.domain.plan import INSTRUCTIONS
from opperf.domain.units import format_percent
from opperf.parent.analysis.steps import Story
from opperf.parent.documents.bisection import Step

#: Two steps cancel out if what they leave is no more than this share of the first.
SHARE_LEFT = 0.15


def tell_steps(steps: Sequence[Step], builds: Sequence[str], band: float, metric: Metric) -> Iterator[str]:
    """Yield a sentence for each step, and one for two that cancel out; `band` is what counts as no change."""
    left = list(steps)
    while left:
        if len(left) > 1 and _cancel(left[0], left[1], band):
            yield _tell_dip(left.pop(0), left.pop(0), builds, metric)
        else:
            yield _tell_step(left.pop(0), metric)


def _cancel(first: Step, second: Step, band: float) -> bool:
    heights = math.log(first.ratio), math.log(second.ratio)
    return heights[0] * heights[1] < 0 and abs(sum(heights)) < max(band, SHARE_LEFT * abs(heights[0]))


def _tell_dip(down: Step, up: Step, builds: Sequence[str], metric: Metric) -> str:
    """Say that builds are off between two that are alike."""
    word = "bump" if down.ratio > 1 else "dip"
    last = up.before
    place = f"at {last}" if down.after == last else f"from {down.after} to {last}"
    length = builds.index(last) - builds.index(down.after) + 1
    of = f" ({length} builds)" if length > 1 else ""
    return f"a {word} {place}{of}: {_tell_step(down, metric)}, and {_tell_step(up, metric)}"


def _tell_step(step: Step, metric: Metric) -> str:
    alternatives = f" (or one of {', '.join(step.between)}, which cannot be built)" if step.between else ""
    return f"{step.after} {_change(step.ratio, metric)} than {step.before}{alternatives}"


def _change(ratio: float, metric: Metric) -> str:
    share = f"{abs(ratio - 1):.1%}"
    if metric.name == "time":
        return f"is {share} {'slower' if ratio > 1 else 'faster'}"
    verb, less = ("executes", "fewer") if metric.name == INSTRUCTIONS else ("takes", "less")
    return f"{verb} {share} {'more' if ratio > 1 else less} {metric.words}"


def tell_story(story: Story, names: Sequence[str], metric: Metric) -> str:
    """Say what is most likely, and how likely that is."""
    changes = zip(story.gaps, story.heights)
    parts = [f"{_place(gap, names)} {_change(math.exp(height), metric)}" for gap, height in changes]
    if story.slope:
        parts = [f"{names[-1]} {_change(math.exp(story.heights[0]), metric)} than {names[0]}, little by little"]
    text = "; ".join(parts) or "no build changes anything beyond the tolerance"
    return f"{text} ({format_percent(min(story.probability, 0.999))})"


def _place(gap: range, names: Sequence[str]) -> str:
    """Name the build that steps, or those of which one does."""
    if len(gap) == 1:
        return names[gap[0]]
    return f"a build after {names[gap[0] - 1]}, {names[gap[-1]]} at the latest,"
