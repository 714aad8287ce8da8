"""How MXNet spells the neutral operators, family by family."""
