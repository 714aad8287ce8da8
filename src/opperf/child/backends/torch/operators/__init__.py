"""How PyTorch spells the neutral operators, family by family."""
