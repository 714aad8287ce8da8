"""What a database hands on, in other tools' formats: each file writes one, run by run."""
