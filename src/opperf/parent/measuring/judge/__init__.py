"""Judge candidates: whether they are right, and whether they are really faster."""
