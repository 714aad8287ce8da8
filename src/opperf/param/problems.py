"""What is wrong with a config: every mistake with its place, what was found and what was expected, told at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near
from opperf.domain.files.json_text import MOST_CHARACTERS, show

#: Maximum number of mistakes to list; the others are counted.
MOST = 20
#: Names that a hint lists where none is near.
MOST_NAMES = 12


#: What PARAM passes over where it does not know its name.
PASSED_OVER = (
    "key", "operator", "build iterator", "input iterator", "build data generator", "input data generator",
)  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what is wrong, and what may help."""

    place: str
    text: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" + (f" ({self.hint})" if self.hint else "")


@dataclass
class Problems:
    """Collects mistakes, so that a file is mended in one go.

    PARAM passes over names that it does not know, and over what is missing, with a warning. Where that is wanted, they
    are `passed_over`; so are the mistakes in one operator where others of the file are sound.
    """

    mistakes: list[Problem] = field(default_factory=list)
    passed_over: list[Problem] | None = None

    def add(self, place: str, text: str, hint: str | None = None) -> None:
        """Take a mistake."""
        self.mistakes.append(Problem(place, text, hint))

    def unexpected(self, place: str, value: object, expected: str, names: Sequence[str] = ()) -> None:
        """Take a value that is not what was expected; known names that resemble it become the hint."""
        close = self.near(value, names) if isinstance(value, str) else []
        self.add(place, f"found {show(value)}, expected {expected}", did_you_mean(close))

    def no_such(self, place: str, kind: str, name: str, choices: Iterable[str], *, of: str = "") -> None:
        """Take a name that is not known; `of` says what should have it."""
        names = list(choices)
        close = self.near(name, names)
        hint = f"known: {', '.join(names[:MOST_NAMES])}{', ...' if len(names) > MOST_NAMES else ''}" if names else None
        self.unknown(kind, place, f"no {kind} {quote(name)}{of and f' of {of}'}", did_you_mean(close) or hint)

    def unknown(self, kind: str, place: str, text: str, hint: str | None) -> None:
        """Take a name that is not known, as a mistake or as one to pass over."""
        if kind in PASSED_OVER:
            self.pass_over(place, text, hint)
        else:
            self.add(place, text, hint)

    def pass_over(self, place: str, text: str, hint: str | None = None) -> None:
        """Take what PARAM passes over; a mistake where that is not wanted."""
        (self.mistakes if self.passed_over is None else self.passed_over).append(Problem(place, text, hint))

    def near(self, name: str, names: Iterable[str]) -> list[str]:
        """Return the names that resemble one; none if the mistake would not be shown."""
        return near(name, names) if len(name) < MOST_CHARACTERS and len(self.mistakes) < MOST else []

    def note_repeats(self, pairs: Mapping[str, object], place: str) -> None:
        """Take the keys that an object of the file has twice."""
        for name in getattr(pairs, "repeated", ()):
            self.add(key(place, name), "it is there twice", "put the entries into one list")


def refuse(where: str, problems: Sequence[Problem]) -> None:
    """Raise `InputError` with every mistake in a file; nothing where there is none."""
    if not problems:
        return
    if len(problems) == 1:
        (only,) = problems
        raise InputError(f"{where}: {only.place}: {only.text}", hint=only.hint, slug="param_config")
    lines = [f"  {problem}" for problem in problems[:MOST]]
    if len(problems) > MOST:
        lines.append(f"  and {len(problems) - MOST} more")
    raise InputError("\n".join([f"{where}: {len(problems)} mistakes", *lines]), slug="param_config")


def did_you_mean(close: Sequence[str]) -> str | None:
    """Return the hint that names are near."""
    return f"did you mean {', '.join(f'`{name}`' for name in close)}?" if close else None


def key(place: str, name: str) -> str:
    """Return the JSON path of a key.

    >>> key("$", "torch.add"), key("$.config[0]", "input")
    ('$["torch.add"]', '$.config[0].input')
    """
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return f"{place}.{name}"
    return f"{place}[{show(name)}]"


def quote(text: str) -> str:
    """Return a name as a message shows it: short, and with nothing that a terminal would act on."""
    return f"`{show(text)[1:-1]}`"
