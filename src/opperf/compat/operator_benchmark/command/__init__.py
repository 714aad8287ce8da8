"""What `python -m opperf.compat.operator_benchmark` is made of: flags, a run, and what is written of it."""
