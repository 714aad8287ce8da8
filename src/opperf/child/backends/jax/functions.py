"""JAX's functions by the path that users write: `jax.numpy.add`, `jnp.add`, `jax.lax.conv_general_dilated`.

A path is data, so it leads to computation only. `primitive.add` is what is below them: a primitive of JAX's.

JAX keeps no registry that a user could name an operator from. So its operators are what `jax.numpy`, `jax.lax`,
`jax.nn` and `jax.scipy` offer that computes. The functions of `jax.random` are not among them: they draw from a key of
unsigned numbers, which no tensor of opperf holds.

A traced program consists of primitives: each is a function `primitive.<name>` of arrays and parameters, below those
that users call, and has no defaults. Parameters come as a case holds them (see `decode_parameter`). Keys of random
numbers, which no case holds, come as the unsigned numbers below them, and go so.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.stats
import numpy as np
from jax.extend.core import Jaxpr, Primitive

from opperf.child.backends.jax.equations import is_own, primitives, words
from opperf.child.backends.jax.rules import AREAS, LEFT_OUT
from opperf.child.backends.naming.paths import canonical, function_at, resolvable
from opperf.child.backends.naming.signatures import Functions
from opperf.domain.backend import Unsupported
from opperf.domain.case import Argument, DType, ListOf
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import ITEM_SIZES

#: Functions of two numbers that primitives are given, by the primitive that each of them is.
COMBINING: Mapping[str, Callable[..., Any]] = {
    "add": jax.lax.add,
    "sub": jax.lax.sub,
    "mul": jax.lax.mul,
    "min": jax.lax.min,
    "max": jax.lax.max,
}


def encode_parameter(value: Any) -> Argument:
    """Return a parameter as an argument; raises `Unsupported` for one that no case holds."""
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.generic):
        return encode_parameter(value.item())
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return DType(_element_type(value))
    if _is_one_device(value):
        return None  # the one that is measured on
    if type(value) is tuple:
        return tuple(map(encode_parameter, value))
    if type(value) is list:
        return ListOf(tuple(map(encode_parameter, value)))
    text = _write(value)
    if text is None:
        raise Unsupported(f"a parameter that is {type(value).__name__}")
    return text


def _is_one_device(value: Any) -> bool:
    """Whether a value names a device, or says that an array is on one as a whole."""
    if isinstance(value, jax.sharding.NamedSharding):
        return bool(value.mesh.empty)
    return isinstance(value, (jax.Device, jax.sharding.SingleDeviceSharding))


def _element_type(value: Any) -> str:
    name = str(np.dtype(value).name)
    if name not in ITEM_SIZES:
        raise Unsupported(f"elements of {name}")
    return name


def _write(value: Any) -> str | None:
    """Return how a value is written that is one of JAX's words; None for another."""
    kind = type(value)
    if isinstance(value, Primitive) and is_own(value):
        return f"Primitive({value.name!r})"
    if isinstance(value, Jaxpr):
        return f"Jaxpr({_operation(value)!r})"
    if kind.__name__ == "PRNGImpl":
        return f"PRNGImpl({value.name!r})"
    if words().get(kind.__name__) is not kind:
        return None
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value.name}"
    return f"{kind.__name__}({', '.join(f'{name}={_literal(getattr(value, name))}' for name in value._fields)})"


def _literal(value: Any) -> str:
    """Return how a field of a named tuple is written; raises `Unsupported` for what is no literal."""
    text = repr(encode_parameter(value))
    try:
        if ast.literal_eval(text) == value:
            return text
    except (ValueError, SyntaxError):
        pass
    raise Unsupported(f"a parameter that holds {type(value).__name__}")


def _operation(function: Jaxpr) -> str:
    """Return the primitive that a function of two numbers is; raises `Unsupported` for another."""
    if len(function.eqns) == 1:
        (only,) = function.eqns
        whole = [*only.invars, *only.outvars] == [*function.invars, *function.outvars]
        if whole and only.primitive.name in COMBINING:
            return str(only.primitive.name)
    raise Unsupported("a parameter that is a function")


def decode_parameter(value: Any, operands: Sequence[Any]) -> Any:
    """Return a parameter as a primitive takes it; a function of two numbers is made for those of the first operand."""
    if isinstance(value, tuple):
        return tuple(decode_parameter(item, operands) for item in value)
    if not isinstance(value, str):
        return value
    kind, _, name = value.partition(".")
    word = words().get(kind)
    if word is not None and issubclass(word, enum.Enum) and name in word.__members__:
        return word[name]
    try:
        call = ast.parse(value, mode="eval").body
    except SyntaxError:
        return value
    return _construct(call, operands) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else value


def _construct(call: ast.Call, operands: Sequence[Any]) -> Any:
    """Return the value that a word makes of literals; raises `LookupError` for a word that JAX does not have."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    arguments = [ast.literal_eval(argument) for argument in call.args]
    if name == "Primitive":
        return primitives()[arguments[0]]
    if name == "Jaxpr":
        number = jax.ShapeDtypeStruct((), operands[0].dtype)
        return jax.make_jaxpr(COMBINING[arguments[0]])(number, number).jaxpr
    if name == "PRNGImpl":
        return jax.eval_shape(lambda: jax.random.key(0, impl=arguments[0])).dtype._impl
    return words()[name](*arguments, **{str(one.arg): ast.literal_eval(one.value) for one in call.keywords})


ROOTS = {"jax": jax, "jnp": jnp, "lax": jax.lax, "nn": jax.nn}
#: Where operators are; the rest of JAX sets up profilers, servers and transformations.
SPACES = ("numpy", "nn", "lax", "random", "scipy", "image", "ops")
#: Functions of files and of foreign memory: no operators.
REFUSALS = frozenset(
    {"load", "save", "savez", "fromfile", "frombuffer", "from_dlpack", "tofile", "dump", "dumps", "set_printoptions"}
)
#: Modules whose functions can be named, as the bindings write them; importing them lets `resolve` find them.
MODULES = {
    name: import_module(name)
    for name in (
        *("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.lax", "jax.lax.linalg", "jax.nn", "jax.random"),
        *("jax.ops", "jax.image"),
        *(f"jax.scipy.{name}" for name in ("fft", "integrate", "linalg", "ndimage", "signal", "special", "stats")),
        *(f"jax.scipy.stats.{module.name}" for module in iter_modules(jax.scipy.stats.__path__)),
    )
}


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`."""
    if path.startswith(PREFIX):
        return primitive(path.removeprefix(PREFIX))
    words = canonical(path, ROOTS).split(".")
    if REFUSALS.intersection(words) or (words[0] == "jax" and words[1:2] not in [[space] for space in SPACES]):
        raise LookupError(path)
    return function_at(path, ROOTS, "jax")


@cache
def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    return resolvable(MODULES, resolve)


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if not path.startswith("jax.random.")]
    return Functions("jax", paths, resolve, ROOTS, AREAS, LEFT_OUT)


#: How the path of a primitive begins.
PREFIX = "primitive."
#: The parameter that says of each operand which kind of keys it is of, None for other arrays; no primitive has it.
KEYS = "key_kinds"


@dataclass(frozen=True)
class Function:
    """A primitive as a function."""

    primitive: Any = field(repr=False)

    def __call__(self, *operands: Any, **keywords: Any) -> Any:
        """Bind it: compute it, or stage it out where the call is traced."""
        kinds = keywords.pop(KEYS, ())
        generators = [
            jax.random.wrap_key_data(operand, impl=kinds[i]) if i < len(kinds) and kinds[i] else operand
            for i, operand in enumerate(operands)
        ]
        values = {name: decode_parameter(value, generators) for name, value in keywords.items()}
        return jax.tree_util.tree_map(_plain, self.primitive.bind(*generators, **values))


def primitive(name: str) -> Function:
    """Return a primitive by its name, or raise `LookupError`."""
    if name not in primitives():
        raise LookupError(PREFIX + name)
    return Function(primitives()[name])


def _plain(result: Any) -> Any:
    return jax.random.key_data(result) if jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key) else result
