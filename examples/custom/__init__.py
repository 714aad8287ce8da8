"""Operators of one's own, for each framework."""
