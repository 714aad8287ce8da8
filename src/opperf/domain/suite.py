"""A suite: an ordered set of cases, each with how often it occurs and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Optional

from opperf.domain.case import Case
from opperf.domain.codec import Fields, decode, encode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import Direction
from opperf.domain.type_hint import Amount, Count

SCHEMA_VERSION = 1
#: The form of an entry, as a hint for handwritten files.
ENTRY = 'write {"case": {"operator": "add", "inputs": {"lhs": {"shape": [2, 3]}, ...}}, "count": 1}'


@dataclass(frozen=True)
class SuiteCase(Fields):
    """A case of a suite. `count` is how often it occurs in its source.

    `directions` are the default directions; empty means the operator's own. A recorded
    program has its backward operators as cases of their own, so each of its cases is a forward.
    """

    case: Case
    count: Count = 1
    origin: str = "user"
    directions: tuple[Direction, ...] = ()

    sparse = ("directions",)

    @classmethod
    def from_json(cls, data: object, where: str = "case") -> SuiteCase:
        """Read the JSON form; raises `InputError` that names the place."""
        if not isinstance(data, dict) or "case" not in data:
            raise InputError(f"{where}: expected an object with a `case`", hint=ENTRY)
        return decode(cls, data, where)


@dataclass(frozen=True)
class LeftOut(Fields):
    """Calls of a program that no case holds, and why. `recorded` is what all of them took there, if that is known."""

    name: str
    count: Count
    reason: str
    recorded: Optional[Amount] = None


@dataclass(frozen=True)
class Program(Fields):
    """What the cases of a suite were called by: `time` seconds for one call of it, the median of `calls`, unwatched.

    Disturbed calls are left out, and CPU time stands in for wall time, by the rules of every measurement.
    """

    time: Amount
    calls: Count
    framework: str
    version: str
    threads: Count
    clock: str = "wall"


@dataclass(frozen=True)
class Part(Fields):
    """One of several functions that a suite was captured from: its name, and `time` seconds for one call of it."""

    name: str
    time: Amount


@dataclass(frozen=True)
class Suite(Fields):
    """What a suite file holds.

    `program` is known where the cases were captured from one that ran, and so is what was `left_out` of it. Of several
    functions it is one call of each, and `parts` are these.
    """

    name: str
    source: str
    cases: tuple[SuiteCase, ...]
    program: Program | None = None
    left_out: tuple[LeftOut, ...] = ()
    parts: tuple[Part, ...] = ()

    sparse = ("program", "left_out", "parts")

    @property
    def calls(self) -> int:
        """How many calls its cases are."""
        return sum(entry.count for entry in self.cases)

    def header(self) -> dict[str, object]:
        """Return everything but the cases, in JSON form."""
        header = Fields.to_json(replace(self, cases=()))
        del header["cases"]
        return header

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        return {"schema_version": SCHEMA_VERSION, **self.header(), "cases": encode(self.cases)}

    @classmethod
    def from_json(cls, data: object, where: str = "suite") -> Suite:
        """Read a document; raises `InputError` that names the place."""
        if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
            raise InputError(
                f"{where}: not a suite that this opperf reads", hint=f"expected `schema_version` {SCHEMA_VERSION}"
            )
        entries = data.get("cases")
        if not isinstance(entries, list):
            raise InputError(f"{where}: `cases` is {type(entries).__name__}, expected a list", hint=ENTRY)
        return decode(cls, {"name": "", "source": "", **data}, f"{where}: ")


#: How the source of a suite ends whose cases are those of compiled programs, as they were before they were fused.
UNFUSED = ", unfused"
#: What the source says where nothing ran, and shapes alone were followed.
ABSTRACT = ", by shapes alone"


def join(suites: Sequence[Suite]) -> Suite:
    """Return one suite of those of several functions, each with cases of its own, whose origins name it.

    >>> case = Case("abs")
    >>> whole = join([Suite("prefill", "m:prefill", (SuiteCase(case, 2, "Net"),)),
    ...               Suite("decode", "m:decode", (SuiteCase(case, 1, "Net.a"),))])
    >>> whole.name, [(entry.count, entry.origin) for entry in whole.cases]
    ('prefill + decode', [(2, 'prefill: Net'), (1, 'decode: Net.a')])
    """
    if len(suites) == 1:
        return suites[0]
    names = [suite.name for suite in suites]
    if len(set(names)) < len(names):  # such as `a.py:step` and `b.py:step`
        names = [suite.source.removesuffix(UNFUSED) for suite in suites]
    programs = [suite.program for suite in suites if suite.program is not None]
    unfused = UNFUSED if any(suite.source.endswith(UNFUSED) for suite in suites) else ""
    return Suite(
        " + ".join(names),
        ", ".join(suite.source.removesuffix(UNFUSED) for suite in suites) + unfused,
        tuple(
            replace(entry, origin=f"{name}: {entry.origin}")
            for name, suite in zip(names, suites)
            for entry in suite.cases
        ),
        _one_of_each(programs) if len(programs) == len(suites) else None,
        tuple(one for suite in suites for one in suite.left_out),
        tuple(Part(name, suite.program.time) for name, suite in zip(names, suites) if suite.program is not None),
    )


def _one_of_each(programs: Sequence[Program]) -> Program:
    """Return the time of one call of each of several programs."""
    clocks = {program.clock for program in programs}
    return replace(
        programs[0],
        time=sum(program.time for program in programs),
        calls=min(program.calls for program in programs),
        clock=clocks.pop() if len(clocks) == 1 else " and ".join(sorted(clocks)),
    )
