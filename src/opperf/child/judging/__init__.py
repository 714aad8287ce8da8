"""Judging: what a candidate is held against, and where it stands."""
