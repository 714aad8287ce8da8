"""From what a user asks for to the trials that answer it."""
