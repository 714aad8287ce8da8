"""Look for what is slow: shapes with cliffs, and builds that made an operator slower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.parent.commands.bisect import bisect as bisecting
from opperf.parent.commands.explore import explore as exploring
from opperf.parent.documents.tolerances import FIRST_PAIRS, TOLERANCE
from opperf.parent.library.arguments import names_of, progress_of, read
from opperf.parent.library.options import BisectOptions, ExploreOptions, Operator, with_options
from opperf.parent.library.results import Bisection, Exploration
from opperf.parent.planning import request as requests
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from typing_extensions import Unpack


@with_options(ExploreOptions)
def explore(
    operators: Operator | Sequence[Operator],
    *,
    objective: str | None = None,
    against: str | None = None,
    dims: str | None = None,
    factor: float = 1.2,
    looks: int = 500,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[ExploreOptions],
) -> Exploration:
    """Search operators' cases for sizes that cost more than their neighbours, or more than on another side.

    >>> import opperf
    >>> cliffs = opperf.explore("null:cliff", framework="null", dims="data.0=16,data.1=1030..1034")
    >>> cliffs[0].case.tensor("data").shape, cliffs[0].remedy
    ((16, 1032), 'pad data.1 to 1,033')
    """
    order = exploring.Order(
        objective=objective,
        against=against,
        dims=dims,
        factor=factor,
        looks=looks,
        explain=explain,
        labels=labels or {},
        command=own_command(),
    )
    result, cause = exploring.explore(names_of(operators), read(options), order, progress_of(progress))
    if cause is not None:
        raise cause
    return Exploration(result)


@with_options(BisectOptions)
def bisect(
    operators: Operator | Sequence[Operator],
    *,
    good: str,
    bad: str,
    repo: str | Path | None = None,
    build: str | None = None,
    package: str | None = None,
    pre: bool = False,
    metric: str = "time",
    tolerance: float | str = TOLERANCE,
    pairs: int = FIRST_PAIRS,
    clock: str = "wall",
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[BisectOptions],
) -> Bisection:
    """Find the release, or the commit of a repository, that made operators slower or faster."""
    order = bisecting.Order(
        good=good,
        bad=bad,
        repository=None if repo is None else Path(repo),
        build=build,
        package=package,
        pre=pre,
        metric=metric,
        tolerance=tolerance,
        pairs=pairs,
        explain=explain,
        labels=labels or {},
        command=own_command(),
    )
    result, cause = bisecting.bisect(
        names_of(operators), {**read(options), "clock": requests.comparing_clock(clock)}, order, progress_of(progress)
    )
    if cause is not None:
        raise cause
    return Bisection(result)
