"""Use cases: what each command does, whether it was asked for on the command line or from Python."""
