"""A worker: it answers the parent's requests with inputs, calls and checks of one framework."""
