"""The code of a worker process, in any Python that has the framework: standard library and that framework only.

`python -m opperf.child` is the way in; see `__main__`.
"""
