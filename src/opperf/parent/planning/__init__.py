"""From a user's request to trials."""
