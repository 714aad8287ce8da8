"""Every function of JAX, NumPy and TensorFlow runs once, forward and backward, in real children, or is known to fail.

`known_failures/<framework>.txt` holds the reasons. A function that stands there and runs is an error: take its line
out. JAX compiles each function, which takes minutes in all: of JAX's a fifth is run, always the same, of TensorFlow's a
half, and all with OPPERF_WHOLE_REGISTRY=1.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from opperf.child.backends.jax import rules as jax_rules
from opperf.child.backends.numpy import functions as numpy_rules
from opperf.child.backends.tensorflow import raw_rules
from opperf.child.backends.tensorflow import rules as tensorflow_rules
from opperf.domain.message.requests import Describe, Discover

#: One function of so many is run.
PARTS = {"jax": 5, "numpy": 1, "tensorflow": 2}
if os.environ.get("OPPERF_WHOLE_REGISTRY"):
    PARTS = dict.fromkeys(PARTS, 1)
LEFT_OUT = {
    "jax": [f"jax.{name}" for names in jax_rules.LEFT_OUT.values() for name in names],
    "numpy": [f"numpy.{name}" for names in numpy_rules.LEFT_OUT.values() for name in names],
    "tensorflow": [f"tf.{name}" for names in tensorflow_rules.LEFT_OUT.values() for name in names],
}


@dataclass(frozen=True)
class Tried:
    """The functions of a framework, and what became of those that ran: `ok`, `skipped: ...` or `failed: ...`."""

    framework: str
    children: Any
    paths: Sequence[str]
    outcomes: Mapping[tuple[str, str], str]
    known: Mapping[tuple[str, str], str]


def chosen(framework: str, path: str) -> bool:
    """Whether a path belongs to the part that is run."""
    return zlib.crc32(path.encode()) % PARTS[framework] == 0


@pytest.fixture(scope="module")
def tried_once(children_of: Callable[[str], Any], known_failures: Callable[..., Any]) -> Callable[[str], Tried]:
    """Return what runs a framework's functions that no neutral binding names, at the small size, when first called."""

    @cache
    def run(framework: str) -> Tried:
        children = children_of(framework)
        paths = children.ask(Discover(size="small")).paths
        outcomes: dict[tuple[str, str], str] = {}
        for path in paths:
            outcomes |= children.outcomes(path) if chosen(framework, path) else {}
        return Tried(framework, children, paths, outcomes, known_failures(framework))

    return run


@pytest.fixture(params=["jax", "numpy", "tensorflow"])
def tried(request: pytest.FixtureRequest, tried_once: Callable[[str], Tried]) -> Tried:
    """Return what became of the functions of a framework."""
    return tried_once(request.param)


def test_every_function_runs_or_has_a_written_reason(tried: Tried) -> None:
    # A backward that is skipped says why on its record, a forward is what its function is for.
    bad = {
        key: said
        for key, said in tried.outcomes.items()
        if said != "ok" and not (key[1] == "backward" and said.startswith("skipped")) and key not in tried.known
    }
    assert not bad, "\n".join(f"{path} {direction}: {said}" for (path, direction), said in bad.items())


def test_what_is_known_to_fail_fails(tried: Tried) -> None:
    assert [path for path, _ in tried.known if path not in tried.paths] == []
    ran = [key for key in tried.known if chosen(tried.framework, key[0])]
    assert [key for key in ran if tried.outcomes.get(key, "not reached") in ("ok", "not reached")] == []


def test_nineteen_of_twenty_functions_run(tried: Tried) -> None:
    forward = [said for (_, direction), said in tried.outcomes.items() if direction == "forward"]
    assert forward
    assert sum(said == "ok" for said in forward) >= 0.95 * len(forward)


def test_what_a_neutral_operator_is_bound_to_is_not_listed_again(tried: Tried) -> None:
    bound = {
        "jax": ("jax.numpy.add",),
        "numpy": ("numpy.add", "numpy.random.Generator.integers"),
        "tensorflow": ("tf.add", "tf.nn.relu"),
    }
    assert not {*bound[tried.framework]} & {*tried.paths}


def test_a_function_of_whole_numbers_alone_is_run_forward_alone(tried: Tried) -> None:
    path = {
        "jax": "jax.lax.population_count",
        "numpy": "numpy.bitwise_count",
        "tensorflow": "tf.raw_ops.PopulationCount",
    }[tried.framework]
    assert list(tried.children.outcomes(path).values()) == ["ok"]


def test_backward_without_a_gradient_is_skipped_with_the_reason(tried: Tried) -> None:
    path = {"jax": "jax.numpy.nextafter", "numpy": "numpy.nextafter", "tensorflow": "tf.math.rint"}[tried.framework]
    assert tried.children.outcomes(path)[path, "backward"].startswith("skipped: no_gradient: ")


@pytest.mark.parametrize(
    ("tried", "short", "long"),
    [
        ("jax", "jnp.kron", "jax.numpy.kron"),
        ("numpy", "np.conj", "numpy.conjugate"),
        ("tensorflow", "tensorflow.norm", "tf.norm"),
    ],
    indirect=["tried"],
)
def test_a_function_has_a_case_by_each_of_its_names(tried: Tried, short: str, long: str) -> None:
    cases = [tried.children.ask(Discover(path)).examples for path in (short, long)]
    assert [one.case.inputs for (one,) in cases] == [cases[0][0].case.inputs] * 2


@pytest.mark.parametrize("tried", ["jax"], indirect=True)
def test_a_flag_beside_the_arrays_of_a_result_keeps_no_gradient_away(tried: Tried) -> None:
    assert set(tried.children.outcomes("jax.scipy.linalg.cho_factor").values()) == {"ok"}


@pytest.mark.parametrize("tried", ["tensorflow"], indirect=True)
def test_every_rule_is_of_a_function_that_computes(tried: Tried) -> None:
    functions = [*tensorflow_rules.FUNCTIONS, *(f"experimental.numpy.{name}" for name in tensorflow_rules.NUMPY)]
    paths = [*(f"tf.{name}" for name in functions), *(f"tf.raw_ops.{name}" for name in raw_rules.OPERATORS)]
    assert [path for path in paths if len(tried.children.ask(Discover(path, "small")).examples) != 1] == []


def test_what_is_left_out_is_there_and_is_not_listed(tried: Tried) -> None:
    assert not set(LEFT_OUT[tried.framework]) & set(tried.paths)
    for path in LEFT_OUT[tried.framework]:
        assert tried.children.ask(Describe(path)).path is not None, path
