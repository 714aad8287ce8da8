"""What MXNet's profiler calls a thread: the hash of its identity, as libstdc++ makes it (MurmurHash64A).

Python knows threads by the same identity (`pthread_self`), so that theirs can be told from MXNet's own.
"""

from __future__ import annotations

from sys import byteorder

MASK = (1 << 64) - 1
MULTIPLIER = 0xC6A4A7935BD1E995
SEED = 0xC70F6907


def of_thread(identity: int) -> int:
    """Return the hash of a thread's identity."""
    return of_bytes(identity.to_bytes(8, byteorder))


def of_bytes(data: bytes) -> int:
    """Return the hash of bytes; MXNet numbers its categories by it.

    >>> of_bytes(b"operator")
    3060606181218273969
    """
    hash_value = SEED ^ (len(data) * MULTIPLIER & MASK)
    end_of_blocks = len(data) & ~7
    for place in range(0, end_of_blocks, 8):
        block = int.from_bytes(data[place : place + 8], byteorder) * MULTIPLIER & MASK
        hash_value = (hash_value ^ (_mix(block) * MULTIPLIER & MASK)) * MULTIPLIER & MASK
    if end_of_blocks < len(data):
        hash_value = (hash_value ^ int.from_bytes(data[end_of_blocks:], byteorder)) * MULTIPLIER & MASK
    return _mix(_mix(hash_value) * MULTIPLIER & MASK)


def _mix(value: int) -> int:
    return value ^ (value >> 47)
