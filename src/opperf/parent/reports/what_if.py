"""What a step would take with one operator replaced, and what that prediction does not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opperf.domain.units import format_percent, format_seconds, plural
from opperf.parent.documents.what_if import WhatIf, WhatIfRun
from opperf.parent.reports.comparison import blocks
from opperf.parent.reports.document import Document, Note, Section

#: Said where neither the operator nor its replacement has a time.
NOTHING = "no prediction: the operator or its replacement could not be measured, or their results differ"


def document(result: WhatIfRun) -> Document:
    """Return the report: the comparison of both, and what follows from it for the step."""
    what_if = result.what_if
    lines = [NOTHING] if what_if is None else [*prediction(what_if)]
    unseen = (
        []
        if what_if is None
        else [Section("What the sum does not see", [Note(line, kind="item") for line in blind_spots(what_if)])]
    )
    return Document(
        "opperf run --replace",
        [*blocks(result.comparison), Section("What the step would take", [Note(line) for line in lines]), *unseen],
        result.to_json,
        summary=lines[0],
        failed=what_if is None,
        started=result.run.started,
    )


def prediction(it: WhatIf) -> Iterator[str]:
    """Say what the step takes, would take, and could take at best."""
    source = "as it was captured" if it.source == "captured" else "the sum of its operators, since it was not timed"
    interval = f" [{', '.join(map(format_seconds, sorted(it.interval)))}]" if it.interval else ""
    yield (
        f"step: {format_seconds(it.step)} before ({source}), {format_seconds(it.predicted)}{interval} with "
        f"`{it.replacement}`: {_saving(it)}"
    )
    yield (
        f"`{it.operator}`: {it.calls} of {plural(it.of, 'call')}, {format_percent(it.share)} of the step; "
        f"{format_seconds(it.before)} by itself, {format_seconds(it.after)} replaced"
    )
    if it.backward:
        verb = "are" if len(it.backward) > 1 else "is"
        yield (
            f"backward: {_names(it.backward)} of the suite {verb} replaced, too; both sides went through autograd, and "
            "what that takes by itself is in neither sum"
        )
    if it.bound > 0:
        most = f"{it.step / it.bound:.2f} times as fast"
        yield f"bound (Amdahl): {format_seconds(it.bound)} if it took no time, {most}"


def _saving(it: WhatIf) -> str:
    if it.saved < 0:
        return f"{format_seconds(-it.saved)} longer"
    return f"{format_seconds(it.saved)} saved, {it.speedup:.2f} times as fast"


def blind_spots(it: WhatIf) -> Iterator[str]:
    """Say what the prediction leaves out of account."""
    if it.source == "sum":
        yield "gaps: nobody timed the whole step, so that Python and waiting between operators are no part of it"
    elif it.outside > 0:
        yield (
            f"gaps: {format_seconds(it.outside)} of the step ({format_percent(it.outside / it.step)}) lie outside "
            "of its operators; a replacement that makes fewer calls shortens them, too"
        )
    else:
        yield (
            f"overlap: operators take {format_seconds(-it.outside)} more by themselves than the whole step, as they "
            "are fused or run beside each other there; what they save was scaled down accordingly"
        )
    yield "caches: cases run with warm caches, which others fill in the step (`--cache cold` is the other extreme)"
    yield "values: cases have random values; where the step's are denormal numbers or decide what runs, times differ"
    if it.gradients:
        yield f"backward: {_names(it.gradients)} of the suite stay as they are"


def _names(operators: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in operators)
