"""PyTorch: tensors, functions and waiting."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity

from opperf.catalog import catalog
from opperf.child.backends import keras
from opperf.child.backends.binding import Binding, Missing, Parameter, bindings
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import ATOL, RTOL, agree
from opperf.child.backends.torch import (
    accelerator,
    capture,
    contents,
    costs,
    discovery,
    explain,
    functions,
    gradients,
    kernels,
    layers,
    native_loop,
    opinfo,
    quantization,
)
from opperf.child.backends.torch.specs import DTYPES, NAMES, tensors, to_compute_type
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, KernelWatch, Monitor, NativeLoop, Unsupported
from opperf.domain.call import AbstractCapture, Bound, CapturedCall, FirstCall, Layer, Work
from opperf.domain.case import Case
from opperf.domain.clock import DeviceTimer
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Counts, Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

#: Operators that no tensor goes into.
MAKERS = frozenset(name for name, operator in catalog().items() if not operator.inputs)


def start(side: Side) -> TorchBackend:
    """Return the backend of a side."""
    return TorchBackend(side)


def best_device(side: Side) -> str:
    """Return the first accelerator, or the CPU."""
    return next(iter(accelerator.names()), "cpu")


def running_backend(device: str) -> TorchBackend:
    """Return the backend of a process that has imported PyTorch itself; its threads stay as many as they are."""
    return TorchBackend(Side("torch", device=device, threads=torch.get_num_threads()))


class TorchBackend(Backend):
    """PyTorch on a CPU or a CUDA device."""

    name = "torch"
    immutable = False
    collects = False  # calls on a CPU are done when they return; any other device is waited for as a whole

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock = ProcessClock()
        self._program: Any = None
        torch.set_num_threads(side.threads)
        keras.configure(self.name, side.device)
        self.device = accelerator.device_of(side.device)
        self.accelerator = accelerator.accelerator_of(self.device)
        self.float32_products = None if self.accelerator is None else self.accelerator.float32_products
        square = torch.ones(threads.square(side))
        self.threads_seen: float | None = threads.count(lambda: torch.mm(square, square))
        if side.mode == "compiled":  # the compiler takes seconds to import, which no other child waits for
            from opperf.child.backends.torch import compilation

            compilation.begin()

    def facts(self) -> dict[str, Any]:
        """Return version, build and threads."""
        facts = {
            "version": torch.__version__,
            "build": torch.__config__.show(),
            "isa": torch.backends.cpu.get_cpu_capability(),
            "blas": "mkl" if torch.backends.mkl.is_available() else "other",
            "commit": torch.version.git_version,
            "cuda": torch.version.cuda,
            "threads": torch.get_num_threads(),
            "threads_seen": self.threads_seen,
            **keras.facts(),
        }
        return facts if self.accelerator is None else {**facts, **self.accelerator.facts}

    def devices(self) -> list[str]:
        """Return accelerators first."""
        return [*accelerator.names(), "cpu"]

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a 1-D tensor over the bytes."""
        return torch.frombuffer(raw, dtype=DTYPES[dtype]) if raw else torch.empty(0, dtype=DTYPES[dtype])

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return a tensor on the device; autograd knows it for no view, which some operators refuse."""
        if dtype.startswith("complex"):
            host = torch.view_as_complex(host.reshape(-1, 2))
        tensor = host.to(DTYPES[dtype]).reshape(tuple(shape)).to(self.device)
        if strides is None:
            return tensor.detach()
        # Elements that share a place, as an expanded tensor's do, are made once.
        once = tensor[tuple(slice(1) if stride == 0 else slice(None) for stride in strides)]
        result = torch.empty_strided(once.shape, tuple(strides), dtype=tensor.dtype, device=self.device)
        return result.copy_(once).expand(tuple(shape)).detach()

    def dtype(self, name: str) -> Any:
        """Return `torch.float32` and the like."""
        if name not in DTYPES:
            raise Unsupported(f"PyTorch {torch.__version__} has no {name}", slug="no_such_dtype")
        return DTYPES[name]

    def compose(self, items: tuple[Any, ...]) -> Any:
        """Return a quantized tensor or packed weights where a tuple says how they are made, else the tuple."""
        return quantization.compose(items)

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of a tensor, those that a sparse one does not store too."""
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_quantized:
            tensor = tensor.int_repr()
        if tensor._is_zerotensor():  # it has no memory
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
        plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
        raw = ctypes.string_at(plain.data_ptr(), plain.nbytes) if plain.nbytes else b""
        return raw, tuple(plain.shape), NAMES[plain.dtype]

    def leaves(self, value: Any) -> list[Any]:
        """Return the tensors in a result; of a nested one the elements of all its rows, since it has no shape."""
        return [tensor.values() if tensor.is_nested else tensor for tensor in tensors(value)]

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype; raises `Unsupported` for an element type that opperf has no name for."""
        if tensor.is_quantized:
            return TensorSpec(tuple(tensor.shape), quantization.STORAGE[tensor.dtype])
        if tensor.dtype not in NAMES:
            raise Unsupported(f"opperf has no dtype for {tensor.dtype} tensors", slug="unknown_dtype")
        return TensorSpec(tuple(tensor.shape), NAMES[tensor.dtype])

    def bindings(self) -> Mapping[str, Binding]:
        """Return the spelling of each neutral operator.

        Functions that make tensors of nothing follow no tensor to its device: they are told which, but on a CPU, where
        users do not tell them either.
        """
        table = bindings("torch")
        if self.device.type == "cpu":
            return table
        return {name: self._place(binding) if name in MAKERS else binding for name, binding in table.items()}

    def _place(self, binding: Binding) -> Binding:
        if isinstance(binding, Missing):
            return binding
        return replace(binding, keywords=(*binding.keywords, Parameter("device", constant=self.device)))

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `torch.add`, `torch.nn.Linear`, `aten::add.Tensor`, `opinfo::linalg.svd`, ..."""
        if path.startswith(opinfo.PREFIX):
            return discovery.resolve(path, self.side.device)
        if keras.is_layer(path):
            return keras.resolve(path)
        return layers.maker(path) or functions.resolve(path)

    def layer(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None = None
    ) -> Layer | None:
        """Return a module of `torch.nn`, one of PARAM's models, or embedding bags of FBGEMM."""
        if keras.is_layer(path):
            return keras.layer(self, path, arguments, keywords, call)
        return layers.layer(path, arguments, keywords, self.device)

    def builds(self, path: str) -> Sequence[str]:
        """Return the names of the arguments of a layer's constructor."""
        return keras.builds(path) or layers.builds(path)

    def schemas(self, function: Callable[..., Any]) -> Sequence[str]:
        """Return the schemas of a registered operator's overloads."""
        return functions.signatures(function)

    def parameters(self, function: Callable[..., Any]) -> Mapping[str, bool] | None:
        """Return the arguments of a registered or built-in function by its schema."""
        return functions.arguments(function)

    def defaults(self, function: Callable[..., Any]) -> Mapping[str, object]:
        """Return the defaults of such a function, by its schemas."""
        return functions.defaults(function)

    def names(self) -> list[str]:
        """Return the paths of functions, ATen's operators, layers, and PyTorch's own list where it was read already."""
        names = opinfo.names() if opinfo.database.cache_info().currsize else ()
        return [*functions.names(), *layers.names(), *names, *keras.names()]

    def registered(self) -> list[str]:
        """Return the operators of PyTorch's own list, those of ATen that they reach, and Keras's layers."""
        return [*discovery.paths(self.side.device), *keras.paths()]

    def examples(self, path: str, size: str) -> list[Case]:
        """Return a case made from the samples of an operator."""
        if keras.is_layer(path):
            return keras.examples(path, size)
        return discovery.examples(path, size, self.side.device)

    def forward(self, bound: Bound) -> Work:
        """Return the call without a graph."""
        return self._in_mode(bound, _forward, "forward")

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the gradients alone."""
        return self._in_mode(bound, lambda bound: gradients.backward(self, bound, cotangents, fresh=fresh), "backward")

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return a forward that records a graph, and its gradients."""
        return self._in_mode(bound, lambda bound: gradients.forward_backward(self, bound, cotangents), "both")

    def _in_mode(self, bound: Bound, make: Callable[[Bound], Work], direction: str) -> Work:
        """Return the work that `make` makes, of the function itself, what is compiled of it, or a graph of its call."""
        if self.side.mode == "eager":
            return make(bound)
        from opperf.child.backends.torch import compilation

        if self.side.mode == "cuda_graph":
            return compilation.capture_graph(bound, make, self.device)
        work, self._program = compilation.compiled(bound, make, direction, self._program)
        return work

    def share(self, memory: memoryview, spec: TensorSpec) -> Any:
        """Return a tensor over the bytes; PyTorch does not know that they may be read-only."""
        if spec.elements == 0:
            return torch.empty(spec.shape, dtype=self.dtype(spec.dtype))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.frombuffer(memory, dtype=self.dtype(spec.dtype)).view(spec.shape)

    def carry(self, tensor: Any) -> Any:
        """Return a copy on the device."""
        return tensor.to(self.device, copy=True)

    def address(self, tensor: Any) -> int:
        """Return where the elements lie; those of some tensors are to be conjugated or negated by who reads them."""
        return 0 if tensor.is_conj() or tensor.is_neg() else int(tensor.data_ptr())

    def addresses(self, results: Sequence[Any]) -> Sequence[int]:
        """Return where results lie that are tensors and need no closer look."""
        plain = torch.Tensor
        if {*map(type, results)} != {plain} or any(map(plain.is_conj, results)) or any(map(plain.is_neg, results)):
            return ()
        return [*map(plain.data_ptr, results)]

    def resolved(self, tensor: Any) -> Any:
        """Return a tensor whose elements are conjugated and negated."""
        return tensor.resolve_conj().resolve_neg()

    def byte_strides(self, tensor: Any) -> Sequence[int]:
        """Return the strides, which PyTorch counts in elements."""
        return tuple(step * tensor.element_size() for step in tensor.stride())

    def clone(self, tensor: Any) -> Any:
        """Return a copy."""
        return tensor.clone()

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Remember tensors and return what puts them back."""
        return contents.snapshot(tensors)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Write into a tensor, whether or not it has a gradient."""
        contents.refill(tensor, pool, start)
        return tensor

    def written(self, function: Callable[..., Any]) -> Sequence[str]:
        """Return the arguments that the schema of a registered operator marks: `Tensor(a!) self`."""
        return contents.written(function)

    def digest(self, tensor: Any) -> object:
        """Return shape, strides, and a checksum of the elements where they lie."""
        return contents.digest(tensor)

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether values agree within rounding."""
        return agree(left, right, _close)

    def wait(self, outputs: Any) -> None:
        """Wait for the device; a CPU call is done when it returns."""
        if self.accelerator is not None:
            self.accelerator.wait()

    def device_timer(self) -> DeviceTimer | None:
        """Return events of the device."""
        return None if self.accelerator is None else self.accelerator.timer()

    def kernel_watch(self) -> KernelWatch | None:
        """Return a watch on the device, by PyTorch's profiler."""
        activity = self._activity()
        return None if activity is None else kernels.Watch(self.wait, (ProfilerActivity.CPU, activity))

    def _activity(self) -> ProfilerActivity | None:
        return None if self.accelerator is None else self.accelerator.activity()

    def monitor(self) -> Monitor | None:
        """Return the device, of which PyTorch asks its maker's library."""
        return self.accelerator

    def cache_sweep(self) -> accelerator.CacheSweep | None:
        """Return a function that empties the last cache of the device."""
        return None if self.accelerator is None else self.accelerator.sweep()

    def free_memory(self) -> int | None:
        """Return the free memory of the device, with that which PyTorch keeps for later tensors."""
        return None if self.accelerator is None else self.accelerator.free_memory()

    def place(self, tensor: Any) -> str | None:
        """Return the kind of its device."""
        return str(tensor.device.type)

    def trim(self) -> None:
        """Give back what the device's allocator keeps."""
        if self.accelerator is not None:
            self.accelerator.trim()

    def live_memory(self) -> int | None:
        """Return the bytes of the tensors that live on the device."""
        return None if self.accelerator is None else self.accelerator.live_memory()

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that one call allocates; of a CUDA graph, whose memory is its own, nothing."""
        return costs.trace_memory(work, self.accelerator) if self.side.mode != "cuda_graph" else None

    def counts(self, work: Work, *, long: bool = False) -> Counts | None:
        """Return operations, where PyTorch's counter knows the operator, and bytes; of what is compiled nothing."""
        return costs.count(work, long=long) if self.side.mode == "eager" else None

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return operators, kernels, and the primitives of oneDNN and MKL."""
        return explain.of_calls(work, calls, self._activity(), self.wait)

    def build_loops(self, folder: Path) -> None:
        """Compile the loops over the dispatcher and over autograd's engine."""
        self._loops = native_loop.library(folder)

    def native_loop(self, work: Work) -> NativeLoop:
        """Return the dispatcher's calls in one call; of what is compiled nothing is known."""
        if self.side.mode != "eager":
            message = f"in mode `{self.side.mode}` PyTorch runs compiled code, which C++ cannot call"
            raise Unsupported(message, slug="not_native", hint="`--mode eager`")
        return native_loop.Loop(self._loops, work)

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Return every operator that reaches PyTorch's dispatcher."""
        return capture.of_call(function)

    def capture_abstract(self, load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
        """Return every operator that reaches the dispatcher with tensors that have no elements."""
        from opperf.child.backends.torch import abstract  # 0.1 s that nobody else waits for

        return abstract.of_call(load)


def _forward(bound: Bound) -> Work:
    return Work(bound.function, bound.arguments, bound.keywords, torch.no_grad)


def _close(left: HostValue, right: HostValue) -> bool:
    dtype = DTYPES[left[2]]
    one, other = (to_compute_type(torch.frombuffer(bytearray(value[0]), dtype=dtype)) for value in (left, right))
    close: bool = torch.allclose(one, other, rtol=RTOL, atol=ATOL, equal_nan=True)
    return close
