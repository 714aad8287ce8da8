"""What every backend computes is right: the shapes of the catalog, and the numbers of another framework.

TensorFlow compiles each operator anew in two modes, which takes longer than all else here: of those a third is run,
always the same, and all with OPPERF_WHOLE_REGISTRY=1.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from tests.conformance.conftest import LIBRARIES, MODES, REAL, WITH_GRADIENTS, Tensor, close
from tests.each import check_each

from opperf.catalog import FAMILIES, Operator, catalog
from opperf.child.judging.reference import Comparison
from opperf.child.worker.correctness import WrongResult, check_shapes
from opperf.domain.errors import OperatorFailure
from opperf.domain.plan import REFERENCE, Side, Trial

#: Gradients that are right and are others: of a symmetric matrix, TensorFlow's is that of the lower triangle alone.
OWN_GRADIENTS = {(framework, "eigh_values") for framework in ("tensorflow", *MODES)}
#: Gradients in TensorFlow's own layout whose shape is the catalog's all the same: as many channels as rows and columns.
OWN_ORDER = {(framework, "batch_norm") for framework in ("tensorflow", *MODES)}
#: One operator of so many is run in each mode that compiles.
PARTS = 1 if os.environ.get("OPPERF_WHOLE_REGISTRY") else 3
Computed = Callable[[str, str, str], "tuple[Tensor, ...] | OperatorFailure"]


def chosen(operators: Sequence[Operator], framework: str) -> list[Operator]:
    """Return the operators that are run in a framework: all, but for modes that compile each."""
    parts = PARTS if framework in MODES and len(operators) > 1 else 1
    return [one for one in operators if zlib.crc32(one.name.encode()) % parts == 0]


def told(one: tuple[Operator, Callable[..., None]]) -> str:
    """Return what is checked of an operator."""
    return f"{one[0].name}: {one[1].__name__}"


@cache
def comparison(name: str) -> Comparison:
    """Return what an operator of all frameworks is held against: what it may differ by is computed once."""
    return Comparison(Side("numpy", settings=REFERENCE))


def reference(computed: Computed, name: str, direction: str, other_than: str) -> tuple[str, tuple[Tensor, ...]] | None:
    """Return the results of the first other framework that has the operator."""
    for framework in REAL:
        if framework != other_than.split()[0]:
            result = computed(framework, name, direction)
            if not isinstance(result, OperatorFailure):
                return framework, result
    return None


def outputs_are_those_of_the_catalog(framework: str, name: str, computed: Computed) -> None:
    result = computed(framework, name, "forward")
    if isinstance(result, OperatorFailure):
        assert result.skipped, result.reason
        assert len(str(result)) > 20  # a sentence, not a word
    else:
        expected = catalog()[name].outputs(catalog()[name].case("small"))
        # torch.sort returns the indices too; the catalog speaks of the values.
        assert [tensor.shape for tensor in result[: len(expected)]] == [tensor.shape for tensor in expected]


def results_are_those_of_another_framework(framework: str, name: str, computed: Computed) -> None:
    ours, other = computed(framework, name, "forward"), reference(computed, name, "forward", framework)
    if not (isinstance(ours, OperatorFailure) or other is None or catalog()[name].random):
        count = len(catalog()[name].outputs(catalog()[name].case("small")))
        for mine, theirs in zip(ours[:count], other[1][:count], strict=True):
            assert close(mine.array, theirs.array), f"{framework} and {other[0]} differ"


def results_are_those_of_the_reference(framework: str, name: str, computed: Computed) -> None:
    ours, expected = computed(framework, name, "forward"), computed("reference", name, "forward")
    if not (isinstance(ours, OperatorFailure) or isinstance(expected, OperatorFailure) or catalog()[name].random):
        trial = Trial(catalog()[name].case("small"), Side(framework.split()[0]), "forward")
        mine, other = ([(one.raw, one.shape, one.dtype) for one in tensors] for tensors in (ours, expected))
        count = len(catalog()[name].outputs(trial.case))
        try:
            check_shapes(mine[:count], other[:count], "the reference")
            comparison(name).check(trial, 0, mine[:count], "the reference")
        except WrongResult as error:
            raise AssertionError(str(error)) from error


def gradients_are_those_of_another_framework(framework: str, name: str, computed: Computed) -> None:
    for direction in ("backward", "forward_backward"):
        ours, other = computed(framework, name, direction), reference(computed, name, "backward", framework)
        if isinstance(ours, OperatorFailure):
            assert ours.skipped, ours.reason
        elif other is not None and not catalog()[name].random:
            for mine, theirs in zip(ours, other[1], strict=True):
                if mine.shape == theirs.shape and (framework, name) not in OWN_GRADIENTS | OWN_ORDER:
                    same = close(mine.array, theirs.array)
                else:  # in the order in which a framework's own layout has them
                    assert sorted(mine.shape) == sorted(theirs.shape)
                    same = close(np.sort(mine.array), np.sort(theirs.array)) or (framework, name) in OWN_GRADIENTS
                assert same, f"{direction}: {framework} and {other[0]} differ"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Test the operators of each family, or the only one that is asked for."""
    if "operators" in metafunc.fixturenames:
        families = {family: import_module(f"opperf.catalog.{family}").OPERATORS for family in FAMILIES}
        name = metafunc.config.getoption("--operator", None)
        if name is not None:
            if name not in catalog():
                raise pytest.UsageError(f"--operator: no operator `{name}`")
            families = {name: [catalog()[name]]}
        metafunc.parametrize("operators", families.values(), ids=families)


FORWARD = (
    outputs_are_those_of_the_catalog,
    results_are_those_of_another_framework,
    results_are_those_of_the_reference,
)


@pytest.mark.parametrize("framework", [*REAL, *MODES, *LIBRARIES])
def test_operators_compute_what_others_compute(
    operators: Sequence[Operator], framework: str, computed: Computed
) -> None:
    rules = product(chosen(operators, framework), FORWARD)
    check_each(rules, lambda one: one[1](framework, one[0].name, computed), told)


@pytest.mark.parametrize("framework", [*WITH_GRADIENTS, *MODES])
def test_gradients_are_those_that_others_compute(
    operators: Sequence[Operator], framework: str, computed: Computed
) -> None:
    smooth = [one for one in chosen(operators, framework) if "backward" in one.directions]
    rules = product(smooth, [gradients_are_those_of_another_framework])
    check_each(rules, lambda one: one[1](framework, one[0].name, computed), told)
