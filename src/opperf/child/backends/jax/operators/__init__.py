"""How JAX spells the neutral operators, one file for each family."""
