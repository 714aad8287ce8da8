"""A profile: what a program's operators did, span by span, in one form for every framework, and its tables."""
