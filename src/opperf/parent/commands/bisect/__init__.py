"""Find the build that made an operator slower: `bisect` asks, `bench` compares `builds`, `answers` decides."""
