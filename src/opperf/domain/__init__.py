"""The nouns that parent and child share, and their protocol. Standard library only."""
