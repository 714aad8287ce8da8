"""Untrusted JSON, read within limits: reading takes time and memory in proportion to its length.

A parser of JSON alone does not promise that. It calls itself for each list within a list, and one that reads a stream
joins the keys around every value; a string or a number is as long as whoever wrote it liked. So the bytes are looked
through before a parser sees them, all at once or piece by piece: how deep lists and objects are nested, and how long
strings, keys and numbers are. No bound is near what a file of opperf, PARAM or PyTorch holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any, TypeAlias

#: Lists and objects around a value. A list in a list in a list is already more than most operators take.
DEEPEST = 64
#: Bytes of a string: the longest are graphs of ONNX, in base64.
LONGEST_STRING = 16 * 1024 * 1024
#: Bytes of a key. A parser of streams joins the keys around a value, so these bound what one value costs.
LONGEST_KEY = 1024
#: Digits in a row. A float has 17 and a whole number of 64 bits 20; a float takes whole numbers of up to 308.
LONGEST_NUMBER = 100
#: Letters of a value that a message shows.
MOST_CHARACTERS = 60
#: Bytes that are looked through at once: larger pieces leave the processor's cache.
PIECE = 1 << 16

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = [1 if byte in b"[{" else -1 for byte in range(256)]
_ZEROS = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_TOO_LONG = b"0" * (LONGEST_NUMBER + 1)
#: Half of a letter that UTF-16 writes as two: no text has one, and no terminal or file takes it.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

#: An object of JSON, as it is read; and as it is made.
JsonObject: TypeAlias = Mapping[str, Any]
JsonDict: TypeAlias = dict[str, Any]
Pairs = Callable[[list[tuple[str, object]]], object]


def show(value: object) -> str:
    """Return a value as JSON, cut short, with nothing that a terminal would act on.

    >>> show(["a", 1.5]), show(list(range(1000)))
    ('["a", 1.5]', 'a list of 1000')
    """
    if isinstance(value, (list, dict)) and len(value) > MOST_CHARACTERS:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = json.dumps(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


class NotJSON(ValueError):
    """Bytes are not JSON, or beyond the bounds of it; the message says what, where, and what was expected."""


class Bounds:
    """Looks through JSON as it comes, in pieces of any length. Whether it is right otherwise is the parser's to say."""

    def __init__(self) -> None:
        self.read = 0
        self._depth = 0
        self._is_string = False
        #: How long the string is that is not closed yet, and whether the last closed one is too long for a key.
        self._length = 0
        self._is_long = False
        #: What can be judged with the next piece only: a backslash at the end, and digits.
        self._backslash = b""
        self._digits = b""

    def check(self, piece: bytes) -> None:
        """Look through the next piece; raises `NotJSON` for a value that is nested too deep or too long."""
        text = self._backslash + piece
        begin = self.read - len(self._backslash)
        self.read += len(piece)
        is_cut = (len(text) - len(text.rstrip(b"\\"))) % 2 == 1  # what it escapes is in the next piece
        text, self._backslash = (text[:-1], b"\\") if is_cut else (text, b"")
        parts = text.replace(b"\\\\", b"__").replace(b'\\"', b"__").split(b'"')
        outside = parts[self._is_string :: 2]
        self._check_strings(parts, begin)
        self._check_numbers(outside, begin)
        self._check_depth(parts, outside, begin)
        if len(parts) % 2 == 0:
            self._is_string = not self._is_string

    def _check_strings(self, parts: list[bytes], begin: int) -> None:
        lengths = list(map(len, parts))
        if self._is_string:
            lengths[0] += self._length
        elif self._is_long:
            self._check_key(parts, -1, begin)
        first = int(not self._is_string)
        self._length = lengths[-1] if (len(parts) - first) % 2 else 0
        if max(lengths[first::2], default=0) <= LONGEST_KEY:
            return
        for i in range(first, len(parts), 2):
            if lengths[i] > LONGEST_STRING:
                raise NotJSON(f"byte {begin:,}: a string of over {LONGEST_STRING:,} bytes, expected a shorter one")
            if lengths[i] > LONGEST_KEY and i + 1 < len(parts):
                self._check_key(parts, i, begin)

    def _check_key(self, parts: list[bytes], place: int, begin: int) -> None:
        """Raise where a long string is followed by what follows a key."""
        after = parts[place + 1].lstrip()
        if after.startswith(b":"):
            raise NotJSON(f"byte {begin:,}: a key of over {LONGEST_KEY:,} bytes, expected a shorter one")
        self._is_long = not after and place + 2 == len(parts)

    def _check_numbers(self, outside: list[bytes], begin: int) -> None:
        text = self._digits + b" ".join(outside)
        if _TOO_LONG in text.translate(_ZEROS):
            raise NotJSON(f"byte {begin:,}: a number of over {LONGEST_NUMBER} digits, expected fewer")
        self._digits = text[-LONGEST_NUMBER:]

    def _check_depth(self, parts: list[bytes], outside: list[bytes], begin: int) -> None:
        brackets = b"".join(outside).translate(None, _NO_BRACKETS)
        # Most lists hold no other: without them fewer brackets are left to be counted, and the rest is one less deep.
        fewer = brackets.replace(b"[]", b"")
        if max(accumulate(map(_STEPS.__getitem__, fewer), initial=self._depth)) >= DEEPEST:
            deepest = max(accumulate(map(_STEPS.__getitem__, brackets), initial=self._depth))
            if deepest > DEEPEST:
                raise NotJSON(f"byte {begin + self._place(parts):,}: lists and objects nested over {DEEPEST} deep")
        self._depth += 2 * (brackets.count(b"[") + brackets.count(b"{")) - len(brackets)

    def _place(self, parts: list[bytes]) -> int:
        """Return where in a piece the bracket is that is too deep."""
        depth, place, is_string = self._depth, 0, self._is_string
        for part in parts:
            for i, byte in enumerate(b"" if is_string else part):
                depth += _STEPS[byte] if byte in b"[]{}" else 0
                if depth > DEEPEST:
                    return place + i
            place += len(part) + 1
            is_string = not is_string
        return place


def value_of(data: bytes, *, object_pairs_hook: Pairs | None = None) -> object:
    """Return the value that bytes of UTF-8 hold; raises `NotJSON`.

    Half a letter of UTF-16, which JSON can write and nothing else, becomes a question mark. `object_pairs_hook` makes
    the objects, as that of `json.loads` does.

    >>> value_of(b'{"shape": [2, 3]}')
    {'shape': [2, 3]}
    """
    bounds = Bounds()
    for begin in range(0, len(data), PIECE):
        bounds.check(data[begin : begin + PIECE])
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=object_pairs_hook)
        if _SURROGATE.search(data):
            whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
            value = json.loads(whole, object_pairs_hook=object_pairs_hook)
    except (ValueError, RecursionError) as error:
        raise NotJSON(str(error) if data.strip() else "the file is empty") from error
    return value
