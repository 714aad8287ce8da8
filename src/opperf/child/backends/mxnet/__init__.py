"""MXNet 1.x."""
