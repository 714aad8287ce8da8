"""A parameter of a benchmark that another tool writes as text, spelt alike whichever tool measured it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opperf.domain.case import Argument

#: The texts of parameters that are numbers: as many digits as a column takes, and no infinity; and of strings.
WHOLE, FRACTION = r"-?\d{1,18}", r"-?\d{1,18}(\.\d{0,18})?(e[+-]?\d{1,2})?"
QUOTED = r"""(['"])([^'"\\]*)\1"""
WORDS: Mapping[str, Argument] = {"True": True, "False": False, "None": None}


def argument(text: str) -> Argument:
    """Return a parameter that a tool writes as text: a number, a string in quotes, or else the text as it stands.

    Nothing is evaluated.

    >>> [argument(text) for text in ("100", "1e-3", "'list'", "True", "None", "(1, 2)", "add")]
    [100, 0.001, 'list', True, None, '(1, 2)', 'add']
    """
    if text in WORDS:
        return WORDS[text]
    if re.fullmatch(WHOLE, text):
        return int(text)
    if re.fullmatch(FRACTION, text):
        return float(text)
    quoted = re.fullmatch(QUOTED, text)
    return text if quoted is None else quoted[2]
