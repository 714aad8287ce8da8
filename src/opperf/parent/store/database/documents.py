"""Documents as they stand in the database: JSON, compressed, and told apart by what is in them."""

from __future__ import annotations

import hashlib
import json
import zlib

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, JsonObject

#: Maximum bytes of a document, such as the samples of a record: a million of them in one run have 50 MB.
LARGEST = 256 * 1024 * 1024
#: What documents share, so that a small one is compressed well. What was compressed with it needs it for good: it never
#: changes, and another would have another name.
VOCABULARY = (
    b'"interval_reason":"1 of the 3 processes that an interval needs","precision":null,"samples":,"calls_per_sample":,'
    b'"discarded":0,"processes":1,"sync":"block","cache":"hot","clock":"cpu","disturbed":0},"byte_rate":{"unit":"B/s",'
    b'"source":"formula over median time"},"flop_rate":{"unit":"FLOP/s","bytes":{"unit":"B","flops":{"unit":"FLOP",'
    b'"source":"formula"},"compile_time":{"unit":"s","value":,"memory_allocated":{"memory_peak":{"unit":"B","cpu_time":'
    b'{"unit":"s","latency":{"unit":"s","mean":,"median":,"p50":,"p90":,"p99":,"min":,"max":,"stdev":,"interval":null,'
    b'"warnings":[{"slug":"p99_of_few","message":"p99 is taken from fewer than 100 samples","hint":"`--runs 100`"}],'
    b'"facts":{"implementation":"torch:numpy:jax:mxnet:null:","sync":"block","warmup_calls":,"checked":"against NumPy '
    b'and SciPy 1.17.1 in float64","version":"2.13.0+cpu"},"status":"ok","reason":null,"origin":"catalog:common",'
    b'"count":1,"metrics":{"time":{"unit":"s","mean":'
)


def pack(document: JsonObject, level: int = 9) -> bytes:
    """Return a document in as few bytes as may be; level 0 leaves it as it is, which takes little time."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    squeezer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, VOCABULARY)
    return squeezer.compress(text) + squeezer.flush()


def unpack(data: bytes, where: str) -> JsonDict:
    """Return the document that `pack` made these bytes of.

    Raises `InputError` for bytes that others put there: a few may well be those of more than the memory holds.
    """
    try:
        expander = zlib.decompressobj(-15, VOCABULARY)
        text = expander.decompress(data, LARGEST)
        if expander.unconsumed_tail:
            raise InputError(f"{where}: its document has over {LARGEST:,} bytes", slug="database")
        document: JsonDict = json.loads(text)
        if not isinstance(document, dict):
            raise ValueError("it is no object")
    except (zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"{where}: its document is damaged: {error}", slug="database") from error
    return document


def fingerprint(*parts: object) -> str:
    """Return the hash of an identity.

    >>> fingerprint("numpy", {"b": 1, "a": 2}) == fingerprint("numpy", {"a": 2, "b": 1})
    True
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
