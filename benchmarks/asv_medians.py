"""Medians of an asv suite by opperf beside those of `asv run`, in turns, of cases that are drawn from all.

    python benchmarks/asv_medians.py SUITE --asv COMMAND [--cases COUNT]

SUITE is the folder that holds `asv.conf.json`. Ten cases at a time are run by asv, by opperf, and by asv again, all as
a user runs them, without an option that says how long. asv's two medians of the same code lie apart themselves, so
opperf's is held against the nearer one. Where they are more than 10 % apart, opperf has to say why: by the warning that
asv times one call at a time, where opperf's is shorter, or by one that says what makes its own time doubtful. asv has a
process for each benchmark and opperf one for all, where memory is as the cases before left it: what is apart without a
word is measured once more in a command of its own, to see how much of it that is. The machine is quiet, or the figures
mean nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from asv_runs import ENVIRONMENT, AsvRuns, Case, listed, opperf
from report import publish

from opperf.domain.parameter import argument

#: The draw, how many cases are run in a turn, and by how much medians may differ.
SEED, TURN, NEAR = 0, 10, 1.1
#: The warning that says that asv's own number is larger, and why.
ONE_CALL = "asv_times_one_call"
#: A warning that says nothing of a median.
OF_TAILS = "p99_of_few"


def drawn(cases: Sequence[Case], count: int) -> list[list[Case]]:
    """Return the cases of each turn, in the suite's order; of those that asv times with `timeit`'s clock."""
    times = [case for case in cases if case[0].rpartition(".")[2].startswith("time_")]
    sample = random.Random(SEED).sample(times, min(count, len(times)))
    places = {case: place for place, case in enumerate(cases)}
    return [sorted(sample[at : at + TURN], key=places.__getitem__) for at in range(0, len(sample), TURN)]


def asv_pattern(case: Case) -> str:
    """Return a regular expression that is found in one case as asv spells it."""
    name, texts = case
    return f"^{re.escape(name)}" + (rf"\({', '.join(map(re.escape, texts))}\)$" if texts else "$")


def own_pattern(case: Case) -> str:
    """Return a regular expression that is found in one case as tables of opperf spell it, an author's version first."""
    name, texts = case
    spelt = [{str(argument(text)), repr(argument(text)), text} for text in texts]
    words = [f"(?:{'|'.join(map(re.escape, sorted(choices)))})" for choices in spelt]
    return f"^{re.escape(name)}" + (rf"\((?:\S+, )?{', '.join(words)}\)$" if texts else r"(?:\(\S+\))?$")


def own_medians(asked: argparse.Namespace, cases: Sequence[Case]) -> dict[Case, tuple[float, list[str]]]:
    """Return the median of each case that opperf measures, and the warnings beside it."""
    select = "|".join(map(own_pattern, cases))
    words = ("run", f"asv:{asked.suite}", "--environment", asked.environment, "--select", select, "--format", "json")
    records = json.loads(opperf(*words, "--no-samples", codes=(0, 3)))["records"]
    if len(records) != len(cases):
        raise SystemExit(f"opperf selects {len(records)} of {len(cases)} cases by {select}")
    warnings = [[warning["slug"] for warning in record["warnings"]] for record in records]
    return {
        case: (record["metrics"]["time"]["median"], [slug for slug in slugs if slug != OF_TAILS])
        for case, record, slugs in zip(cases, records, warnings)
        if record["status"] == "ok"
    }


def alone(asked: argparse.Namespace, rows: Sequence[dict[str, Any]], cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """Return rows with what opperf measures of their cases in a process that has none before."""
    result = []
    for row in rows:
        case = cases[row["case"]]
        ((own, warnings),) = own_medians(asked, [case]).values()
        theirs = (row["asv us"] / 1e6, row["asv again us"] / 1e6)
        again = apart(own, theirs)
        result.append({**row, "alone us": 1e6 * own, "apart alone": again, "warnings": " ".join(warnings)})
    return result


def rows_of(asked: argparse.Namespace, runs: AsvRuns, turns: Iterable[Sequence[Case]]) -> list[dict[str, Any]]:
    """Measure the cases in turns, and return those that both tools have measured."""
    rows = []
    for cases in turns:
        patterns = list(map(asv_pattern, cases))
        first = runs.medians(*patterns)
        own = own_medians(asked, cases)
        second = runs.medians(*patterns)
        both = [case for case in cases if all(case in medians for medians in (first, own, second))]
        rows += [row(case, (first[case], second[case]), *own[case]) for case in both]
        print(f"{len(rows)} cases", flush=True)
    return rows


def row(case: Case, theirs: tuple[float, float], own: float, warnings: Sequence[str]) -> dict[str, Any]:
    """Return the medians of a case: `apart` is how far opperf's lies from the nearer one of asv's."""
    return {
        "case": label(case),
        "opperf us": 1e6 * own,
        "asv us": 1e6 * theirs[0],
        "asv again us": 1e6 * theirs[1],
        "apart": apart(own, theirs),
        "warnings": " ".join(warnings),
    }


def label(case: Case) -> str:
    """Return a case as asv spells it."""
    return f"{case[0]}({', '.join(case[1])})"


def apart(own: float, theirs: Sequence[float]) -> float:
    """Return opperf's median over the nearer one of asv's."""
    return min((own / median for median in theirs), key=lambda ratio: max(ratio, 1 / ratio))


def is_told(row: Mapping[str, Any], ratio: str = "apart") -> bool:
    """Whether a warning says why medians are apart; that asv times one call makes its own the longer one."""
    return any(slug != ONE_CALL or row[ratio] < 1 for slug in row["warnings"].split())


def is_near(ratio: float) -> bool:
    """Whether two medians are as good as equal."""
    return max(ratio, 1 / ratio) <= NEAR


def main() -> None:
    """Draw, measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--asv", required=True, help="how asv is started, such as `/opt/asv/bin/asv`")
    parser.add_argument("--environment", default=ENVIRONMENT)
    parser.add_argument("--cases", type=int, default=200)
    asked = parser.parse_args()
    turns = drawn(listed(asked.suite, asked.environment), asked.cases)
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(asked, AsvRuns(asked.asv, asked.suite, asked.environment, Path(folder)), turns)
    far = [one for one in rows if not is_near(one["apart"])]
    silent = [one for one in far if not is_told(one)]
    silent = alone(asked, silent, {label(case): case for turn in turns for case in turn})
    unlike = [one for one in silent if not is_near(one["apart alone"]) and not is_told(one, "apart alone")]
    summary = {
        "drawn": sum(map(len, turns)),
        "measured by both": len(rows),
        "within 10 %": len(rows) - len(far),
        "shorter, as asv times one call": sum(one["apart"] < 1 and ONE_CALL in one["warnings"] for one in far),
        "opperf's is longer": sum(one["apart"] > 1 for one in far),
        "with a warning that says why": len(far) - len(silent),
        "alone within 10 % or with a warning": len(silent) - len(unlike),
        "without a word": len(unlike),
        "asv's own two 10 % apart": sum(not is_near(one["asv us"] / one["asv again us"]) for one in rows),
    }
    figures = {"more than 10 % apart without a word": (len(unlike), 0, "cases")}
    more = {"apart": far, "alone": silent}
    publish("asv_medians", f"medians beside `asv run`'s, {asked.environment}", [summary], figures, more)


if __name__ == "__main__":
    main()
