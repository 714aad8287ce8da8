"""NumPy's bindings against values worked out by hand: the other frameworks are compared with NumPy's."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import pytest
from tests.each import check_each

from opperf.catalog import operator
from opperf.child.backends.arrays.updates import MADE_OF, Updates
from opperf.child.backends.binding import Call, Parameter
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

np = pytest.importorskip("numpy")
runtime = pytest.importorskip("opperf.child.backends.numpy.runtime")


@pytest.fixture(scope="module")
def backend() -> Any:
    return runtime.start(Side("numpy"))


def compute(backend: Any, operator: str, **given: Any) -> Any:
    """Call an operator's binding as a child does, with these arguments by neutral name."""
    binding = backend.bindings()[operator]
    assert isinstance(binding, Call)
    made = {name: binding.adapt[name](value) if name in binding.adapt else value for name, value in given.items()}

    def value(parameter: Parameter) -> Any:
        return parameter.constant if parameter.neutral is None else made.get(parameter.neutral)

    keywords = {p.own: value(p) for p in binding.keywords if p.neutral is None or p.neutral in made}
    function = binding.function or backend.resolve(binding.path)
    return function(*map(value, binding.positional), **keywords)


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


HAND_MADE = [
    ("remainder", {"lhs": f32(-5, 5, -5), "rhs": f32(3, -3, -3)}, [1, -1, -2]),
    ("floor_divide", {"lhs": f32(-5, 5), "rhs": f32(3, 3)}, [-2, 1]),
    ("round", {"data": f32(0.5, 1.5, 2.5, -0.5)}, [0, 2, 2, 0]),
    ("trunc", {"data": f32(-1.7, 1.7)}, [-1, 1]),
    ("clip", {"data": f32(-1, 0, 1), "minimum": -0.5, "maximum": 0.5}, [-0.5, 0, 0.5]),
    ("rsqrt", {"data": f32(4, 16)}, [0.5, 0.25]),
    ("variance", {"data": f32(1, 2, 3, 4), "axis": 0, "keepdims": True}, [1.25]),
    ("std", {"data": f32(1, 3), "axis": None, "keepdims": False}, 1),
    ("norm", {"data": f32([3, 4], [6, 8]), "axis": 1, "keepdims": False}, [5, 10]),
    ("logsumexp", {"data": f32([0, 0], [1000, 1000]), "axis": 1, "keepdims": False}, [0.693147, 1000.693147]),
    ("logsumexp", {"data": f32([0, 0], [0, 0]), "axis": None, "keepdims": True}, [[1.386294]]),
    ("matmul_transposed", {"lhs": f32([1, 2]), "rhs": f32([3, 4], [5, 6])}, [[11, 17]]),
    ("linear", {"data": f32([1, 2]), "weight": f32([3, 4], [5, 6]), "bias": f32(1, -1)}, [[12, 16]]),
    ("global_max_pool2d", {"data": f32(1, 2, 3, 4).reshape(1, 1, 2, 2)}, [[[[4]]]]),
    ("layer_norm", {"data": f32([1, 3]), "weight": f32(1, 2), "bias": f32(0, 1), "epsilon": 0.0}, [[-1, 3]]),
    ("rms_norm", {"data": f32([1, 7]), "weight": f32(1, 2), "epsilon": 0.0}, [[0.2, 2.8]]),
    ("l2_normalize", {"data": f32([3, 4]), "axis": -1, "epsilon": 1e-5}, [[0.6, 0.8]]),
    ("group_norm", {"data": f32([1, 3, 5, 9]), "weight": f32(1, 1, 1, 2), "bias": f32(0, 0, 0, 1), "groups": 2,
                    "epsilon": 0.0}, [[-1, 1, -1, 3]]),
    ("instance_norm", {"data": f32([[1, 3], [5, 9]]), "weight": f32(1, 2), "bias": f32(0, 1), "epsilon": 0.0},
     [[[-1, 1], [-1, 3]]]),
    ("gelu", {"data": f32(-1, 0, 1), "approximate": "tanh"}, [-0.158808, 0, 0.841192]),
    ("leaky_relu", {"data": f32(-2, 2), "slope": 0.1}, [-0.2, 2]),
    ("elu", {"data": f32(-1, 2), "alpha": 2.0}, [2 * (math.exp(-1) - 1), 2]),
    ("selu", {"data": f32(-1, 1)}, [-1.111331, 1.050701]),
    ("mish", {"data": f32(1)}, [math.tanh(math.log1p(math.e))]),
    ("softplus", {"data": f32(0, 200)}, [math.log(2), 200]),
    ("log_sigmoid", {"data": f32(0, -200)}, [-math.log(2), -200]),
    ("hard_swish", {"data": f32(-4, 0.6, 4)}, [0, 0.36, 4]),
    ("prelu", {"data": f32([-1, -1], [1, 1]), "weight": f32(0.1, 0.2)}, [[-0.1, -0.2], [1, 1]]),
    ("softmax", {"data": f32([1000, 1000], [0, math.log(3)]), "axis": -1}, [[0.5, 0.5], [0.25, 0.75]]),
    ("softmin", {"data": f32([0, math.log(3)]), "axis": -1}, [[0.75, 0.25]]),
    ("gather", {"data": f32([1, 2], [3, 4]), "indices": np.array([[1, 0], [1, 1]]), "axis": 0}, [[3, 2], [3, 4]]),
    ("gather_nd", {"data": f32([1, 2], [3, 4]), "indices": np.array([[0, 1], [1, 0]])}, [2, 3]),
    ("scatter_add", {"data": f32([1, 2], [3, 4]), "indices": np.array([[0, 1], [0, 1]]), "axis": 0,
                     "updates": f32([10, 20], [30, 40])}, [[41, 2], [3, 64]]),
    ("masked_fill", {"data": f32(1, 2), "mask": np.array([True, False]), "value": 9.0}, [9, 2]),
    ("slice", {"data": f32([1, 2, 3], [4, 5, 6]), "begin": (1, None), "end": (None, 0), "step": (1, -1)}, [[6, 5]]),
    ("slice", {"data": f32([1, 2], [3, 4]), "begin": 1, "end": 2}, [[3, 4]]),
    ("repeat", {"data": f32(1, 2), "repeats": 2, "axis": None}, [1, 1, 2, 2]),
    ("pad", {"data": f32(1), "widths": ((1, 2),), "value": 7.0}, [7, 1, 7, 7]),
    ("one_hot", {"indices": np.array([2, 0]), "depth": 3, "dtype": np.float32}, [[0, 0, 1], [1, 0, 0]]),
    ("smooth_l1_loss", {"data": f32(0.5, 3), "labels": f32(0, 0), "beta": 1.0, "reduction": "none"}, [0.125, 2.5]),
    ("cross_entropy", {"data": f32([0, math.log(3)]), "labels": np.array([1]), "reduction": "sum"}, -math.log(0.75)),
    ("nll_loss", {"data": f32([-1, -2], [-3, -4]), "labels": np.array([1, 0]), "reduction": "mean"}, 2.5),
    ("binary_cross_entropy_with_logits", {"data": f32(0), "labels": f32(0.3), "reduction": "mean"}, math.log(2)),
    ("kl_div", {"data": f32(-1, -1), "labels": f32(1, 1)}, 1),
    ("scaled_dot_product_attention", {"query": f32([1, 0], [0, 0]), "key": f32([9, 9], [9, 9]), "causal": True,
                                      "value": f32([1, 2], [3, 4])}, [[1, 2], [2, 3]]),
]  # fmt: skip


def test_a_binding_gives_the_value_worked_out_by_hand(backend: Any) -> None:
    def check(case: tuple[str, dict[str, Any], Any]) -> None:
        operator, given, expected = case
        result = compute(backend, operator, **given)
        np.testing.assert_allclose(result, np.asarray(expected), rtol=1e-5, atol=1e-6)
        assert result.dtype == np.float32

    check_each(HAND_MADE, check, lambda case: case[0])


@pytest.mark.parametrize(("largest", "values", "places"), [(True, [9, 7], [2, 0]), (False, [1, 3], [3, 1])])
def test_topk_gives_values_in_order_and_their_indices(
    backend: Any, largest: bool, values: list[int], places: list[int]
) -> None:
    result = compute(backend, "topk", data=f32([7], [3], [9], [1]), k=2, axis=0, largest=largest)
    assert result[0].ravel().tolist() == values
    assert result[1].ravel().tolist() == places
    assert result[1].dtype == np.int64


def test_argsort_gives_int64_indices(backend: Any) -> None:
    result = compute(backend, "argsort", data=f32(3, 1, 2), axis=-1, descending=False)
    assert result.tolist() == [1, 2, 0]
    assert result.dtype == np.int64


def test_batch_norm_moves_the_running_statistics_in_training_only(backend: Any) -> None:
    given = {"data": f32([1], [3]), "weight": f32(1), "bias": f32(5), "epsilon": 0.0}
    mean, variance = f32(0), f32(1)
    result = compute(backend, "batch_norm", **given, running_mean=mean, running_var=variance, training=True)
    assert result.ravel().tolist() == [4, 6]
    np.testing.assert_allclose([mean[0], variance[0]], [0.2, 0.9 + 0.1 * 2], rtol=1e-6)  # the unbiased variance is 2
    still = compute(backend, "batch_norm", **given, running_mean=f32(1), running_var=f32(4), training=False)
    assert still.ravel().tolist() == [5, 6]


def test_sgd_update_changes_the_weight_itself(backend: Any) -> None:
    weight = f32(1, 2)
    result = compute(backend, "sgd_update", weight=weight, gradient=f32(10, 20), learning_rate=0.1)
    assert result is weight
    np.testing.assert_allclose(weight, [0, 0], atol=1e-6)


@pytest.mark.parametrize("name", MADE_OF)
def test_a_step_changes_the_weight_and_the_states_themselves(backend: Any, name: str) -> None:
    step = operator(name)
    draw = np.random.default_rng(0)
    given = {role: draw.uniform(0.1, 1, 9).astype(np.float32) for role in step.inputs}
    before = {role: array.copy() for role, array in given.items()}
    result = compute(backend, name, **given, **step.case("small").attributes)
    assert result is given["weight"]
    assert [role for role in step.inputs if (given[role] == before[role]).all()] == ["gradient"]
    _, *states = step.mutates
    made = getattr(Updates(np, immutable=True), name)(**before, **step.case("small").attributes)
    for mine, other in zip([result, *map(given.get, states)], made if states else [made], strict=True):
        np.testing.assert_array_equal(mine, other)


def test_dropout_scales_what_it_keeps_and_returns_the_input_when_not_training(backend: Any) -> None:
    data = np.ones(10_000, np.float32)
    kept = compute(backend, "dropout", data=data, rate=0.2, training=True)
    assert set(kept.tolist()) == {0.0, 1.25}
    assert abs(float(kept.mean()) - 1) < 0.02
    assert compute(backend, "dropout", data=data, rate=0.2, training=False) is data


def test_random_numbers_have_the_moments_and_bounds_asked_for(backend: Any) -> None:
    shape = (100, 1000)
    uniform = compute(backend, "random_uniform", shape=shape, dtype=np.float32, low=-2.0, high=6.0)
    assert uniform.min() >= -2
    assert uniform.max() < 6
    assert abs(float(uniform.mean()) - 2) < 0.05
    normal = compute(backend, "random_normal", shape=shape, dtype=np.float64, mean=3.0, std=2.0)
    assert normal.dtype == np.float64
    assert abs(float(normal.mean()) - 3) < 0.05
    assert abs(float(normal.std()) - 2) < 0.05
    ones = compute(backend, "random_bernoulli", shape=shape, dtype=np.float16, probability=0.3)
    assert ones.dtype == np.float16
    assert abs(float(ones.astype(np.float64).mean()) - 0.3) < 0.01


def test_each_bound_generator_is_its_own_and_starts_alike(backend: Any) -> None:
    first, second = (backend.resolve("numpy.random.Generator.random") for _ in range(2))
    assert first(3).tolist() == second(3).tolist()
    assert first(3).tolist() != first(3).tolist()


@pytest.mark.parametrize("path", ["numpy.add", "np.add", "np.linalg.norm", "numpy.add.reduce", "numpy.ndarray.astype"])
def test_paths_that_users_write_are_found(backend: Any, path: str) -> None:
    assert callable(backend.resolve(path))


@pytest.mark.parametrize(
    "path",
    [
        "os.system", "numpy.os.system", "numpy.load", "np.save", "numpy.ndarray.tofile", "numpy.recarray.dump",
        "numpy.f2py.compile", "numpy.testing.rundocs", "numpy.lib.format.open_memmap", "numpy.lib.npyio.load",
        "numpy.ma.core.np.load", "numpy.ma.core.fromflex", "numpy.no_such", "numpy", "numpy.linalg", "numpy.",
        "numpy.add.__class__", "numpy.random.Generator.no_such", "",
    ],
)  # fmt: skip
def test_paths_that_do_not_compute_are_not_found(backend: Any, path: str) -> None:
    with pytest.raises(LookupError):
        backend.resolve(path)


def test_every_name_that_is_listed_can_be_resolved(backend: Any) -> None:
    for name in backend.names():
        assert callable(backend.resolve(name)), name


@pytest.mark.parametrize("strides", [(1, 2), (8, 2), (0, 1), (-3, 1), (3, -1)])
def test_a_tensor_has_the_strides_asked_for_and_the_values_given(backend: Any, strides: tuple[int, int]) -> None:
    host = backend.host(bytearray(np.arange(6, dtype=np.float32).tobytes()), "float32")
    made = backend.tensor(host, (2, 3), "float32", strides)
    assert [step // 4 for step in made.strides] == list(strides)
    if strides[0]:
        assert made.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_complex_tensors_take_pairs_and_fills(backend: Any) -> None:
    host = backend.host(bytearray(f32(1, 2, 3, 4).tobytes()), "float32")
    assert backend.tensor(host, (2,), "complex128", None).tolist() == [1 + 2j, 3 + 4j]
    ones = backend.host(bytearray(16), "float64") + 1
    assert backend.tensor(ones, (2,), "complex64", None).tolist() == [1, 1]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "complex32"])
def test_an_element_type_that_it_lacks_is_unsupported_with_a_reason(name: str, backend: Any) -> None:
    with pytest.raises(Unsupported, match=f"NumPy has no {name}"):
        backend.dtype(name)


def test_results_are_seen_as_tensors_scalars_too(backend: Any) -> None:
    leaves = backend.leaves((np.float32(1), [np.ones(2, np.int64)], "x", None))
    assert [backend.spec(leaf) for leaf in leaves] == [TensorSpec(()), TensorSpec((2,), "int64")]
    assert backend.to_host(np.asfortranarray(f32([1, 2], [3, 4])))[0] == f32(1, 2, 3, 4).tobytes()


def test_a_result_of_a_dtype_without_a_name_is_unsupported(backend: Any) -> None:
    with pytest.raises(Unsupported, match="timedelta64"):
        backend.spec(np.timedelta64(1))


def test_values_are_the_same_within_rounding(backend: Any) -> None:
    one, close, far = (backend.to_host(f32(value)) for value in (1.0, 1.0001, 1.1))
    assert backend.same([one], [close])
    assert not backend.same([one], [far])
    assert not backend.same([one], [one, one])
    assert not backend.same([backend.to_host(np.array([1]))], [backend.to_host(np.array([2]))])


def test_a_snapshot_puts_values_back(backend: Any) -> None:
    data = f32(1, 2)
    restore = backend.snapshot([data])
    data += 1
    restore()
    assert data.tolist() == [1, 2]


def test_memory_is_the_output_and_scratch_of_one_call(backend: Any) -> None:
    data = np.ones(250_000, np.float32)
    add = backend.memory(work(np.add, data, data))
    assert 1_000_000 <= add.peak < 1_001_000
    chain = backend.memory(work(lambda a, b: np.add(np.add(a, b), a), data, data))
    assert 2_000_000 <= chain.peak < 2_001_000
    assert add.allocated is None
    assert "tracemalloc" in add.source


def work(function: Any, *arguments: Any) -> Work:
    return Work(function, arguments, {}, nullcontext)


def test_backward_and_compiled_mode_are_unsupported(backend: Any) -> None:
    bound: Any = None
    with pytest.raises(Unsupported, match="automatic differentiation"):
        backend.backward(bound, lambda output: output, fresh=False)
    with pytest.raises(Unsupported, match="automatic differentiation"):
        backend.forward_backward(bound, lambda output: output)
    with pytest.raises(Unsupported, match="compiler"):
        runtime.start(Side("numpy", mode="compiled")).forward(bound)
    with pytest.raises(Unsupported, match="CPU only"):
        runtime.start(Side("numpy", device="cuda:0"))


def test_facts_say_version_blas_and_instructions(backend: Any) -> None:
    facts = backend.facts()
    assert facts["version"] == np.__version__
    assert facts["blas"]
    assert facts["isa"]
