"""From a case to a call of the framework: tensors made, names translated, everything in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from opperf.catalog import Operator
from opperf.child.backends.binding import Call, Parameter
from opperf.child.worker import inputs
from opperf.domain.backend import Backend
from opperf.domain.call import Bound, FirstCall, Layer
from opperf.domain.case import Argument, Case, Device, DType, ListOf, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.registry import BUILD_PREFIX, SPREAD, is_argument
from opperf.domain.tensor import TensorSpec


@dataclass
class Maker:
    """Makes the values of one case; tensors get seeds by the place where they stand."""

    backend: Backend
    seed: str

    def make(self, argument: Argument, place: str) -> Any:
        """Return the framework's value for an argument."""
        if isinstance(argument, TensorSpec):
            return inputs.tensor(self.backend, argument, f"{self.seed}/{place}")
        if isinstance(argument, ListOf):
            return [self.make(item, f"{place}[{i}]") for i, item in enumerate(argument.items)]
        if isinstance(argument, tuple):
            return self.backend.compose(tuple(self.make(item, f"{place}[{i}]") for i, item in enumerate(argument)))
        if isinstance(argument, DType):
            return self.backend.dtype(argument.name)
        if isinstance(argument, Device):
            return self.backend.side.device if argument.name == "default" else argument.name
        return argument

    def weight(self, spec: TensorSpec, place: int) -> object:
        """Return the values of a layer's weight."""
        return inputs.tensor(self.backend, spec, f"{self.seed}/weight{place}")


def bind(
    case: Case,
    call: Call,
    operator: Operator | None,
    backend: Backend,
    seed: int,
    values: Mapping[str, object] | None = None,
) -> Bound:
    """Make every argument of a case and bind the framework's function to it.

    `operator` is the neutral definition, None for a function that opperf does not know; `values` are arguments that are
    made already. Raises what the framework raises for values that it does not take.
    """
    if call.bind is not None:
        return call.bind()
    maker = Maker(backend, f"{seed}/{case.id}")
    arguments = dict(values or {})
    for name, argument in (*case.inputs.items(), *case.attributes.items()):
        if name not in arguments:
            arguments[name] = maker.make(argument, name)
    for name, adapt in call.adapt.items():
        if name in arguments:
            arguments[name] = adapt(arguments[name])
    arguments |= {name: derive(arguments) for name, derive in call.derive.items()}
    positional: list[object] = []
    for parameter in call.positional:
        value = _value(parameter, arguments)
        if parameter.spread:
            positional.extend(value)
        else:
            positional.append(value)
    keywords = {
        parameter.own: _value(parameter, arguments) for parameter in call.keywords if _is_present(parameter, arguments)
    }
    layer = _build(call, case, maker, arguments, FirstCall(tuple(positional), keywords, maker.weight))
    function = layer.function if layer is not None else call.function or backend.resolve(call.path)
    return Bound(
        function=function,
        arguments=(*positional, *(layer.arguments if layer else ())),
        keywords=keywords,
        differentiable=(*_differentiable(case, operator, backend, arguments), *(layer.parameters if layer else ())),
        values=arguments,
        mutated=() if backend.immutable else _mutated(case, call, operator, backend.written(function), arguments),
        training=bool(case.get("training", operator is not None and "training" in operator.attributes)),
        layout=call.layout,
    )


def call_of(case: Case, path: str, parameters: Mapping[str, bool]) -> Call:
    """Return the call of a function that no binding describes: its own argument names, inputs first.

    `parameters` are the function's own in their order, as far as they are known, and whether each may go by place.
    Inputs go by position: in that order where all are among them, else in the one of the case. Attributes go by
    keyword, and so do inputs behind a parameter that is left out, or that have no place. Numbers are places. What comes
    before a list of further arguments, such as the text of `einsum(subscripts, *operands)`, goes by position too.
    """
    arguments = {**case.inputs, **{name: value for name, value in case.attributes.items() if is_argument(name)}}
    spread = next((name for name in parameters if name.startswith(SPREAD)), "")
    if spread and spread.removeprefix(SPREAD) in arguments:
        before = list(takewhile(lambda name: name != spread, parameters))
        several = Parameter(spread[1:], neutral=spread[1:], spread=not isinstance(arguments[spread[1:]], TensorSpec))
        by_place = [*(Parameter(name, neutral=name) for name in before if name in arguments), several]
    else:
        order = (name for name, has_place in parameters.items() if has_place)
        is_known = set(case.inputs) <= set(parameters)
        places = list(takewhile(case.inputs.__contains__, order)) if is_known else list(case.inputs)
        if all(name.isdecimal() for name in case.inputs):
            places = sorted(filter(str.isdecimal, arguments), key=int)
        # What goes by its number has a name of the function's own, by which that says what it changes.
        own_names = dict(enumerate(name for name in parameters if not name.startswith(SPREAD)))
        by_place = [
            Parameter(own_names.get(int(name), name) if name.isdecimal() else name, neutral=name) for name in places
        ]
    names = {parameter.neutral for parameter in by_place}
    return Call(path, tuple(by_place), tuple(Parameter(name, neutral=name) for name in arguments if name not in names))


def _build(call: Call, case: Case, maker: Maker, values: dict[str, object], first: FirstCall) -> Layer | None:
    """Return the layer that is built at the path of a call before it is called; None for a function."""
    if call.function is not None:
        return None
    settings = {
        name.removeprefix(BUILD_PREFIX): values[name] for name in case.attributes if name.startswith(BUILD_PREFIX)
    }
    places = sorted((name for name in settings if name.isdecimal()), key=int)
    keywords = {name: value for name, value in settings.items() if not name.isdecimal()}
    return maker.backend.layer(call.path, [settings[place] for place in places], keywords, first)


def _is_present(parameter: Parameter, values: dict[str, object]) -> bool:
    return parameter.neutral is None or parameter.neutral in values


def _value(parameter: Parameter, values: dict[str, object]) -> Any:
    if parameter.neutral is None:
        return parameter.constant
    return values.get(parameter.neutral)


def _differentiable(case: Case, operator: Operator | None, backend: Backend, values: dict[str, object]) -> list[object]:
    """Return the tensors that a gradient flows to: those declared, or every floating input of an unknown operator."""
    arguments = {**case.inputs, **{name: value for name, value in case.attributes.items() if is_argument(name)}}
    names = arguments if operator is None else operator.differentiable
    roles = []
    for name in names:
        if name not in arguments:
            continue
        specs = list(tensors_of(arguments[name]))
        for spec, tensor in zip(specs, backend.leaves(values[name])):
            if spec.is_float and spec.requires_grad is not False:
                roles.append(tensor)
    return roles


def _mutated(
    case: Case, call: Call, operator: Operator | None, written: Sequence[str], values: Mapping[str, object]
) -> tuple[str, ...]:
    """Return the arguments that a call changes: by the catalog, the framework's schema, or its author."""
    own_names = call.own_names
    trains = operator is not None and case.get("training", True) is not False
    names = (*(operator.mutates if operator and trains else ()), *(own_names.get(name, name) for name in written))
    return tuple(dict.fromkeys(name for name in (*names, *call.mutates) if values.get(name) is not None))
