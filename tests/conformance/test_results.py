"""What every backend computes is right: the shapes of the catalog, and the numbers of another framework."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.conformance.conftest import REAL, Bench, Tensor, close

from opperf.catalog import catalog
from opperf.child.worker.correctness import check, leeway
from opperf.domain.plan import Side, Trial
from opperf.parent.workers.process import OperatorFailure

Computed = Callable[[str, str, str], "tuple[Tensor, ...] | OperatorFailure"]

NAMES = tuple(catalog())
WITH_GRADIENT = tuple(name for name, known in catalog().items() if "backward" in known.directions)
#: Frameworks whose results are compared with the first one before them that has the operator.
PAIRS = tuple((name, framework) for name in NAMES for framework in REAL)


def reference(computed: Computed, name: str, direction: str, other_than: str) -> tuple[str, tuple[Tensor, ...]] | None:
    """Return the results of the first other framework that has the operator."""
    for framework in REAL:
        if framework != other_than:
            found = computed(framework, name, direction)
            if not isinstance(found, OperatorFailure):
                return framework, found
    return None


@pytest.mark.parametrize(("name", "framework"), PAIRS)
def test_an_operator_has_the_outputs_of_the_catalog_or_a_reason_to_be_missing(
    name: str, framework: str, computed: Computed
) -> None:
    found = computed(framework, name, "forward")
    if isinstance(found, OperatorFailure):
        assert found.failure["skipped"], found.failure
        assert len(str(found)) > 20  # a sentence, not a word
        return
    expected = catalog()[name].outputs(catalog()[name].case("small"))
    # torch.sort returns the indices too; the catalog speaks of the values.
    assert [tensor.shape for tensor in found[: len(expected)]] == [tensor.shape for tensor in expected]


@pytest.mark.parametrize(("name", "framework"), PAIRS)
def test_forward_computes_what_another_framework_computes(name: str, framework: str, computed: Computed) -> None:
    found = computed(framework, name, "forward")
    if isinstance(found, OperatorFailure) or catalog()[name].random:
        return
    other = reference(computed, name, "forward", framework)
    if other is None:
        return
    count = len(catalog()[name].outputs(catalog()[name].case("small")))
    for ours, theirs in zip(found[:count], other[1][:count], strict=True):
        assert close(ours.values, theirs.values), f"{framework} and {other[0]} differ"


@pytest.mark.parametrize(("name", "framework"), PAIRS)
def test_forward_computes_what_the_reference_computes(name: str, framework: str, computed: Computed) -> None:
    found, expected = computed(framework, name, "forward"), computed("reference", name, "forward")
    if isinstance(found, OperatorFailure) or isinstance(expected, OperatorFailure) or catalog()[name].random:
        return
    trial = Trial(catalog()[name].case("small"), Side(framework), "forward")
    mine, other = ([(one.raw, one.shape, one.dtype) for one in tensors] for tensors in (found, expected))
    count = len(catalog()[name].outputs(trial.case))
    check(mine[:count], other[:count], "the reference", leeway(trial))


@pytest.mark.parametrize("framework", ["torch", "mxnet", "jax"])
@pytest.mark.parametrize("direction", ["backward", "forward_backward"])
@pytest.mark.parametrize("name", WITH_GRADIENT)
def test_gradients_are_those_of_another_framework(
    name: str, direction: str, framework: str, computed: Computed
) -> None:
    found = computed(framework, name, direction)
    if isinstance(found, OperatorFailure):
        assert found.failure["skipped"], found.failure
        return
    if catalog()[name].random:
        return
    other = reference(computed, name, "backward", framework)
    if other is None:
        return
    for ours, theirs in zip(found, other[1], strict=True):
        assert ours.shape == theirs.shape
        assert close(ours.values, theirs.values), f"{framework} and {other[0]} differ"


def test_each_real_framework_has_at_least_sixty_operators(backend: Bench, computed: Computed) -> None:
    found = [name for name in NAMES if not isinstance(computed(backend.name, name, "forward"), OperatorFailure)]
    assert len(found) >= 60
