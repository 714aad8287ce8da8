"""What shows that two sides of a comparison do different work, so that their ratio is not of implementations alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from opperf.domain.message.replies import Preparation
from opperf.domain.reason import Warning

#: Results that are named at most: an optimizer returns hundreds.
MOST_NAMED = 3
HINT = "the ratio is of different work; give both sides the same, by element types, arguments or an implementation"
ORDER = {"kept": "keeps equal elements in their order", "any": "need not keep equal elements in their order"}


def other_work(base: Preparation, new: Preparation) -> tuple[Warning, ...]:
    """Return a warning for results of other types or extents, and one for other promises."""
    return (*_results(base.results, new.results), *_order(base.facts, new.facts))


def _results(base: Sequence[str], new: Sequence[str]) -> tuple[Warning, ...]:
    apart = [(one, other) for one, other in zip_longest(base, new, fillvalue="nothing") if one != other]
    if not base or not new or not apart:
        return ()
    text = ", ".join(f"{one} on the base and {other} on the new side" for one, other in apart[:MOST_NAMED])
    more = f", and {len(apart) - MOST_NAMED} more" if len(apart) > MOST_NAMED else ""
    return (Warning("different_results", f"the sides return different results: {text}{more}", HINT),)


def _order(base: Mapping[str, object], new: Mapping[str, object]) -> tuple[Warning, ...]:
    orders = [ORDER.get(str(facts.get("order_of_equals"))) for facts in (base, new)]
    if None in orders or orders[0] == orders[1]:
        return ()
    text = f"the sides promise different results: the base {orders[0]}, the new side {orders[1]}"
    return (Warning("different_promises", text, HINT),)
