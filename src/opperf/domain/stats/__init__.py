"""Statistics in the standard library alone, so that parent and child compute alike."""
