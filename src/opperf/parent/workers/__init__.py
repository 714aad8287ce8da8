"""Child processes, and the interpreters that they run in."""
