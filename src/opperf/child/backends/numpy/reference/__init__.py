"""What operators should compute: NumPy in float64, and SciPy or a few lines where NumPy has no such function.

Nothing here is timed, so it is written to be read, and to be right.
"""
