"""Which operators a function runs, with their arguments as they were: seen where PyTorch dispatches them.

The tensors of a case have the strides that they had, gaps and all; whole numbers lie between those that were there, and
fractions keep their sign. So an operator that runs again does the same work. Where that is not enough (labels of which
some are to be ignored, lengths that must fall, a mask that decides how much there is), whole numbers and masks are kept
as they are. The module that a gradient belongs to is found by the number that autograd gives to each node of its graph,
which is the same in forward and backward.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeAlias

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from opperf.child.backends.torch.functions import Watch, parameters
from opperf.child.backends.torch.modules import Modules, backward_node
from opperf.child.backends.torch.quantization import is_made
from opperf.child.backends.torch.specs import NoDescription, called_with, case_of, spec, tensors
from opperf.domain.call import CapturedCall
from opperf.domain.case import Argument, Case, Device, tensors_of
from opperf.domain.tensor import MOST_LITERAL, TensorSpec, row_major

#: Tell the profiler where a range begins and ends; they compute nothing.
LABELS = "profiler::"
#: PyTorch's numbers of memory formats (c10/core/MemoryFormat.h), which its operators take as well.
FORMATS = {torch.contiguous_format: 0, torch.channels_last: 2, torch.channels_last_3d: 3}

#: Describes a tensor; raises `NoDescription`.
Shape: TypeAlias = Callable[[torch.Tensor], TensorSpec]
#: How many calls each is that is seen: more than one in a loop of which one turn stands for several.
_times: ContextVar[int] = ContextVar("times", default=1)
#: How often whole numbers are drawn to see whether an operator takes them: few of them may fit by chance.
DRAWS = 3


def of_call(function: Callable[[], Any], shape: Shape | None = None) -> list[CapturedCall]:
    """Call a function and return every operator that it runs, in forward and backward, in order.

    `shape` describes tensors that have no values to look at.
    """
    recorder = Recorder(shape)
    with ExitStack() as stack:
        for handle in (
            register_module_forward_pre_hook(recorder.modules.enter),
            register_module_forward_hook(recorder.modules.leave, always_call=True),
            register_optimizer_step_pre_hook(recorder.enter_optimizer),
            register_optimizer_step_post_hook(recorder.leave_optimizer),
        ):
            stack.callback(handle.remove)
        with Watch(recorder):
            function()
    return recorder.calls


@contextmanager
def repeated(times: int) -> Iterator[None]:
    """Count each operator within as so many calls, and what computes its gradient too; none is seen of zero times."""
    before = _times.set(times)
    try:
        yield
    finally:
        _times.reset(before)


class Recorder:
    """Takes operators as they are called."""

    def __init__(self, shape: Shape | None = None) -> None:
        self._shape = shape
        self.calls: list[CapturedCall] = []
        self.modules = Modules()
        self._in_optimizer = False
        self._made_in: dict[int, tuple[str, int]] = {}
        self._nodes = {threading.get_ident(): torch.autograd._get_sequence_nr()}

    def __call__(self, path: str, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Take one call, before it runs: it may change its inputs."""
        if path.startswith(LABELS) or _only_watched(path) or not _times.get():
            return
        case, why = _case(path, func, args, kwargs, self._shape)
        node, module, times = backward_node(), self.modules.here, _times.get()
        again = node is not None and (bool(module) or _recomputes())
        if node is not None and not again:
            module, times = self._made_in.get(node._sequence_nr(), ("", 1))
        self._note_nodes(module, times)
        self.calls.append(
            CapturedCall(
                path,
                case,
                why,
                module,
                backward=node is not None and not again,
                count=times,
                recomputed=again,
                optimizer=self._in_optimizer,
            )
        )

    def enter_optimizer(self, *_: object) -> None:
        """Note that an optimizer begins to update parameters."""
        self._in_optimizer = True

    def leave_optimizer(self, *_: object) -> None:
        """Note that an optimizer has updated them."""
        self._in_optimizer = False

    def _note_nodes(self, module: str, times: int) -> None:
        """Note where nodes of the graph are made: right before their operator is called, several by one in place."""
        thread, nodes = threading.get_ident(), torch.autograd._get_sequence_nr()
        self._made_in.update(dict.fromkeys(range(self._nodes.get(thread, nodes), nodes), (module, times)))
        self._nodes[thread] = nodes


def _recomputes() -> bool:
    """Whether what a node of a backward calls is a forward once more: a backward itself makes no graph.

    One that makes a graph for a second derivative keeps its own.
    """
    return torch.is_grad_enabled() and not torch._C._autograd._get_current_graph_task_keep_graph()


def _only_watched(path: str) -> bool:
    """Whether a call is there because it is watched: autograd keeps outputs by `detach`, which else is not dispatched.

    Such a call does not come through the dispatcher, which would have left autograd behind.
    """
    behind = torch._C._dispatch_tls_is_dispatch_key_excluded(torch._C.DispatchKey.ADInplaceOrView)
    return path == "aten::detach.default" and not behind


def _case(
    path: str, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shape: Shape | None
) -> tuple[Case | None, str]:
    """Return the case of a call, or the reason why there is none."""
    formats = {name: FORMATS.get(value, value) for name, value in kwargs.items() if name == "memory_format"}
    try:
        case = case_of(f"torch:{path}", parameters(func), args, {**kwargs, **formats}, shape or exact)
        if shape is None and not _same_by_bounds(case, func):
            case = case_of(f"torch:{path}", parameters(func), args, {**kwargs, **formats}, spec_with_values)
    except NoDescription as error:
        return None, str(error)
    return replace(case, attributes={name: _anywhere(value) for name, value in case.attributes.items()}), ""


def _anywhere(value: Argument) -> Argument:
    """Return the device that is measured on in place of the one that was captured on."""
    return Device("default") if isinstance(value, Device) else value


def exact(tensor: torch.Tensor) -> TensorSpec:
    """Return the description of a tensor with its strides as they are; raises `NoDescription`."""
    tensor_spec = spec(tensor)
    strides = tuple(tensor.stride())
    return replace(
        tensor_spec,
        strides=None if strides == row_major(tensor.shape) or not tensor.numel() else strides,
        range=_sign_bounds(tensor_spec.range) if tensor_spec.is_float else tensor_spec.range,
        requires_grad=None,
    )


def spec_with_values(tensor: torch.Tensor) -> TensorSpec:
    """Return the description of a tensor, with the values of whole numbers and masks; raises `NoDescription`."""
    tensor_spec = exact(tensor)
    if tensor_spec.is_float or tensor_spec.elements > MOST_LITERAL:
        return tensor_spec
    return replace(tensor_spec, literal=tuple(tensor.flatten().tolist()))


def _same_by_bounds(case: Case, func: Any) -> bool:
    """Whether the bounds of whole numbers and masks are enough for a call that does the same work.

    They are not where they decide how much there is in the result, as those of a nested tensor do, nor where the
    operator refuses other numbers that lie between them. That is tried, a few times, on the CPU: a GPU would take no
    more calls after such a one.
    """
    integers = [
        spec
        for value in (*case.inputs.values(), *case.attributes.values())
        if not is_made(value)  # weights, whose numbers decide nothing
        for spec in tensors_of(value)
        if not spec.is_float and spec.elements
    ]
    if not integers:
        return True
    if torch.Tag.dynamic_output_shape in func.tags and any(spec.dtype == "bool" for spec in integers):
        return False
    sizes = set()
    try:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            for _ in range(DRAWS):
                args, kwargs = called_with(case, "cpu")
                results = tensors(func(*args, **kwargs))
                if any(result.is_nested for result in results):
                    return False
                sizes.add(tuple(result.numel() for result in results))
    except Exception:  # whatever it does not like of numbers that are not those of the program
        return False
    return len(sizes) == 1


def _sign_bounds(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return bounds of the sign that floating values had: probabilities stay some, and equal calls stay equal."""
    if bounds is None or bounds == (0.0, 0.0):
        return None
    return (0.0, 1.0) if bounds[0] >= 0 else (-1.0, 0.0)
