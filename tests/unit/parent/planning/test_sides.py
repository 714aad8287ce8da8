"""Which sides a selection means."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import environments, frameworks, sides

HERE = ("torch", "numpy")
OWN = Suite("own", "", (SuiteCase(Case("mxnet:nd.add")),))
MIXED = Suite("mixed", "", (SuiteCase(Case("add")), *OWN.cases))


@each(
    ("selection", "expected"),
    [
        (Selection(), HERE),
        (Selection(operators=("add",)), HERE),
        (Selection(frameworks=("jax", "null", "jax")), ("jax", "null")),
        (Selection(operators=("mxnet:nd.add",)), ("mxnet",)),
        (Selection(operators=("mxnet:nd.add", "add")), ("mxnet", *HERE)),
        (Selection(operators=("mxnet:nd.add",), frameworks=("torch",)), ("torch", "mxnet")),
        (Selection(suite=MIXED), ("mxnet", *HERE)),
        (Selection(suite=OWN), ("mxnet",)),
        (Selection(categories=("mx_reduction",)), ("mxnet",)),
        (Selection(categories=("mx_reduction",), frameworks=("torch",)), ("torch",)),
        (Selection(categories=("mx_reduction", "reduction")), ("mxnet", *HERE)),
        (Selection(suite=OWN, frameworks=("torch",)), ("torch",)),
        (Selection(environments=("mxnet-mkl==1.6.0",)), ("mxnet",)),
        (Selection(operators=("add",), environments=("numpy==1.26.4", "jax")), ("numpy", "jax")),
        (Selection(operators=("mxnet:nd.add", "add"), environments=("jax",)), ("mxnet", "jax")),
        (Selection(environments=("python=/usr/bin/python3",)), HERE),
        (Selection(environments=("current",)), HERE),
        (Selection(environments=("jax",), frameworks=("torch",)), ("torch",)),
    ],
)
def test_frameworks_are_those_named_then_those_implied_then_those_that_import(
    selection: Selection, expected: tuple[str, ...]
) -> None:
    assert frameworks(selection, HERE) == expected


def test_no_framework_at_all_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="--framework") as caught:
        frameworks(Selection(), ())
    assert caught.value.slug == "no_framework"


def test_an_unknown_framework_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean `torch`"):
        frameworks(Selection(frameworks=("troch",)), HERE)


@each(
    ("texts", "framework", "expected"),
    [
        ((), "torch", ("current",)),
        (("torch",), "torch", ("torch",)),
        (("torch",), "numpy", ("current",)),
        (("numpy==1.26.4", "numpy==2.0"), "numpy", ("numpy==1.26.4", "numpy==2.0")),
        (("python=/p",), "numpy", ("python=/p",)),
        (("python=/p", "numpy==2.0"), "numpy", ("numpy==2.0",)),
        (("python=/p", "numpy==2.0"), "torch", ("python=/p",)),
        (("current", "torch"), "numpy", ("current",)),
        (("python=/p",), "null", ("current",)),
    ],
)
def test_an_environment_binds_to_its_framework_and_one_of_none_serves_the_rest(
    texts: tuple[str, ...], framework: str, expected: tuple[str, ...]
) -> None:
    assert environments(Selection(environments=texts), framework) == expected


def test_the_defaults_of_a_side() -> None:
    assert sides(Selection(), ("torch",)) == (Side("torch"),)


def test_jax_is_compiled_unless_told_otherwise() -> None:
    assert [side.mode for side in sides(Selection(), ("jax", "torch"))] == ["compiled", "eager"]
    assert [side.mode for side in sides(Selection(modes=("eager",)), ("jax", "torch"))] == ["eager", "eager"]


def test_sides_are_every_framework_environment_device_and_mode() -> None:
    selection = Selection(
        environments=("torch==2.0", "torch==2.1"), devices=("cpu", "gpu(1)"), modes=("eager", "compiled")
    )
    result = sides(selection, ("torch", "numpy"))
    assert len(set(result)) == len(result) == 2 * 2 * 2 + 1 * 2 * 2
    assert result[:3] == (
        Side("torch", "torch==2.0", "cpu", "eager"),
        Side("torch", "torch==2.0", "cpu", "compiled"),
        Side("torch", "torch==2.0", "cuda:1", "eager"),
    )


def test_where_no_device_is_named_it_is_the_cpu() -> None:
    assert [side.device for side in sides(Selection(), ("torch",))] == ["cpu"]
    assert [side.device for side in sides(Selection(devices=("cuda",)), ("torch",))] == ["cuda:0"]


def test_threads_engine_and_allocator_are_those_of_the_selection() -> None:
    (side,) = sides(Selection(threads=3, engine="threaded", allocator="default"), ("mxnet",))
    assert (side.threads, side.engine, side.allocator) == (3, "threaded", "default")


@each(
    ("selection", "words"),
    [
        (Selection(modes=("compild",)), "no mode `compild`"),
        (Selection(engine="native"), "no engine `native`"),
        (Selection(allocator="jemalloc"), "no allocator `jemalloc`"),
        (Selection(threads=0), "`--threads` is 0"),
        (Selection(devices=("cpu:1",)), "no device `cpu:1`"),
        (Selection(environments=("numpyy",)), "numpyy"),
    ],
)
def test_what_is_not_known_is_refused(selection: Selection, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sides(selection, ("torch",))
