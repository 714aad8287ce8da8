"""The two nodes of Ray that the example starts, until stdin ends; the first line of stdout names them as a fleet."""

import os
import sys
from pathlib import Path
from runpy import run_path

# No process is started ahead for a driver: what opperf starts needs its files.
os.environ |= {"RAY_DEDUP_LOGS": "0", "RAY_prestart_worker_first_driver": "0"}

example = run_path(str(Path(__file__).resolve().parents[2] / "examples" / "fleet.py"))
with example["two_nodes"]() as fleet:
    print(fleet, flush=True)
    sys.stdin.read()
