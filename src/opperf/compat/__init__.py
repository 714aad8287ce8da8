"""The systems that opperf succeeds, each with its own functions, names and keys, measured by opperf.

The packages below are used inside a user's script, next to a framework that the script imports: standard library and
that framework only. Their command lines (`__main__.py`) are the parent's.
"""
