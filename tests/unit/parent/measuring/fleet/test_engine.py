"""What a node says of itself, and what stands in the folder that jobs share, is read as any file is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.parent.measuring.fleet.engine import Broken, Done, introduced
from opperf.parent.measuring.fleet.slurm_engine import SlurmEngine

MACHINE = {"cpu": "old", "cores_logical": 8, "gpus": 7}


def test_a_node_is_named_by_its_hardware() -> None:
    node = introduced(json.dumps({"machine": MACHINE, "noise": []})).joined("n0")
    assert (node.node.name, node.node.kind, node.machine) == ("n0", "old, 8 cores", MACHINE)


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"machine": 1}', '{"machine": {}, "noise": 1}', "\ud800"])
def test_an_introduction_that_is_none_is_one_message(text: str) -> None:
    with pytest.raises(InputError):
        introduced(text)


class Job:
    """A job of submitit's that runs until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = False
        self.questions: list[bool] = []

    def cancel(self) -> None:
        self.cancelled = True

    def done(self, force_check: bool = False) -> bool:
        self.questions.append(force_check)
        return False


def test_files_of_jobs_that_are_no_answers_cost_their_jobs_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    engine: Any = SlurmEngine(2, cluster="local")
    good, bad = Job(), Job()
    engine._jobs.update(job0=good, job1=bad)
    out = engine._home / "out"
    out.mkdir()
    (out / "job0.joined").write_text(json.dumps({"host": "h", "machine": MACHINE, "noise": []}))
    (out / "job1.joined").write_bytes(b"\xff{")
    (out / "job9.joined").write_text("{}")
    (out / "000000001.done").write_bytes(b"\xff")
    (out / "000000002.broken").write_text("why")
    (out / "evil.done").write_text("{}")
    done, broken, joined = engine._read_events()
    assert (done, broken) == (Done(1, "\ufffd"), Broken(2, "why"))
    assert joined.node.name == "node-h"
    assert (good.cancelled, bad.cancelled, [*engine._jobs]) == (False, True, ["job0"])
    engine.close()


def test_slurm_itself_is_asked_once_in_a_while_for_all_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("submitit")
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path))
    engine: Any = SlurmEngine(2, cluster="local")
    jobs = Job(), Job()
    engine._jobs.update(job0=jobs[0], job1=jobs[1])
    engine._last_forced = float("-inf")
    for _ in range(2):
        engine._last_question = float("-inf")
        engine._read_ends()
    assert [job.questions for job in jobs] == [[True, False], [False, False]]
    engine.close()
