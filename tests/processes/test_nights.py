"""Nights of real builds: two releases of NumPy, an anchor, and what the database says of them afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def test_ratios_of_three_releases_close_and_their_history_is_one_series(tmp_path: Path) -> None:
    (tmp_path / "opperf.toml").write_text(CONFIG)

    def opperf(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "opperf", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)

    done = opperf("nightly")
    assert done.returncode == 0, done.stderr
    assert "numpy==2.2.6 is judged by numpy==2.0.2" in done.stdout
    assert " of 3 ratios agree with the others" in done.stdout
    assert "1 series of ratios between builds" in opperf("history", "changes").stdout
