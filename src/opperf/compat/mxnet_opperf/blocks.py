"""Gluon blocks: a class with the arguments of its constructor and its inputs in one dictionary, or a block made."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.compat.cell_states import states_of
from opperf.compat.in_process import InProcess
from opperf.compat.mxnet_opperf.inputs import Given, Signature, arguments_of


def is_block(operator: Any) -> bool:
    """Whether an operator is a Gluon block, or a class of one."""
    if isinstance(operator, type):
        return issubclass(operator, mx.gluon.Block)
    return isinstance(operator, mx.gluon.Block)


def called(operator: Any, inputs: Mapping[str, Any], here: InProcess, context: Any, dtype: str) -> tuple[Any, Given]:
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
    return block, Given(arguments, {}, flows)


def _constructor(operator: type) -> frozenset[str]:
    """Return the names of a constructor's arguments, those of the classes below too."""
    names: set[str] = set()
    for one in operator.__mro__:
        if "__init__" in vars(one):
            names.update(inspect.signature(vars(one)["__init__"]).parameters)
    return frozenset(names - {"self", "args", "kwargs"})
