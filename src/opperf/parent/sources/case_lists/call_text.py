"""The arguments of a call as PyTorch's tools print them: `((T([64, 128], f16), 1, False), {'dtype': f16})`.

It looks like Python, and is read by a grammar of its own: nothing is evaluated, and a name that the grammar does not
know ends the reading. Positional arguments are called by their places, since the text has no names.

    call   = "(" tuple "," dict ")"                   tensor = "T(" list "," type ["," strides] ["," NAME "=" value] ")"
    value  = tensor | tuple | list | NUMBER | TEXT | NAME | device           device = "torch.device(" value ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import NamedTuple, TypeVar, cast

from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.tensor import FLOAT8, ITEM_SIZES, TensorSpec, row_major

HINT = "write, for example, `((T([64, 128], f16), 1, False), {'dtype': f16})`"
#: A tensor of as many elements is a mistake: no machine holds one.
MOST_ELEMENTS = 10**12
#: A list in a list in a list: more than any operator takes. Whole numbers have 64 bits.
DEEPEST, MOST_DIGITS = 16, 20
#: How PyTorch's tools abbreviate element types.
DTYPES = {
    "b8": "bool",
    "bf16": "bfloat16",
    **{
        f"{letter}{bits}": f"{word}{bits}" for letter, word in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
    },
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"c{bits}": f"complex{bits}" for bits in (32, 64, 128)},
    **{f"f8{name.removeprefix('float8_')}": name for name in FLOAT8},
}
#: Names that stand for themselves, and numbers of memory formats as the framework counts them.
CONSTANTS: dict[str, Argument] = {
    "None": None,
    "True": True,
    "False": False,
    "inf": float("inf"),
    "nan": float("nan"),
    "torch.contiguous_format": 0,
    "torch.preserve_format": 1,
    "torch.channels_last": 2,
    "torch.channels_last_3d": 3,
    **{f"torch.{name}": DType(name) for name in ITEM_SIZES},
    **{short: DType(name) for short, name in DTYPES.items()},
}
#: Of where and how memory is got, which says nothing of the work; `layout` is looked at first.
IDLE = ("layout", "pin_memory", "non_blocking")
DENSE = "torch.strided"
LAYOUTS = (DENSE, "torch.jagged", *(f"torch.sparse_{kind}" for kind in ("coo", "csr", "csc", "bsr", "bsc")))
#: The parts of a tensor in their order.
PARTS = ("shape", "dtype", "stride")
_TOKEN = re.compile(
    r"(?P<number>-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf\b)j?)|(?P<name>[A-Za-z_][\w.]*)"
    r"|(?P<text>'[^'\\]*'|\"[^\"\\]*\")|(?P<mark>[()\[\]{},:=])"
)
_ELEMENT_TYPE = re.compile(r"[a-z]{1,4}\d\w*|torch\.\w+")
_SPACE = re.compile(r"\s*")
_DEVICE = re.compile(r"torch\.device\((['\"]?)[\w:]+\1\)")


T = TypeVar("T")


class Token(NamedTuple):
    """A word of the text, what kind of word it is, and its column, counted from 1."""

    kind: str
    text: str
    column: int


@dataclass(frozen=True)
class CallText:
    """The arguments of a call: those without a name by their places, `"0"`, `"1"`, and the others by name.

    `reasons` say why no case can hold them; empty where one can.
    """

    places: dict[str, Argument]
    names: dict[str, Argument]
    reasons: tuple[str, ...] = ()


def read_call(text: str) -> CallText:
    """Return the arguments in a text; raises `InputError` with the column for what the grammar does not have.

    All of it may be in quotes.
    """
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"":
        text = " " * (text.index(bare) + 1) + bare[1:-1]
    parser = Parser(tuple(_tokens(text)))
    parser.expect("(")
    places = parser.items("(", ")")
    parser.expect(",")
    names = parser.pairs()
    parser.accept(",")
    parser.expect(")")
    if parser.token.kind != "end":
        raise parser.refusal("the end")
    reasons = tuple(dict.fromkeys(parser.reasons))
    return CallText({str(place): value for place, value in enumerate(places)}, names, reasons)


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while (place := _end_of_space(text, place)) < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(f"column {place + 1}: found {text[place : place + 20]!r}, expected an argument", hint=HINT)
        yield Token(str(match.lastgroup), match[0], place + 1)
        place = match.end()
    yield Token("end", "", len(text) + 1)


def _end_of_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return place if match is None else match.end()


@dataclass
class Parser:
    """Reads tokens from left to right; what no case can hold is read to its end, and its reason noted."""

    tokens: tuple[Token, ...]
    place: int = 0
    depth: int = 0
    reasons: list[str] = field(default_factory=list)

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def refusal(self, expected: str, token: Token | None = None) -> InputError:
        """Return the error for a token, the next one by default."""
        token = token or self.token
        word = f"`{token.text[:40]}`" if token.text else "the end"
        return InputError(f"column {token.column}: found {word}, expected {expected}", hint=HINT)

    def accept(self, mark: str) -> bool:
        """Pass over a mark if it is next."""
        is_next = self.token.kind == "mark" and self.token.text == mark
        self.place += is_next
        return is_next

    def expect(self, mark: str) -> None:
        """Pass over a mark; raises `InputError` where another token is."""
        if not self.accept(mark):
            raise self.refusal(f"`{mark}`")

    def items(self, opening: str, closing: str) -> list[Argument]:
        """Return the values between two brackets."""
        self.expect(opening)
        with self._inside():
            return list(self._each(closing, self.value))

    def pairs(self) -> dict[str, Argument]:
        """Return the arguments by name in braces, without those that say nothing of the work."""
        self.expect("{")
        with self._inside():
            pairs = list(self._each("}", self._pair))
        names = dict(pairs)
        if len(names) < len(pairs):
            raise self.refusal("each name once", self.tokens[self.place - 1])
        if names.get("layout", DENSE) not in (DENSE, None):
            self.reasons.append(f"{str(names['layout']).removeprefix('torch.').removesuffix('_coo')} tensors")
        return {name: _of_name(name, value) for name, value in names.items() if name not in IDLE}

    def value(self) -> Argument:
        """Return the next value; raises `InputError` for anything else."""
        token = self.token
        if token.kind == "mark" and token.text == "(":
            return tuple(self.items("(", ")"))
        if token.kind == "mark" and token.text == "[":
            return ListOf(tuple(self.items("[", "]")))
        if token.kind == "number":
            return self._number()
        self.place += 1
        if token.kind == "text":
            text = token.text[1:-1]
            # Some tools put a device or an element type in quotes.
            return Device("default") if _DEVICE.fullmatch(text) else _dtype(text)
        if token.kind == "name":
            return self._name(token)
        raise self.refusal("an argument", token)

    def _each(self, closing: str, read: Callable[[], T]) -> Iterator[T]:
        while not self.accept(closing):
            yield read()
            if not self.accept(","):
                self.expect(closing)
                return

    def _pair(self) -> tuple[str, Argument]:
        name = self.token
        if name.kind != "text" or not name.text[1:-1].isidentifier():
            raise self.refusal("the name of an argument, such as 'dtype'")
        self.place += 1
        self.expect(":")
        return name.text[1:-1], self.value()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refusal(f"brackets in brackets, {DEEPEST} deep at most", self.tokens[self.place - 1])
        yield
        self.depth -= 1

    def _number(self) -> Argument:
        token = self.token
        self.place += 1
        if token.text.endswith("j"):
            self.reasons.append("complex numbers as arguments")
            return None
        if token.text.lstrip("-").isdecimal():
            if len(token.text) > MOST_DIGITS:
                raise self.refusal("a whole number of 64 bits", token)
            return int(token.text)
        return float(token.text)

    def _name(self, token: Token) -> Argument:
        if token.text in ("T", "ST"):
            return self._tensor(token)
        if token.text.startswith("th."):
            token = token._replace(text=f"torch.{token.text[3:]}")
        if token.text == "torch.device":
            self.items("(", ")")
            return Device("default")
        if token.text in CONSTANTS:
            return CONSTANTS[token.text]
        if token.text in LAYOUTS:
            return token.text
        if token.text.startswith("torch.") and self.token.text != "(":
            self.reasons.append(f"`{token.text}` as an argument")
            return None
        raise self.refusal("an argument", token)

    def _tensor(self, token: Token) -> Argument:
        self.expect("(")
        with self._inside():
            parts = list(self._each(")", self._part))
        values = {name or PARTS[min(i, 2)]: value for i, (name, value) in enumerate(parts)}
        shape, strides, dtype = _sizes(values.get("shape")), _sizes(values.get("stride")), values.get("dtype")
        if shape is None or (strides is None) is not (values.get("stride") is None):
            raise self.refusal("a tensor, such as `T([2, 3], f16, stride=(1, 2))`", token)
        if token.text == "ST" or not isinstance(dtype, DType):
            self.reasons.append("sparse tensors" if token.text == "ST" else f"tensors of `{dtype}`")
            return None
        try:
            spec = TensorSpec(shape, dtype.name)
            if strides is not None and spec.elements and strides != row_major(shape):
                spec = replace(spec, strides=strides)
        except InputError as error:
            raise InputError(f"column {token.column}: {error.message}", hint=error.hint) from error
        reach = 1 + sum((size - 1) * abs(step) for size, step in zip(shape, spec.strides or ()))
        if max(spec.elements, reach) >= MOST_ELEMENTS:
            message = f"a tensor of {max(spec.elements, reach):,} elements, expected fewer than {MOST_ELEMENTS:,}"
            raise InputError(f"column {token.column}: {message}")
        return spec

    def _part(self) -> tuple[str, Argument]:
        """Return one part of a tensor, with its name if it has one; a type that opperf has none of is its name."""
        token = self.token
        name = ""
        if token.kind == "name" and self.tokens[self.place + 1].text == "=":
            self.place += 2
            name, token = token.text, self.token
        if token.kind == "name" and token.text not in CONSTANTS and _ELEMENT_TYPE.fullmatch(token.text):
            self.place += 1
            return name, token.text
        return name, self.value()


def _of_name(name: str, value: Argument) -> Argument:
    """Return the value of an argument that has a name: a device is the one that is measured on."""
    if name == "device" and isinstance(value, str):
        return Device("default")
    return value


def _dtype(text: str) -> Argument:
    return DType(DTYPES[text]) if text in DTYPES else text


def _sizes(value: Argument) -> tuple[int, ...] | None:
    """Return the whole numbers in a list or tuple, None for anything else."""
    items = value.items if isinstance(value, ListOf) else value
    is_whole = isinstance(items, tuple) and all(type(item) is int for item in items)
    return cast("tuple[int, ...]", items) if is_whole else None
