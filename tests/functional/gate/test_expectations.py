"""`opperf gate --expected` on the null framework: expectations are recorded, met, missed and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.functional.conftest import current, invoke
from tests.functional.gate.conftest import Opperf, interrupted_at, kinds

from opperf.parent.workers.pool import Pool

RECORD = ("gate", "null:steady", "--framework", "null", "--processes", "3", "--expected", "e.json", "--update-expected")
JUDGE = ("gate", "--expected", "e.json", "--processes", "3", "--threshold", "10%", "--format", "json")


@pytest.fixture(scope="module")
def measured(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a file of expectations, measured once."""
    with current(tmp_path_factory.mktemp("expected"), one_cache) as folder:
        assert invoke(*RECORD).code == 0
    return (folder / "e.json").read_text()


@pytest.fixture
def recorded(measured: str, here: Path) -> Path:
    """That file, where each test may change it."""
    (here / "e.json").write_text(measured)
    return here / "e.json"


def scaled(path: Path, factor: float) -> None:
    """Let every time that is expected be another."""
    document = json.loads(path.read_text())
    for entry in document["expectations"]:
        entry["times"] = [value * factor for value in entry["times"]]
    path.write_text(json.dumps(document))


def test_expectations_are_recorded_and_met(opperf: Opperf, here: Path) -> None:
    done = opperf(*RECORD)
    assert done.code == 0
    assert "wrote e.json: 1 expectations measured now, 0 kept" in done.err
    (entry,) = json.loads((here / "e.json").read_text())["expectations"]
    assert entry["times"] == pytest.approx([1e-4] * 3)
    done = opperf(*JUDGE)
    assert (done.code, kinds(done)) == (0, ["same"])
    assert json.loads(done.out)["gate"]["against"] == "expected"


@pytest.mark.parametrize(("factor", "code", "kind"), [(0.8, 1, "slower"), (1.25, 0, "faster"), (0.95, 0, "same")])
def test_what_is_expected_is_missed_beyond_the_threshold(
    factor: float, code: int, kind: str, opperf: Opperf, recorded: Path
) -> None:
    scaled(recorded, factor)
    done = opperf(*JUDGE)
    assert (done.code, kinds(done)) == (code, [kind])


@pytest.mark.usefixtures("recorded")
def test_a_threshold_below_what_identical_code_moves_by_is_told(
    opperf: Opperf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))  # without the floors of other tests
    told = "the threshold of 10% is below the 15% by which identical code may vary between runs on a shared machine"
    assert told in opperf(*JUDGE).err
    assert "identical code" not in opperf(*JUDGE, "--threshold", "20%").err


def test_an_update_keeps_what_was_not_measured(opperf: Opperf, recorded: Path) -> None:
    first = recorded.read_text()
    done = opperf(*("null:warming" if word == "null:steady" else word for word in RECORD))
    assert "1 expectations measured now, 1 kept" in done.err
    entries = json.loads(recorded.read_text())["expectations"]
    assert [entry["case"]["operator"] for entry in entries] == ["null:steady", "null:warming"]
    assert entries[0] == json.loads(first)["expectations"][0]


def test_an_update_without_operators_measures_what_is_expected_anew(opperf: Opperf, recorded: Path) -> None:
    scaled(recorded, 2)
    words = [word for word in RECORD if word != "null:steady"]
    assert opperf(*words).code == 0
    assert opperf(*JUDGE).code == 0


def test_what_fails_keeps_its_expectation_and_is_told(opperf: Opperf, recorded: Path) -> None:
    done = opperf(*RECORD, "null:raise")
    assert done.code == 3
    assert "1 of 2 trials failed" in done.err
    assert len(json.loads(recorded.read_text())["expectations"]) == 1


def test_nothing_measured_writes_nothing(opperf: Opperf, here: Path) -> None:
    assert opperf(*("null:raise" if word == "null:steady" else word for word in RECORD)).code == 3
    assert not (here / "e.json").exists()


@pytest.mark.usefixtures("recorded")
def test_a_new_trial_and_a_lost_expectation_are_listed(opperf: Opperf) -> None:
    done = opperf(*JUDGE[:1], "null:warming", *JUDGE[1:], "--framework", "null")
    assert (done.code, kinds(done)) == (3, ["skipped", "skipped"])
    assert [one["reason"] for one in json.loads(done.out)["comparisons"]] == [
        "new: no expectation is recorded",
        "expected, but not measured this time",
    ]


def test_a_file_with_expectations_alone_judges_by_them(opperf: Opperf, here: Path, recorded: Path) -> None:
    (here / "opperf.toml").write_text('[expected]\nfile = "e.json"\nprocesses = 3\n')
    assert opperf("gate", "--no-github").code == 0
    scaled(recorded, 0.5)
    assert opperf("gate", "--markdown", "pr.md").code == 1
    assert "opperf run null:steady --framework null --direction forward" in (here / "pr.md").read_text()


def test_ctrl_c_keeps_what_was_judged_and_leaves_expectations_as_they_were(
    opperf: Opperf, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = recorded.read_text()
    measure = Pool.measure
    monkeypatch.setattr(Pool, "measure", interrupted_at(4, measure))
    done = opperf(*JUDGE[:1], "null:steady", "null:warming", *JUDGE[1:], "--framework", "null")
    # The second process of each trial is never reached: neither has the three that a verdict needs.
    assert (done.code, kinds(done)) == (130, ["inconclusive", "skipped"])
    monkeypatch.setattr(Pool, "measure", interrupted_at(1, measure))
    done = opperf(*RECORD)
    assert done.code == 130
    assert "stopped: e.json is unchanged" in done.err
    assert recorded.read_text() == before


@pytest.mark.usefixtures("recorded")
def test_expectations_can_be_narrowed_to_a_framework(opperf: Opperf) -> None:
    done = opperf(*JUDGE, "--framework", "numpy")
    assert done.code == 2
    assert "the file has no expectations" in done.err
