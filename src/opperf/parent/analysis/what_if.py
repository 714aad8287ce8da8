"""What a step would take if one of its operators were another one: from the sum of its cases, and of what they save.

The operator's calls and its replacement are measured in pairs of processes, as `compare` does, so that the ratio of
their times is sure where the times are not. A step that takes less than its operators do by themselves runs some of
them beside each other, or fused: then they save no more than their share of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison
from opperf.parent.documents.what_if import WhatIf
from opperf.parent.documents.wholes import whole_of

#: What of a name says how an operator is made, not what it computes.
_PREFIXES = ("native_", "fused_")


def core(name: str) -> str:
    """Return the name of the computation, from any spelling of an operator's name.

    >>> core("torch:aten::native_layer_norm.out"), core("rms_norm"), core("torch:aten::_fused_rms_norm")
    ('layer_norm', 'rms_norm', 'rms_norm')
    """
    overloaded = name.rpartition("::")[2].partition(".")[0]
    last = (overloaded if "::" in name else name.rpartition(":")[2].rpartition(".")[2]).strip("_")
    for prefix in _PREFIXES:
        last = last.removeprefix(prefix)
    return last


def select(suite: Suite, name: str) -> Suite:
    """Return the part of a suite that a name means: the operator as it is spelled there, or by what it computes."""
    exact = [entry for entry in suite.cases if entry.case.operator in (name, f"torch:aten::{name}")]
    entries = exact or [entry for entry in suite.cases if core(entry.case.operator) == core(name)]
    return Suite(suite.name, suite.source, tuple(entries))


def gradients(suite: Suite, name: str) -> tuple[SuiteCase, ...]:
    """Return the cases of a suite that compute gradients of the operator that is named."""
    return tuple(entry for entry in suite.cases if core(entry.case.operator).startswith(f"{core(name)}_backward"))


def with_backward(part: Suite, backward: Sequence[SuiteCase]) -> tuple[Suite, tuple[SuiteCase, ...]]:
    """Let an operator's cases go forward and backward as often as a suite has their gradients; return those, too.

    A gradient belongs to the case whose tensors it takes, the first of them in any event. A forward that is followed by
    a backward is one call with it, since it records a graph, which takes its time as well.
    """
    counts = [0] * len(part.cases)
    matched = []
    for gradient in backward:
        extents = Counter(map(_extent, gradient.case.tensors()))
        likeness = [_likeness(entry, extents) for entry in part.cases]
        if most := max(likeness, default=0):
            counts[likeness.index(most)] += gradient.count
            matched.append(gradient)
    cases = []
    for entry, count in zip(part.cases, counts):
        both = min(entry.count, count)
        parts = {("forward_backward",): both, entry.directions: entry.count - both, ("backward",): count - both}
        cases += [replace(entry, directions=way, count=calls) for way, calls in parts.items() if calls]
    return replace(part, cases=tuple(cases)), tuple(matched)


def _likeness(entry: SuiteCase, extents: Counter[tuple[object, ...]]) -> int:
    """Count the tensors of a case that a gradient takes, too; none where it lacks the first."""
    own = [_extent(tensor) for tensor in entry.case.tensors() if tensor.is_float]
    return (Counter(own) & extents).total() if own and own[0] in extents else 0


def _extent(tensor: TensorSpec) -> tuple[object, ...]:
    return tensor.shape, tensor.dtype


def predict(
    suite: Suite,
    name: str,
    replacement: str,
    operators: float,
    comparisons: Sequence[Comparison],
    backward: Sequence[str] = (),
    alone: float | None = None,
) -> WhatIf | None:
    """Return the prediction for the step; None where no case of the operator has a ratio.

    `operators` is the sum of all calls of the suite, in seconds, as they were measured. Where comparisons went through
    autograd, `backward` are the operators of the gradient that are replaced with it, and `alone` is what these and the
    operator took by themselves: what autograd takes for each call is on both sides of a comparison, so that it is no
    part of what is saved, and none of what the step's operators take.
    """
    sums = whole_of(comparisons)
    if sums is None:
        return None
    captured = None if suite.program is None else suite.program.time
    step = captured or operators
    # The part of an operator's time by itself that is on the way of the step.
    weight = min(1.0, step / operators) if operators else 1.0
    before = sums.base_time if alone is None else alone
    twice = sum(one.count for one in comparisons if one.direction == "forward_backward" and one.ratio is not None)
    saved, (low, high) = sums.base_time * weight, sums.interval or (sums.ratio, sums.ratio)
    return WhatIf(
        operator=name,
        replacement=replacement,
        calls=sums.calls + twice,
        of=suite.calls,
        step=step,
        source="captured" if captured else "sum",
        operators=operators,
        before=before,
        after=before - sums.base_time * (1 - sums.ratio),
        share=before * weight / step,
        predicted=step - saved * (1 - sums.ratio),
        interval=None if sums.interval is None else (step - saved * (1 - low), step - saved * (1 - high)),
        bound=max(0.0, step - before * weight),
        gradients=tuple(
            dict.fromkeys(one.case.operator for one in gradients(suite, name) if one.case.operator not in backward)
        ),
        backward=tuple(backward),
    )
