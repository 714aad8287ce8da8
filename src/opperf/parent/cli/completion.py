"""What a shell completes: names of operators, frameworks and the other words that options take.

A shell waits for these after each press of a key: they come from what opperf itself knows, and no framework is imported
or asked. A framework's own operators are completed no further than its prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Names = Callable[[], Iterable[str]]
Completion = Callable[[str], list[str]]


def _beginning(names: Names) -> Completion:
    """Return what completes a word by these names; they are asked for when somebody does."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _operators() -> Iterable[str]:
    from opperf.catalog import catalog
    from opperf.domain.registry import FRAMEWORKS

    return (*catalog(), *(f"{name}:" for name in FRAMEWORKS if name != "null"))


def _categories() -> Iterable[str]:
    from opperf.catalog import categories
    from opperf.catalog.groups import GROUPS

    return (*categories(), *GROUPS)


def _frameworks() -> Iterable[str]:
    from opperf.domain.registry import FRAMEWORKS

    return FRAMEWORKS


def _environments() -> Iterable[str]:
    from opperf.domain.registry import PRESETS

    return ("current", *PRESETS, "python=")


def _dtypes() -> Iterable[str]:
    from opperf.domain.tensor import DTYPE_ALIASES, ITEM_SIZES

    return (*ITEM_SIZES, *DTYPE_ALIASES)


def _values() -> Iterable[str]:
    from opperf.domain.tensor import DISTRIBUTIONS, SPARSE

    return (*DISTRIBUTIONS[:-1], SPARSE)


def _sizes() -> Iterable[str]:
    from opperf.catalog import INT64, SIZES

    return (*SIZES, INT64)


def _directions() -> Iterable[str]:
    from opperf.domain.registry import DIRECTIONS

    return DIRECTIONS


def _modes() -> Iterable[str]:
    from opperf.domain.plan import MODES

    return MODES


operators = _beginning(_operators)
categories = _beginning(_categories)
frameworks = _beginning(_frameworks)
environments = _beginning(_environments)
dtypes = _beginning(_dtypes)
values = _beginning(_values)
sizes = _beginning(_sizes)
directions = _beginning(_directions)
modes = _beginning(_modes)
