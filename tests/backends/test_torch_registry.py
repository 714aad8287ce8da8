"""Every operator of PyTorch's own list, and every ATen operator that its samples reach, runs; or it is written why not.

`known_failures/torch.txt` holds the reasons. An operator that stands there and runs is an error: take its line out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pytest

from opperf.domain.case import Case
from opperf.domain.message.requests import Describe, Discover
from opperf.domain.tensor import SPD, TensorSpec

#: What became of each path and direction: `ok`, `skipped: ...` or `failed: ...`.
Outcomes: TypeAlias = Mapping[tuple[str, str], str]
#: The reason of each path and direction in the list.
Known: TypeAlias = dict[tuple[str, str], str]

LISTED = "opinfo::"


@pytest.fixture(scope="module")
def children(children_of: Callable[[str], Any]) -> Any:
    """Return children of PyTorch's environment."""
    return children_of("torch")


@pytest.fixture(scope="module")
def known(known_failures: Callable[[str], Known]) -> Known:
    """Return the reasons."""
    return known_failures("torch")


@pytest.fixture(scope="module")
def paths(children: Any) -> Sequence[str]:
    """Return every operator that no neutral binding names."""
    result: Sequence[str] = children.ask(Discover(size="small")).paths
    return result


@pytest.fixture(scope="module")
def outcomes(children: Any, paths: Sequence[str]) -> Outcomes:
    """Return what becomes of each, at the small size."""
    result: dict[tuple[str, str], str] = {}
    for path in paths:
        result |= children.outcomes(path)
    return result


def example(children: Any, path: str, size: str) -> dict[str, Any]:
    """Return the JSON form of the case of an operator."""
    (result,) = children.ask(Discover(path, size)).examples
    return {**result.case.to_json(), "scale": result.scale}


def ran(outcomes: Outcomes, direction: str, prefix: str) -> list[bool]:
    """Return for each operator of a kind that has a direction whether it ran."""
    return [said == "ok" for (path, way), said in outcomes.items() if way == direction and path.startswith(prefix)]


def test_every_registered_operator_runs_or_has_a_written_reason(outcomes: Outcomes, known: Known) -> None:
    # A backward that is skipped says why on its record, a forward is what its operator is for.
    bad = {
        key: said
        for key, said in outcomes.items()
        if said != "ok" and not (key[1] == "backward" and said.startswith("skipped")) and key not in known
    }
    assert not bad, "\n".join(f"{path} {direction}: {said}" for (path, direction), said in bad.items())


def test_what_is_known_to_fail_fails(outcomes: Outcomes, known: Known) -> None:
    assert [key for key in known if outcomes.get(key, "no such operator") in ("ok", "no such operator")] == []


def test_nineteen_of_twenty_operators_of_the_list_run(outcomes: Outcomes) -> None:
    for direction in ("forward", "backward"):
        result = ran(outcomes, direction, LISTED)
        assert result
        assert sum(result) >= 0.95 * len(result)


def test_nineteen_of_twenty_operators_of_aten_run(outcomes: Outcomes) -> None:
    result = ran(outcomes, "forward", "aten::")
    assert result
    assert sum(result) >= 0.95 * len(result)


def test_variants_of_one_function_are_operators_of_their_own(paths: Sequence[str]) -> None:
    assert {f"{LISTED}nn.functional.pad.{mode}" for mode in ("circular", "reflect", "replicate")} <= {*paths}
    assert len({*paths}) == len(paths)


def test_an_operator_that_the_catalog_measures_is_not_listed(children: Any, paths: Sequence[str]) -> None:
    assert f"{LISTED}add" not in paths
    assert "aten::add.Tensor" not in paths
    assert children.ask(Describe(f"{LISTED}add")).operator == "add"


def test_a_tiny_sample_grows_to_64_ki_elements_and_says_by_how_much(children: Any) -> None:
    small, common = (example(children, f"{LISTED}linalg.qr", size) for size in ("small", "common"))
    grown = max(tensor.elements for tensor in Case.from_json(common).tensors())
    assert max(tensor.elements for tensor in Case.from_json(small).tensors()) < 1 << 16 <= grown
    assert common["scale"] > small["scale"]


def test_lengths_that_add_up_do_so_when_they_have_grown(children: Any) -> None:
    grown = Case.from_json(example(children, f"{LISTED}_segment_reduce.lengths", "common"))
    data, lengths = next(grown.tensors()), grown.attributes["lengths"]
    assert isinstance(lengths, TensorSpec)
    assert sum(map(int, lengths.literal or ())) == data.shape[0]
    assert data.elements >= 1 << 16


def test_matrices_that_are_positive_definite_are_so_when_they_have_grown(children: Any) -> None:
    (matrix,) = Case.from_json(example(children, f"{LISTED}cholesky", "common")).tensors()
    assert matrix.values == SPD
    assert matrix.elements >= 1 << 16


def test_what_is_cut_into_given_lengths_grows_in_its_last_dimension(children: Any) -> None:
    (data,) = Case.from_json(example(children, f"{LISTED}split_with_sizes", "common")).tensors()
    assert data.elements >= 1 << 16
    assert data.shape[-1] > 256 * data.shape[0]


def test_a_composed_operator_of_aten_has_the_inputs_of_its_function(children: Any) -> None:
    composed, listed = (example(children, path, "small") for path in ("aten::linalg_svd", f"{LISTED}linalg.svd"))
    assert composed["inputs"] == listed["inputs"]


def test_an_operator_that_no_case_can_hold_says_so(children: Any) -> None:
    assert "sparse_csr" in children.ask(Describe(f"{LISTED}sparse.mm.reduce")).reason


# The last: another process would collect the samples of ATen anew for those that come after.
def test_the_same_operator_has_the_same_case_in_another_process(children: Any) -> None:
    before = example(children, f"{LISTED}nn.functional.conv2d", "common")
    children.close()
    assert example(children, f"{LISTED}nn.functional.conv2d", "common") == before
