"""Look for what is slow: shapes with cliffs, frameworks that are behind, and builds that made an operator slower."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from opperf.domain.plan import Settings
from opperf.parent.commands import contrast as contrasting
from opperf.parent.commands.bisect import bisect as bisecting
from opperf.parent.commands.explore import explore as exploring
from opperf.parent.library.arguments import Keeping, as_list, names_of, progress_of, request_of, side_text
from opperf.parent.library.options import Operator, with_options
from opperf.parent.library.results import Bisection, Contrast, Exploration
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.sources.option import Only, group_of
from opperf.parent.sources.options import Bisecting, Contrasting, Exploring, How, Judging, What, Where
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opperf.parent.library.keywords import BisectOptions, ContrastOptions, ExploreOptions


@with_options(
    *(Exploring, Where, How),
    Annotated[What, Only("dtype", "direction", "inputs", "attributes", "plugin")],
    Annotated[Request, Only("jobs")],
)
def explore(
    operators: Operator | Sequence[Operator],
    *,
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
    order = exploring.Order(group_of(Exploring, options), explain, labels=labels or {}, command=own_command())
    result, cause = exploring.explore(names_of(operators), request_of(options), order, progress_of(progress))
    if cause is not None:
        raise cause
    return Exploration(result)


@with_options(*(Bisecting, What, Judging, How), Annotated[Where, Only("framework", "device", "threads")])
def bisect(
    operators: Operator | Sequence[Operator],
    *,
    clock: str = Settings.clock,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[BisectOptions],
) -> Bisection:
    """Find the release, or the commit of a repository, that made operators slower or faster."""
    search, judging = group_of(Bisecting, options), group_of(Judging, options)
    order = bisecting.Order(search, judging, explain, labels=labels or {}, command=own_command())
    request = replace(request_of(options), **requests.decisive(clock, search.metric))
    result, cause = bisecting.bisect(names_of(operators), request, order, progress_of(progress))
    if cause is not None:
        raise cause
    return Bisection(result)


@with_options(
    *(What, Contrasting, How),
    Annotated[Request, Only("jobs", "check")],
    Annotated[Keeping, Only("labels", "output", "resume", "force", "progress")],
)
def contrast(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    base: Operator,
    new: Operator | Sequence[Operator],
    framework: str | None = None,
    **options: Unpack[ContrastOptions],
) -> Contrast:
    """Find the operators in which `new` is far behind `base`: of all that both have, unless some are named.

    Sides are those of `compare`. With `output` each look and each confirmed gap is kept in a journal, from which
    `resume` goes on. Raises `InputError` for bad input.

    >>> import opperf
    >>> gaps = opperf.contrast("exp", base="null", new="null;slowdown=3")
    >>> [(gap.rank, gap.operator, round(gap.ratio, 1)) for gap in gaps]
    [(1, 'exp', 3.0)]
    """
    search, keeping = group_of(Contrasting, options), group_of(Keeping, options)
    output = keeping.options.output
    order = contrasting.Order(search, output, keeping.resume, keeping.labels, own_command())
    sides = [side_text(side, framework) for side in as_list(new)]
    with keeping.lock():
        document, cause = contrasting.contrast(
            names_of(operators),
            request_of(options),
            order,
            keeping.display,
            base=side_text(base, framework),
            new=sides,
        )
        if cause is not None:
            raise cause
        result = Contrast(document, search.factor)
        if output is not None:
            result.save(output)
            order.drop_journal()
    return result
