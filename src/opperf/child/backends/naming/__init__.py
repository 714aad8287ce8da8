"""Names of a framework as its users write them: paths, signatures, and what `operators` shows of them."""
