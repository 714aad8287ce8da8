"""A suite: an ordered set of cases, each with how often it occurs and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opperf.case import Case
from opperf.errors import InputError
from opperf.registry import DIRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA_VERSION = 1
#: What an entry looks like, for those who write one by hand.
ENTRY = 'write {"case": {"operator": "add", "inputs": {"lhs": {"shape": [2, 3]}, ...}}, "count": 1}'


@dataclass(frozen=True)
class SuiteCase:
    """A case of a suite. `count` is how often it occurs in its source.

    `directions` are what it is measured in where nobody asks for others; empty are the operator's own. A recorded
    program has its backward operators as cases of their own, so each of its cases is a forward.
    """

    case: Case
    count: int = 1
    origin: str = "user"
    directions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        directions = {"directions": list(self.directions)} if self.directions else {}
        return {"case": self.case.to_json(), "count": self.count, "origin": self.origin, **directions}


@dataclass(frozen=True)
class Program:
    """What the cases of a suite were called by: `time` seconds for one call of it, the median of `calls`, unwatched.

    Disturbed calls are left out, and CPU time stands in for wall time, by the rules of every measurement.
    """

    time: float
    calls: int
    framework: str
    version: str
    threads: int
    clock: str = "wall"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, data: Any, where: str) -> Program:
        """Read the JSON form; raises `InputError` that names the place."""
        try:
            return cls(
                time=float(data["time"]),
                calls=int(data["calls"]),
                framework=str(data["framework"]),
                version=str(data["version"]),
                threads=int(data["threads"]),
                clock=str(data.get("clock", "wall")),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{where}: not what `opperf capture` writes ({type(error).__name__}: {error})",
                hint="expected `time` in seconds, `calls`, `framework`, `version` and `threads`",
            ) from error


@dataclass(frozen=True)
class Suite:
    """What a suite file holds. `program` is known where the cases were captured from one that ran."""

    name: str
    source: str
    cases: tuple[SuiteCase, ...]
    program: Program | None = None

    def header(self) -> dict[str, Any]:
        """Return everything but the cases, in JSON form."""
        program = {} if self.program is None else {"program": self.program.to_json()}
        return {"name": self.name, "source": self.source, **program}

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.header(),
            "cases": [entry.to_json() for entry in self.cases],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str) -> Suite:
        """Read a document; raises `InputError` that names the place."""
        if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
            raise InputError(
                f"{where}: not a suite that this opperf reads", hint=f"expected `schema_version` {SCHEMA_VERSION}"
            )
        entries = data.get("cases")
        if not isinstance(entries, list):
            raise InputError(f"{where}: `cases` is {type(entries).__name__}, expected a list", hint=ENTRY)
        return cls(
            str(data.get("name", "")),
            str(data.get("source", "")),
            tuple(_entry(entry, f"{where}: cases[{i}]") for i, entry in enumerate(entries)),
            None if data.get("program") is None else Program.from_json(data["program"], f"{where}: program"),
        )


def _entry(data: Any, where: str) -> SuiteCase:
    if not isinstance(data, dict) or "case" not in data:
        raise InputError(f"{where}: expected an object with a `case`", hint=ENTRY)
    count = data.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InputError(f"{where}.count: found {count!r}, expected a whole number >= 1")
    directions = data.get("directions", [])
    if not isinstance(directions, list) or not set(map(str, directions)) <= set(DIRECTIONS):
        raise InputError(f"{where}.directions: found {directions!r}, expected a list of {', '.join(DIRECTIONS)}")
    case = Case.from_json(data["case"], f"{where}.case")
    return SuiteCase(case, count, str(data.get("origin", "user")), tuple(map(str, directions)))
