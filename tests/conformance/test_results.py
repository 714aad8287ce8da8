"""What every backend computes is right: the shapes of the catalog, and the numbers of another framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import product
from typing import TypeVar

import pytest
from tests.conformance.conftest import REAL, Tensor, close
from tests.each import check_each

from opperf.catalog import FAMILIES, catalog
from opperf.child.worker.correctness import WrongResult, check, leeway
from opperf.domain.errors import OperatorFailure
from opperf.domain.plan import Side, Trial

T = TypeVar("T")
Computed = Callable[[str, str, str], "tuple[Tensor, ...] | OperatorFailure"]

FAMILY = {family: [one.name for one in import_module(f"opperf.catalog.{family}").OPERATORS] for family in FAMILIES}


def compare_each(trials: Iterable[T], check: Callable[[T], bool]) -> None:
    """Check every operator; a check says whether there was anything to compare."""
    if not any(check_each(trials, check)):
        pytest.skip("no operator of this family can be compared here")


def reference(computed: Computed, name: str, direction: str, other_than: str) -> tuple[str, tuple[Tensor, ...]] | None:
    """Return the results of the first other framework that has the operator."""
    for framework in REAL:
        if framework != other_than:
            found = computed(framework, name, direction)
            if not isinstance(found, OperatorFailure):
                return framework, found
    return None


@pytest.mark.parametrize("framework", REAL)
@pytest.mark.parametrize("family", FAMILIES)
def test_operators_have_the_outputs_of_the_catalog_or_a_reason_to_be_missing(
    family: str, framework: str, computed: Computed
) -> None:
    def check(name: str) -> bool:
        result = computed(framework, name, "forward")
        if isinstance(result, OperatorFailure):
            assert result.skipped, result.reason
            assert len(str(result)) > 20  # a sentence, not a word
        else:
            expected = catalog()[name].outputs(catalog()[name].case("small"))
            # torch.sort returns the indices too; the catalog speaks of the values.
            assert [tensor.shape for tensor in result[: len(expected)]] == [tensor.shape for tensor in expected]
        return True

    compare_each(FAMILY[family], check)


@pytest.mark.parametrize("framework", REAL)
@pytest.mark.parametrize("family", FAMILIES)
def test_forward_computes_what_another_framework_computes(family: str, framework: str, computed: Computed) -> None:
    def check(name: str) -> bool:
        ours, other = computed(framework, name, "forward"), reference(computed, name, "forward", framework)
        if isinstance(ours, OperatorFailure) or other is None or catalog()[name].random:
            return False
        count = len(catalog()[name].outputs(catalog()[name].case("small")))
        for mine, theirs in zip(ours[:count], other[1][:count], strict=True):
            assert close(mine.values, theirs.values), f"{framework} and {other[0]} differ"
        return True

    compare_each(FAMILY[family], check)


@pytest.mark.parametrize("framework", REAL)
@pytest.mark.parametrize("family", FAMILIES)
def test_forward_computes_what_the_reference_computes(family: str, framework: str, computed: Computed) -> None:
    def run(name: str) -> bool:
        ours, expected = computed(framework, name, "forward"), computed("reference", name, "forward")
        if isinstance(ours, OperatorFailure) or isinstance(expected, OperatorFailure) or catalog()[name].random:
            return False
        trial = Trial(catalog()[name].case("small"), Side(framework), "forward")
        mine, other = ([(one.raw, one.shape, one.dtype) for one in tensors] for tensors in (ours, expected))
        count = len(catalog()[name].outputs(trial.case))
        try:
            check(mine[:count], other[:count], "the reference", leeway(trial))
        except WrongResult as error:
            raise AssertionError(str(error)) from error
        return True

    compare_each(FAMILY[family], run)


@pytest.mark.parametrize("framework", ["torch", "mxnet", "jax"])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_are_those_of_another_framework(family: str, framework: str, computed: Computed) -> None:
    def check(trial: tuple[str, str]) -> bool:
        name, direction = trial
        if "backward" not in catalog()[name].directions:
            return False
        ours = computed(framework, name, direction)
        if isinstance(ours, OperatorFailure):
            assert ours.skipped, ours.reason
            return False
        other = reference(computed, name, "backward", framework)
        if other is None or catalog()[name].random:
            return False
        for mine, theirs in zip(ours, other[1], strict=True):
            assert mine.shape == theirs.shape
            assert close(mine.values, theirs.values), f"{framework} and {other[0]} differ"
        return True

    compare_each(product(FAMILY[family], ("backward", "forward_backward")), check)
