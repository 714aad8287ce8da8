"""`python -m opperf` is the command `opperf`."""

from __future__ import annotations

from opperf.cli.main import main

if __name__ == "__main__":
    main()
