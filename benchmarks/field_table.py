"""The cases of `field_cases.py`: what a user types, and the same by hand."""

from __future__ import annotations

from opperf.domain.dataclass import dataclass


@dataclass(frozen=True)
class Plain:
    """One side by hand: `call` is timed after `setup`, with `fresh` before each call where inputs change."""

    environment: str
    setup: str
    call: str
    fresh: str = ""
    threads: int = 1


@dataclass(frozen=True)
class Case:
    """A row of the reports, the words of its command, and the sides by hand: a time of `base`, or `new` over it."""

    row: str
    what: str
    command: tuple[str, ...]
    base: Plain
    new: Plain | None = None


FORWARD = ("--direction", "forward")
BACKWARD = ("--direction", "backward")
TORCH = "import torch; torch.set_num_threads(1); gen = torch.Generator().manual_seed(1); torch.set_grad_enabled(False)"
GRADIENTS = f"{TORCH}; torch.set_grad_enabled(True)"
JAX = "import jax; import jax.numpy as jnp"
X64 = f"{JAX}; jax.config.update('jax_enable_x64', True)"
ORT = """
import onnxruntime as ort
from onnx import TensorProto, helper
options = ort.SessionOptions(); options.intra_op_num_threads = 1; options.inter_op_num_threads = 1
def session(op, shape, kind, opset, ones=(), **attributes):
    x = helper.make_tensor_value_info("x", kind, shape)
    y = helper.make_tensor_value_info("y", kind, None)
    node = helper.make_node(op, ["x"], ["y"], **attributes)
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
def bound(session, array):
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(array)); binding.bind_output("y")
    return binding
"""
FUNCTIONS = "field_functions.py"


def numpy(setup: str, call: str, fresh: str = "", *, environment: str = "numpy", threads: int = 1) -> Plain:
    """Return a side of NumPy by hand."""
    return Plain(environment, setup, call, fresh, threads)


def jax(setup: str, function: str, *, environment: str = "jax", config: str = JAX) -> Plain:
    """Return a compiled function of `x` in JAX by hand."""
    return Plain(environment, f"{config}\n{setup}\nf = jax.jit(lambda x: {function})", "f(x).block_until_ready()")


def torch(setup: str, call: str, fresh: str = "", *, start: str = TORCH) -> Plain:
    """Return a side of PyTorch by hand."""
    return Plain("torch", f"{start}\n{setup}", call, fresh)


def onnx(environment: str, setup: str) -> Plain:
    """Return a session `s` on an array `x` by hand."""
    return Plain(environment, f"{ORT}\n{setup}\nb = bound(s, x)", "s.run_with_iobinding(b)")


SCATTERED = "x, s = torch.rand(128, 64, 128), torch.rand(128, 256, 128); i = torch.randint(0, 64, (128, 256, 128))"
ROWS = "x, i = rng.random((64, 16384), 'float32'), rng.integers(0, 3000, (64, 16384)).astype('int32')"
SEGMENTED = f"""{JAX}
{ROWS}; x, i = jnp.asarray(x), jnp.asarray(i)
f = jax.jit(jax.vmap(lambda row, ids: jax.ops.segment_sum(row, ids, 3000)))"""
SMALL = "a, b, c = rng.random((5, 2), 'float32'), rng.random((5, 5, 2), 'float32'), rng.random((2, 5), 'float32')"
CONTRACT = "np.einsum('ij,ikj,jl->kl', a, b, c"
IMAGE = "x = torch.rand(1, 64, 56, 56); w = torch.rand(64, 64, 3, 3)"
CONVOLVED = (
    "run",
    "conv2d",
    "--framework",
    "torch",
    "--input",
    "data=1x64x56x56",
    "--attribute",
    "padding=1",
    *FORWARD,
)
SIGN = "x = rng.integers(-2**31, 2**31, (64, 64, 64)); s = session('Sign', (64, 64, 64), TensorProto.INT64, 13)"
REDUCED = """x = rng.uniform({least}, 1, (2, 64, 56, 56)).astype('float32')
s = session('ReduceL1', (2, 64, 56, 56), TensorProto.FLOAT, 13, axes=[0], keepdims=1)"""
DFT = """from onnx import numpy_helper
x = rng.random((64, 91, 100, 1), 'float32'); s = session('DFT', x.shape, TensorProto.FLOAT, 17, axis=2, onesided=1)"""
LINEAR = "x, w = torch.rand(512, 1024, requires_grad={x}), torch.rand(1024, 1024, requires_grad={w})"


def unary(number: str, name: str, function: str) -> Case:
    """Return a case of an elementwise function of PyTorch over NumPy's."""
    return Case(
        number,
        f"{function} 512x512, PyTorch over NumPy",
        ("compare", name, "--base", "numpy", "--new", "torch", "--input", "data=512x512", *FORWARD),
        numpy("x = rng.random((512, 512), 'float32')", f"np.{name}(x)"),
        torch("x = torch.rand(512, 512)", f"torch.{function}(x)"),
    )


def flat_sum(number: str, dtype: str) -> Case:
    """Return a case of the sum of a vector of one element type over that of int32."""
    made = "x = torch.randint(0, {}, (10_000_000,)).to(torch.{})"
    sides = ("--base", "torch;dtype=int32", "--new", f"torch;dtype={dtype}")
    return Case(
        number,
        f"sum of 10,000,000 {dtype} over int32",
        ("compare", "sum", *sides, "--input", "data=10000000", "--attribute", "axis=0", *FORWARD),
        torch(made.format(1 << 30, "int32"), "torch.sum(x, 0)"),
        torch(made.format(2 if dtype == "bool" else 255, dtype), "torch.sum(x, 0)"),
    )


def lone_gradient(number: str, *, x: bool, w: bool) -> Case:
    """Return the backward pass of a matrix product for some of its inputs."""
    wanted = ", ".join(name for name, one in (("x", x), ("w", w)) if one)
    return Case(
        number,
        f"backward of matmul 512x1024x1024 for {wanted}",
        (
            *("run", "matmul", "--framework", "torch", *BACKWARD),
            *("--input", f"lhs=512x1024:requires_grad={x}", "--input", f"rhs=1024x1024:requires_grad={w}"),
        ),
        torch(
            f"{LINEAR.format(x=x, w=w)}; y = x @ w; g = torch.rand(512, 1024)",
            f"torch.autograd.grad(y, ({wanted},), g, retain_graph=True)",
            start=GRADIENTS,
        ),
    )


def laid_out(number: str, what: str, tensor: str, made: str) -> Case:
    """Return a sum of a matrix that lies in memory in a way of its own."""
    return Case(
        number,
        f"sum of 2048x2048, {what}",
        ("run", "torch:aten::sum", "--input", f"self=2048x2048{tensor}", *FORWARD),
        torch(f"x = {made}", "torch.ops.aten.sum(x)"),
    )


CASES = (
    Case(
        "1",
        "scatter_reduce amax along dimension 1",
        (
            *("run", "torch:aten::scatter_reduce.two", "--input", "self=128x64x128", "--attribute", "dim=1"),
            *("--input", "index=128x256x128:int64:range=0..64", "--input", "src=128x256x128"),
            *("--attribute", "reduce=amax", "--attribute", "include_self=False", *FORWARD),
        ),
        torch(SCATTERED, "torch.scatter_reduce(x, 1, i, s, 'amax', include_self=False)"),
    ),
    Case(
        "2",
        "segment_sum under vmap, JAX 0.10.2 over 0.8.0",
        (
            *("compare", f"{FUNCTIONS}:segment_sum_of_rows", "--base", "jax==0.8.0"),
            *("--new", "jax==0.10.2", *FORWARD),
        ),
        Plain("jax==0.8.0", SEGMENTED, "f(x, i).block_until_ready()"),
        Plain("jax==0.10.2", SEGMENTED, "f(x, i).block_until_ready()"),
    ),
    Case(
        "3",
        "sum 128x128x128 over the first axis, JAX over NumPy",
        (
            *("compare", "sum", "--base", "numpy", "--new", "jax", "--input", "data=128x128x128"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.random((128, 128, 128), 'float32')", "x.sum(0)"),
        jax("x = jnp.asarray(rng.random((128, 128, 128), 'float32'))", "x.sum(0)"),
    ),
    Case(
        "4",
        "argsort 100x10000 along the first axis, JAX over NumPy",
        (
            *("compare", "argsort", "--base", "numpy", "--new", "jax", "--input", "data=100x10000"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.random((100, 10000), 'float32')", "np.argsort(x, 0)"),
        jax("x = jnp.asarray(rng.random((100, 10000), 'float32'))", "jnp.argsort(x, 0)"),
    ),
    Case(
        "5",
        "cumsum 360x160x120x3 float64 along the first axis, JAX over NumPy",
        (
            *("compare", "cumsum", "--base", "numpy", "--new", "jax", "--input", "data=360x160x120x3:float64"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.random((360, 160, 120, 3))", "np.cumsum(x, 0)"),
        jax("x = jnp.asarray(rng.random((360, 160, 120, 3)))", "jnp.cumsum(x, 0)", config=X64),
    ),
    Case(
        "6",
        "argmax 64x300000 along rows, MXNet over NumPy",
        (
            *("compare", "argmax", "--base", "numpy", "--new", "mxnet", "--input", "data=64x300000"),
            *("--attribute", "axis=1", *FORWARD),
        ),
        numpy("x = rng.random((64, 300000), 'float32')", "np.argmax(x, 1)"),
        Plain(
            "mxnet",
            "import mxnet as mx; x = mx.nd.array(rng.random((64, 300000), 'float32'))",
            "mx.nd.argmax(x, axis=1).wait_to_read()",
        ),
    ),
    *(
        Case(
            f"7{part}",
            f"argsort of 100,000 {order} int64 in [0, 1000), NumPy 2.2.4 over 1.26.4",
            (
                *("compare", "argsort", "--base", "numpy==1.26.4", "--new", "numpy==2.2.4"),
                *("--input", f"data=100000:int64{word}:range=0..1000", "--attribute", "axis=0", *FORWARD),
            ),
            numpy(made, "np.argsort(x)", environment="numpy==1.26.4"),
            numpy(made, "np.argsort(x)", environment="numpy==2.2.4"),
        )
        for part, order, word, made in (
            ("a", "sorted", ":sorted", "x = np.linspace(0, 999.999, 100_000).astype('int64')"),
            ("b", "unsorted", "", "x = rng.integers(0, 1000, 100_000)"),
        )
    ),
    Case(
        "8",
        "backward of add 64x64x128, by the engine of autograd",
        (
            *("run", "add", "--framework", "torch", *BACKWARD),
            *("--input", "lhs=64x64x128", "--input", "rhs=64x64x128"),
        ),
        torch(
            "x, y = (torch.rand(64, 64, 128, requires_grad=True) for _ in 'xy')\n"
            "z = x + y; g = torch.rand(64, 64, 128)",
            "torch.autograd.Variable._execution_engine.run_backward((z,), (g,), True, False, (x, y), True, False)",
            start=GRADIENTS,
        ),
    ),
    unary("9a", "sinh", "sinh"),
    unary("9b", "log10", "log10"),
    unary("9c", "log2", "log2"),
    unary("9d", "arctan", "atan"),
    Case(
        "10",
        "DFT of 64x91 signals of length 100, ONNX Runtime",
        (
            *("run", "onnxruntime:ai.onnx.DFT", "--input", "input=64x91x100x1", "--attribute", "opset=17"),
            *("--attribute", "axis=2", "--attribute", "onesided=1", *FORWARD),
        ),
        onnx("onnxruntime", DFT),
    ),
    Case(
        "11",
        "sum of 1000x1000 int64 compiled by numba, 0.62.1 over 0.60.0",
        (
            *("compare", f"{FUNCTIONS}:compiled_sum", "--base", "numba==0.60.0;framework=numpy"),
            *("--new", "numba==0.62.1;framework=numpy", *FORWARD),
        ),
        *(
            numpy(
                "import numba; x = rng.integers(0, 1000, (1000, 1000)); f = numba.njit(lambda x: np.sum(x))",
                "f(x)",
                environment=environment,
            )
            for environment in ("numba==0.60.0", "numba==0.62.1")
        ),
    ),
    Case(
        "12",
        "contiguous of a channels-last 64x2048x7x7",
        ("run", "torch:aten::contiguous", "--input", "self=64x2048x7x7:strides=100352,1,14336,2048", *FORWARD),
        torch("x = torch.rand(64, 2048, 7, 7).to(memory_format=torch.channels_last)", "x.contiguous()"),
    ),
    Case(
        "13",
        "float64 scalar taken from float32 in place, NumPy 2.0.0 over 1.26.4",
        (
            *("compare", f"{FUNCTIONS}:subtract_scalar", "--base", "numpy==1.26.4"),
            *("--new", "numpy==2.0.0", *FORWARD),
        ),
        *(
            numpy(
                "x = rng.random((4000, 6000), 'float32'); zero = np.float64(0.0)",
                "x.__isub__(zero)",
                environment=environment,
            )
            for environment in ("numpy==1.26.4", "numpy==2.0.0")
        ),
    ),
    Case(
        "14",
        "einsum of tiny operands, optimized over plain",
        (
            *("compare", "--base", f"{FUNCTIONS}:einsum_plain;framework=numpy"),
            *("--new", f"{FUNCTIONS}:einsum_optimized;framework=numpy", *FORWARD),
        ),
        numpy(SMALL, f"{CONTRACT})"),
        numpy(SMALL, f"{CONTRACT}, optimize=True)"),
    ),
    Case(
        "15",
        "matmul 100x100 float64, two threads over one",
        (
            *("compare", "matmul", "--base", "numpy;threads=1", "--new", "numpy;threads=2"),
            *("--input", "lhs=100x100:float64", "--input", "rhs=100x100:float64", *FORWARD),
        ),
        numpy("x, y = rng.random((100, 100)), rng.random((100, 100))", "x @ y"),
        numpy("x, y = rng.random((100, 100)), rng.random((100, 100))", "x @ y", threads=2),
    ),
    Case(
        "16",
        "cumsum 8192x1024 uint32 along the first axis, JAX over NumPy",
        (
            *("compare", "cumsum", "--base", "numpy", "--new", "jax", "--input", "data=8192x1024:uint32"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.integers(0, 2**32, (8192, 1024)).astype('uint32')", "np.cumsum(x, 0)"),
        jax("x = jnp.asarray(rng.integers(0, 2**32, (8192, 1024)).astype('uint32'))", "jnp.cumsum(x, 0)"),
    ),
    Case(
        "17",
        "segment_sum of 1,000,000 float16, ids sorted",
        (
            *("run", "jax:jax.ops.segment_sum", "--input", "data=1000000:float16"),
            *("--input", "segment_ids=1000000:int32:sorted:range=0..1000", "--attribute", "num_segments=1000"),
            *FORWARD,
        ),
        Plain(
            "jax",
            f"{JAX}; x = jnp.asarray(rng.random(1_000_000).astype('float16'))\n"
            "i = jnp.asarray(np.linspace(0, 999.99, 1_000_000).astype('int32'))\n"
            "f = jax.jit(lambda x, i: jax.ops.segment_sum(x, i, 1000))",
            "f(x, i).block_until_ready()",
        ),
    ),
    flat_sum("18a", "uint8"),
    flat_sum("18b", "bool"),
    *(
        Case(
            f"19{part}",
            f"topk of 50 among {rows}x50257",
            (
                *("run", "topk", "--framework", "torch", "--input", f"data={rows}x50257"),
                *("--attribute", "k=50", *FORWARD),
            ),
            torch(f"x = torch.rand({rows}, 50257)", "torch.topk(x, 50)"),
        )
        for part, rows in (("a", 1), ("b", 32))
    ),
    Case(
        "20",
        "backward of gather with ten distinct indices",
        (
            *("run", "torch:torch.gather", "--input", "input=1024x1024", "--attribute", "dim=1"),
            *("--input", "index=1024x1024:int64:range=0..10", *BACKWARD),
        ),
        torch(
            "x = torch.rand(1024, 1024, requires_grad=True); i = torch.randint(0, 10, (1024, 1024))\n"
            "y = torch.gather(x, 1, i); g = torch.rand(1024, 1024)",
            "torch.autograd.grad(y, (x,), g, retain_graph=True)",
            start=GRADIENTS,
        ),
    ),
    *(
        Case(
            f"21{part}",
            f"convolution 1x64x56x56, {what} weights",
            (*CONVOLVED, "--input", f"weight=64x64x3x3{word}"),
            torch(f"{IMAGE}{made}", "torch.nn.functional.conv2d(x, w, torch.rand(64), padding=1)"),
        )
        for part, what, word, made in (("a", "ordinary", "", ""), ("b", "denormal", ":denormal", "; w = w * 1e-39"))
    ),
    Case(
        "22",
        "backward of cumprod 8x24, compiled over eager",
        (
            *("compare", "cumprod", "--base", "torch", "--new", "torch;mode=compiled", "--input", "data=8x24"),
            *("--attribute", "axis=1", *BACKWARD),
        ),
        torch(
            "x = torch.rand(8, 24, requires_grad=True); y = torch.cumprod(x, 1); g = torch.rand(8, 24)",
            "torch.autograd.grad(y, (x,), g, retain_graph=True)",
            start=GRADIENTS,
        ),
        torch(
            "x = torch.rand(8, 24, requires_grad=True); y = torch.compile(lambda x: torch.cumprod(x, 1))(x)\n"
            "g = torch.rand(8, 24)",
            "torch.autograd.grad(y, (x,), g, retain_graph=True)",
            start=GRADIENTS,
        ),
    ),
    Case(
        "23",
        "Sign of 64x64x64 int64, ONNX Runtime 1.21.0 over 1.20.0",
        (
            *("compare", "onnxruntime:ai.onnx.Sign", "--base", "onnxruntime==1.20.0"),
            *("--new", "onnxruntime==1.21.0", "--input", "input=64x64x64:int64", *FORWARD),
        ),
        onnx("onnxruntime==1.20.0", SIGN),
        onnx("onnxruntime==1.21.0", SIGN),
    ),
    *(
        Case(
            f"24{part}",
            f"ReduceL1 of 2x64x56x56 over the first axis, {what}, ONNX Runtime 1.21.0 over 1.20.0",
            (
                *("compare", "onnxruntime:ai.onnx.ReduceL1", "--base", "onnxruntime==1.20.0"),
                *("--new", "onnxruntime==1.21.0", "--input", f"data=2x64x56x56{word}", "--attribute", "opset=13"),
                *("--attribute", "axes=(0,)", *FORWARD),
            ),
            onnx("onnxruntime==1.20.0", REDUCED.format(least=least)),
            onnx("onnxruntime==1.21.0", REDUCED.format(least=least)),
        )
        for part, what, word, least in (("a", "of both signs", "", -1), ("b", "positive", ":range=0..1", 0))
    ),
    *(
        Case(
            f"25{part}",
            f"topk of 5 among 150,000, {what} over PyTorch",
            (
                *("compare", "topk", "--base", "torch", "--new", side, "--input", "data=1x150000"),
                *("--attribute", "k=5", *FORWARD),
            ),
            torch("x = torch.rand(1, 150_000)", "torch.topk(x, 5)"),
            new,
        )
        for part, what, side, new in (
            (
                "a",
                "MXNet",
                "mxnet",
                Plain(
                    "mxnet",
                    "import mxnet as mx; x = mx.nd.array(rng.random((1, 150_000), 'float32'))",
                    "[one.wait_to_read() for one in mx.nd.topk(x, k=5, ret_typ='both')]",
                ),
            ),
        )
    ),
    *(
        Case(
            f"26{part}",
            f"FFT 64x4096 complex64, {what} over NumPy",
            # By hand NumPy maps its result anew in each call, as in any process that only imports it.
            (
                *("compare", "fft", "--base", "numpy;allocator=default", "--new", f"{side};allocator=default"),
                *("--input", "data=64x4096:complex64", *FORWARD),
            ),
            numpy("x = rng.random((64, 4096), 'float32').astype('complex64')", "np.fft.fft(x)"),
            new,
        )
        for part, what, side, new in (
            (
                "a",
                "TensorFlow",
                "tensorflow",
                Plain(
                    "tensorflow",
                    "import tensorflow as tf; tf.config.threading.set_intra_op_parallelism_threads(1)\n"
                    "x = tf.constant(rng.random((64, 4096), 'float32').astype('complex64'))",
                    "tf.signal.fft(x)",
                ),
            ),
            ("b", "PyTorch", "torch", torch("x = torch.rand(64, 4096).to(torch.complex64)", "torch.fft.fft(x)")),
        )
    ),
    Case(
        "27",
        "sum of 1024x1024 float64 over an axis, dpnp over NumPy",
        (
            *("compare", "sum", "--base", "numpy", "--new", "array_api:dpnp", "--input", "data=1024x1024:float64"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.random((1024, 1024))", "x.sum(0)"),
        Plain(
            "array_api:dpnp",
            "os.environ['OCL_ICD_FILENAMES'] = sys.prefix + '/lib/libintelocl.so'\n"
            "os.environ['ONEAPI_DEVICE_SELECTOR'] = '*:cpu'\n"
            "import dpnp; x = dpnp.asarray(rng.random((1024, 1024)))",
            "dpnp.sum(x, axis=0).sycl_queue.wait()",
        ),
    ),
    lone_gradient("28a", x=True, w=True),
    lone_gradient("28b", x=True, w=False),
    lone_gradient("28c", x=False, w=True),
    Case(
        "29",
        "stable sort of 100,000 in place, on fresh data",
        ("run", f"{FUNCTIONS}:sort_in_place", "--framework", "numpy", *FORWARD),
        numpy("o = rng.random(100_000, 'float32'); x = o.copy()", "x.sort(kind='stable')", "x[:] = o"),
    ),
    Case(
        "30a",
        "mul_ of 100,000, on fresh data",
        (
            *("run", "torch:aten::mul_.Tensor", "--input", "self=100000", "--input", "other=100000"),
            *FORWARD,
        ),
        torch(
            "o, y = torch.rand(100_000), torch.rand(100_000); x = o.clone(); f = torch.ops.aten.mul_.Tensor",
            "f(x, y)",
            "x.copy_(o)",
        ),
    ),
    Case(
        "30b",
        "exp_ of 100,000, on fresh data",
        ("run", "torch:aten::exp_", "--input", "self=100000", *FORWARD),
        torch("o = torch.rand(100_000); x = o.clone(); f = torch.ops.aten.exp_", "f(x)", "x.copy_(o)"),
    ),
    Case(
        "31",
        "sort of 1,000,000 int64 over its whole range",
        (
            *("run", "sort", "--framework", "numpy", "--input", "data=1000000:int64"),
            *("--attribute", "axis=0", *FORWARD),
        ),
        numpy("x = rng.integers(-2**63, 2**63 - 1, 1_000_000)", "np.sort(x)"),
    ),
    *(
        Case(
            f"32{part}",
            f"{name} of a vector of 1,000",
            (
                *("run", name, "--framework", "numpy", "--input", "data=1000"),
                *("--attribute", "axis=0", *FORWARD),
            ),
            numpy("x = rng.random(1000, 'float32')", f"np.{name}(x, axis=0)"),
        )
        for part, name in (("a", "max"), ("b", "mean"), ("c", "cumsum"))
    ),
    *(
        Case(
            f"33{part}",
            f"index_add with duplicates along dimension {dim}",
            (
                *("run", "torch:torch.Tensor.index_add_", "--input", "self=1000x1000", "--attribute", f"dim={dim}"),
                *("--input", "index=1000:int64:range=0..10", "--input", "source=1000x1000", *FORWARD),
            ),
            torch(
                "o, s = torch.rand(1000, 1000), torch.rand(1000, 1000)\n"
                "x, i = o.clone(), torch.randint(0, 10, (1000,))",
                f"x.index_add_({dim}, i, s)",
                "x.copy_(o)",
            ),
        )
        for part, dim in (("a", 0), ("b", 1))
    ),
    laid_out("34a", "contiguous", "", "torch.rand(2048, 2048)"),
    laid_out("34b", "transposed", ":strides=1,2048", "torch.rand(2048, 2048).T"),
    laid_out("34c", "every second element", ":strides=4096,2", "torch.rand(2048, 4096)[:, ::2]"),
)
