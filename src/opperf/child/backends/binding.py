"""How a backend writes down the way its framework spells a neutral operator.

    **functions("torch", {("input=lhs, other=rhs", ""): "add subtract=sub multiply=mul"}),
    "topk": call("nd.topk", "data", "k=k, axis=axis, ret_typ='both'"),
    **gaps("NumPy has no convolution over images", "conv2d depthwise_conv2d"),
    "softmax": composed(softmax, "data, axis", note="exp and sum, composed"),

The first string is the path by which users know the function; the second the positional arguments, the third the
keywords, each written as a Python argument list. On the left stands the framework's own name of an argument, on the
right the neutral name or a constant; a bare name is both. `*data` spreads a list.

A table of `functions` says by arguments which operators take them. What no row names is the framework's function of
that name, if it has one: `OwnNames` in `operators/__init__.py` says where, and how its arguments are called.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache
from importlib import import_module
from inspect import signature
from types import ModuleType
from typing import Any, TypeAlias

from opperf.catalog import FAMILIES, Operator, catalog
from opperf.domain.call import Bound, Layout
from opperf.domain.dataclass import dataclass
from opperf.domain.reason import Warning

#: Applied to an argument once, when the call is bound; never in the timed region.
Adapt: TypeAlias = Callable[[Any], Any]
#: Makes an argument of all those that the case gives, by neutral name; once too.
Derive: TypeAlias = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Doubt:
    """A warning on the time of a call that takes less than so many seconds."""

    below: float
    warning: Warning


@dataclass(frozen=True)
class Parameter:
    """One argument of a framework's function: its own name, and the neutral name or the constant it gets."""

    own: str
    neutral: str | None = None
    constant: Any = None
    spread: bool = False


@dataclass(frozen=True)
class Call:
    """A function of the framework, with the neutral arguments it takes.

    `function` is None when `path` is looked up in the framework; a composition brings its own. `adapt` holds functions
    by neutral name that change an argument before anything is timed, and `derive` functions that make one which the
    framework wants and the case does not give, such as the shape of another. `layout` is that of the result, where it
    is the framework's own. `note` is kept on the record, and so are `unsupported` directions with their reasons. `also`
    lists further paths of the framework that take the same arguments in the same places: whoever names one gets it,
    with this operator's inputs. `mutates` are neutral names of arguments that its author says it changes. `bind` is of
    a function that has its arguments from elsewhere than a case. What it returns may be a `metric` itself, in place of
    the time that it takes. `timeout` are the seconds that its author gives it to be made and called once, and `doubt`
    is one of its time that it has by itself.
    """

    path: str
    positional: tuple[Parameter, ...]
    keywords: tuple[Parameter, ...] = ()
    function: Callable[..., Any] | None = None
    note: str | None = None
    adapt: Mapping[str, Adapt] = field(default_factory=dict)
    derive: Mapping[str, Derive] = field(default_factory=dict)
    layout: Layout | None = None
    unsupported: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    bind: Callable[[], Bound] | None = None
    metric: str | None = None
    timeout: float | None = None
    doubt: Doubt | None = None

    @property
    def own_names(self) -> dict[str, str]:
        """The neutral name of each of the framework's own argument names."""
        parameters = (*self.positional, *self.keywords)
        return {parameter.own: parameter.neutral for parameter in parameters if parameter.neutral is not None}

    @property
    def fixed(self) -> bool:
        """Whether constants make the function this operator, as `act_type='relu'` does."""
        return any(parameter.neutral is None for parameter in (*self.positional, *self.keywords))

    def at(self, path: str) -> Call | None:
        """Return the call of another path that takes the same arguments; None where that is not known."""
        if path == self.path:
            return self
        return replace(self, path=path, function=None, note=None) if path in self.also else None


@dataclass(frozen=True)
class Missing:
    """The framework has no such operator; the reason is shown to the user."""

    reason: str


Binding: TypeAlias = Call | Missing


def parameters(text: str) -> tuple[Parameter, ...]:
    """Read an argument list.

    >>> parameters("input=lhs, ret_typ='both'")[1]
    Parameter(own='ret_typ', neutral=None, constant='both', spread=False)
    """
    tree = ast.parse(f"f({text})", mode="eval").body
    if not isinstance(tree, ast.Call):
        raise ValueError(f"not an argument list: {text!r}")
    result = []
    for argument in tree.args:
        spread = isinstance(argument, ast.Starred)
        name = argument.value if isinstance(argument, ast.Starred) else argument
        if isinstance(name, ast.Name):
            result.append(Parameter(name.id, neutral=name.id, spread=spread))
        else:
            result.append(Parameter("", constant=ast.literal_eval(name)))
    for keyword in tree.keywords:
        if isinstance(keyword.value, ast.Name):
            result.append(Parameter(keyword.arg or "", neutral=keyword.value.id))
        else:
            result.append(Parameter(keyword.arg or "", constant=ast.literal_eval(keyword.value)))
    return tuple(result)


def call(path: str, positional: str, keywords: str = "", **more: Any) -> Call:
    """Write down a function that the framework has at `path`; `more` are fields of `Call`."""
    return Call(path, parameters(positional), parameters(keywords), **more)


#: Operators by their arguments, those by place and those by name. Behind `=` stands the name of the function where it
#: is another than the catalog's, and behind a bar one that it has elsewhere.
ByArguments: TypeAlias = Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class Row:
    """An operator in a table by arguments."""

    operator: str
    name: str
    elsewhere: tuple[str, ...]
    positional: str
    keywords: str


def rows(table: ByArguments) -> Iterator[Row]:
    """Yield the operators of a table.

    >>> list(rows({("data", ""): "negative=neg|minus"}))
    [Row(operator='negative', name='neg', elsewhere=('minus',), positional='data', keywords='')]
    """
    for (positional, keywords), words in table.items():
        for word in words.split():
            first, *elsewhere = word.split("|")
            operator, _, name = first.partition("=")
            yield Row(operator, name or operator, tuple(elsewhere), positional, keywords)


def functions(place: str, table: ByArguments, *, also: tuple[str, ...] = (), **more: Any) -> dict[str, Binding]:
    """Write down functions below one place; `also` makes further paths of names elsewhere, or else of the name.

    >>> functions("torch", {("input=data", ""): "exp negative=neg"}, also=("aten::{}",))["negative"].also
    ('aten::neg',)
    """
    return {
        row.operator: call(
            f"{place}.{row.name}",
            row.positional,
            row.keywords,
            also=tuple(path.format(name) for name in row.elsewhere or (row.name,) for path in also),
            **more,
        )
        for row in rows(table)
    }


def gaps(reason: str, operators: str) -> dict[str, Binding]:
    """Write down operators that a framework lacks for one reason."""
    return dict.fromkeys(operators.split(), Missing(reason))


def composition(
    function: Callable[..., Any], positional: str | None = None, keywords: str = "", *, note: str, **more: Any
) -> Call:
    """Write down a function made from several of the framework's; `note` says of which.

    Without `positional` it takes the neutral arguments that its own are called by.
    """
    if positional is None:
        positional, keywords = arguments_of(function)
    return Call(
        f"composition:{function.__name__}", parameters(positional), parameters(keywords), function, note, **more
    )


def arguments_of(function: Callable[..., Any], begin: int = 0) -> tuple[str, str]:
    """Return the lists of a function's own arguments from one on: by name go those that may be left out, or must.

    >>> arguments_of(lambda data, axis, keepdims=False: None)
    ('data, axis', 'keepdims=keepdims')
    """
    own = [*signature(function).parameters.values()][begin:]
    by_name = [one.name for one in own if one.kind is one.KEYWORD_ONLY or one.default is not one.empty]
    by_place = [one.name for one in own if one.kind is one.POSITIONAL_OR_KEYWORD and one.name not in by_name]
    return ", ".join(by_place), ", ".join(f"{name}={name}" for name in by_name)


def compositions(**functions: tuple[Callable[..., Any], str]) -> dict[str, Binding]:
    """Write down several functions made of the framework's by neutral name, each with its note; lambdas get the name.

    >>> compositions(square=(lambda data: data * data, "a product"))["square"].path
    'composition:square'
    """
    for name, (function, _) in functions.items():
        if function.__name__ == "<lambda>":
            function.__name__ = name  # which a compiled program is called by
    return {
        name: replace(composition(function, note=note), path=f"composition:{name}")
        for name, (function, note) in functions.items()
    }


@dataclass(frozen=True)
class OwnNames:
    """Where a framework has its functions of plain names, and how it calls one argument and two; else by the roles."""

    places: Mapping[str, ModuleType]
    unary: str = "data"
    binary: str = "lhs, rhs"

    def spelling(self, operator: Operator) -> dict[str, Binding]:
        """Return the binding of an operator to the function of its name; nothing where there is none."""
        roles = ", ".join(operator.inputs)
        positional = {"data": self.unary, "lhs, rhs": self.binary}.get(roles, roles)
        keywords = ", ".join(f"{name}={name}" for name in operator.attributes)
        for place, module in self.places.items():
            if hasattr(module, operator.name):
                return {operator.name: call(f"{place}.{operator.name}", positional, keywords)}
        return {}


@cache
def bindings(framework: str) -> Mapping[str, Binding]:
    """Return the binding of each neutral operator in a framework; each file calls its table `BINDINGS`."""
    package = f"opperf.child.backends.{framework}.operators"
    own_names: OwnNames = import_module(package).OWN_NAMES
    tables: dict[str, Binding] = {}
    for family in FAMILIES:
        tables.update(import_module(f"{package}.{family}").BINDINGS)
    result: dict[str, Binding] = {}
    for name, operator in catalog().items():
        if name not in tables:
            result |= own_names.spelling(operator)
    return {**result, **tables}
