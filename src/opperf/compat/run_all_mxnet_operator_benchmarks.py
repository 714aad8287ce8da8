"""`python -m opperf.compat.run_all_mxnet_operator_benchmarks`: the name that the proposal gave the command line."""

from __future__ import annotations

from opperf.compat.mxnet_opperf.__main__ import main

if __name__ == "__main__":
    main()
