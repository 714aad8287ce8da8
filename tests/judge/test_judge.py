"""`opperf judge` holds against the whole corpus: no cheat is faster, its cause is told, and nobody honest is refused.

Candidates are copies: some write to their own files. `OPPERF_JUDGE_RUNS` says how often each cheat is judged, those of
one problem by one command, so that a cheat meets others. Without it a few are judged so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.judge.copies import write_copies
from tests.judge.corpus import EXAMPLES, HONEST, REFUSED, WAYS, Way
from tests.judge.test_naive import lacks, skip_without

#: How often each cheat is judged: once may be luck. 0 is a few of them, all of one problem, in one command.
RUNS = int(os.environ.get("OPPERF_JUDGE_RUNS", "0"))
#: None of the few races with the freeze: beside other work a thread may be done by then, and has gained nothing.
FEW = (
    "by_address", "static_buffer", "last_result", "exits_at_once", "inputs_zeroed", "first_rows_only",
    "another_type", "imports_the_reference", "no_shift", "views_by_id",
)  # fmt: skip
#: A cheat that succeeds seems 1.5 times as fast as the reference (`test_naive`): what is within a tenth of it is not
#: faster, and few pairs tell so beside other work.
ROUGHLY = ("--pairs", "3", "--tolerance", "10%")
#: Exit codes that say that a verdict was reached.
VERDICT_CODES = (0, 1, 2, 3, 4)
#: How long judging one candidate may take, in seconds: far more than it should.
LIMIT = 600


def run(candidates: list[str], way: Way, folder: Path) -> list[dict[str, Any]]:
    """Return the verdicts on candidates for the problem of a way."""
    inputs = (word for text in way.inputs for word in ("--input", text))
    is_kernelbench = way.reference.startswith("kernelbench")
    against = f"kernelbench:{way.against}" if is_kernelbench else f"{way.against}:f"
    output = folder / "verdicts.jsonl"
    command = [sys.executable, "-m", "opperf", "judge", *candidates, "--against", against, *inputs]
    where = ("--environment", way.environment) if way.environment else ()
    done = subprocess.run(
        [*command, "--framework", way.framework, *where, *way.options, "--output", str(output), "--force"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=LIMIT * len(candidates),
        start_new_session=True,
    )
    assert done.returncode in VERDICT_CODES, done.stderr
    lines = output.read_text().splitlines() if output.exists() else []
    assert lines, done.stderr
    return [json.loads(line) for line in lines]


def judge(way: Way, folder: Path) -> dict[str, Any]:
    """Return the verdict on a candidate of the corpus, with all that is told of it."""
    (verdict,) = run([named(Path(shutil.copy(way.path, folder)), way)], way, folder)
    return verdict


def named(file: Path, way: Way) -> str:
    """Return how a candidate is named on the command line."""
    return str(file) if way.reference.startswith("kernelbench") else f"{file}:f"


def causes(verdict: dict[str, Any]) -> set[str]:
    """Return the words for what was seen of a candidate."""
    return {evidence["slug"] for evidence in verdict.get("evidence", ())}


def every(ways: Sequence[Way]) -> list[Any]:
    """Return the ways that are judged one by one: none, unless that is asked for."""
    return [pytest.param(way, id=way.name) for way in ways if RUNS]


def problems() -> list[Any]:
    """Return the cheats that one command can judge, by what they are judged against."""
    together: dict[object, list[Way]] = {}
    for way in WAYS:
        together.setdefault((way.against, way.framework, way.inputs, way.options), []).append(way)
    return [pytest.param(ways, id=f"{ways[0].name} and {len(ways) - 1} more") for ways in together.values()]


def agrees(way: Way, verdict: dict[str, Any]) -> bool:
    """Whether a verdict is what the corpus says, and tells a cause where it refuses the candidate."""
    is_told = verdict["verdict"] not in REFUSED or not way.causes or bool(causes(verdict) & set(way.causes))
    return verdict["verdict"] in way.verdicts and is_told


def check(way: Way, verdict: dict[str, Any]) -> None:
    """Hold a verdict against what the corpus says."""
    assert agrees(way, verdict), verdict


def test_cheats_and_honest_candidates_of_one_command_get_their_verdicts(tmp_path: Path) -> None:
    ways = [way for way in WAYS if way.name in FEW]
    (fast,) = (way for way in HONEST if way.name == "fast")
    files = [f"{shutil.copy(way.path, tmp_path)}:f" for way in (*ways, fast)]
    *verdicts, of_fast = run(files, replace(fast, options=("--pairs", "3")), tmp_path)
    assert len(verdicts) == len(ways) == len(FEW)
    for way, verdict in zip(ways, verdicts):
        check(way, verdict)
    assert of_fast["verdict"] in ("faster", "inconclusive"), of_fast  # by how busy the machine is


@pytest.mark.parametrize("attempt", range(RUNS))
@pytest.mark.parametrize("ways", problems() if RUNS else ())
def test_no_cheat_of_a_problem_is_faster_and_its_cause_is_told(
    ways: Sequence[Way], attempt: int, tmp_path: Path
) -> None:
    present = [way for way in ways if not lacks(way)]
    files = [named(Path(shutil.copy(way.path, tmp_path)), way) for way in present]
    if not present:
        pytest.skip("this machine lacks what they need")
    verdicts = run(files, replace(present[0], options=(*present[0].options, *ROUGHLY)), tmp_path)
    assert len(verdicts) == len(present)
    unlike = [(way.name, verdict) for way, verdict in zip(present, verdicts) if not agrees(way, verdict)]
    assert not unlike


@pytest.mark.parametrize("way", every(HONEST))
def test_an_honest_candidate_gets_its_verdict(way: Way, tmp_path: Path) -> None:
    skip_without(way)
    check(way, judge(way, tmp_path))


@pytest.mark.skipif(not RUNS, reason="it takes a quarter of an hour")
def test_of_many_copies_of_the_reference_none_is_faster_or_slower(tmp_path: Path) -> None:
    copies = write_copies(tmp_path, 20)
    verdicts = run([f"{path}:f" for path in copies], Way("copies", 57), tmp_path)
    assert {verdict["verdict"] for verdict in verdicts} <= {"same", "inconclusive"}
    assert len(verdicts) == len(copies)


@pytest.mark.parametrize("way", every(EXAMPLES))
def test_an_example_gets_the_verdict_that_it_stands_for(way: Way, tmp_path: Path) -> None:
    skip_without(way)
    check(way, judge(way, tmp_path))
