"""The registry of frameworks: which exist, their names, and how a user writes an implementation.

Nothing here imports a framework; both sides of the wall share it.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.type_hint import OneOf


@dataclass(frozen=True)
class Framework:
    """A framework as the parent knows it.

    `module` is what its import is called, `distributions` the packages that bring it, `preset` the requirements of the
    environment that opperf builds when the name of the framework is given as an environment. `flavours` are further
    packages that its own project publishes. `companions` are installed beside any other requirement of it. `modes` are
    those that it has, `mode` is how its users run it when they say nothing.
    `gradients` is False for one that has no automatic differentiation. `neutral` is False for one that a command which
    names no framework does not look for: it is measured by its own names alone, or is one of many array libraries.
    `forks` is True for one whose import starts no thread and opens no device, so that a process which has imported it
    may be forked: both children of a pair then come of one import.
    """

    name: str
    module: str
    distributions: tuple[str, ...]
    preset: tuple[str, ...]
    companions: tuple[str, ...] = ()
    mode: str = "eager"
    modes: tuple[str, ...] = ("eager", "compiled")
    gradients: bool = True
    neutral: bool = True
    flavours: tuple[str, ...] = ()
    forks: bool = False

    def owns(self, distribution: str) -> bool:
        """Whether a distribution brings this framework; flavours such as `mxnet-mkl` count."""
        return any(distribution == name or distribution.startswith(f"{name}-") for name in self.distributions)


#: What the name of each library begins with that keeps the Python array API standard: one backend has them all.
ARRAY_API = "array_api"


def array_library(module: str, *requirements: str, distributions: tuple[str, ...] = ()) -> Framework:
    """Return the framework that a library which keeps the array API standard is, by the name of its module."""
    beside = ("numpy==2.4.6", "array-api-compat==1.16.0")
    return Framework(
        f"{ARRAY_API}:{module}",
        module,
        distributions,
        (*requirements, *beside) if requirements else (),
        ("numpy", "array-api-compat"),
        modes=("eager",),
        gradients=False,
        neutral=False,
    )


@dataclass(frozen=True)
class LayerLibrary:
    """A library of layers that runs on several frameworks and is none itself: `keras:layers.Dense`.

    `requirement` is what is installed beside a framework of `hosts`, unless that is in `bundled`: it brings its own.
    The `variable` of the environment says which of them it runs on; without it, on the first. Paths that match a
    pattern of `unlike` need not give the same in two frameworks: they draw numbers, or rounding decides.
    """

    name: str
    requirement: str
    hosts: tuple[str, ...]
    variable: str
    bundled: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()


LAYER_LIBRARIES = {
    library.name: library
    for library in (
        LayerLibrary(
            "keras",
            "keras==3.15.1",
            ("tensorflow", "jax", "torch"),
            "KERAS_BACKEND",
            bundled=("tensorflow",),
            unlike=("keras.layers.Rand*", "keras.layers.*Mix", "keras.layers.Contrast*"),
        ),
    )
}
#: Libraries of modules that programs import beside a framework, and what opperf installs where they are missing. Their
#: operators are the framework's own.
MODULE_LIBRARIES = {
    "flax": ("jax", "flax==0.12.8"),
    "transformers": ("torch", "transformers==5.24.0"),
    "diffusers": ("torch", "diffusers==0.42.1"),
}
FRAMEWORKS = {
    framework.name: framework
    for framework in (
        # The companions of a requirement are installed beside it: MXNet 1.x uses names that NumPy 1.24 removed, and
        # PyTorch's list of its own operators needs `expecttest`.
        Framework(
            "torch",
            "torch",
            ("torch",),
            ("torch==2.13.0", "numpy", "expecttest"),
            ("numpy", "expecttest"),
            modes=("eager", "compiled", "cuda_graph"),
            forks=True,
        ),
        Framework(
            "mxnet",
            "mxnet",
            ("mxnet",),
            ("mxnet==1.9.1", "numpy<1.24"),
            ("numpy<1.24",),
            flavours=("mxnet-mkl", "mxnet-native", *(f"mxnet-cu{cuda}" for cuda in (92, 100, 101, 102, 110, 112, 117))),
        ),
        Framework("jax", "jax", ("jax", "jaxlib"), ("jax==0.10.2",), mode="compiled"),
        # The package for CPUs; `--environment tensorflow[and-cuda]==2.21.0` has that for GPUs.
        Framework(
            "tensorflow",
            "tensorflow",
            ("tensorflow",),
            ("tensorflow-cpu==2.21.0",),
            modes=("eager", "compiled", "xla"),
            flavours=("tensorflow-gpu",),
        ),
        Framework("numpy", "numpy", ("numpy",), ("numpy==2.4.6",), gradients=False, forks=True),
        # A node is run as a model of its own, which `onnx` writes.
        Framework(
            "onnxruntime",
            "onnxruntime",
            ("onnxruntime",),
            ("onnxruntime==1.31.1", "onnx==1.23.2", "numpy==2.4.6"),
            ("onnx", "numpy"),
            mode="compiled",
            gradients=False,
            neutral=False,
            flavours=("onnxruntime-gpu",),
        ),
        # The null framework has a virtual clock and scripted operators; it needs nothing but Python.
        Framework("null", "opperf", (), (), forks=True),
        array_library("array_api_strict", "array-api-strict==2.6.1", distributions=("array-api-strict",)),
        array_library("cupy", "cupy-cuda12x", distributions=("cupy",)),
        array_library("dask.array", "dask[array]==2026.8.0", "scipy==1.17.1", distributions=("dask",)),
        array_library("dpnp", "dpnp==0.20.0", distributions=("dpnp",)),
        array_library("mlx.core", "mlx[cpu]==0.32.4", distributions=("mlx",)),
    )
}
#: The frameworks with a backend in opperf; plugins provide others.
BUILT_IN = frozenset(FRAMEWORKS)
#: The environments that go by a name: whose they are, and what they hold. Results are checked in `reference`; FBGEMM's
#: package fits one PyTorch alone.
PRESETS = {
    **{framework.name: (framework.name, framework.preset) for framework in FRAMEWORKS.values()},
    "reference": ("numpy", (*FRAMEWORKS["numpy"].preset, "scipy==1.17.1")),
    "fbgemm": ("torch", ("torch==2.13.0", "fbgemm-gpu-cpu==1.8.0", "numpy")),
}
#: How a plugin that brings a framework calls it: `FRAMEWORK = Framework("mlx", ...)`.
FRAMEWORK = "FRAMEWORK"
#: How an attribute is called that a layer is made with before it is called, by place or name (`build.0`, `build.bias`).
BUILD_PREFIX = "build."
#: The attributes of a case whose arguments a data generator of the user's own makes: who, and of what, as JSON. What
#: else the case says of them describes them for plans and reports.
MADE_BY, MADE_OF = "made.by", "made.of"
#: What of an operator is measured: alone without a graph, its gradients alone, or a forward with them.
DIRECTIONS = ("forward", "backward", "forward_backward")
Direction: TypeAlias = Annotated[str, OneOf(DIRECTIONS)]
#: The frameworks that a command without `--framework` looks for.
REAL_FRAMEWORKS = tuple(name for name, entry in FRAMEWORKS.items() if entry.neutral and name != "null")


def register(framework: Framework) -> None:
    """Add a framework from a plugin; raises `InputError` if another one has its name."""
    if FRAMEWORKS.get(framework.name, framework) != framework:
        raise InputError(f"framework `{framework.name}` already exists", hint="rename the plugin's framework")
    FRAMEWORKS[framework.name] = framework
    PRESETS[framework.name] = (framework.name, framework.preset)


def framework(name: str) -> Framework:
    """Return the entry of a framework; raises `InputError` with the known names.

    A library of the array API standard goes by its own name too.

    >>> framework("cupy").name, framework("mlx").name
    ('array_api:cupy', 'array_api:mlx.core')
    """
    if name in FRAMEWORKS:
        return FRAMEWORKS[name]
    for own, entry in FRAMEWORKS.items():
        library, _, module = own.partition(":")
        if library == ARRAY_API and name in (module, module.partition(".")[0]):
            return entry
    hint = f"known: {', '.join(FRAMEWORKS)}; `--plugin FILE` adds others"
    if name.partition("==")[0] in FRAMEWORKS and "==" in name:
        hint = f"a release is an environment: `--environment {name}`"
    raise unknown("framework", name, FRAMEWORKS, hint=hint)


#: Before the name of a parameter that takes all further arguments, as in `einsum(subscripts, *operands)`.
SPREAD = "*"


def is_argument(name: str) -> bool:
    """Whether an attribute of a case is given to the operator in a call.

    >>> is_argument("axis"), is_argument("build.0"), is_argument("made.by")
    (True, False, False)
    """
    return not name.startswith(BUILD_PREFIX) and name not in (MADE_BY, MADE_OF)


def split_implementation(name: str) -> tuple[str | None, str]:
    """Split `framework:spelling`; the framework is None for a neutral name. Raises `InputError` for half of one.

    >>> split_implementation("torch:aten::add.Tensor")
    ('torch', 'aten::add.Tensor')
    >>> split_implementation("array_api:dpnp:dpnp.cbrt")
    ('array_api:dpnp', 'dpnp.cbrt')
    >>> split_implementation("keras:layers.Dense")
    ('keras', 'keras.layers.Dense')
    >>> split_implementation("add")
    (None, 'add')
    """
    prefix, colon, rest = name.partition(":")
    if prefix in LAYER_LIBRARIES and rest:  # the path is the same in each of its frameworks
        return prefix, f"{prefix}.{rest}"
    if prefix == ARRAY_API:  # the library's name is part of the framework's
        library, colon, rest = rest.partition(":")
        prefix = f"{ARRAY_API}:{library}"
    if colon and prefix in FRAMEWORKS and not rest.startswith(":"):
        if not rest:
            raise InputError(f"`{name}` names no operator", hint=f"write `{prefix}:NAME`")
        return prefix, rest
    return None, name


def full_name(framework: str, path: str) -> str:
    """Return how a user names what is at a path in a framework, or in a library of layers that runs on it.

    >>> full_name("torch", "torch.add"), full_name("torch", "keras.layers.Dense")
    ('torch:torch.add', 'keras:layers.Dense')
    """
    library, _, rest = path.partition(".")
    return f"{library}:{rest}" if runs_on(framework, library) and library != framework else f"{framework}:{path}"


def runs_on(framework: str, owner: str | None) -> bool:
    """Whether a framework runs what belongs to an owner: itself, or a library of layers.

    >>> runs_on("jax", "keras"), runs_on("jax", "jax"), runs_on("numpy", "keras"), runs_on("jax", None)
    (True, True, False, False)
    """
    return owner is not None and framework in hosts_of(owner)


def hosts_of(owner: str) -> tuple[str, ...]:
    """Return the frameworks that run what belongs to an owner."""
    return LAYER_LIBRARIES[owner].hosts if owner in LAYER_LIBRARIES else (owner,)


#: The best device that a framework has, where one is asked for.
BEST_DEVICE = "auto"


def parse_device(text: str) -> str:
    """Return the canonical name of a device, whether anybody has it or not: a kind as its framework names it, a number.

    MXNet's spellings are accepted, and SYCL's of a driver with a kind. Raises `InputError` for what names none.

    >>> parse_device("gpu(1)"), parse_device("cuda"), parse_device("cpu"), parse_device("opencl:cpu")
    ('cuda:1', 'cuda:0', 'cpu', 'opencl:cpu:0')
    """
    match = re.fullmatch(r"([a-z][a-z_]*(?::(?:cpu|gpu|accelerator))?)(?::(\d+)|\((\d+)\))?", text.strip().lower())
    kind, index = (match[1], int(match[2] or match[3] or 0)) if match else ("", 0)
    if kind == "cpu" and index == 0:
        return "cpu"
    if kind in ("", "cpu", BEST_DEVICE):
        hint = "known: cpu, cuda:0, gpu, gpu(0), or as a framework names it: xpu:0, mps"
        raise InputError(f"no device `{text}`", hint=hint, slug="unknown_device")
    return f"{'cuda' if kind == 'gpu' else kind}:{index}"
