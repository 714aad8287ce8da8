"""Every operator of MXNet's own registry runs once, forward and backward, in real children; or it is written why not.

`known_failures/mxnet.txt` holds the reasons. An operator that stands there and runs is an error: take its line out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.case import Case
from opperf.environment import EnvironmentSpec
from opperf.errors import WorkerFailure
from opperf.plan import Side, Trial
from opperf.sources.mxnet_inputs import mxnet_suite
from opperf.tensor import TensorSpec
from opperf.workers.interpreters import interpreter, settled
from opperf.workers.package import package_folder
from opperf.workers.process import OperatorFailure, Worker

#: What became of each path and direction: `ok`, `skipped: ...` or `failed: ...`.
Outcomes: TypeAlias = Mapping[tuple[str, str], str]

TIMEOUT = 60.0
#: What becomes of forward and backward.
BOTH, NO_GRADIENT = ("ok", "ok"), ("ok", "skipped: no_gradient")
PRINTED = "<NDArray 5x5 @cpu(0)>"
KNOWN = Path(__file__).with_name("known_failures") / "mxnet.txt"


class Children:
    """A child after another: an operator that ends one costs none of the rest."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._python = interpreter(EnvironmentSpec.parse(side.environment), framework="mxnet")
        self._worker: Worker | None = None

    def ask(self, verb: str, **arguments: Any) -> Mapping[str, Any]:
        """Return what a child answers."""
        if self._worker is None or not self._worker.alive:
            self._worker = Worker(self._python, package_folder(), self.side)
            self._worker.greet()
        return self._worker.ask(verb, arguments, TIMEOUT)

    def outcome(self, case: Case, path: str, direction: str) -> str:
        """Say what becomes of one call."""
        side = Side("mxnet", environment=self.side.environment, implementation=path)
        try:
            prepared = self.ask("prepare", trial=Trial(case, side, direction).to_json(), seed=0)
        except OperatorFailure as failed:
            status = "skipped" if failed.failure.get("skipped") else "failed"
            return f"{status}: {failed.failure['slug']}: {failed.failure['message']}"
        except WorkerFailure as lost:
            return f"failed: {lost.slug}: {lost.message}"
        self.ask("release", handle=prepared["handle"])
        return "ok"

    def close(self) -> None:
        """End the last child."""
        if self._worker is not None:
            self._worker.close()


@pytest.fixture(scope="module")
def children() -> Any:
    """Return children of MXNet's environment."""
    environment = settled(EnvironmentSpec.parse("current"), "mxnet").text
    found = Children(Side("mxnet", environment=environment))
    yield found
    found.close()


@pytest.fixture(scope="module")
def outcomes(children: Children) -> Outcomes:
    """Return what becomes of every operator that no neutral binding names, at the small size."""
    found = {}
    for path in children.ask("discover", size="small")["paths"]:
        (example,) = children.ask("discover", path=path, size="small")["cases"]
        for direction in ("forward", "backward"):
            found[path, direction] = children.outcome(Case.from_json(example), path, direction)
            if found[path, direction] != "ok":
                break
    return found


def known_failures() -> dict[tuple[str, str], str]:
    """Return the reason of each path and direction in the list."""
    found, reason = {}, ""
    for line in KNOWN.read_text().splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif line.strip():
            path, direction = line.split()
            found[path, direction] = reason
    return found


@pytest.mark.parametrize("name", ["_Native", "_NDArray", "_cvimread", "_npi_cvimread", "_backward_npi_copysign_scalar"])
def test_what_would_harm_the_process_or_read_a_file_is_not_found(children: Children, name: str) -> None:
    assert children.ask("describe", name=f"nd._internal.{name}")["path"] is None


def test_a_copy_gets_an_array_to_write_into_when_it_is_given_none(children: Children) -> None:
    case = Case("mxnet:nd._internal._copyto", {"data": TensorSpec((4, 4))})
    assert children.outcome(case, "nd._internal._copyto", "forward") == "ok"


def test_an_operator_without_a_gradient_is_skipped_backward(children: Children) -> None:
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
    operator: str, row: dict[str, Any], directions: tuple[str, str], children: Children
) -> None:
    (entry,) = mxnet_suite({operator: [row]}, "rows").cases
    for direction, expected in zip(("forward", "backward"), directions):
        assert children.outcome(entry.case, f"nd.{operator}", direction).startswith(expected)


def test_every_registered_operator_runs_or_has_a_written_reason(outcomes: Outcomes) -> None:
    known = known_failures()
    # A backward that is skipped says why on its record, a forward is what its operator is for.
    bad = {
        key: said
        for key, said in outcomes.items()
        if said != "ok" and not (key[1] == "backward" and said.startswith("skipped")) and key not in known
    }
    assert not bad, "\n".join(f"{path} {direction}: {said}" for (path, direction), said in bad.items())


def test_what_is_known_to_fail_fails(outcomes: Outcomes) -> None:
    assert [key for key in known_failures() if outcomes.get(key, "no such operator") == "ok"] == []
    assert [key for key in known_failures() if key not in outcomes] == []


def test_every_known_failure_has_a_reason_of_its_own_words() -> None:
    assert [key for key, reason in known_failures().items() if len(reason.split()) < 3] == []


def test_four_of_five_registered_operators_run(outcomes: Outcomes) -> None:
    forward = {path: said for (path, direction), said in outcomes.items() if direction == "forward"}
    assert sum(said == "ok" for said in forward.values()) >= 0.8 * len(forward)


def test_nineteen_of_twenty_public_operators_run(outcomes: Outcomes) -> None:
    public = [said for (path, direction), said in outcomes.items() if direction == "forward" and "._" not in path]
    assert sum(said == "ok" for said in public) >= 0.95 * len(public)
