"""Judge candidates: whether they are right, and whether they are really faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from opperf.domain.errors import InputError
from opperf.parent.commands.deciding import rule_of
from opperf.parent.commands.judge import Order, judged_run
from opperf.parent.library.arguments import cases, names_of, progress_of, request_of, text_of
from opperf.parent.library.options import Operator, with_options
from opperf.parent.library.results import Judgements
from opperf.parent.measuring.fleet import judging_fleet_of
from opperf.parent.planning import request as requests
from opperf.parent.planning.wishes import wishes
from opperf.parent.sources.live_array import has_arrays
from opperf.parent.sources.option import Only, group_of
from opperf.parent.sources.options import Judging, Limits, OnFleet, Vetting, What, Where

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opperf.parent.library.keywords import JudgeOptions


@with_options(
    *(Vetting, Judging, Limits, Annotated[OnFleet, Only("fleet", "where")]),
    Annotated[Where, Only("framework", "environment", "device", "threads")],
    Annotated[What, Only("dtype", "size", "inputs", "attributes", "plugin")],
)
def judge(
    candidates: Operator | Sequence[Operator] = (),
    *,
    against: Operator,
    output: str | Path | None = None,
    force: bool = False,
    progress: bool = False,
    **options: Unpack[JudgeOptions],
) -> Judgements:
    r"""Judge functions that nobody vouches for, and return a judgement on each, in order.

    A candidate is a function, `"file.py:function"`, a file that has one, or a text of Python with several lines; `many`
    is the `--candidates` of the command line. `constant` names inputs that are the same in all calls: a candidate may
    pack them once. With `explain` a judgement has what `ran`. On a `fleet` (`"ray"`, `"slurm:8"`; `where` chooses its
    nodes) the sources of candidates and of the reference travel, and a judgement has its `node`. Each is loaded by a
    process of its own alone. `score` of a judgement is 0 unless the candidate is right; then it is the lower end of the
    interval of its speedup: 1.3 says that it is at least 1.3 times as fast as the reference, as far as was measured.
    Raises `InputError` for bad input; whatever a candidate does is a judgement.

    >>> import opperf
    >>> zeros = "import numpy as np\ndef f(x): return np.zeros_like(x)\n"
    >>> inputs = {"data": (4, 8)}
    >>> (judged,) = opperf.judge(zeros, against="softmax", framework="numpy", inputs=inputs)
    >>> judged.verdict, judged.score
    ('wrong', 0.0)
    """
    if any(map(has_arrays, cases(options.get("inputs")))):
        raise InputError("a judge draws the values of inputs itself", hint="give the shape of an array: `x.shape`")
    place, vetting = None if output is None else Path(output), group_of(Vetting, options)
    order = Order(names_of(candidates), text_of(against), vetting, place, force)
    # The jobs are the judge's: within each of them one candidate is timed.
    request, talk = request_of({**options, "jobs": None}), progress_of(progress)
    wish = wishes(group_of(OnFleet, options))
    plugins = bool(requests.plugin_files(request.what.plugin, request.where.framework))
    rule = rule_of(group_of(Judging, options))
    with judging_fleet_of(wish, order.against, room=vetting.room, plugins=plugins, progress=talk) as nodes:
        result, cause = judged_run(order, request, rule, talk, elsewhere=nodes)
    if cause is not None:
        raise cause
    return Judgements(result)
