"""Every operator of MXNet's own registry runs once, forward and backward, in real children; or it is written why not.

`known_failures/mxnet.txt` holds the reasons. An operator that stands there and runs is an error: take its line out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest

from opperf.domain.case import Case
from opperf.domain.message.requests import Describe, Discover
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.suite_file import mxnet_suite

#: What became of each path and direction: `ok`, `skipped: ...` or `failed: ...`.
Outcomes: TypeAlias = Mapping[tuple[str, str], str]
#: What becomes of forward and backward.
BOTH, NO_GRADIENT = ("ok", "ok"), ("ok", "skipped: no_gradient")
PRINTED = "<NDArray 5x5 @cpu(0)>"
#: The reason of each path and direction in the list.
Known: TypeAlias = dict[tuple[str, str], str]


@pytest.fixture(scope="module")
def children(children_of: Callable[[str], Any]) -> Any:
    """Return children of MXNet's environment."""
    return children_of("mxnet")


@pytest.fixture(scope="module")
def known(known_failures: Callable[[str], Known]) -> Known:
    """Return the reasons."""
    return known_failures("mxnet")


@pytest.fixture(scope="module")
def outcomes(children: Any) -> Outcomes:
    """Return what becomes of every operator that no neutral binding names, at the small size."""
    result: dict[tuple[str, str], str] = {}
    for path in children.ask(Discover(size="small")).paths:
        result |= children.outcomes(path)
    return result


@pytest.mark.parametrize("name", ["_Native", "_NDArray", "_cvimread", "_npi_cvimread", "_backward_npi_copysign_scalar"])
def test_what_would_harm_the_process_or_read_a_file_is_not_found(children: Any, name: str) -> None:
    assert children.ask(Describe(f"nd._internal.{name}")).path is None


def test_a_copy_gets_an_array_to_write_into_when_it_is_given_none(children: Any) -> None:
    case = Case("mxnet:nd._internal._copyto", {"data": TensorSpec((4, 4))})
    assert children.outcome(case, "nd._internal._copyto", "forward") == "ok"


def test_an_operator_without_a_gradient_is_skipped_backward(children: Any) -> None:
    case = Case("mxnet:nd._internal._grad_add", {"lhs": TensorSpec((4,)), "rhs": TensorSpec((4,))})
    assert children.outcome(case, "nd._internal._grad_add", "backward").startswith("skipped: no_gradient")


@pytest.mark.parametrize(
    ("operator", "row", "directions"),
    [
        ("Custom", {"args": [[4, 4]], "op_type": "CustomAddOne"}, BOTH),
        ("BatchNorm", {"beta": [3], "data": [2, 3, 4, 4], "gamma": [3], "moving_mean": [3], "moving_var": [3]}, BOTH),
        ("khatri_rao", {"args": [[4, 3], [2, 3]]}, NO_GRADIENT),
        ("linalg_potrf", {"A": [[2, -1, 0], [-1, 2, -1], [0, -1, 2]]}, BOTH),
        ("random_pdf_negative_binomial", {"k": [20, 49], "p": [0.4, 0.77], "sample": [2]}, BOTH),
        ("multi_sgd_update", {"args0": PRINTED, "args1": PRINTED, "lrs": 0.1, "wds": 0.2}, NO_GRADIENT),
        ("preloaded_multi_sgd_mom_update", {"args": [[5, 5], [5, 5], [5, 5], [1], [1]]}, NO_GRADIENT),
        ("reset_arrays", {"args": [[4, 4]], "num_arrays": 1}, NO_GRADIENT),
        ("SequenceLast", {"axis": 0, "data": [4, 4]}, NO_GRADIENT),
        ("Embedding", {"data": [4], "weight": [3, 4], "input_dim": 3, "output_dim": 4}, BOTH),
    ],
)  # fmt: skip
def test_a_row_of_mxnets_own_benchmark_runs(
    operator: str, row: dict[str, Any], directions: tuple[str, str], children: Any
) -> None:
    (entry,) = mxnet_suite({operator: [row]}, "rows").cases
    for direction, expected in zip(("forward", "backward"), directions):
        assert children.outcome(entry.case, f"nd.{operator}", direction).startswith(expected)


def test_every_registered_operator_runs_or_has_a_written_reason(outcomes: Outcomes, known: Known) -> None:
    # A backward that is skipped says why on its record, a forward is what its operator is for.
    bad = {
        key: said
        for key, said in outcomes.items()
        if said != "ok" and not (key[1] == "backward" and said.startswith("skipped")) and key not in known
    }
    assert not bad, "\n".join(f"{path} {direction}: {said}" for (path, direction), said in bad.items())


def test_what_is_known_to_fail_fails(outcomes: Outcomes, known: Known) -> None:
    assert [key for key in known if outcomes.get(key, "no such operator") == "ok"] == []
    assert [key for key in known if key not in outcomes] == []


def test_four_of_five_registered_operators_run(outcomes: Outcomes) -> None:
    forward = {path: said for (path, direction), said in outcomes.items() if direction == "forward"}
    assert sum(said == "ok" for said in forward.values()) >= 0.8 * len(forward)


def test_nineteen_of_twenty_public_operators_run(outcomes: Outcomes) -> None:
    public = [said for (path, direction), said in outcomes.items() if direction == "forward" and "._" not in path]
    assert sum(said == "ok" for said in public) >= 0.95 * len(public)
