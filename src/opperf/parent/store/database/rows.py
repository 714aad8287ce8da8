"""The rows of one run: what they hold of it, and which of them many runs share."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import Connection, Table, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from opperf.domain.codec import read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.metric import METRICS
from opperf.domain.moment import Moment, parse_moment
from opperf.domain.node import Node
from opperf.domain.plan import Side
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.stats.significance import Estimate
from opperf.parent.documents.candidates import Judged
from opperf.parent.documents.comparison import Comparison
from opperf.parent.documents.floor import Floor, series_side
from opperf.parent.store.database import schema
from opperf.parent.store.database.documents import fingerprint, pack

#: What identifies a machine, besides memory and GPUs: its hardware, never clock rates or loads.
HARDWARE = ("architecture", "cpu", "cores_physical", "cores_logical", "caches")
#: What identifies a build of a framework.
BUILD = ("framework", "version", "build", "commit", "blas_configuration")
#: Rows that are looked up in one query: SQLite took 999 values of it at most for long.
MOST_AT_ONCE = 500


def memory_step(size: float) -> int:
    """Return which step of a fifth the memory of a machine belongs to.

    A kernel keeps a few percent of what is built in for itself, another kernel a little more. What is left of the usual
    sizes lies well within a step, where whole gigabytes would part one kind of machine in two.

    >>> memory_step(15.49 * 2**30) == memory_step(15.62 * 2**30) == memory_step(16 * 2**30) < memory_step(24 * 2**30)
    True
    """
    return math.ceil(4 * math.log2(size / 2**30)) if size > 0 else 0


def machine_name(facts: JsonObject) -> str:
    """Return the name of a machine for people: its processor, cores and GPUs."""
    gpus = [gpu.get("name") if isinstance(gpu, Mapping) else gpu for gpu in facts.get("gpus") or ()]
    cores = facts.get("cores_logical")
    parts = [facts.get("cpu") or facts.get("architecture") or "unknown", cores and f"{cores} cores", *gpus]
    return ", ".join(map(str, filter(None, parts)))


def seconds(text: str) -> int:
    """Return when a run began, in seconds since 1970.

    >>> seconds("2026-11-23T10:00:00+00:00")
    1795428000
    """
    return int(parse_moment(text).timestamp())


@dataclass(frozen=True)
class Addition:
    """The effect of adding a run: `added`, `there` already, or `replaced` by its resumed form."""

    key: str
    outcome: Literal["added", "there", "replaced"]
    rows: int


class _Place(NamedTuple):
    """What a series is of; the machine is that of a node, or of the run."""

    case: Mapping[str, object]
    side: Side
    direction: str
    node: Node | None
    metric: str = "time"


class Rows:
    """The rows of one run, in one transaction; existing rows are looked up once."""

    def __init__(self, connection: Connection, run: Run) -> None:
        self._connection = connection
        self._ids: dict[tuple[str, str], int] = {}
        self._tallies: Counter[tuple[int | None, int | None, str]] = Counter()
        self._frameworks: Sequence[Mapping[str, object]] = run.environment.get("frameworks") or ()
        self._run = run
        self.started = seconds(read_as(Moment, run.started, f"run {run.id}: started"))
        self._machine = self.machine(run.environment.get("machine") or {})
        self.id = 0

    def head(self, values: Mapping[str, object]) -> None:
        """Insert the row of the run itself, which all others point to, and its labels."""
        run, own = self._run, {"key": self._run.id, "started": self.started, "machine_id": self._machine}
        query = insert(schema.runs).returning(schema.runs.c.id)
        self.id = int(self._connection.execute(query, {**own, **values}).scalar_one())
        self._insert(schema.labels, [{"name": name, "value": value} for name, value in run.labels.items()])

    def _insert(self, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            self._connection.execute(insert(table), [{"run_id": self.id, **row} for row in rows])

    def share(self, table: Table, distinction: Sequence[object], values: Mapping[str, object]) -> int:
        """Return the id of the row with this distinction, which is made where it is missing."""
        return self._share_all(table, [(distinction, values)])[0]

    def _share_all(
        self, table: Table, entries: Sequence[tuple[Sequence[object], Mapping[str, object]]]
    ) -> Sequence[int]:
        """Return the ids of the rows with these distinctions, a few hundred of which are looked up at once."""
        prints = [fingerprint(*distinction) for distinction, _ in entries]
        missing = {
            print_: values for print_, (_, values) in zip(prints, entries) if (table.name, print_) not in self._ids
        }
        for begin in range(0, len(missing), MOST_AT_ONCE):
            some = [*missing][begin : begin + MOST_AT_ONCE]
            self._look_up(table, some)
            new = [{**missing[one], "fingerprint": one} for one in some if (table.name, one) not in self._ids]
            if new:
                dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
                query = dialect.insert(table).on_conflict_do_nothing(index_elements=["fingerprint"])
                self._connection.execute(query, new)  # another command may have made one meanwhile
                self._look_up(table, some)
        return [self._ids[table.name, print_] for print_ in prints]

    def _look_up(self, table: Table, prints: Sequence[str]) -> None:
        query = select(table.c.fingerprint, table.c.id).where(table.c.fingerprint.in_(prints))
        self._ids |= {(table.name, print_): row for print_, row in self._connection.execute(query)}

    def machine(self, facts: JsonObject) -> int:
        """Return the machine with this hardware."""
        memory = facts.get("memory_total")
        gpus = [gpu.get("name") if isinstance(gpu, Mapping) else gpu for gpu in facts.get("gpus") or ()]
        hardware = [facts.get(name) for name in HARDWARE]
        distinction = [*hardware, None if memory is None else memory_step(memory), gpus]
        return self.share(schema.machines, distinction, {"name": machine_name(facts), "facts": facts})

    def environment(self, facts: Mapping[str, object]) -> int:
        """Return the build of a framework from facts."""
        distinction = [facts.get(name) for name in BUILD]
        values = {"framework": facts["framework"], "version": facts.get("version") or "", "build": facts.get("build")}
        return self.share(schema.environments, distinction, {**values, "facts": facts})

    def _machine_of(self, node: Node | None) -> int:
        """Return the machine of a node of a fleet, or of the run."""
        if node is None:
            return self._machine
        facts = (self._run.environment.get("nodes") or {}).get(node.name) or {}
        return self.machine(facts.get("machine") or {"cpu": node.kind})

    def series(
        self, case: Mapping[str, object], side: Side, direction: str, node: Node | None = None, metric: str = "time"
    ) -> int:
        """Return the series of a case on a side in a direction, on the machine of the run, or of a node."""
        return self.series_of([case], side, direction, node, metric)[0]

    def series_of(
        self,
        cases: Sequence[Mapping[str, object]],
        side: Side,
        direction: str,
        node: Node | None = None,
        metric: str = "time",
    ) -> Sequence[int]:
        """Return the series of each of some cases."""
        machine, series_of_side = self._machine_of(node), series_side(side)
        shared = {"machine_id": machine, "framework": side.framework, "direction": direction}
        case_ids = self._share_all(
            schema.cases, [([case["id"]], {"operator": case["operator"], "document": case}) for case in cases]
        )
        return self._share_all(
            schema.series,
            [
                (
                    [case_id, series_of_side, direction, machine, metric],
                    {"case_id": case_id, **shared, "side": series_of_side, "metric": metric},
                )
                for case_id in case_ids
            ],
        )

    def records(self, records: Iterable[tuple[Record, JsonDict]], *, samples: bool) -> None:
        """Insert the records of the run, each with its document."""
        builds = {(facts.get("framework"), facts.get("environment")): facts for facts in self._frameworks}
        rows, columns, entries = [], [], list(records)
        self._look_up_series(
            _Place(document["case"], record.trial.side, record.trial.direction, record.details.node)
            for record, document in entries
        )
        for record, document in entries:
            trial, time = record.trial, record.time
            side = document.pop("side")
            case, direction = document.pop("case"), document.pop("direction")
            columns.append(document.pop("samples"))
            facts = builds.get((side["framework"], side["environment"]))
            if facts is None and record.facts.get("version"):
                facts = {"framework": side["framework"], "version": record.facts["version"]}
            environment = None if facts is None else self.environment(facts)
            self._tallies[environment, None, record.status] += 1
            rows.append(
                {
                    "run_id": self.id,
                    "series_id": self.series(case, trial.side, direction, record.details.node),
                    "environment_id": environment,
                    "started": self.started,
                    "status": record.status,
                    "time": None if time is None else time.value,
                    **_bounds(time),
                    "metrics": _figures(record),
                    "document": pack({**document, "environment": side["environment"]}),
                }
            )
        if not rows:
            return
        ids = self._connection.scalars(
            insert(schema.records).returning(schema.records.c.id, sort_by_parameter_order=True), rows
        ).all()
        blobs = [{"record_id": i, "document": pack(own)} for i, own in zip(ids, columns, strict=True) if own]
        if samples and blobs:
            self._connection.execute(insert(schema.samples), blobs)

    def comparisons(self, comparisons: Iterable[tuple[Comparison, JsonDict]]) -> None:
        """Insert the comparisons of the run, each with its document."""
        rows, entries = [], list(comparisons)
        self._look_up_series(
            _Place(document["case"], side, comparison.direction, comparison.node, comparison.metric)
            for comparison, document in entries
            for side in (comparison.base, comparison.new)
        )
        for comparison, document in entries:
            case, direction = document.pop("case"), document.pop("direction")
            places: dict[str, int | None] = {}
            sides = ("base", comparison.base, comparison.base_version), ("new", comparison.new, comparison.new_version)
            for place, side, version in sides:
                places[f"{place}_series_id"] = self.series(case, side, direction, comparison.node, comparison.metric)
                facts = {"framework": side.framework, "version": version}
                places[f"{place}_environment_id"] = None if version is None else self.environment(facts)
                document[place] = {"environment": side.environment}
            verdict = comparison.verdict.verdict
            self._tallies[places["new_environment_id"], places["base_environment_id"], verdict] += 1
            rows.append(
                {
                    "started": self.started,
                    "verdict": verdict,
                    "pairs": comparison.verdict.pairs,
                    "base_time": comparison.base_time,
                    "new_time": comparison.new_time,
                    **places,
                    **_estimate(comparison),
                    "document": pack(document),
                }
            )
        self._insert(schema.comparisons, rows)

    def _look_up_series(self, places: Iterable[_Place]) -> None:
        """Look up the series of many rows side by side, not one by one."""
        groups: dict[tuple[str, str, str, str], list[_Place]] = {}
        for place in places:
            node = "" if place.node is None else place.node.name
            key = json.dumps(series_side(place.side), sort_keys=True), place.direction, node, place.metric
            groups.setdefault(key, []).append(place)
        for several in groups.values():
            _, side, direction, at, metric = several[0]
            self.series_of([place.case for place in several], side, direction, at, metric)

    def floors(self, floors: Iterable[tuple[Floor, JsonDict]]) -> None:
        """Insert the noise floors of the run, each with its document."""
        rows = []
        for floor, document in floors:
            series = self.series(document["trial"]["case"], floor.trial.side, floor.trial.direction)
            self._tallies[None, None, "floor"] += 1
            own = {"spread": floor.spread, "moved": floor.moved, "between": floor.between}
            rows.append({"series_id": series, **own, "document": pack(document)})
        self._insert(schema.floors, rows)

    def judgements(self, judgements: Iterable[Judged]) -> None:
        """Count the judgements of the run, whose document has them."""
        for one in judgements:
            self._tallies[None, None, one.verdict] += 1

    def count(self, environment: int, outcome: str, number: int) -> None:
        """Count records of the run that others insert."""
        if number:
            self._tallies[environment, None, outcome] += number

    def tallies(self) -> None:
        """Insert how many rows came out how."""
        self._insert(
            schema.tallies,
            [
                {"environment_id": environment, "base_environment_id": base, "outcome": outcome, "count": count}
                for (environment, base, outcome), count in self._tallies.items()
            ],
        )


def _estimate(comparison: Comparison) -> dict[str, float | None]:
    """Return the ratio, its interval, and the standard error of its logarithm."""
    verdict = comparison.verdict
    if verdict.ratio is None or verdict.interval is None:
        return {"ratio": verdict.ratio, "low": None, "high": None, "error": None}
    error = Estimate.of(verdict.ratio, verdict.interval, verdict.confidence).error
    return {"ratio": verdict.ratio, "low": verdict.interval[0], "high": verdict.interval[1], "error": error}


def _figures(record: Record) -> dict[str, float]:
    """Return the values of what sides are compared by, besides the time."""
    names = (name for name, metric in METRICS.items() if metric.compared is not None and name != "time")
    values = ((name, record.metrics[name].value) for name in names if name in record.metrics)
    return {name: value for name, value in values if value is not None}


def _bounds(time: Statistics | None) -> dict[str, float | None]:
    low, high = (None, None) if time is None or time.interval is None else time.interval
    return {"low": low, "high": high}
