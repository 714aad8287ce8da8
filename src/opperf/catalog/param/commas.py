"""Text that is split at its commas, but for those in brackets: the arguments of a signature."""

from __future__ import annotations


def split_at_commas(text: str) -> list[str]:
    """Return the parts between commas that stand in no bracket; empty ones are left out.

    >>> split_at_commas("int[2] stride=[1, 1], *, Tensor(a!) out")
    ['int[2] stride=[1, 1]', '*', 'Tensor(a!) out']
    """
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
