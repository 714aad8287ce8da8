"""How NumPy spells the neutral operators, family by family."""
