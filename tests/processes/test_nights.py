"""Nights of real builds: two releases of NumPy, an anchor, and what the database says of them afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.functional.conftest import invoke

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")

CONFIG = """
[database]
url = "nights.db"

[nightly]
operators = "sum"
sizes = "small"
directions = "forward"
pairs = 3
inconclusive = "pass"
tolerance = "50%"
anchor = "numpy==1.26.4"
builds = ["numpy==2.0.2", "numpy==2.2.6"]
"""


def test_ratios_of_three_releases_close_and_their_history_is_one_series(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opperf.toml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    done = invoke("nightly")
    assert done.code == 0, done.err
    assert "numpy==2.2.6 is judged by numpy==2.0.2" in done.out
    assert " of 3 ratios agree with the others" in done.out
    assert "1 series of ratios between builds" in invoke("history", "changes").out
