"""What `python -m opperf.compat.param` is made of: flags, run ids, lines of results, and the trace."""
