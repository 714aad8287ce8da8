"""What a benchmark file of PyTorch imports as `operator_benchmark`: it says which tests there are, and measures none.

The functions take and return what those of PyTorch's own package do
(https://github.com/pytorch/pytorch/tree/main/benchmarks/operator_benchmark), since files add, filter and repeat their
results. A test has PyTorch's name, so its results can be looked up by it. An address in a name, as that of a function
among the attributes, is left out: it is another one in each process.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeAlias

import torch

from opperf.child.backends.torch.specs import tensors
from opperf.domain.dataclass import dataclass

#: The attributes of a test, each a dictionary of its own, and its tag among them.
Config: TypeAlias = Iterable[Mapping[str, Any]]
#: The name by which files import this.
NAME = "operator_benchmark"
#: The attribute that says on which device a test runs; its name is no part of the test's.
DEVICE = "device"
#: Which devices may be missing, and how that is found out; their tests are left out then.
AVAILABLE: Mapping[str, Callable[[], bool]] = {
    "cuda": lambda: torch.cuda.is_available(),
    "mps": lambda: torch.backends.mps.is_available(),
    "xpu": lambda: torch.xpu.is_available(),
}


class TorchBenchmarkBase(torch.nn.Module):  # type: ignore[misc]  # PyTorch is not installed here
    """What a test is made of: `init` makes `inputs`, `forward` takes them in this order."""

    def __init__(self) -> None:
        super().__init__()
        self.user_given_name: str | None = None
        self.inputs: dict[str, Any] = {}
        self._is_backward = False
        self._only: int | None = None
        self._automatic = 0

    def auto_set(self) -> bool:
        """Say whether the next input has a gradient: in a gradient test all of them, or the one that it is about."""
        if not self._is_backward:
            return False
        self._automatic += 1
        return self._only in (None, self._automatic)

    def extract_inputs_tuple(self) -> None:
        """Take the inputs as they are for those of every call."""
        self.inputs_tuple = tuple(self.inputs.values())

    def get_inputs(self) -> tuple[Any, ...]:
        """Return the inputs of a call."""
        return self.inputs_tuple

    def forward_impl(self) -> Any:
        """Make a call."""
        return self.forward(*self.get_inputs())

    def forward_impl_eager(self) -> Any:
        """Make a call, as it is made where nothing is scripted."""
        return self.forward(*self.get_inputs())

    def forward_consume(self, iters: int) -> None:
        """Make some calls."""
        for _ in range(iters):
            self.forward_impl()

    def forward_consume_eager(self, iters: int) -> None:
        """Make some calls, as they are made where nothing is scripted."""
        for _ in range(iters):
            self.forward_impl_eager()

    def module_name(self) -> str:
        """Return the name of the operator."""
        return self.user_given_name or type(self).__name__

    def set_module_name(self, name: str) -> None:
        """Name the operator."""
        self.user_given_name = name

    def test_name(self, **attributes: Any) -> str:
        """Return the name of a test with these attributes.

        >>> TorchBenchmarkBase().test_name(M=8, device="cpu", bwd="all")
        'TorchBenchmarkBase_M8_cpu_bwdall'
        """
        return f"{self.module_name()}_{_suffix(attributes)}".replace(" ", "")

    def get_memory_traffic_bytes(self) -> int | None:
        """Return the bytes that a call reads and writes at least: all inputs, and a result as large as the largest."""
        sizes = [value.numel() * value.element_size() for value in self.inputs.values() if torch.is_tensor(value)]
        return sum(sizes) + max(sizes) if sizes else None


@dataclass(frozen=True)
class Registration:
    """Tests of one class, one for each config; `operator` is what they call, where a list of operators has it."""

    configs: Iterable[Config]
    kind: Callable[[], TorchBenchmarkBase]
    backward: bool
    operator: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Test:
    """A test: its name and tag, its attributes, and the name of its operator.

    `only` counts the inputs with a gradient of their own up to the one that this test is about; None: all that have
    one.
    """

    registration: Registration
    attributes: Mapping[str, Any]
    tag: str
    name: str = ""
    operator: str = ""
    only: int | None = None

    @property
    def inputs(self) -> str:
        """The attributes as PyTorch's runner shows them."""
        return ", ".join(f"{name}: {_text(value)}" for name, value in self.attributes.items()).replace("'", "")

    def build(self) -> TorchBenchmarkBase:
        """Return the test with its inputs, the same ones each time; raises whatever its file raises."""
        seed = zlib.crc32(_suffix(self.attributes).encode())
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        arguments = deepcopy(dict(self.attributes))
        benchmark = self.registration.kind()
        if self.registration.operator is not None:
            arguments["op_func"] = self.registration.operator["op_func"]
            benchmark.set_module_name(self.registration.operator["op_name"])
        benchmark._is_backward = self.registration.backward
        benchmark._only = self.only
        benchmark.init(**arguments)
        benchmark.extract_inputs_tuple()
        return benchmark


_registrations: list[Registration] = []


def registered(
    registrations: Iterable[Registration], name: str | None = None, tag: str | None = None
) -> Iterator[Test]:
    """Yield the tests of a file in PyTorch's order, or those that may have a name.

    Their names are known when they are made. Of tests of a forward those that differ in sizes alone have one operator,
    so one of them is made: to make all takes minutes for some files. Raises `ValueError` for a config without a tag.
    """
    for registration in registrations:
        benchmarks: dict[object, TorchBenchmarkBase | None] = {}
        for config in registration.configs:
            attributes = {key: value for attribute in config for key, value in attribute.items()}
            if "tags" not in attributes:
                raise ValueError(f"a config without `tags`: {attributes}")
            test = Test(registration, attributes, _text(attributes.pop("tags")))
            if not _is_here(attributes) or not _may_be(test, name, tag):
                continue
            kind = tuple((key, "size" if _is_size(value) else _text(value)) for key, value in attributes.items())
            if registration.backward or kind not in benchmarks:
                benchmarks[kind] = _build(test)
            yield from _names(test, benchmarks[kind])


def _build(test: Test) -> TorchBenchmarkBase | None:
    """Return a test that is made; None where it fails, as it does again when it is measured."""
    try:
        return test.build()
    except (Exception, SystemExit):
        return None


def _names(test: Test, benchmark: TorchBenchmarkBase | None) -> Iterator[Test]:
    """Yield a test by its name, and of a gradient test one for each input that has a gradient of its own."""
    if benchmark is None:
        kind = getattr(test.registration.kind, "__name__", "?")
        operator = str((test.registration.operator or {}).get("op_name", kind))
        yield replace(test, name=f"{operator}_{_suffix(test.attributes)}".replace(" ", ""), operator=operator)
        return
    count, test = benchmark._automatic, replace(test, operator=benchmark.module_name())
    texts = {key: _text(value) for key, value in test.attributes.items()}
    yield replace(test, name=benchmark.test_name(**texts, **({"bwd": "all"} if count else {})))
    for number in range(1, count + 1):
        yield replace(test, name=benchmark.test_name(**texts, bwd=number), only=number)


def _is_size(value: object) -> bool:
    """Whether a value is a number or several."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_size, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _may_be(test: Test, name: str | None, tag: str | None) -> bool:
    """Whether a test may have a name and tag, as far as that can be told without making it."""
    if name is None:
        return True
    kind = test.registration.kind
    usual = getattr(kind, "test_name", None) is TorchBenchmarkBase.test_name
    ending = _suffix(test.attributes).replace(" ", "")
    return test.tag == tag and not (usual and not re.sub(r"_bwd(all|\d+)$", "", name).endswith(ending))


def timed_call(benchmark: TorchBenchmarkBase) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function that is timed, and its arguments: `forward` and the inputs, unless a subclass says another.

    PyTorch's runner calls `forward_impl_eager`, and an older one `forward_impl`.
    """
    for name in ("forward_impl_eager", "forward_impl"):
        if getattr(type(benchmark), name) is not getattr(TorchBenchmarkBase, name):
            return getattr(benchmark, name), ()
    return benchmark.forward, tuple(benchmark.get_inputs())


def differentiable(benchmark: TorchBenchmarkBase) -> tuple[Any, ...]:
    """Return the tensors of a test that a gradient flows to: of its inputs, of others it keeps, and its parameters."""
    candidates = [*benchmark.parameters(), *tensors([*benchmark.inputs.values()])]
    candidates += [value for value in vars(benchmark).values() if is_tensor(value)]
    return tuple({id(tensor): tensor for tensor in candidates if tensor.requires_grad}.values())


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, torch.Tensor)


def _is_here(attributes: Mapping[str, Any]) -> bool:
    """Whether there is the device that any of the attributes names."""
    names = [value for value in attributes.values() if isinstance(value, str)]
    return all(is_available() for device, is_available in AVAILABLE.items() if device in names)


def _suffix(attributes: Mapping[str, Any]) -> str:
    return "_".join(("" if name == DEVICE else name) + _text(value) for name, value in attributes.items())


def _text(value: object) -> str:
    """Return a value as names show it, without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@contextmanager
def collected() -> Iterator[list[Registration]]:
    """Make this what files import as `operator_benchmark`, and give what they register meanwhile."""
    previous = sys.modules.get(NAME)
    outer, result = _registrations[:], list[Registration]()
    sys.modules[NAME] = sys.modules[__name__]
    _registrations.clear()
    try:
        yield result
        result += _registrations
    finally:
        _registrations[:] = outer
        if previous is None:
            del sys.modules[NAME]
        else:
            sys.modules[NAME] = previous


def generate_pt_test(configs: Iterable[Config], pt_bench_op: type[TorchBenchmarkBase]) -> None:
    """Register tests of a forward."""
    _registrations.append(Registration(configs, pt_bench_op, backward=False))


def generate_pt_gradient_test(configs: Iterable[Config], pt_bench_op: type[TorchBenchmarkBase]) -> None:
    """Register tests of a gradient."""
    _registrations.append(Registration(configs, pt_bench_op, backward=True))


def generate_pt_tests_from_op_list(
    ops_list: Iterable[Mapping[str, Any]], configs: Iterable[Config], pt_bench_op: type[TorchBenchmarkBase]
) -> None:
    """Register tests of a forward for each operator of a list."""
    _registrations.extend(Registration(configs, pt_bench_op, False, operator) for operator in ops_list)


def generate_pt_gradient_tests_from_op_list(
    ops_list: Iterable[Mapping[str, Any]], configs: Iterable[Config], pt_bench_op: type[TorchBenchmarkBase]
) -> None:
    """Register tests of a gradient for each operator of a list."""
    _registrations.extend(Registration(configs, pt_bench_op, True, operator) for operator in ops_list)


def cross_product_configs(**configs: Iterable[Any]) -> list[tuple[dict[str, Any], ...]]:
    """Return a config for each combination of values.

    >>> cross_product_configs(M=[1, 2], tags=["short"])
    [({'M': 1}, {'tags': 'short'}), ({'M': 2}, {'tags': 'short'})]
    """
    return list(itertools.product(*([{name: value} for value in values] for name, values in configs.items())))


def config_list(
    *,
    attrs: Iterable[Sequence[Any]],
    attr_names: Sequence[str],
    tags: Sequence[str],
    cross_product_configs: Mapping[str, Iterable[Any]] | None = None,
    **_: object,
) -> list[list[dict[str, Any]]]:
    """Return a config for each row of values, and each combination of further ones.

    >>> config_list(attr_names=["M"], attrs=[[1], [2]], cross_product_configs={"device": ["cpu"]}, tags=["short"])[1]
    [{'M': 2}, {'tags': 'short'}, {'device': 'cpu'}]
    """
    combinations = _cross_product(**(cross_product_configs or {})) or [()]
    rows = [[{name: value} for name, value in zip(attr_names, values)] for values in attrs]
    return [[*row, {"tags": "_".join(tags)}, *further] for row in rows for further in combinations]


_cross_product = cross_product_configs


def random_sample_configs(
    *, total_samples: int, tags: Sequence[str], probs: Mapping[str, Sequence[float]], **values: Sequence[Any]
) -> list[list[dict[str, Any]]]:
    """Return configs of values that are drawn with these weights, the same ones whenever a file is loaded."""
    tag = {"tags": "_".join(tags)}
    return [
        [*({name: random.choices(choices, probs[name])[0]} for name, choices in values.items()), tag]
        for _ in range(total_samples)
    ]


def attr_probs(**probs: Sequence[float]) -> dict[str, Sequence[float]]:
    """Return weights by attribute."""
    return probs


def op_list(*, attrs: Iterable[Sequence[Any]], attr_names: Sequence[str], **_: object) -> list[dict[str, Any]]:
    """Return a dictionary for each operator.

    >>> op_list(attr_names=["op_name", "op_func"], attrs=[["abs", abs]])
    [{'op_name': 'abs', 'op_func': <built-in function abs>}]
    """
    return [dict(zip(attr_names, values)) for values in attrs]


def generate_configs(*, sample_func: Callable[..., Any], **configs: Iterable[Any]) -> Any:
    """Return configs that a function makes of the values of each attribute."""
    return sample_func(*([{name: value} for value in values] for name, values in configs.items()))


def cross_product(*values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return each combination of values."""
    return list(itertools.product(*values))


def get_n_rand_nums(min_val: int, max_val: int, n: int) -> list[int]:
    """Return whole numbers that are drawn, the same ones each time."""
    random.seed((1 << 32) - 1)
    return random.sample(range(min_val, max_val), n)


def numpy_random(dtype: Any, *shapes: int) -> Any:
    """Return an array of random numbers."""
    import numpy

    return numpy.random.rand(*shapes).astype(dtype)


def shape_to_string(shape: Iterable[int]) -> str:
    """Return extents as text.

    >>> shape_to_string((2, 3))
    '2, 3'
    """
    return ", ".join(map(str, shape))


def _main() -> None:
    """Measure nothing: opperf does, when all tests are registered."""


#: What a file calls at its end.
benchmark_runner = ModuleType("benchmark_runner")
benchmark_runner.main = _main  # type: ignore[attr-defined]
