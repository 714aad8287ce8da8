"""Files of every kind that opperf reads, right at first, and then with something wrong or evil in each.

A mutant is cut short, has other bits, other values at a path, names that would be code, numbers beyond any type, or
very many brackets; it is packed into a .gz or a .tar.gz that unpacks to far more. Everything follows from a seed.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import tarfile
from typing import Any

#: What stands in place of a value. Numbers that JSON's own reader takes and no type does are written as they are.
NAMES = (
    *("canary:touch", "code:canary:touch", "canary.py:touch", "null:code:canary:touch", "torch:code:canary:touch"),
    *("os:system", "code:os:system", "numpy:code:os:system", "null:code:os:system", "os:system.__call__(str c) -> int"),
    *("__import__('os').system('touch pwned')", "../../x", "g =", "python=/bin/sh", "/etc/passwd", "torch@ file:///x"),
)
EVIL: tuple[Any, ...] = (
    *(None, True, False, [], {}, "", "a", "\ud800", "\x1b[31m", "\0", "1", "inf", "nan", "x" * 300),
    *(0, -1, 1, 0.5, -0.0, 1e300, 5e-324, 2**31, 2**63, 2**64, 10**25, 10**400, float("inf"), float("-inf")),
    *(float("nan"), [1], ["a"], [[1]], [None], [-1], [0], [2**62, 2**62], [10**9] * 3, [1e300], [0] * 5000),
    *("9999-12-31T23:59:59-23:59", "0001-01-01", "2026-11-23", "9" * 5000, "\u00b2", "1e400", "..", "a/b", "x" * 70),
    *(10**17, 1e18, [""], [["1"] * 10] * 20, {"name": ["a"]}, "?a=b&c#d", "aten::add.Tensor", "A[0]", "a/1:2/3"),
    *({"a": 1}, {"": {}}, {"name": "canary:touch"}, {"shape": [2]}, {"literal": [1, 2]}, {"list": []}, {"graph": "AA"}),
    *({"tuple": [{"tuple": [{"shape": [-1]}]}]}, {"dtype": "no"}, {"float": 1}, {"device": []}),
)
#: Whole files, none of them what anybody asked for.
BOMBS = (
    *(b"", b" ", b"null", b"[]", b"{}", b"5", b'"a"', b"\xef\xbb\xbf", b"\xff\xfe{\x00}\x00", b"\0" * 100, b"NaN"),
    *(b"[" * 200_000, b'{"a":' * 100_000, b"[" * 60 + b"]" * 60, b"1" * 5000, b"-" * 9999, b'"' + b"a" * 1_000_000),
    *(b'{"' + b"k" * 2000 + b'": 1}', b"[" + b"{}," * 50_000 + b"{}]", b"[" + b"[]," * 50_000 + b"[]]", b"\\" * 9999),
    *(
        b'{"a": 1, "a": 2}',
        b'{"\\ud800": "\\udfff"}',
        b"a = " + b"[" * 5000,
        b"a" + b".a" * 5000 + b" = 1",
        b"(" * 5000,
    ),
    *(b"-~" * 20_000 + b"1", b"import canary; canary.touch()", b"[[" * 400 + b"x" + b"]]" * 400),
)


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    inside = data.items() if isinstance(data, dict) else enumerate(data[:20]) if isinstance(data, list) else ()
    return [path, *(place for key, value in inside for place in places(value, (*path, key)))]


def mutant(whole: bytes, draw: random.Random, *, packed: bool) -> tuple[bytes, str]:
    """Return one file made from a whole one, and how its name ends."""
    kind = draw.random()
    if kind < 0.70:
        text = _other_values(whole, draw)
    elif kind < 0.82:
        cut = draw.randrange(len(whole) + 1)
        text = whole[:cut] + bytes(draw.randrange(256) for _ in range(draw.choice((0, 1, 4))))
    elif kind < 0.95:
        text = _other_bytes(whole, draw)
    else:
        text = draw.choice(BOMBS)
    if not packed or draw.random() < 0.8:
        return text, ""
    return _pack(text, draw)


def _other_values(whole: bytes, draw: random.Random) -> bytes:
    """Return a document with other values at a few paths; a file that is no JSON has other words instead."""
    try:
        data = json.loads(whole)
    except ValueError:
        return _other_line(whole, draw)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = _change(data, draw)
    text = json.dumps(data).encode()
    if draw.random() < 0.03:
        text = text.replace(b": 1", b": 1e999").replace(b": 0", b": " + b"9" * 400)
    return text


def _other_line(whole: bytes, draw: random.Random) -> bytes:
    """Return lines of JSON with other values in one of them; a file that is none has other words instead."""
    lines = whole.split(b"\n")
    place = draw.randrange(len(lines))
    try:
        line = json.loads(lines[place])
    except ValueError:
        return _other_words(whole, draw)
    lines[place] = json.dumps(_change(line, draw)).encode()
    return b"\n".join(lines)


def _change(data: Any, draw: random.Random) -> Any:
    result = places(data)
    path = draw.choice(result)
    evil = copy.deepcopy(draw.choice(NAMES) if draw.random() < 0.3 else draw.choice(EVIL))
    if not path:
        return evil
    *way, last = path
    holder = data
    for step in way:
        holder = holder[step]
    how = draw.random()
    if how < 0.1:
        del holder[last]
    elif how < 0.15 and isinstance(holder, dict):
        holder[draw.choice(NAMES)] = holder.pop(last)
    elif how < 0.25:
        for _ in range(draw.choice((1, 5, 30, 70))):
            evil = [evil] if draw.random() < 0.5 else {"a": evil}
        holder[last] = evil
    elif how < 0.35:
        other = draw.choice(result)
        source = data
        for step in other:
            source = source[step]
        holder[last] = copy.deepcopy(source)
    else:
        holder[last] = evil
    return data


def _other_words(whole: bytes, draw: random.Random) -> bytes:
    words = whole.split(b" ")
    evil = draw.choice(NAMES) if draw.random() < 0.4 else json.dumps(draw.choice(EVIL))
    words[draw.randrange(len(words))] = evil.encode()
    lines = b" ".join(words).split(b"\n")
    if draw.random() < 0.3:
        lines.insert(draw.randrange(len(lines) + 1), draw.choice(lines))
    return b"\n".join(lines)


def _other_bytes(whole: bytes, draw: random.Random) -> bytes:
    text = bytearray(whole)
    for _ in range(draw.choice((1, 1, 2, 8))):
        if text:
            text[draw.randrange(len(text))] ^= 1 << draw.randrange(8)
    return bytes(text)


def _pack(text: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Return bytes in an archive, which may itself be damaged, or be one that unpacks to anything."""
    kind = draw.random()
    if kind < 0.3:
        packed, ending = gzip.compress(text, 1), ".gz"
    elif kind < 0.6:
        packed, ending = (
            _archive({draw.choice(["x.json", "../../x.json", "/x.json", "._x.json", "d/"]): text}),
            ".tar.gz",
        )
    elif kind < 0.7:
        packed, ending = _archive({f"{i}.json": b"" for i in range(draw.choice((0, 2, 1500)))}), ".tar.gz"
    elif kind < 0.8:
        header = tarfile.TarInfo("x.json")
        header.size, header.type = draw.choice([(1 << 40, tarfile.REGTYPE), (1 << 33, tarfile.XHDTYPE)])
        packed, ending = gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + bytes(2048)), ".tar.gz"
    else:
        unit = draw.choice([b" ", b"a", b"[", b"[],", b'{"a":1},'])
        start = draw.choice([b"", b'"', b'{"schema": "1.1.1-chakra.0.0.4", "nodes": [', b'{"traceEvents": ['])
        packed, ending = gzip.compress(start + unit * (8_000_000 // len(unit)), 1), ".gz"
    if draw.random() < 0.2:
        packed = _other_bytes(packed, draw)
    return packed, ending


def _archive(members: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", compresslevel=1) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return written.getvalue()
