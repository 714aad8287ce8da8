"""Parse and format numbers with units.

Inside opperf every time is seconds and every size bytes; only what is printed is scaled, and only here:

* three significant digits, decimal prefixes, ASCII (`12.3 us`, `4.19 MB`, `1.20 GFLOP/s`);
* a missing number is an empty string, never a zero;
* what a person writes (`200ms`, `2%`) is read strictly: anything else is an `InputError` that says what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError

#: Powers of ten with the name of the unit, largest first.
Scale: TypeAlias = tuple[tuple[int, str], ...]

_PREFIXES: Scale = ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))
_SECONDS: Scale = ((0, "s"), (-3, "ms"), (-6, "us"), (-9, "ns"))
_JOULES: Scale = ((3, "kJ"), *((exponent, unit.replace("s", "J")) for exponent, unit in _SECONDS))

_DURATIONS = {"": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SIZES: dict[str, int] = {"": 1, "b": 1, **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)}}
_SIZES |= {f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)}
_QUANTITY = re.compile(r"\s*([0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z%]*)\s*", re.IGNORECASE)


def format_factor(value: float | None, places: int = 3) -> str:
    """Print how many times as much something is, with as many digits as say something; below 10 `places`.

    >>> format_factor(1.08234), format_factor(1.5, 2), format_factor(12.3456), format_factor(4512.3)
    ('1.082', '1.50', '12.3', '4,512')
    """
    if value is None:
        return ""
    return f"{value:.{places}f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def format_seconds(value: float | None) -> str:
    """Print a time.

    >>> format_seconds(12.3456e-6), format_seconds(0.00124), format_seconds(0.0009996), format_seconds(None)
    ('12.3 us', '1.24 ms', '1.00 ms', '')
    """
    return _scale(value, _SECONDS)


def format_difference(value: float | None) -> str:
    """Print how much longer something takes; what takes less has a minus.

    >>> format_difference(4e-6), format_difference(-500e-9), format_difference(0.0)
    ('+4.00 us', '-500 ns', '0 s')
    """
    return f"{'-' if value < 0 else '+'}{format_seconds(abs(value))}" if value else format_seconds(value)


def format_interval(interval: tuple[float, float] | None) -> str:
    """Print an interval of times, both ends in the unit of the upper one.

    >>> format_interval((0.00098, 0.00124))
    '[0.980, 1.24] ms'
    """
    if interval is None:
        return ""
    low, high = interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"[{low}, {high}] s"
    exponent, unit = _step(high, _SECONDS)
    return f"[{_digits(low, exponent)}, {_digits(high, exponent)}] {unit}"


def format_ratio(ratio: float | None) -> str:
    """Print a ratio.

    >>> format_ratio(1.0428)
    '1.043'
    """
    return "" if ratio is None else f"{ratio:.3f}"


def format_ratios(interval: tuple[float, float] | None) -> str:
    """Print an interval of ratios.

    >>> format_ratios((0.98, 1.24))
    '[0.980, 1.240]'
    """
    return "" if interval is None else f"[{interval[0]:.3f}, {interval[1]:.3f}]"


def format_bytes(value: float | None) -> str:
    """Print a size; whole bytes stay whole.

    >>> format_bytes(4194304), format_bytes(24)
    ('4.19 MB', '24 B')
    """
    return _count(value, "B")


def format_flops(value: float | None) -> str:
    """Print a number of floating-point operations.

    >>> format_flops(2147483648)
    '2.15 GFLOP'
    """
    return _count(value, "FLOP")


def format_flop_rate(value: float | None) -> str:
    """Print operations in a second.

    >>> format_flop_rate(1.2e9)
    '1.20 GFLOP/s'
    """
    return _scale(value, _with_unit("FLOP/s"))


def format_byte_rate(value: float | None) -> str:
    """Print bytes in a second.

    >>> format_byte_rate(23.04e9)
    '23.0 GB/s'
    """
    return _scale(value, _with_unit("B/s"))


def format_joules(value: float | None) -> str:
    """Print an energy.

    >>> format_joules(0.00213), format_joules(4.2e-8)
    ('2.13 mJ', '42.0 nJ')
    """
    return _scale(value, _JOULES)


@dataclass(frozen=True)
class Unit:
    """The unit of a metric: its symbol in files, and how an amount of it is shown to people."""

    symbol: str
    show: Callable[[float | None], str]

    @property
    def suffix(self) -> str:
        """How it ends the name of a column; a share has nothing there.

        >>> BYTE_RATE.suffix
        'B_per_s'
        """
        return "" if self.symbol == "1" else self.symbol.replace("/", "_per_")


SECOND = Unit("s", format_seconds)
JOULE = Unit("J", format_joules)
BYTE = Unit("B", format_bytes)
FLOP = Unit("FLOP", format_flops)
FLOP_RATE = Unit("FLOP/s", format_flop_rate)
BYTE_RATE = Unit("B/s", format_byte_rate)


def plural(count: int, noun: str) -> str:
    """Write a count of things.

    >>> plural(1, "answer"), plural(2, "answer"), plural(0, "process")
    ('1 answer', '2 answers', '0 processes')
    """
    ending = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else ending}"


def format_count(value: float | None) -> str:
    """Print how many; under a thousand exactly.

    >>> format_count(312), format_count(48213)
    ('312', '48.2 k')
    """
    return _count(value, "")


def format_bound(share: float | None) -> str:
    """Print a share either way, rounded up: it is what a change does not exceed.

    >>> format_bound(0.0221), format_bound(0.5), format_bound(None)
    ('±2.3%', '±50.0%', '')
    """
    return "" if share is None else f"±{math.ceil(round(1000 * share, 6)) / 10:.1f}%"


def format_percent(value: float | None, *, digits: int = 3) -> str:
    """Print a fraction as a percentage.

    >>> format_percent(0.02), format_percent(0.01234, digits=2)
    ('2.00 %', '1.2 %')
    """
    if value is None:
        return ""
    if not math.isfinite(value):
        return str(value)
    return f"{_digits(value * 100, 0, digits)} %"


SHARE = Unit("1", format_percent)


def parse_duration(text: str, *, name: str = "duration") -> float:
    """Read a time in seconds; `name` is what the message calls it. Raises `InputError` for anything else.

    >>> parse_duration("30"), parse_duration("5m"), parse_duration("200ms")
    (30.0, 300.0, 0.2)
    """
    units, hint = "ns, us, ms, s, m, h; seconds without one", "write, for example, `30`, `30s`, `5m` or `200ms`"
    return _quantity(text, _DURATIONS, name, units, hint, slug="bad_duration")


def parse_bytes(text: str, *, name: str = "size") -> int:
    """Read a size in bytes; `name` is what the message calls it. Raises `InputError` for anything else.

    >>> parse_bytes("512"), parse_bytes("3GB"), parse_bytes("1.5 GiB")
    (512, 3000000000, 1610612736)
    """
    units, hint = "kB, MB, GB, TB, KiB, MiB, GiB; bytes without one", "write, for example, `500MB` or `3GB`"
    return round(_quantity(text, _SIZES, name, units, hint, slug="bad_size"))


def parse_percent(value: str | float, *, name: str = "percentage") -> float:
    """Read a percentage above zero, however large, or a fraction below one, as a fraction.

    A bare `2` may mean 2 % or 200 %. Raises `InputError`, which calls the value by its `name`, for that, for what is no
    percentage, and for nothing.

    >>> parse_percent("2%"), parse_percent("0.02"), parse_percent(0.02), parse_percent("150%")
    (0.02, 0.02, 0.02, 1.5)
    """
    text = value.strip() if isinstance(value, str) else f"{value}"
    number, unit = _read(text) if isinstance(value, str) else (value, "")
    hint, expected = "write, for example, `2%` or `0.02`", "a percentage or a fraction below 1"
    if number is not None and math.isfinite(number) and unit in ("", "%"):
        if number <= 0:
            expected = "more than 0%"
        elif unit or number < 1:
            return number / 100 if unit else number
        else:
            hint = f"write `{text}%` if you mean {text} percent"
    raise InputError(f"{name} is `{text}`, expected {expected}", hint=hint, slug="bad_percentage")


def _quantity(text: str, factors: Mapping[str, float], name: str, units: str, hint: str, *, slug: str) -> float:
    """Read a number and its unit, by the factor of each; raises `InputError` for what is none, or is infinite."""
    number, unit = _read(text)
    quantity = math.inf if number is None else number * factors.get(unit, math.inf)
    if not math.isfinite(quantity):
        raise InputError(f"{name} is `{text}`, expected a number and a unit ({units})", hint=hint, slug=slug)
    return quantity


def _read(text: str) -> tuple[float | None, str]:
    """Split a number from its unit; the number is None if the text is not a number and a unit."""
    match = _QUANTITY.fullmatch(text)
    return (float(match[1]), match[2].lower()) if match else (None, "")


def _with_unit(unit: str) -> Scale:
    return tuple((exponent, f"{prefix}{unit}") for exponent, prefix in _PREFIXES)


def _count(value: float | None, unit: str) -> str:
    """Print something that comes in whole pieces."""
    if value is not None and math.isfinite(value) and abs(value) < 1000 and value == int(value):
        return f"{int(value)} {unit}".rstrip()
    return _scale(value, _with_unit(unit))


def _scale(value: float | None, scale: Scale) -> str:
    if value is None:
        return ""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return f"0 {next(unit for exponent, unit in scale if exponent == 0)}".rstrip()
    exponent, unit = _step(value, scale)
    return f"{_digits(value, exponent)} {unit}".rstrip()


def _step(value: float, scale: Scale) -> tuple[int, str]:
    """Return the largest unit in which the rounded value is at least one, or else the smallest."""
    order = _order(value, 3)
    return next(((exponent, unit) for exponent, unit in scale if order >= exponent), scale[-1])


def _order(value: float, digits: int) -> int:
    """Return the power of ten of the first digit, after rounding: that of 999.6 is 3, for it prints as 1000."""
    return int(f"{abs(value):.{digits - 1}e}".partition("e")[2])


def _digits(value: float, exponent: int, digits: int = 3) -> str:
    """Print `value` in units of ten to the `exponent`, with an `e` only where zeros would be too many to count."""
    if value == 0:
        return "0"
    mantissa, _, _ = f"{value:.{digits - 1}e}".partition("e")
    order = _order(value, digits) - exponent
    if order < -4:
        return f"{mantissa}e{order:03d}"
    if order >= digits:
        return f"{value / 10.0**exponent:.0f}"
    # The rounded digits are shifted as text: dividing and rounding again may print a neighbour.
    return f"{float(f'{mantissa}e{order}'):.{digits - 1 - order}f}"


INSTRUCTION = Unit("instructions", format_count)
#: Of what has a unit of its own.
NUMBER = Unit("1", format_count)


def parse_jobs(text: str, *, name: str) -> int:
    """Read a number of jobs, 0 for `auto`; raises `InputError`."""
    if text.strip() == "auto":
        return 0
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text.strip()):
        raise InputError(f"{name} is `{text[:100]}`, expected `auto` or a whole number >= 1")
    return int(text)
