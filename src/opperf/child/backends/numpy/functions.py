"""NumPy's functions by the path that users write, `numpy.add` or `np.add`.

A path is data, so it leads to computation only: modules that compute, and in them nothing that reads or writes files,
unpickles or runs tests. A method of `numpy.random.Generator` comes bound to a generator of its own, seeded, and made
when the path is looked up: once for each call that is bound.

NumPy keeps no registry, so its operators are what its modules offer: every ufunc, the functions of its computing
modules, and samplers. Those of `numpy.random` are the methods of `Generator`: the functions beside it draw from a
hidden state that they share, and NumPy keeps them for old programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from opperf.child.backends.arrays import rules as array_rules
from opperf.child.backends.naming.notation import Rule, alike
from opperf.child.backends.naming.paths import Refusal, canonical, function_at, listing
from opperf.child.backends.naming.signatures import Functions, Rules, required_arguments

#: The parameters of each distribution that have no default.
PARAMETERS: Mapping[str, Mapping[str, Any]] = {
    "beta": {"a": 2.0, "b": 3.0},
    "binomial": {"n": 10, "p": 0.3},
    "chisquare": {"df": 3.0},
    "choice": {"a": 100},
    "dirichlet": {"alpha": (0.5, 1.0, 2.0)},
    "exponential": {},
    "f": {"dfnum": 3.0, "dfden": 8.0},
    "gamma": {"shape": 2.0},
    "geometric": {"p": 0.3},
    "gumbel": {},
    "hypergeometric": {"ngood": 20, "nbad": 30, "nsample": 10},
    "laplace": {},
    "logistic": {},
    "lognormal": {},
    "logseries": {"p": 0.3},
    "multinomial": {"n": 10, "pvals": (0.25, 0.25, 0.5)},
    "multivariate_hypergeometric": {"colors": (10, 20, 30), "nsample": 10},
    "multivariate_normal": {"mean": (0.0, 1.0), "cov": ((2.0, 0.5), (0.5, 1.0))},
    "negative_binomial": {"n": 10, "p": 0.3},
    "noncentral_chisquare": {"df": 3.0, "nonc": 1.0},
    "noncentral_f": {"dfnum": 3.0, "dfden": 8.0, "nonc": 1.0},
    "normal": {},
    "pareto": {"a": 2.0},
    "poisson": {"lam": 3.0},
    "power": {"a": 2.0},
    "random": {},
    "rayleigh": {},
    "standard_cauchy": {},
    "standard_exponential": {},
    "standard_gamma": {"shape": 2.0},
    "standard_normal": {},
    "standard_t": {"df": 3.0},
    "triangular": {"left": 0.0, "mode": 0.5, "right": 1.0},
    "uniform": {},
    "vonmises": {"mu": 0.0, "kappa": 4.0},
    "wald": {"mean": 1.0, "scale": 2.0},
    "weibull": {"a": 2.0},
    "zipf": {"a": 2.0},
}
RULES: Mapping[str, Rule] = {
    **{name: ("", {**parameters, "size": lambda side: (side, side)}) for name, parameters in PARAMETERS.items()},
    "bytes": ("", {"length": lambda side: side * side}),
    "permutation": ("x: nn", {}),
    "permuted": ("x: nn", {}),
    "shuffle": ("x: nn", {}),
}


#: Functions that NumPy alone has.
OWN: Mapping[str, Rule] = {
    "copyto": ("dst: n,n | src: n,n", {}),
    "einsum_path": ("subscripts = 'ij,jk,kl->il' | operand0: n,n | operand1: n,n | operand2: n,n", {}),
    "lib.stride_tricks.sliding_window_view": ("x: n,n", {"window_shape": (4, 4)}),
    "putmask": ("a: n,n | mask: n,n bool | values: n", {}),
    "real_if_close": ("a: n,n complex64 zeros", {}),
    "row_stack": ("tup: [n,n; n,n]", {}),
}
#: Functions whose arguments older versions of NumPy do not name.
RULES_WITHOUT_NAMES: Mapping[str, Rule] = {
    **alike("a: n,n", {}, "array", "asanyarray", "asarray", "asfortranarray", "empty_like"),
    **alike("a: n,n | b: n,n", {}, "inner", "may_share_memory", "shares_memory"),
    "empty": ("", {"shape": lambda side: (side, side)}),
}
#: By the beginning of a path; what it ends in is the name that a rule stands under.
AREAS: Mapping[str, Rules] = {
    "numpy.random.Generator.": Rules(RULES, array_rules.ATTRIBUTES),
    "numpy.": Rules({**array_rules.RULES, **OWN, **RULES_WITHOUT_NAMES}, array_rules.ATTRIBUTES),
}

#: Why functions are not measured, and their names.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "it calls a Python function passed to it, and only that function would be timed": (
        "apply_along_axis", "apply_over_axes", "fromfunction", "frompyfunc", "mask_indices", "piecewise", "fromiter",
    ),
    "it writes or reads text": (
        "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
        "format_float_scientific", "fromstring", "typename",
    ),
    "it inspects element types or shapes and reads no elements": (
        "broadcast_shapes", "can_cast", "common_type", "isdtype", "issubdtype", "min_scalar_type", "mintypecode",
        "promote_types", "result_type", "isscalar", "iterable",
    ),
    "it asks or sets how NumPy works": (
        "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "printoptions",
    ),
    "it computes with dates, which opperf's tensors cannot hold": (
        "busday_count", "busday_offset", "datetime_as_string", "datetime_data", "is_busday", "isnat",
    ),
    "it wraps existing memory or makes an iterator": ("from_dlpack", "frombuffer", "nested_iters"),
    "it makes an object of a class that NumPy discourages": ("asmatrix", "bmat"),
    "it makes generators, not numbers": ("random.Generator.spawn",),
}  # fmt: skip


ROOTS = {"numpy": np, "np": np}
GENERATOR = "numpy.random.Generator"
SEED = 0
#: Modules whose functions can be named, as users write them.
MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma", "numpy.lib.stride_tricks")
#: Names that touch files, unpickle, run tests or change how NumPy works.
REFUSALS = frozenset(
    {
        "load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt", "fromfile", "fromregex",
        "memmap", "DataSource", "tofile", "dump", "dumps", "test", "source", "lookfor", "info", "show_config",
        "show_runtime", "set_string_function", "set_printoptions", "setbufsize", "seterr", "seterrcall", "setflags",
        "recfromcsv", "recfromtxt", "add_docstring", "add_newdoc", "add_newdoc_ufunc", "deprecate", "disp", "safe_eval",
        "seterrobj", "who",
    }
)  # fmt: skip


def generator() -> np.random.Generator:
    """Return a new generator, the same one each time."""
    return np.random.default_rng(SEED)


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`, or `Refusal` for one that does not compute."""
    path = canonical(path, ROOTS)
    if REFUSALS.intersection(path.split(".")):
        raise Refusal(path, "it touches files, runs tests or changes NumPy's behaviour")
    function = function_at(path, ROOTS, "numpy")
    if not _computes(path):
        raise Refusal(path, "its module does more than compute")
    if path.startswith(f"{GENERATOR}."):
        function = getattr(generator(), path.removeprefix(f"{GENERATOR}."))
    return function


def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    roots: dict[str, Any] = {name: _module(name) for name in MODULES}
    return [path for path in listing({**roots, GENERATOR: np.random.Generator}) if _computes(path)]


def _computes(path: str) -> bool:
    words = path.split(".")
    if REFUSALS.intersection(words):
        return False
    deepest = max((i for i in range(1, len(words) + 1) if _module(".".join(words[:i])) is not None), default=0)
    return ".".join(words[:deepest]) in MODULES


def _module(path: str) -> ModuleType | None:
    first, *rest = path.split(".")
    module = ROOTS.get(first)
    for word in rest:
        module = getattr(module, word, None)
    return module if isinstance(module, ModuleType) else None


#: Where operators are.
PLACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", GENERATOR)


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if path.rpartition(".")[0] in PLACES]
    return Functions("numpy", paths, resolve, ROOTS, AREAS, LEFT_OUT)


#: What every ufunc takes by keyword beside its arrays.
UFUNC_KEYWORDS = ("out", "where", "casting", "order", "dtype", "subok", "signature")


def arguments_of_ufunc(function: np.ufunc) -> dict[str, bool]:
    """Return the arguments of a ufunc in their order, and whether each goes by place.

    >>> list(arguments_of_ufunc(np.hypot))[:3]
    ['x1', 'x2', 'out']
    """
    return dict.fromkeys(required_arguments(function), True) | dict.fromkeys(UFUNC_KEYWORDS, False)
