"""A profile: what a program's operators did, span by span, alike for every framework; and the tables made of it."""
