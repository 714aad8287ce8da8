"""Find the build that made an operator slower: `bisect` measures, `builds` are what it measures."""
