"""Names, arguments and messages as text that fits in one cell.

Different cases are written differently. Formats escape text from files and frameworks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from opperf.catalog import catalog
from opperf.domain.case import Argument, Case
from opperf.domain.code import own_name
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import MADE_OF
from opperf.parent.sources.argument_text import argument_text, argument_words

if TYPE_CHECKING:
    from opperf.parent.documents.comparison import Comparison

#: What starts a workflow command of GitHub Actions: two colons at the beginning of a line, which any word may come to
#: stand at, and `##[` anywhere in it. Three colons and more may be broken into such a beginning.
_COMMAND = re.compile(r"(?<!\S)::|:{3,}|##(?=\[)")
#: What starts markup inside a line. An underscore between letters (`log_softmax`) and a bracket that no `(` or `[`
#: follows (`[1.20, 1.24] ms`) start none, and stay readable.
_MARKUP = re.compile(r"[\\`*<&|~]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
_CODE = re.compile(r"(`[^`|\\]+`)")
#: What GitHub turns into a mention, a reference or a link; a zero-width space breaks it.
_MENTION = re.compile(r"@(?=\w)|#(?=\d)|:(?=//)|(?i:\bwww)(?=\.)")
#: What starts a heading, a quotation or a list at the beginning of a line.
_BLOCK = re.compile(r"^([0-9]*)([-#+.)=>])")
#: Beginnings of a field that spreadsheets read as formulas.
_FORMULA = ("=", "+", "-", "@")


def one_line(text: str) -> str:
    r"""Return the text as one line in which everything that does not print as itself, or commands, is escaped.

    >>> one_line("add\n\x1b[31m"), one_line("aten::add ::error::no")
    ('add\\n\\x1b[31m', 'aten::add \\x3a\\x3aerror::no')
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    if "::" not in text and "##[" not in text:  # nearly every text, of which a page has some ten thousand
        return text
    return _COMMAND.sub(lambda match: "".join(f"\\x{ord(char):02x}" for char in match[0]), text)


def for_markdown(text: str) -> str:
    r"""Return one line of text that Markdown shows as it is, in a cell of a table too.

    What stands between two backticks, as opperf writes what can be typed, stays code.

    >>> for_markdown("a|b log_softmax __add__")
    'a\\|b log_softmax \\_\\_add\\_\\_'
    """
    parts = _CODE.split(one_line(text))
    parts[::2] = [_plain(part) for part in parts[::2]]
    return "".join(parts)


def _plain(text: str) -> str:
    result = _MARKUP.sub(lambda match: f"\\{match[0]}", text)
    return _MENTION.sub(lambda match: f"{match[0]}&#8203;", result)


def for_markdown_line(text: str) -> str:
    """Return text that begins a line of Markdown."""
    return _BLOCK.sub(r"\1\\\2", for_markdown(text.strip()))


def for_csv(value: object) -> object:
    """Return a field: numbers as they are, text as one line that no spreadsheet computes.

    >>> for_csv("=1+1"), for_csv(-1.5), for_csv(None)
    ("'=1+1", -1.5, None)
    """
    if not isinstance(value, str):
        return value
    line = one_line(value)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line


def for_annotation(text: str) -> str:
    r"""Return the message of a workflow command of GitHub.

    >>> for_annotation("50%\n")
    '50%25\\n'
    """
    return one_line(text).replace("%", "%25")


def for_annotation_property(text: str) -> str:
    """Return a property of a workflow command of GitHub, as its title.

    >>> for_annotation_property("opperf: a, b")
    'opperf%3A a%2C b'
    """
    return for_annotation(text).replace(":", "%3A").replace(",", "%2C")


def first_line(text: str) -> str:
    r"""Return the first line that says something.

    >>> first_line("\n  shapes do not match\n  at add.cc:12")
    'shapes do not match'
    """
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def subject(case: Case, side: Side) -> str:
    """Name what is measured of a case on a side: the user's own function by its own name, else the operator.

    >>> from opperf.domain.case import Case
    >>> from opperf.domain.plan import Side
    >>> subject(Case("softmax"), Side("torch", implementation="code:kernels/mine.py:fast"))
    'mine.py:fast'
    >>> subject(Case("softmax"), Side("torch", implementation="aten::softmax"))
    'softmax'
    """
    return own_function(side) or case.operator


def place(side: Side) -> str:
    """Say where a side runs, as `torch (current, cpu, eager)`."""
    return f"{side.framework} ({side.environment}, {side.device}, {side.mode})"


def common_subject(comparison: Comparison) -> str:
    """Name the subject of a comparison: the user's function on both sides or on the base, else the operator."""
    base, new = own_function(comparison.base), own_function(comparison.new)
    is_base = comparison.case.operator == own_name(comparison.base.implementation)
    return subject(comparison.case, comparison.base) if base == new or is_base else comparison.case.operator


def own_function(side: Side) -> str | None:
    """Return the name of the user's own function on a side, without the folder of its file; None for another."""
    place, colon, function = (own_name(side.implementation) or "").rpartition(":")
    return f"{PurePath(place).name}{colon}{function}" if colon else None


def case_text(case: Case) -> str:
    """Write the inputs and attributes of a case, as `--input` and `--attribute` read them.

    >>> from opperf.domain.tensor import TensorSpec
    >>> case_text(Case("take", {"data": TensorSpec((8, 4)), "indices": TensorSpec((3,), "int64")}, {"axis": 0}))
    'data=8x4 indices=3:int64 axis=0'
    """
    words = argument_words(case, usual_arguments(case))
    if MADE_OF in case.attributes:  # a whole entry of a config, identified by its digest
        entry = repr(case.attributes[MADE_OF]).encode(errors="backslashreplace")
        words[MADE_OF] = f"sha_{hashlib.sha256(entry).hexdigest()[:12]}"
    return " ".join(f"{name}={text}" for name, text in words.items())


def usual_arguments(case: Case) -> Mapping[str, Argument]:
    """Return the default arguments of a case's operator; nothing for one that is not in the catalog."""
    definition = catalog().get(case.operator)
    return {} if definition is None else definition.case("common").inputs


#: Short names of inputs and attributes in tables, where a line has more than one of them.
SHORT = {
    **dict.fromkeys(("rhs", "x2", "other"), ""),
    "weight": "w",
    "bias": "b",
    "padding": "pad",
    "dilation": "dil",
    "indices": "idx",
    "index": "idx",
}


def short_text(case: Case, common: Container[tuple[str, str]] = ()) -> str:
    """Write a case for people in few words: the first tensor without its name, others by a short one.

    Attributes that are `common` to all rows are left out. What can be typed is written by `case_text`.

    >>> from opperf.domain.case import Case
    >>> from opperf.domain.tensor import TensorSpec
    >>> short_text(Case("conv2d", {"data": TensorSpec((4, 64)), "weight": TensorSpec((3, 64))}, {"padding": 1}))
    '4x64 w=3x64 pad=1'
    """
    arguments = {**case.inputs, **case.attributes}
    if MADE_OF in arguments:
        return case_text(case)
    words = []
    for place, (name, value) in enumerate(arguments.items()):
        if name in case.attributes and attribute_key(name, value) in common:
            continue
        is_first = place == 0 and name in case.inputs
        short = "" if is_first else SHORT.get(name, name) if place == 1 else SHORT.get(name) or name
        words.append(f"{short}={argument_text(value)}".lstrip("="))
    return " ".join(words)


def attribute_key(name: str, value: Argument) -> tuple[str, str]:
    """Return the key of a value of an attribute, any of which may be a list."""
    return name, argument_text(value)


def common_attributes(cases: Iterable[Case]) -> list[tuple[str, str]]:
    """Return the attributes that all of several different cases have alike, in their order; none of equal cases."""
    distinct = list(dict.fromkeys(cases))
    if len(distinct) < 2:
        return []
    shared = [{attribute_key(*pair) for pair in case.attributes.items()} for case in distinct]
    return [
        key for pair in distinct[0].attributes.items() if all((key := attribute_key(*pair)) in one for one in shared)
    ]


def attributes_text(common: Iterable[tuple[str, str]]) -> str:
    """Write the attributes that all rows have alike."""
    return " ".join(f"{SHORT.get(name) or name}={value}" for name, value in common)


def trial_text(trial: Trial) -> str:
    """Name a trial in a list of trials.

    >>> from opperf.domain.tensor import TensorSpec
    >>> from opperf.domain.plan import Side, Trial
    >>> trial_text(Trial(Case("add", {"lhs": TensorSpec((2,))}), Side("torch", device="cuda:0"), "forward"))
    'add torch cuda:0 forward lhs=2'
    """
    side = trial.side
    usual = ((side.environment, ("current", side.framework)), (side.device, ("cpu",)), (side.mode, ("eager",)))
    unusual = [text for text, usual_values in usual if text not in usual_values]
    words = [subject(trial.case, side), side.framework, *unusual, trial.direction, case_text(trial.case)]
    return " ".join(word for word in words if word)
