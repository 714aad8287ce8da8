"""Files: read within limits, and written completely or not at all."""
