"""What frameworks' own profilers tell, inside a script or a child: recordings, samples and summaries."""
