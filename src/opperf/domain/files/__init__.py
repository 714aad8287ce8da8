"""Files read within bounds and written whole, or left as they were."""
