"""PyTorch."""
