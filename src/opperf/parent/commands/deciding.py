"""When a comparison is decided: the options of a verb as a rule."""

from __future__ import annotations

from opperf.domain.errors import InputError
from opperf.domain.plan import Settings, check_most
from opperf.parent.analysis.verdict import LEAST_PAIRS, MOST_PAIRS, Rule
from opperf.parent.documents.tolerances import FIRST_PAIRS
from opperf.parent.sources.options import Deciding, Judging


def rule_of(judging: Judging, *, name: str = "--pairs") -> Rule:
    """Return the rule of a comparison; raises `InputError`, which calls the number of pairs by the option's `name`."""
    deciding = judging if isinstance(judging, Deciding) else Deciding(judging.pairs, judging.tolerance)
    if deciding.pairs < LEAST_PAIRS:
        hint = f"the default is {FIRST_PAIRS}"
        raise InputError(f"`{name}` is {deciding.pairs}, expected a whole number >= {LEAST_PAIRS}", hint=hint)
    for name in ("trial_budget", "precision"):
        if getattr(deciding, name) is not None:
            Settings(**{name: getattr(deciding, name)})  # which says what is wrong with it
    return Rule(
        tolerance=deciding.tolerance.usual,
        pairs=deciding.pairs,
        most=_most_pairs(deciding.pairs, deciding.max_pairs, settle=deciding.settle),
        own=deciding.tolerance.own,
        sampling=deciding.trial_budget,
        precision=deciding.precision,
    )


def _most_pairs(pairs: int, most: int | None, *, settle: bool) -> int | None:
    """Return the maximum number of pairs with `--settle`; None without it.

    Raises `InputError` for a number that means nothing.
    """
    check_most("--pairs", pairs, "pairs")
    check_most("--max-pairs", most or 0, "pairs")
    if not settle and most is not None:
        raise InputError("`--max-pairs` needs `--settle`", hint="add `--settle`")
    if most is not None and most < pairs:
        raise InputError(f"`--max-pairs` is {most}, fewer than the {pairs} pairs of the first look")
    return max(MOST_PAIRS, pairs) if settle and most is None else most
