"""Nights: each build of a list beside the one before it and an anchor, kept in a database."""
