"""What arrays of any namespace can do: operators, losses, and the steps of optimizers."""
