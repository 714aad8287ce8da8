"""The nouns of results, which only the parent has: comparisons, floors, judgements, bisections, traces."""
