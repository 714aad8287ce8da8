"""Candidates for problems in the formats of others are judged as all are: right by the reference, timed beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.processes.problem_rows import ROWS

import opperf
from opperf.parent.documents.candidates import Judged
from opperf.parent.measuring.judge import problems

pytestmark = pytest.mark.usefixtures("forked_children")
NEW = ROWS.replace("class Model(", "class ModelNew(")
CANDIDATES = {
    # By its CPU time, since a sleep is told from what a busy machine does by the clock alone.
    "dawdles.py": NEW.replace("        return", "        sum(range(400_000))\n        return"),
    "renamed.py": NEW.replace("self.rows", "self.lines"),
    "no_factor.py": NEW.replace("* factor", "* 1"),
    "other.py": "def f(x):\n    return x\n",
}


@pytest.fixture(autouse=True)
def small_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in a folder of its own, where problems are small: what is right is soon seen to be slow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(problems, "BUDGET", 40_000)


def judged_against(problem: str, *candidates: str) -> dict[str, Judged]:
    verdicts = opperf.judge(list(candidates), against=problem, pairs=3)
    return {one.candidate.partition(":")[0]: one for one in verdicts}


def test_candidates_for_a_model_are_built_and_called_as_it_is() -> None:
    for name, text in {"rows.py": ROWS, **CANDIDATES}.items():
        Path(name).write_text(text)
    verdicts = judged_against("kernelbench:rows.py", *CANDIDATES)
    causes = {name: (one.verdict, one.cause) for name, one in verdicts.items()}
    assert causes == {
        "dawdles.py": ("slower", None),
        "renamed.py": ("wrong", "other_problem"),
        "no_factor.py": ("wrong", "wrong_values"),
        "other.py": ("wrong", "load"),
    }
    assert verdicts["renamed.py"].reason.startswith("the candidate has `lines.bias`, which the reference has not")
    assert "has no `ModelNew`" in verdicts["other.py"].reason
    scaled, varied = verdicts["dawdles.py"].problem
    assert scaled.startswith("scaled `batch` from 8192 to 1024: inputs take 20.5 kB, as written 164 kB")
    assert varied == "2 weights that are one number everywhere were varied, as `norm.weight`"
    assert [spec.shape for spec in verdicts["dawdles.py"].case.tensors()] == [(1024, 5)]


def test_a_model_that_draws_numbers_is_no_problem() -> None:
    Path("drops.py").write_text(ROWS.replace("self.norm(self.rows(x))", "torch.dropout(self.rows(x), 0.5, True)"))
    (judged,) = judged_against("kernelbench:drops.py", "drops.py").values()
    assert (judged.verdict, judged.status) == ("void", "INVALID_REFERENCE")
    assert "another result each time" in judged.reason
