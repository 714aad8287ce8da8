"""`run_performance_test`: MXNet operators with your own inputs, measured in the calling script."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mxnet as mx

from opperf.child.worker.failures import failure
from opperf.compat.cell_states import states_of
from opperf.compat.in_process import InProcess, Subject, in_process
from opperf.compat.mxnet_opperf import rows
from opperf.compat.mxnet_opperf.inputs import CallArguments, Signature, arguments_of, show
from opperf.domain.backend import Unsupported
from opperf.domain.errors import InputError


def is_block(operator: Any) -> bool:
    """Whether an operator is a Gluon block, or a class of one."""
    if isinstance(operator, type):
        return issubclass(operator, mx.gluon.Block)
    return isinstance(operator, mx.gluon.Block)


def call_block(
    operator: Any, inputs: Mapping[str, Any], here: InProcess, context: Any, dtype: str
) -> tuple[Any, CallArguments]:
    """Return a block that has run once, and the arguments of its call, in the order of the dictionary.

    A class is constructed with the keys that its constructor knows. Your own blocks stay as they are. A
    recurrent cell that is given its data alone begins with states of zeros.
    """
    own = _constructor(operator) if isinstance(operator, type) else frozenset()
    settings = {name: value for name, value in inputs.items() if name in own and name != "dtype"}
    rest = {name: value for name, value in inputs.items() if name not in settings}
    names = frozenset(rest)
    values = arguments_of(operator, rest, here, context, dtype=dtype, signature=Signature(names, frozenset()))
    block = operator
    if isinstance(operator, type):
        block = operator(**settings)
        block.initialize(ctx=context)
        block.cast(rest.get("dtype", dtype))
    arguments = (*values.positional, *values.keywords.values())
    if len(arguments) == 1:
        arguments += states_of(block, arguments[0], context)
    block(*arguments)  # the first call determines the shapes of the parameters
    flows = values.differentiable
    if isinstance(block, mx.gluon.nn.Embedding):  # its data are places in a table: the gradient is the table's
        flows = (block.weight.data(),)
    return block, CallArguments(arguments, {}, flows)


def _constructor(operator: type) -> frozenset[str]:
    """Return the names of a constructor's arguments, those of the classes below too."""
    names: set[str] = set()
    for one in operator.__mro__:
        if "__init__" in vars(one):
            names.update(inspect.signature(vars(one)["__init__"]).parameters)
    return frozenset(names - {"self", "args", "kwargs"})


Row = dict[str, Any]


def run_performance_test(
    ops: Any = None,
    inputs: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    run_backward: bool = True,
    dtype: str = "float32",
    ctx: Any = None,
    profiler: str = "native",
    warmup: int = 10,
    runs: int = 50,
    *,
    F: Any = None,
) -> list[dict[str, list[Row]]]:
    """Measure one operator or several, each with every dictionary of `inputs`.

    Returns a dictionary for each operator, of its name and one row for each dictionary. With `profiler="native"` rows
    hold forward and backward as MXNet's own profiler times them, and memory; with `"python"` the two together, as
    opperf's engine does. Where an operator fails, its row has `error` in the place of times.

    Times are milliseconds, memory is kB. Raises `InputError` for usage that is wrong.
    """
    if ops is None and F is None:
        raise InputError("no operator given", hint="run_performance_test(mx.nd.add, inputs=[{...}])")
    several = F if ops is None else ops
    bench = Bench(ctx, dtype, profiler, warmup, runs)
    operators = list(several) if isinstance(several, (list, tuple)) else [several]
    dictionaries = _dictionaries(inputs)
    return [{name_of(one): bench.rows(one, dictionaries, run_backward=run_backward)} for one in operators]


def name_of(operator: Any) -> str:
    """Return the name of an operator in rows and keys: a function's own, a block's class."""
    if not callable(operator):
        raise InputError(f"found {operator!r}, expected an operator", hint="a function of mx.nd, or a Gluon block")
    name: str = getattr(operator, "__name__", type(operator).__name__)
    return name


def _dictionaries(inputs: Any) -> list[Mapping[str, Any]]:
    """Return the dictionaries of inputs; a single one becomes a list."""
    dictionaries = [inputs] if isinstance(inputs, Mapping) else inputs
    if not isinstance(dictionaries, (list, tuple)) or not all(isinstance(one, Mapping) for one in dictionaries):
        raise InputError(
            f"`inputs` is {type(inputs).__name__}, expected a list of dictionaries",
            hint='inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}]',
            slug="bad_inputs",
        )
    return list(dictionaries)


class Bench:
    """How operators are measured: on which device, in which element type, by which clock, how often."""

    def __init__(self, context: Any, dtype: str, profiler: str, warmup: int, runs: int) -> None:
        self._context = mx.cpu() if context is None else context
        if not isinstance(self._context, mx.Context):
            raise InputError(f"`ctx` is {context!r}, expected a device of MXNet", hint="mx.cpu() or mx.gpu(0)")
        kind, index = self._context.device_type, self._context.device_id
        self._device = f"{kind}/{index}"
        self._here: InProcess = in_process("cpu" if kind == "cpu" else f"cuda:{index}")
        self._dtype = dtype
        self._profiler = profiler
        self._warmup = warmup
        self._runs = runs

    def rows(self, operator: Any, inputs: Sequence[Mapping[str, Any]], *, run_backward: bool) -> list[Row]:
        """Return a row for each dictionary; a failure costs its own row alone."""
        name = name_of(operator)
        logging.info("Begin Benchmark - %s", name)
        rows = [self._row(operator, name, one, run_backward) for one in inputs]
        logging.info("Complete Benchmark - %s", name)
        return rows

    def _row(self, operator: Any, name: str, inputs: Mapping[str, Any], run_backward: bool) -> Row:
        row: Row = {"inputs": show(inputs)}
        try:
            backward = bool(inputs.get("run_backward", run_backward))
            subject = self._subject(operator, inputs, training=backward)
            measure = self._native if self._profiler == "native" else self._python
            measure(row, name, subject, backward)
        except InputError:
            raise
        except Exception as error:  # whatever MXNet raises is the result of this row
            row["error"] = failure(error).reason.message
            logging.error("%s failed: %s", name, row["error"])
        return row

    def _subject(self, operator: Any, inputs: Mapping[str, Any], *, training: bool) -> Subject:
        if is_block(operator):
            function, values = call_block(operator, inputs, self._here, self._context, self._dtype)
        else:
            function, values = operator, arguments_of(operator, inputs, self._here, self._context, dtype=self._dtype)
        return self._here.of_function(
            function, values.positional, values.keywords, differentiable=values.differentiable, training=training
        )

    def _native(self, row: Row, name: str, subject: Subject, backward: bool) -> None:
        """Fill a row with the two directions apart, and what both take of memory."""
        forward = self._measure(subject, "forward")
        row.update(rows.times(self._here.seconds(forward), name, "forward"))
        peak = forward.quantity("memory_peak")
        if backward:
            with_backward = self._backward(row, lambda: self._measure(subject, "backward"))
            if with_backward is not None:
                row.update(rows.times(self._here.seconds(with_backward), name, "backward"))
                ready = self._here.ready(subject, "forward_backward")
                memory = self._here.backend.memory(ready.work)
                peak = None if memory is None else memory.metrics()["memory_peak"]
        if peak is not None:
            row.update(rows.memory(peak.value, self._device))

    def _python(self, row: Row, name: str, subject: Subject, backward: bool) -> None:
        """Fill a row with both directions together, or with forward alone where there is no backward."""
        measurement = None
        if backward:
            measurement = self._backward(row, lambda: self._measure(subject, "forward_backward"))
        row.update(rows.times(self._here.seconds(measurement or self._measure(subject, "forward")), name))

    def _backward(self, row: Row, measure: Callable[[], Any]) -> Any:
        """Return a measurement with a backward pass in it; where there is none, say why in the row."""
        try:
            return measure()
        except (Unsupported, mx.MXNetError) as error:
            row["no_backward"] = failure(error).reason.message
            return None

    def _measure(self, subject: Subject, direction: str) -> Any:
        return self._here.measure(
            subject,
            direction,
            warmup=self._warmup,
            runs=self._runs,
            profiler=self._profiler,
            memory=self._profiler == "native" and direction == "forward",
        )
