"""Statistics with the standard library only, so that parent and child compute the same."""
