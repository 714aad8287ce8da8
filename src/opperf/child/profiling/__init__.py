"""Profiling with the frameworks' own profilers, in a script or a child: recordings, samples and summaries."""
