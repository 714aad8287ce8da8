"""The nouns that parent and child share, and what they say to each other: standard library only."""
