"""A suite: an ordered set of cases, each with how often it occurs and where it comes from."""

from __future__ import annotations

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
class Suite(Fields):
    """What a suite file holds.

    `program` is known where the cases were captured from one that ran, and so is what was `left_out` of it.
    """

    name: str
    source: str
    cases: tuple[SuiteCase, ...]
    program: Program | None = None
    left_out: tuple[LeftOut, ...] = ()

    sparse = ("program", "left_out")

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
