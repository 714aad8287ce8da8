"""What every backend promises beside right results: honest time, threads, seeds, memory, failures that end nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from tests.conformance.conftest import LIBRARIES, ONE_FILE, REAL, TIMEOUT, WITH_GRADIENTS, Bench, exceeds

from opperf.catalog import catalog, operator
from opperf.child.worker.names import NOT_BOUND
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.codec import read_as
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Describe, Prepare
from opperf.domain.plan import Settings, Trial
from opperf.domain.tensor import ITEM_SIZES, STRING, TensorSpec
from opperf.parent.workers.pool import Pool

QUICK = Settings(warmup=2, runs=5, latency=False, memory=False)
DTYPES = ("bool", "int32", "int64", "float16", "float32", "float64")


def product(size: int) -> Case:
    """Return a matrix product of that size."""
    square = TensorSpec((size, size))
    return Case("matmul", {"lhs": square, "rhs": square})


def grows(bench: Bench, larger: int, smaller: int, direction: str = "forward") -> bool:
    """Whether a product of a larger size takes longer than one of a smaller size."""
    large, small = product(larger), product(smaller)
    least = partial(bench.least, direction=direction, settings=QUICK)
    return exceeds(lambda: (least(large), least(small)), 2.5)


def test_time_grows_with_the_work(any_backend: Bench) -> None:
    # 64 times the operations; the null backend counts bytes, of which there are 16 times as many. Work that is folded
    # away, cached or not waited for takes the same time whatever its size. Dask's scheduler costs a millisecond a call.
    assert grows(any_backend, 768, 192)


@pytest.mark.parametrize("backend", WITH_GRADIENTS, indirect=True)
def test_time_of_a_backward_grows_with_the_work(backend: Bench) -> None:
    assert grows(backend, 512, 256, "backward")


def test_a_pipelined_block_leaves_no_call_outstanding(backend: Bench) -> None:
    def look() -> tuple[float, float]:
        measured = backend.measure(product(384), settings=Settings(warmup=3, runs=10, memory=False))
        latency = measured.samples("latency")
        assert latency is not None
        block, single = (min(one.seconds(clean_only=False)) for one in (measured.time, latency))
        return block, single

    assert exceeds(look, 0.5)


def test_one_thread_is_one_thread(backend: Bench) -> None:
    seen = backend.worker.facts.get("threads_seen")
    if seen is None and backend.name == ONE_FILE:
        pytest.skip("it does not look at its threads")
    assert read_as(float, seen, "threads") <= 1.3


def test_facts_name_the_version(any_backend: Bench) -> None:
    assert any_backend.worker.facts["version"]


def test_a_seed_gives_the_same_inputs_again(backend: Bench) -> None:
    case = Case("negative", {"data": TensorSpec((5, 7))})
    assert backend.evaluate(case, seed=3)[0].raw == backend.evaluate(case, seed=3)[0].raw
    assert backend.evaluate(case, seed=3)[0].raw != backend.evaluate(case, seed=4)[0].raw


@pytest.mark.parametrize("dtype", DTYPES)
def test_inputs_are_the_same_bits_in_every_framework(dtype: str, benches: dict[str, Bench]) -> None:
    case = Case("reshape", {"data": TensorSpec((40, 25), dtype)}, {"shape": (25, 40)})
    seen = {name: benches[name].evaluate(case)[0].raw for name in REAL}
    assert len(set(seen.values())) == 1
    assert len(set(seen["numpy"])) > 1  # not all alike


@pytest.mark.parametrize("dtype", sorted(set(ITEM_SIZES) - {*DTYPES, STRING}))
def test_an_element_type_that_some_lack_has_the_same_bits_where_it_is(dtype: str, benches: dict[str, Bench]) -> None:
    case = Case("reshape", {"data": TensorSpec((40, 25), dtype)}, {"shape": (25, 40)})
    seen, lacking = {}, {}
    for name in REAL:
        try:
            seen[name] = benches[name].evaluate(case)[0].raw
        except OperatorFailure as caught:
            lacking[name] = caught.reason.slug
    assert "torch" in seen
    assert set(lacking.values()) <= {"no_such_dtype"}, lacking
    assert len(set(seen.values())) == 1, {name: raw[:16] for name, raw in seen.items()}
    assert len(set(seen["torch"])) > 1  # not all alike


def test_strings_are_refused_by_what_computes_with_numbers(backend: Bench) -> None:
    with pytest.raises(OperatorFailure) as caught:
        backend.evaluate(Case("reshape", {"data": TensorSpec((2,), STRING)}, {"shape": (2,)}))
    failure = caught.value
    assert (failure.skipped, failure.reason.slug) == (True, "no_such_dtype"), failure
    assert STRING in failure.reason.message


@pytest.mark.parametrize(
    "values", ["normal", "constant", "sorted", "reversed", "denormal", "sparse:0.9", "zeros", "ones"]
)
def test_every_distribution_has_the_same_bits_in_every_framework(values: str, benches: dict[str, Bench]) -> None:
    case = Case("reshape", {"data": TensorSpec((40, 25), values=values)}, {"shape": (25, 40)})
    seen = {name: benches[name].evaluate(case)[0].raw for name in REAL}
    assert len(set(seen.values())) == 1, {name: raw[:16] for name, raw in seen.items()}


@pytest.mark.parametrize("values", ["sparse:0.5", "sorted", "constant"])
def test_whole_numbers_have_the_same_distributions_in_every_framework(values: str, benches: dict[str, Bench]) -> None:
    case = Case("reshape", {"data": TensorSpec((40, 25), "int32", values=values)}, {"shape": (25, 40)})
    seen = {name: benches[name].evaluate(case)[0].raw for name in REAL}
    assert len(set(seen.values())) == 1, {name: raw[:16] for name, raw in seen.items()}


def test_inputs_stay_within_their_range(backend: Bench) -> None:
    case = Case("reshape", {"data": TensorSpec((50, 50), range=(0.25, 0.75))}, {"shape": (2500,)})
    values = backend.evaluate(case)[0].values
    assert 0.25 <= min(values) < 0.27
    assert 0.73 < max(values) < 0.75


@pytest.mark.parametrize("backend", WITH_GRADIENTS, indirect=True)
def test_gradients_are_the_same_at_every_call(backend: Bench) -> None:
    case = operator("softmax").case("small")
    first, second = (backend.evaluate(case, "backward")[0].raw for _ in range(2))
    assert first == second


@pytest.mark.parametrize("backend", WITH_GRADIENTS, indirect=True)
def test_dropout_in_training_has_the_gradient_of_its_own_mask(backend: Bench) -> None:
    # MXNet loses the mask after the first backward on a graph that is kept: every gradient would be nonzero.
    case = Case("dropout", {"data": TensorSpec((100, 100))}, {"rate": 0.5, "training": True})
    gradient = backend.evaluate(case, "backward")[0].values
    backend.measure(case, "backward", settings=QUICK)
    dropped = sum(value == 0 for value in gradient) / len(gradient)
    assert 0.4 < dropped < 0.6


def test_numpy_has_no_backward(benches: dict[str, Bench]) -> None:
    with pytest.raises(OperatorFailure) as caught:
        benches["numpy"].evaluate(operator("softmax").case("small"), "backward")
    assert (caught.value.skipped, caught.value.reason.slug) == (True, "no_gradient")


def test_an_add_takes_the_memory_of_its_output(backend: Bench) -> None:
    square = TensorSpec((1024, 1024))
    result = backend.measure(
        Case("add", {"lhs": square, "rhs": square}), settings=Settings(warmup=2, runs=3, latency=False)
    )
    peak = result.quantity("memory_peak")
    silent = backend.name in (ONE_FILE, "array_api:dpnp") or backend.name.startswith("tensorflow")
    if peak is None and silent:
        pytest.skip("it does not tell of memory, or TensorFlow not on a CPU without AVX-512")
    assert peak is not None
    # tracemalloc counts the Python object beside the buffer; Dask makes a graph, and copies the block that it returns
    beside = {"numpy": 1000, "array_api:array_api_strict": 1000, "array_api:dask.array": square.nbytes + 100_000}
    assert square.nbytes <= peak.value <= square.nbytes + beside.get(backend.name, 0)


def test_shapes_that_do_not_fit_fail_alone(backend: Bench) -> None:
    wrong = Case("matmul", {"lhs": TensorSpec((3, 4)), "rhs": TensorSpec((5, 6))})
    with pytest.raises(OperatorFailure) as caught:
        backend.evaluate(wrong)
    assert caught.value.reason.exception
    assert backend.evaluate(operator("add").case("small"))


def test_a_tensor_that_no_memory_can_hold_fails_alone(backend: Bench) -> None:
    pid = backend.worker.pid
    attributes = {**operator("random_uniform").case("small").attributes, "shape": (1 << 20, 1 << 20)}
    huge = Case("random_uniform", {}, attributes)
    with pytest.raises(OperatorFailure):
        backend.evaluate(huge)
    assert backend.evaluate(operator("add").case("small"))
    assert backend.worker.pid == pid


def test_a_path_leads_nowhere_outside_the_framework(any_backend: Bench) -> None:
    paths = ("os.system", "torch.os.system", "numpy.os.system", "nd.os.system", "jax.os.system")
    assert [path for path in paths if any_backend.worker.ask(Describe(path), TIMEOUT).path is not None] == []


def test_a_name_is_never_code_to_a_child(any_backend: Bench) -> None:
    for name in ("code:os:system", "os:system", "planted.py:run"):
        assert any_backend.worker.ask(Describe(name), TIMEOUT).path is None
        side = replace(any_backend.worker.side, implementation=name)
        trial = Trial(Case("add", {}, {"command": "exit 1"}), side, "forward")
        with pytest.raises(OperatorFailure):
            any_backend.worker.ask(Prepare(trial), TIMEOUT)


#: Paths of a framework to what reads, writes or sets something.
HARMFUL = {
    "mxnet": (
        "nd.contrib.mx.test_utils.download",
        "nd.contrib.mx.test_utils.setenv",
        "nd.contrib.mx.model.load_checkpoint",
        "nd.contrib.mx.contrib.quant.nd_save",
        "nd.contrib.mx.profiler.dump",
        "nd.utils.save",
        "npx.image.recordio.MXRecordIO.open",
    ),
    "torch": (
        "aten::save",
        "aten::save.default",
        "torch.ops.aten.save",
        "torch._meta_registrations.aten.from_file",
        "torch.load",
        "torch.ops.load_library",
    ),
    "jax": ("jnp.character.tofile", "jnp.set_printoptions", "jax.numpy.os.system"),
    "tensorflow": (
        "tf.io.read_file",
        "tf.load_library",
        "tf.numpy_function",
        "tf.os.system",
        "tf.print",
        "tf.raw_ops.PyFunc",
        "tf.raw_ops.ReadFile",
        "tf.raw_ops.WriteFile",
        "tf.saved_model.load",
        "tf.strings.join",
        "tf.io.write_file",
        "tf.py_function",
        "tf.compat.v1.py_func",
        "tf.raw_ops.EagerPyFunc",
        "tf.raw_ops.SaveV2",
        "tf.raw_ops.PrintV2",
        "tf.raw_ops.FixedUnigramCandidateSampler",
        "tf.data.Dataset.from_generator",
        "tf.distribute.Server",
        "tf.keras.models.load_model",
        "keras.layers.Lambda",
        "keras.layers.TFSMLayer",
        "keras.saving.load_model",
    ),
    "numpy": ("numpy.str_.upper", "numpy.f2py.run_main"),
    "array_api:array_api_strict": (
        "array_api_strict.set_array_api_strict_flags",
        "array_api_strict._array_object.np.load",
    ),
    "array_api:dask.array": ("dask.array.to_zarr", "dask.array.store", "dask.array.from_npy_stack", "dask.compute"),
    "array_api:dpnp": ("dpnp.fromfile", "dpnp.loadtxt", "dpnp.os.system", "dpnp.get_include", "dpnp.config.os.system"),
    "array_api:mlx.core": (
        "mlx.core.load",
        "mlx.core.save_gguf",
        "mlx.core.export_to_dot",
        "mlx.core.import_function",
        "mlx.core.fast.metal_kernel",
        "mlx.core.disable_compile",
    ),
    "mlx": ("mx.load", "mlx.core.save_safetensors", "mx.import_function", "mx.os.system"),
}


def test_a_path_reaches_no_files_nor_anything_else_that_does_not_compute(backend: Bench) -> None:
    paths = HARMFUL[backend.name]
    assert [path for path in paths if backend.worker.ask(Describe(path), TIMEOUT).path is not None] == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("nd.elemwise_mul", "multiply"),
        ("nd.broadcast_mod", "remainder"),
        ("nd.dot", "matmul"),
        ("nd.relu", "relu"),
        ("nd.sgd_update", "sgd_update"),
        ("nd.sparse.dot", "csr_matmul"),
    ],
)
def test_a_path_that_several_operators_share_is_the_plain_one(path: str, name: str, benches: dict[str, Bench]) -> None:
    assert benches["mxnet"].worker.ask(Describe(path), TIMEOUT).operator == name


def test_a_name_that_is_not_there_gets_names_near_it(backend: Bench) -> None:
    near = {
        "torch": "torch.sofmax",
        "mxnet": "nd.sofmax",
        "jax": "jax.nn.sofmax",
        "tensorflow": "tf.nn.sofmax",
        "numpy": "numpy.maximun",
    }
    near |= {name: f"{name.partition(':')[2]}.maximun" for name in LIBRARIES}
    meaning = backend.worker.ask(Describe(near.get(backend.name, "mx.sofmax")), TIMEOUT)
    assert meaning.path is None
    if backend.name == ONE_FILE:
        pytest.skip("it lists no names")
    assert any("max" in name for name in meaning.near)


def test_the_null_backend_refuses_a_dtype_that_does_not_exist() -> None:
    from opperf.child.backends.null.runtime import start
    from opperf.domain.plan import Side

    with pytest.raises(Unsupported):
        start(Side("null")).dtype("float8")


def test_every_operator_is_bound_or_missing_with_a_reason(backend: Bench) -> None:
    for name in catalog():
        meaning = backend.worker.ask(Describe(name), TIMEOUT)
        assert meaning.operator == name
        assert meaning.path or len(meaning.reason or "") > 15 or (backend.name, meaning.reason) == (ONE_FILE, NOT_BOUND)


def test_an_implementation_is_measured_backward_in_every_fresh_process(benches: dict[str, Bench]) -> None:
    side = replace(benches["torch"].side(), implementation="aten::mm")
    case = operator("matmul").case("small")
    with Pool(QUICK, lambda _: None) as pool:
        outcomes = [pool.measure(Trial(case, side, direction), 0) for direction in ("forward", "backward")]
    assert [outcome.status for outcome in outcomes] == ["ok", "ok"], outcomes


def test_a_call_that_writes_into_its_input_is_skipped_backward(benches: dict[str, Bench]) -> None:
    case = Case("torch:torch.Tensor.add_", {"self": TensorSpec((4, 4)), "other": TensorSpec((4, 4))})
    with pytest.raises(OperatorFailure) as caught:
        benches["torch"].evaluate(case, "backward", implementation="torch.Tensor.add_")
    assert caught.value.skipped
    assert "writes into its input" in str(caught.value)
