"""Where a run begins and where it stops, by the run ids that its output has."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from opperf.catalog.param.cases import ConfigCase
from opperf.domain.errors import InputError, near


def between(made: Sequence[ConfigCase], resume: str | None, stop: str | None) -> list[ConfigCase]:
    """Return the cases from one run id on, and before another; raises `InputError` for ids that are not there."""
    first = 0 if resume is None else _place(made, resume, "--resume-id")
    last = len(made) if stop is None else _place(made, stop, "--stop-id")
    if first >= last:
        raise InputError(
            f"nothing lies between `--resume-id` {resume} and `--stop-id` {stop}",
            hint="the stop id is left out itself, and comes after the resume id",
            slug="run_id",
        )
    return list(made[first:last])


def short(case: ConfigCase, operator: str) -> str:
    """Return a run id without its operator, as PARAM prints it."""
    return case.run_id.removeprefix(f"{operator}|")


def _place(made: Sequence[ConfigCase], given: str, flag: str) -> int:
    """Return the place of a run id: PARAM's whole one, or the short one where only one operator has it.

    PARAM puts the ids of all builds so far into one: `0|0|1|0` is input 0 of build 1.
    """
    whole = [i for i, case in enumerate(made) if case.run_id == given or case.run_id == given.replace(":", "|", 1)]
    ends = [i for i, case in enumerate(made) if case.run_id.endswith(f"|{given}") and _parts(case, given)]
    places = whole or ends
    if len(places) == 1:
        return places[0]
    if not places and (last := _of_last_build(given)) is not None:
        with suppress(InputError):
            return _place(made, last, flag)
    if places:
        names = ", ".join(f"`{made[i].run_id}`" for i in places[:5])
        raise InputError(f"`{flag} {given}` is the id of several cases", hint=f"write one of {names}", slug="run_id")
    close = near(given, [case.run_id for case in made])
    text = ", ".join(f"`{name}`" for name in close or [case.run_id for case in made[:5]])
    raise InputError(f"no run id `{given}` for `{flag}`", hint=f"there are {text}", slug="run_id")


def _of_last_build(given: str) -> str | None:
    """Return the id without the builds before its last one; None where it has no more than one.

    >>> _of_last_build("torch.mm|0|0_0|0_1|3"), _of_last_build("0|0|1|0"), _of_last_build("torch.mm|0|0|0")
    ('torch.mm|0|0_1|3', '0|1|0', None)
    """
    parts = (given.replace(":", "|", 1) if given.count(":") == 1 else given).split("|")
    first = 0 if parts[0][:1].isdecimal() else 1
    if len(parts) - first < 4:
        return None
    return "|".join([*parts[: first + 1], *parts[-2:]])


def _parts(case: ConfigCase, given: str) -> bool:
    """Whether a short id is all of a run id but its operator: `1|0|0` is not the end of `x|1|1|0|0`."""
    return case.run_id.count("|") == given.count("|") + 1
