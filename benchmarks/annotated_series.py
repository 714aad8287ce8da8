"""Series that people have annotated, through `opperf history import` and `history changes`: precision, recall and F1.

The Turing Change Point Dataset (van den Burg and Williams, An Evaluation of Change Point Detection Algorithms,
arXiv:2003.06222) has series of economies, rivers and factories, in each of which five people marked where it changes. A
clone of https://github.com/alan-turing-institute/TCPD is TURING; of its series those of one value are judged that need
no download.

SAP's performance regression data set (Bach, Lv and Le) has times of SAP HANA's own tests, build by build, of which its
engineers said where a regression came in, or why what looks like one is none. A clone of
https://github.com/SAP/performance-regression-data-set is HANA; of it `hana/small_2021` is enough. A place of its series
is a build, and the value the median of the times of that build, which is what asv would keep.

Each series goes in as the times of a benchmark of asv, its median one second; one that has values below zero goes in as
the exponential of it, since opperf judges logarithms. Beside opperf stands E-divisive as Apache Otava has it, in an
environment of its own. Scores are those of the first paper: a change counts where one was marked within five places,
the first place of a series is one, precision is over the marks of all people, recall the mean over people, and each
figure the mean over series. SCORES are those that its authors published, `default_f1_scores.json` of TCPDBench.

    python benchmarks/annotated_series.py TURING HANA [SCORES]
"""

from __future__ import annotations

import csv
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
TURING, HANA = "Turing", "SAP HANA"
#: The methods of the paper that are shown: the best two by default, E-divisive, and what names nothing.
PUBLISHED = {"binseg": "binary segmentation", "bocpd": "BOCPD", "pelt": "PELT", "ecp": "E-divisive", "zero": "nothing"}
FIGURES = ("precision", "recall", "F1")
DAY, FIRST = 86_400_000, 1_000_000_000_000


@dataclass(frozen=True)
class Series:
    """A series of a data set: its values, None where one is missing, and where each of several people marked a change.

    `kind` is what people said of the series as a whole.
    """

    data: str
    name: str
    values: Sequence[float | None]
    marks: Sequence[frozenset[int]]
    kind: str = ""

    @property
    def times(self) -> list[float | None]:
        """The values as times, in seconds."""
        numbers = [value for value in self.values if value is not None]
        if min(numbers) <= 0:
            return [None if value is None else math.exp(value) for value in self.values]
        middle = median(numbers)
        return [None if value is None else value / middle for value in self.values]


def turing(folder: Path) -> list[Series]:
    """Return the series of one value that a clone of the Turing data set has, and people have marked."""
    marks = json.loads((folder / "annotations.json").read_text())
    result = []
    for name in sorted(marks):
        path = folder / "datasets" / name / f"{name}.json"
        document: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"n_dim": 0}
        if document["n_dim"] == 1:
            (dimension,) = document["series"]
            values = [None if value is None or math.isnan(value) else float(value) for value in dimension["raw"]]
            result.append(Series(TURING, name, values, [frozenset(places) for places in marks[name].values()]))
    return result


def hana(folder: Path) -> list[Series]:
    """Return the series that a clone of SAP's data set has, in the order of their kinds."""
    place = folder / "hana" / "small_2021"
    result = []
    for details in _rows(place / "metadata" / "dataset_details.csv", ";"):
        measurements = _rows(place / "data" / details["Dataset"])
        times: dict[str, list[float]] = {}
        for row in measurements:
            times.setdefault(row["GHC"], []).append(float(row["Measurement"]))
        last_good = int(details["Change Point"])  # counted from one; zero: nothing regressed
        marks = frozenset([[*times].index(measurements[last_good]["GHC"])] if last_good else ())
        values = [median(several) for several in times.values()]
        name, kind = Path(details["Dataset"]).stem, details["Type"].strip().lower()
        result.append(Series(HANA, name, values, [marks], kind))
    return result


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


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
    return {"changes": sum(len(places[one.name]) for one in every), "near a mark": sum(near), "marks found": sum(marks)}


def table(data: str, every: Sequence[Series], rules: Mapping[str, Mapping[str, set[int]]]) -> list[dict[str, Any]]:
    """Return a row for each rule: what it names in the series of a data set, and its mean scores."""
    scores = {rule: [score(one, places[one.name]) for one in every] for rule, places in rules.items()}
    return [
        {
            "data": data,
            "rule": rule,
            "series": len(every),
            **counts(every, places),
            **dict(zip(FIGURES, map(fmean, zip(*scores[rule], strict=True)), strict=True)),
        }
        for rule, places in rules.items()
    ]


def paper_scores(path: Path, every: Sequence[Series]) -> list[dict[str, Any]]:
    """Return a row for each method of the paper, over those of the series that it has a score for."""
    known: Mapping[str, Mapping[str, float | None]] = json.loads(path.read_text())
    rows = []
    for method, words in PUBLISHED.items():
        scores = [value for one in every if (value := known.get(one.name, {}).get(method)) is not None]
        if scores:
            rows.append({"data": TURING, "rule": f"published: {words}", "series": len(scores), "F1": fmean(scores)})
    return rows


def kinds(every: Sequence[Series], rules: Mapping[str, Mapping[str, set[int]]]) -> list[dict[str, Any]]:
    """Return a row for each kind of series: how many changes people marked, and how many each rule names."""
    rows = []
    for kind in dict.fromkeys(one.kind for one in every):
        several = [one for one in every if one.kind == kind]
        row = {
            "kind of series": kind,
            "series": len(several),
            "builds": sum(len(one.values) for one in several),
            "marks": sum(len(person) for one in several for person in one.marks),
        }
        rows.append({**row, **{rule: counts(several, places)["changes"] for rule, places in rules.items()}})
    return rows


def main() -> None:
    """Judge every series by every rule, and print the means over each data set."""
    clone, other_clone, *scores = map(Path, sys.argv[1:])
    sets = {TURING: turing(clone), HANA: hana(other_clone)}
    every = [one for several in sets.values() for one in several]
    with tempfile.TemporaryDirectory() as name:
        own = opperf(every, Path(name))
        rules: dict[str, dict[str, set[int]]] = {
            "opperf: absolute times": own[False],
            "opperf: those beyond the past of their series": own[True],
            "E-divisive of Apache Otava": e_divisive(every, Path(name)),
            "nothing is named": {series.name: set() for series in every},
        }
    rows = [row for data, several in sets.items() for row in table(data, several, rules)]
    for row in paper_scores(scores[0], sets[TURING]) if scores else ():
        rows.append({**dict.fromkeys(rows[0], ""), **row})
    each = [
        {
            "series": f"{one.data}: {one.name}",
            "values": len(one.values),
            "marks, mean": fmean(map(len, one.marks)),
            **{f"F1, {rule}": score(one, places[one.name])[2] for rule, places in rules.items()},
        }
        for one in every
    ]
    marks = {data: sum(len(person) for one in several for person in one.marks) for data, several in sets.items()}
    title = ", ".join(f"{data}: {len(several)} series with {marks[data]} marks" for data, several in sets.items())
    more = {f"{HANA}, changes named by kind of series": kinds(sets[HANA], rules), "Each series": each}
    publish("annotated_series", title, rows, {}, more)


if __name__ == "__main__":
    main()
