"""How TensorFlow spells the neutral operators, one file for each family."""
