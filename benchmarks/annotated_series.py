"""Series that people have annotated, through `opperf history import` and `history changes`: precision, recall and F1.

The Turing Change Point Dataset (van den Burg and Williams, An Evaluation of Change Point Detection Algorithms,
arXiv:2003.06222) has series of economies, rivers and factories, in each of which five people marked where it changes. A
clone of https://github.com/alan-turing-institute/TCPD is PATH; of its series those of one value are judged that need no
download. Each goes in as the times of a benchmark of asv, its median one second; one that has values below zero goes in
as the exponential of it, since opperf judges logarithms. Beside opperf stands E-divisive as Apache Otava has it, in an
environment of its own. Scores are those of the paper: a change counts where one was marked within five places, the
first place of a series is one, precision is over the marks of all people, recall the mean over people, and each figure
the mean over series. SCORES are those that its authors published, `default_f1_scores.json` of TCPDBench.

    python benchmarks/annotated_series.py PATH [SCORES]
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from statistics import fmean, median
from typing import Any

import uv
from report import publish

from opperf.domain.dataclass import dataclass
from opperf.parent.commands.exchange import import_results
from opperf.parent.commands.history import imported_changes
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

MARGIN = 5
OTAVA = ("apache-otava==0.8.0", "numpy==2.2.6", "scipy==1.16.3")
#: Reads series by name as JSON, and writes where each changes.
E_DIVISIVE = """
import json, sys
from otava.analysis import compute_change_points
series = json.load(sys.stdin)
places = {name: [int(point.index) for point in compute_change_points(values)[0]] for name, values in series.items()}
json.dump(places, sys.stdout)
"""
#: The methods of the paper that are shown: the best two by default, E-divisive, and what names nothing.
PUBLISHED = {"binseg": "binary segmentation", "bocpd": "BOCPD", "pelt": "PELT", "ecp": "E-divisive", "zero": "nothing"}
DAY, FIRST = 86_400_000, 1_000_000_000_000


@dataclass(frozen=True)
class Series:
    """A series: its values, None where one is missing, and where each of several people marked a change."""

    name: str
    values: Sequence[float | None]
    marks: Sequence[frozenset[int]]

    @property
    def times(self) -> list[float | None]:
        """The values as times, in seconds."""
        numbers = [value for value in self.values if value is not None]
        if min(numbers) <= 0:
            return [None if value is None else math.exp(value) for value in self.values]
        middle = median(numbers)
        return [None if value is None else value / middle for value in self.values]


def read(folder: Path) -> list[Series]:
    """Return the series of one value that a clone has, and people have marked."""
    marks = json.loads((folder / "annotations.json").read_text())
    result = []
    for name in sorted(marks):
        path = folder / "datasets" / name / f"{name}.json"
        document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"n_dim": 0}
        if document["n_dim"] == 1:
            (dimension,) = document["series"]
            values = [None if value is None or math.isnan(value) else float(value) for value in dimension["raw"]]
            result.append(Series(name, values, [frozenset(places) for places in marks[name].values()]))
    return result


def asv_results(every: Sequence[Series], folder: Path) -> Path:
    """Write the series as a folder of asv's results: a build for each place, of all series that have one there."""
    machine = folder / "results" / "people"
    machine.mkdir(parents=True)
    (machine / "machine.json").write_text(json.dumps({"machine": "people"}))
    kinds = {series.name: {"name": series.name, "type": "time", "param_names": []} for series in every}
    (folder / "results" / "benchmarks.json").write_text(json.dumps(kinds))
    times = {series.name: series.times for series in every}
    for place in range(max(map(len, times.values()))):
        results = {name: [[several[place]], []] for name, several in times.items() if place < len(several)}
        build = {"commit_hash": commit(place), "date": FIRST + place * DAY, "results": results}
        (machine / f"{place:06}-py.json").write_text(json.dumps({**build, "version": 2}))
    return folder / "results"


def commit(place: int) -> str:
    """Return the commit that stands for a place of a series."""
    return sha1(str(place).encode()).hexdigest()


def opperf(every: Sequence[Series], folder: Path) -> dict[bool, dict[str, set[int]]]:
    """Return where opperf says that series change: by name, beyond what each moved by before, and all of them."""
    address = str(folder / "series.db")
    import_results([asv_results(every, folder)], address)
    indices = {commit(place)[:12]: place for place in range(max(len(series.values) for series in every))}
    places: dict[bool, dict[str, set[int]]] = {only: {series.name: set() for series in every} for only in (True, False)}
    with Archive(Address.of(address)) as store:
        for named in imported_changes(store).changes:
            if named.change.confirmed:
                for only in {not named.change.usual, False}:
                    places[only][named.series.case.operator].add(indices[named.change.after])
    return places


def e_divisive(every: Sequence[Series], folder: Path) -> dict[str, set[int]]:
    """Return where Apache Otava says that series change; a missing value is left out of what it gets."""
    place, command = str(folder / "otava"), uv.find_uv_bin()
    subprocess.run([command, "venv", "-q", "--python", sys.executable, place], check=True)
    subprocess.run([command, "pip", "install", "-q", "--no-deps", "--python", place, *OTAVA], check=True)
    there = {series.name: [i for i, value in enumerate(series.values) if value is not None] for series in every}
    values = {series.name: [value for value in series.values if value is not None] for series in every}
    program = [f"{place}/bin/python", "-c", E_DIVISIVE]
    done = subprocess.run(program, input=json.dumps(values), stdout=subprocess.PIPE, text=True, check=True)
    return {name: {there[name][i] for i in indices} for name, indices in json.loads(done.stdout).items()}


def hits(marks: Iterable[int], places: Iterable[int]) -> int:
    """Return how many marks have a place within the margin that no mark before it has: the nearest."""
    left, count = set(places), 0
    for mark in sorted(marks):
        near = min(left, key=lambda place: (abs(place - mark), place), default=None)
        if near is not None and abs(near - mark) <= MARGIN:
            left.remove(near)
            count += 1
    return count


def score(series: Series, places: Iterable[int]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of places where a series is said to change."""
    named = {0, *places}
    people = [{0, *marks} for marks in series.marks]
    precision = hits(set().union(*people), named) / len(named)
    recall = fmean(hits(marks, named) / len(marks) for marks in people)
    return precision, recall, 2 * precision * recall / (precision + recall)


def counts(every: Sequence[Series], places: Mapping[str, set[int]]) -> dict[str, int]:
    """Return how many changes are named, how many of them are near a mark of anybody, and how many marks are found."""
    near = [
        sum(any(abs(place - mark) <= MARGIN for mark in set().union(*one.marks)) for place in places[one.name])
        for one in every
    ]
    marks = [hits(person, places[one.name]) for one in every for person in one.marks]
    return {"changes": sum(map(len, places.values())), "near a mark": sum(near), "marks found": sum(marks)}


def main() -> None:
    """Judge every series by every rule, and print the means."""
    every = read(Path(sys.argv[1]))
    published: Mapping[str, Mapping[str, float | None]] = (
        json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else {}
    )
    with tempfile.TemporaryDirectory() as name:
        own = opperf(every, Path(name))
        rules: dict[str, dict[str, set[int]]] = {
            "opperf: absolute times": own[False],
            "opperf: those beyond the past of their series": own[True],
            "E-divisive of Apache Otava": e_divisive(every, Path(name)),
            "nothing is named": {series.name: set() for series in every},
        }
    scores = {rule: {one.name: score(one, places[one.name]) for one in every} for rule, places in rules.items()}
    rows: list[dict[str, Any]] = [
        {
            "rule": rule,
            "series": len(every),
            **counts(every, rules[rule]),
            **dict(zip(("precision", "recall", "F1"), map(fmean, zip(*by_name.values(), strict=True)), strict=True)),
        }
        for rule, by_name in scores.items()
    ]
    for method, words in PUBLISHED.items():
        known = [value for one in every if (value := published.get(one.name, {}).get(method)) is not None]
        if known:
            line = {"rule": f"published: {words}", "series": len(known)}
            rows.append({**dict.fromkeys(rows[0], ""), **line, "F1": fmean(known)})
    each = [
        {
            "series": one.name,
            "values": len(one.values),
            "marks, mean": fmean(map(len, one.marks)),
            **{f"F1, {rule}": scores[rule][one.name][2] for rule in scores},
        }
        for one in every
    ]
    marked = sum(len(person) for one in every for person in one.marks)
    title = f"{len(every)} series of TCPD, in which five people set {marked} marks"
    publish("annotated_series", title, rows, {}, {"Each series": each})


if __name__ == "__main__":
    main()
