"""What parent and child say to each other: `requests` and their `replies`, and how they go over the `wire`."""
