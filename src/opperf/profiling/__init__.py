"""What a framework's own profiler tells, made into samples and summaries."""
