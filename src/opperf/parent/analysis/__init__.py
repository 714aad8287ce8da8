"""From raw samples to conclusions."""
